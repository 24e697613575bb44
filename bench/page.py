#!/usr/bin/env python3
"""Measures the page: what its first load takes, and what it costs while it is open.

    make build && scripts/servers.sh && .build/servers/bin/python bench/page.py [--rounds 5] [--size 4g]

In Debian's Chromium, on loopback, in a temporary folder; prints medians, and keeps nothing. *Interactive* is when the
page, logged in, shows its list and a click on Add has opened its dialog, counted from the start of the navigation.
The same file is downloaded at full speed by turns without and with a page that shows its map. What the browser takes
is the processor time of all its processes.
"""

import argparse
import contextlib
import http.client
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "Tests/Page")]
from conftest import CHROMIUM, Service  # noqa: E402
from manager import cpu, free_port, rss, serve  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def processes(name):
    """The ids of the processes of a program."""
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and name.encode() in (entry / "cmdline").read_bytes():
                yield int(entry.name)


def browser_cpu(folder):
    """Processor time of all processes of the browser whose profile is in a folder's name, in seconds."""
    total = 0
    for pid in processes(folder):
        with contextlib.suppress(OSError):
            total += cpu(pid)
    return total


def enter(context, service):
    """Logs in, and answers the page with its list."""
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(service.tell("open", "--no-browser"), wait_until="commit")
    page.locator("#app").wait_for(state="visible")
    return page


def load(context, service):
    """Opens the page once more: requests, bytes on the wire, and milliseconds until it is interactive."""
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    sizes = []
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    began = time.monotonic()
    page.goto(service.address, wait_until="commit")
    page.locator("#list .row:not(.head)").first.wait_for(state="visible")
    requests, size = len(sizes), sum(sizes)
    page.locator("#add").click()
    page.locator("dialog[open] textarea").first.wait_for(state="visible")
    took = (time.monotonic() - began) * 1000
    page.close()
    return requests, size, took


def download(service, url, page):
    """Downloads a file, with a page that shows it, and answers the seconds and the service's processor time."""
    name = url.rsplit("/", 1)[1]
    used, began = cpu(service.process.pid), time.monotonic()
    command = [service.segget, "add", "--queue", "q.sqlite", url, "-d", "files", "--attach", "--quiet"]
    adding = subprocess.Popen(command, cwd=service.folder, env=service.environment)
    if page:
        page.locator("#list").get_by_text(name, exact=True).dblclick()
    if adding.wait():
        sys.exit("the download has failed")
    took = time.monotonic() - began
    (service.folder / f"files/{name}").unlink()
    return took, cpu(service.process.pid) - used


def first_load(chromium, profile, service):
    """Loads the page in a browser that has a session, and nothing in its cache."""
    with contextlib.closing(chromium.launch_persistent_context(
            str(profile), executable_path=CHROMIUM, args=["--no-sandbox"])) as context:
        enter(context, service).close()
        context.new_cdp_session(context.pages[0]).send("Network.clearBrowserCache")
        return load(context, service)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--segget", default=str(ROOT / ".build/release/segget"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--size", default="4g")
    options = parser.parse_args()
    median = statistics.median
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="segget-page-")))
        folder.chmod(0o755)
        addresses = []
        for name, size, rate in (("fast", int(options.size[:-1]) * UNITS[options.size[-1]], "0"),
                                 ("slow", 1 << 30, "64k")):
            (folder / name).mkdir()
            port = free_port()
            nginx = serve(folder / name, port, size=size, rate=rate)
            stack.callback(nginx.wait)
            stack.callback(nginx.terminate)
            addresses.append(f"http://127.0.0.1:{port}")
        fast, slow = addresses
        service = Service(str(pathlib.Path(options.segget).resolve()), folder)
        service.start()
        stack.callback(lambda: service.stop())
        chromium = stack.enter_context(sync_playwright()).chromium
        profile = str(folder / "profile")
        context = stack.enter_context(contextlib.closing(
            chromium.launch_persistent_context(profile, executable_path=CHROMIUM, args=["--no-sandbox"])))
        service.tell("add", f"{slow}/paused.bin", "--paused", "-d", "files")
        enter(context, service).close()

        for tasks in (1, 10_000):
            if tasks > 1:
                links = "\n".join(f"{slow}/{number}.bin" for number in range(tasks - 1))
                service.tell("add", "-i", "-", "--paused", "-d", "files", stdin=links)
            first = [first_load(chromium, folder / f"fresh-{tasks}-{number}", service)
                     for number in range(options.rounds)]
            again = [load(context, service) for _ in range(options.rounds)]
            for what, loads in (("first load", first), ("again", again)):
                requests, size, took = (median(each[i] for each in loads) for i in range(3))
                print(f"{tasks} tasks, {what}: {requests:.0f} requests, {size / 1024:.1f} KiB, "
                      f"interactive after {took:.0f} ms", flush=True)
        service.tell("remove", "--all")
        service.wait(lambda tasks: not tasks)

        runs = {False: [], True: []}
        for number in range(2 * options.rounds):
            is_open = number % 2 == 1
            page = enter(context, service) if is_open else None
            used = browser_cpu(profile)
            took, own = download(service, f"{fast}/{number}.bin", page)
            runs[is_open].append((took, own / took, (browser_cpu(profile) - used) / took))
            if page:
                page.close()
        for is_open, what in ((False, "without a page"), (True, "with a page")):
            took, own, used = (median(run[i] for run in runs[is_open]) for i in range(3))
            print(f"{options.size} {what}: {took:.2f} s; of a processor, service {own:.0%}, browser {used:.0%}")
        ratios = sorted(with_[0] / without[0] for without, with_ in zip(runs[False], runs[True]))
        print(f"with / without: {median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})")

        service.tell("add", *(f"{slow}/{number}.iso" for number in range(3)), "-d", "files")
        time.sleep(5)
        print(f"service with 0 pages: {rss(service.process.pid)[0]:.1f} MiB")
        # What fifty pages ask for while they are open; so many in a browser take the machine for themselves.
        secret = service.tell("serve", "--show-secret")
        for _ in range(50):
            connection = http.client.HTTPConnection("127.0.0.1", service.port)
            connection.request("GET", "/api/v1/events", headers={"Authorization": f"Bearer {secret}"})
            answer = connection.getresponse()
            if answer.status != 200 or not answer.readline():
                sys.exit(f"the events were refused: {answer.status}")
            stack.callback(connection.close)
        time.sleep(5)
        now, most = rss(service.process.pid)
        print(f"service with the events of 50 pages: {now:.1f} MiB, at the most {most:.1f} MiB since its start")


if __name__ == "__main__":
    main()
