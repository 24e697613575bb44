"""The fixtures of the page's tests: a service, servers to download from, and a browser.

    make page-check [PAGE='-k undo']
    make page-shots                     into .build/page-shots

Each test has its own service, with a separate home and queue. `visit()` opens the page as `segget open` does. A
test fails if the browser's console has messages, or if the page sent requests to other hosts.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest
from playwright.sync_api import expect, sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHROMIUM = "/usr/bin/chromium"
# Milliseconds until a condition is given up; only failing tests take this long.
PATIENCE = int(os.environ.get("PATIENCE", "240")) * 1000

sys.path.insert(0, str(ROOT / "bench"))
from manager import free_port, serve  # noqa: E402

expect.set_options(timeout=PATIENCE)


def pytest_addoption(parser):
    parser.addoption("--segget", default=str(ROOT / ".build/release/segget"), help="the program")
    parser.addoption("--ui", help="a folder whose files are the page, instead of what the program has")
    parser.addoption("--shots", type=pathlib.Path, help="take pictures, into this folder")


class Service:
    """`segget serve --web`, with all of its files in a folder."""

    def __init__(self, segget, folder, ui=None):
        self.segget, self.folder, self.ui, self.port, self.process = segget, folder, ui, 0, None
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("SEGGET_", "XDG_"))}
        self.environment |= {"SEGGET_NO_CONFIG": "1", "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder)}

    def start(self):
        """Starts it on its previous port, if any, and waits until it serves the page."""
        log = self.folder / f"log-{time.monotonic_ns()}"
        more = ["--ui", self.ui] if self.ui else []
        with open(log, "w") as file:
            self.process = subprocess.Popen(
                [self.segget, "serve", "--queue", "q.sqlite", "--web", str(self.port), "-d", "files", *more],
                cwd=self.folder, env=self.environment, stderr=file)
        while not (found := re.search(r"page at http://127\.0\.0\.1:(\d+)/", log.read_text())):
            if self.process.poll() is not None:
                raise RuntimeError(f"the service has ended:\n{log.read_text()}")
            time.sleep(0.05)
        self.port = int(found[1])

    def stop(self, number=signal.SIGTERM):
        """Stops it."""
        self.process.send_signal(number)
        self.process.wait()

    def tell(self, *arguments, stdin=None):
        """Returns the output of a command."""
        return subprocess.run(
            [self.segget, arguments[0], "--queue", "q.sqlite", *arguments[1:]], cwd=self.folder, input=stdin,
            env=self.environment, capture_output=True, text=True, check=True).stdout.strip()

    def tasks(self):
        """Returns the tasks of `segget list --json` by the names of their URLs."""
        return {task["url"].rsplit("/", 1)[1]: task for task in json.loads(self.tell("list", "--json"))}

    def wait(self, condition):
        """Waits until a condition holds for the tasks, and returns them."""
        end = time.monotonic() + PATIENCE / 1000
        while not condition(tasks := self.tasks()):
            assert time.monotonic() < end, tasks
            time.sleep(0.05)
        return tasks

    @property
    def address(self):
        """The address of the page."""
        return f"http://127.0.0.1:{self.port}/"


@pytest.fixture(scope="session")
def origins():
    """Addresses of two servers: `fast` has 1 MiB at each path, `slow` 1 GiB at 64 KiB/s per connection."""
    with contextlib.ExitStack() as stack:
        addresses = {}
        for name, size, rate in (("fast", 1 << 20, "0"), ("slow", 1 << 30, "64k")):
            folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="segget-page-")))
            # nginx that root starts has workers of another user.
            folder.chmod(0o755)
            port = free_port()
            nginx = serve(folder, port, size=size, rate=rate)
            stack.callback(nginx.wait)
            stack.callback(nginx.terminate)
            addresses[name] = f"http://127.0.0.1:{port}"
        yield addresses


@pytest.fixture
def fast(origins):
    """The address of a server that sends 1 MiB at once."""
    return origins["fast"]


@pytest.fixture
def slow(origins):
    """The address of a server whose downloads last longer than the test."""
    return origins["slow"]


@pytest.fixture
def folder():
    """An empty folder with a short path, because the path of a socket is limited."""
    with tempfile.TemporaryDirectory(prefix="segget-") as path:
        yield pathlib.Path(path)


@pytest.fixture
def service(request, folder):
    """A running service."""
    option = request.config.getoption
    ui = None
    if option("--ui"):
        # The program has its files at these paths.
        ui = folder / "ui"
        shutil.copytree(option("--ui"), ui / "app")
        shutil.copy(ui / "app/index.html", ui)
    service = Service(os.path.abspath(option("--segget")), folder, ui)
    service.start()
    yield service
    service.stop()


@pytest.fixture(scope="session")
def browser():
    """Debian's Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, service):
    """`visit(…)` opens and returns the page; `visit.is_quiet = False` allows messages on the console."""
    contexts, complaints = [], []

    def visit(more="", opened=True, size=(1280, 800), theme="light", **options):
        context = browser.new_context(
            viewport=dict(zip(("width", "height"), size)), color_scheme=theme, reduced_motion="reduce", **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        note = lambda text: visit.is_quiet and complaints.append(text)
        page.on("console", lambda message: message.type in ("error", "warning") and note(message.text))
        page.on("pageerror", lambda error: note(str(error)))
        page.on("request", lambda asked: asked.url.startswith((service.address, "blob:", "data:")) or note(asked.url))
        if opened:
            page.goto(service.tell("open", "--no-browser").replace("#", f"{more}#"))
            expect(page.locator("#app")).to_be_visible()
        return page

    visit.is_quiet = True
    yield visit
    for context in contexts:
        context.close()
    assert not complaints
