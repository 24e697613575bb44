#!/usr/bin/env python3
"""Uses the page of a running service in Debian's Chromium, and takes pictures of it.

    make page-check
    make page-shots                                 into .build/page-shots
    scripts/page.py [--segget FILE] [--shots DIR]

It starts `segget serve --web` with a home, a queue and a server of its own. The page is to let in and keep out, to
add, to show what runs, to come back when the service does, to ask nobody else, to say nothing on the console, and
axe is to find nothing. The first run installs playwright and axe into .build/page.
"""

import argparse
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".build/page"
PACKAGES = ["playwright==1.65.2", "axe-playwright-python==0.1.8"]
CHROMIUM = "/usr/bin/chromium"
THEMES = ("light", "dark")
WIDTHS = {360: 740, 900: 800, 1600: 900}

sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "scripts")]


def install():
    """Goes on as the Python that has the packages; they are installed where they are missing."""
    python, stamp = FOLDER / "bin/python", FOLDER / "packages"
    if not stamp.exists() or stamp.read_text() != " ".join(PACKAGES):
        subprocess.run([sys.executable, "-m", "venv", str(FOLDER)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "--no-input",
                        "--disable-pip-version-check", *PACKAGES], check=True)
        stamp.write_text(" ".join(PACKAGES))
    if pathlib.Path(sys.prefix) != FOLDER:
        os.execv(python, [str(python), *sys.argv])


class Service:
    """`segget serve --web`, with everything of its own in a folder."""

    def __init__(self, segget, folder):
        self.segget, self.folder, self.port, self.process = segget, folder, 0, None
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("SEGGET_", "XDG_"))}
        self.environment |= {"SEGGET_NO_CONFIG": "1", "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder)}

    def start(self):
        """Starts it, at the port that it had before, and waits until it shows its page."""
        log = self.folder / f"log-{time.monotonic_ns()}"
        with open(log, "w") as file:
            self.process = subprocess.Popen(
                [self.segget, "serve", "--queue", "q.sqlite", "--web", str(self.port), "-d", "files"],
                cwd=self.folder, env=self.environment, stderr=file)
        while not (found := re.search(r"page at http://127\.0\.0\.1:(\d+)/", log.read_text())):
            if self.process.poll() is not None:
                sys.exit(f"the service has ended:\n{log.read_text()}")
            time.sleep(0.05)
        self.port = int(found[1])

    def stop(self, number=signal.SIGTERM):
        """Ends it."""
        self.process.send_signal(number)
        self.process.wait()

    def tell(self, *arguments):
        """What a command prints."""
        return subprocess.run([self.segget, arguments[0], "--queue", "q.sqlite", *arguments[1:]], cwd=self.folder,
                              env=self.environment, capture_output=True, text=True, check=True).stdout.strip()

    @property
    def address(self):
        """Of the page."""
        return f"http://127.0.0.1:{self.port}/"


class Visit:
    """A browser that has the page open, with a window and a theme; all that it complains of is kept."""

    def __init__(self, browser, service, width=1280, height=800, theme="light"):
        self.service, self.complaints, self.is_quiet = service, [], True
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme, reduced_motion="reduce")
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.page.on("console", lambda message: message.type in ("error", "warning") and self.complain(message.text))
        self.page.on("pageerror", lambda error: self.complain(str(error)))
        self.page.on("request", lambda request: request.url.startswith(service.address) or self.complain(request.url))

    def complain(self, text):
        """Keeps a complaint, unless the service is away on purpose."""
        if self.is_quiet:
            self.complaints.append(text)

    def open(self, more=""):
        """Opens the page as `segget open` does."""
        self.page.goto(self.service.tell("open", "--no-browser").replace("#", f"{more}#"))
        self.page.locator("#app").wait_for(state="visible")
        return self.page


def expect(condition, what):
    """Ends with a message unless something is so."""
    if not condition:
        sys.exit(f"error: {what}")
    print(f"ok: {what}", flush=True)


def use(browser, service, origin):
    """Uses the page as somebody does."""
    visit = Visit(browser, service)
    page = visit.open()
    page.locator("#empty").wait_for(state="visible")
    expect("token" not in page.url, "an address of `segget open` lets in, and is gone from the bar")
    page.goto(f"{service.address}?url={origin}/first.bin")
    dialog = page.locator("dialog[open]")
    if dialog.count():
        dialog.wait_for(state="visible")
    box = page.locator("textarea:visible").first
    box.wait_for(state="visible")
    expect(f"{origin}/first.bin" in box.input_value() and service.tell("list", "--json") == "[]",
           "a link in the address is filled in and not added")
    box.press("Control+Enter")
    page.get_by_text("first.bin").first.wait_for(state="visible")
    page.get_by_text(re.compile("^Complete,")).first.wait_for(state="visible")
    expect((service.folder / "files/first.bin").stat().st_size > 0, "it is added, and its end is shown")

    visit.is_quiet = False
    service.stop(signal.SIGKILL)
    page.locator("#away").wait_for(state="visible")
    expect(page.get_by_text("first.bin").first.is_visible(), "without the service it says so, and keeps what it shows")
    service.start()
    page.locator("#away").wait_for(state="hidden")
    service.tell("add", f"{origin}/second.bin", "-d", "files")
    page.get_by_text("second.bin").first.wait_for(state="visible")
    expect(True, "it comes back by itself, still logged in")
    visit.is_quiet = True
    expect(not visit.complaints, f"nothing is on the console, and nobody else is asked {visit.complaints}")
    visit.context.close()

    visit = Visit(browser, service)
    visit.is_quiet = False
    page = visit.page
    page.goto(service.address)
    field = page.locator("input[type=password]:visible")
    field.fill("not the secret")
    field.press("Enter")
    page.get_by_role("alert").first.wait_for(state="visible")
    expect(page.get_by_text("first.bin").count() == 0, "whoever does not know the secret sees nothing")
    field.fill(service.tell("serve", "--show-secret"))
    field.press("Enter")
    page.get_by_text("first.bin").first.wait_for(state="visible")
    expect(True, "the secret lets in")
    visit.context.close()


def show(browser, service, slow, shots):
    """Looks at each view in both themes and all widths, with axe, and takes pictures where they are wanted."""
    from axe_playwright_python.sync_playwright import Axe
    service.tell("add", *(f"{slow}/running-{number}.iso" for number in range(3)), "-d", "files")
    service.tell("add", f"{slow}/paused.iso", "--paused", "--tag", "iso", "-d", "files")
    service.tell("add", "http://127.0.0.1:9/refused.iso", "-d", "files")

    def detail(page):
        page.locator("#list").get_by_text("running-0.iso").first.dblclick()
        page.locator("#pane").wait_for(state="visible")

    views = {
        "list": lambda page: None,
        "details": detail,
        "add": lambda page: page.locator("#add").click(),
        "settings": lambda page: page.locator("#settings").click(),
    }
    for theme in THEMES:
        for width, height in WIDTHS.items():
            for name, act in views.items():
                visit = Visit(browser, service, width, height, theme)
                page = visit.open()
                page.locator("#list").get_by_text("running-0.iso").first.wait_for(state="visible")
                act(page)
                page.wait_for_timeout(1500)
                found = Axe().run(page)
                if shots:
                    page.screenshot(path=shots / f"{name}-{width}-{theme}.png")
                expect(found.violations_count == 0 and not visit.complaints,
                       f"{name}, {width} px, {theme} {visit.complaints} "
                       + (found.generate_report() if found.violations_count else ""))
                visit.context.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--segget", default=str(ROOT / ".build/release/segget"))
    parser.add_argument("--shots", type=pathlib.Path, help="take pictures, into this folder")
    options = parser.parse_args()
    install()
    from manager import free_port, serve
    from playwright.sync_api import sync_playwright
    if options.shots:
        options.shots.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="segget-page-")))
        # nginx's workers are another user when it is started as root.
        folder.chmod(0o755)
        origins = []
        for name, size, rate in (("fast", 1 << 20, "0"), ("slow", 1 << 30, "64k")):
            (folder / name).mkdir()
            port = free_port()
            nginx = serve(folder / name, port, size=size, rate=rate)
            stack.callback(nginx.wait)
            stack.callback(nginx.terminate)
            origins.append(f"http://127.0.0.1:{port}")
        service = Service(os.path.abspath(options.segget), folder)
        service.start()
        stack.callback(lambda: service.stop())
        browser = stack.enter_context(sync_playwright()).chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"])
        stack.callback(browser.close)
        use(browser, service, origins[0])
        show(browser, service, origins[1], options.shots)


if __name__ == "__main__":
    main()
