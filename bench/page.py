#!/usr/bin/env python3
"""Measures the page: what its first load takes, and what it costs while it is open.

    make build && scripts/servers.sh
    .build/servers/bin/python bench/page.py [--rounds 5] [--size 4g] [--pages 50] [--only load,beside,many]

In Debian's Chromium, on loopback, in a temporary folder in memory; nginx serves. Prints medians; nothing is kept.

load    A first load, in a browser that has a session and no cache, and the second one there. Requests and bytes are
        those that are answered within a second after the page is interactive, heads included; the stream of events
        is not among them. The page is interactive when, logged in, it has shown its list (or the box in place of an
        empty one), and a click on Add has brought the focus into the box for links. It is clicked in the first frame
        that has the list, and the page's own clock counts, from the start of the navigation.
beside  The same file is downloaded at full speed by turns with and without a page that shows its details and its
        map. The seconds are the service's own; the processor time is that of the service, and of all processes of
        the browser, which runs without a page, too.
many    What the service holds while three tasks run: without pages, and with many that follow events. A browser has
        six connections to a host, and each page keeps one: so each page is another user's, with a cookie of its own.
"""

import argparse
import contextlib
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "Tests/Page")]

from conftest import CHROMIUM, Service  # noqa: E402
from loopback import Failure, parse_size, run_main, stop  # noqa: E402
from manager import cpu, free_port, rss, serve  # noqa: E402
from pairs import Ratio  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

# Notes when the page is interactive.
CLICK = """
  const frame = () => {
    const empty = document.querySelector("#empty");
    const listed = document.querySelector("#list .row:not(.head)") || empty && !empty.hidden;
    if (listed) document.querySelector("#add").click();
    if (listed && document.activeElement.matches("textarea")) window.interactive = performance.now();
    else requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
"""
PATIENCE = 600_000


def descendants(pid):
    """The processes that a process has started, and those that they have."""
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, task.read_text().split()):
                yield child
                yield from descendants(child)


class Browser:
    """Debian's Chromium, until the end of a `with`."""

    def __init__(self):
        self.used = {}

    def __enter__(self):
        self.playwright = sync_playwright().start()
        self.browser = self.playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        return self

    def __exit__(self, *_):
        self.browser.close()
        self.playwright.stop()

    def cpu(self):
        """Processor time of all its processes, in seconds: also of those that have ended since it was asked for."""
        for pid in descendants(os.getpid()):
            with contextlib.suppress(OSError):
                if pathlib.Path(f"/proc/{pid}/exe").resolve().name == "chromium":
                    self.used[pid] = cpu(pid)
        return sum(self.used.values())

    def user(self, service):
        """A context that is logged in, and has nothing in its cache."""
        with contextlib.closing(self.browser.new_context()) as first:
            page = first.new_page()
            page.goto(service.tell("open", "--no-browser"))
            page.wait_for_function("() => localStorage.getItem('segget.token')", timeout=PATIENCE)
            state = first.storage_state()
        context = self.browser.new_context(storage_state=state)
        context.set_default_timeout(PATIENCE)
        return context


@contextlib.contextmanager
def served(options, folder, name):
    """A service with a folder of its own."""
    (folder / name).mkdir()
    service = Service(options.segget, folder / name)
    service.start()
    try:
        yield service
    finally:
        stop(service.process)


def loaded(context, service):
    """Opens the page, and answers requests, bytes, and milliseconds until it is interactive."""
    page = context.new_page()
    page.add_init_script(CLICK)
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    sizes = []
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    page.goto(service.address, wait_until="commit")
    took = page.wait_for_function("() => window.interactive").json_value()
    page.wait_for_timeout(1000)
    page.close()
    return len(sizes), sum(sizes), took


def loads(options, folder, slow):
    """First and second loads, with an empty queue and a long one; prints what they take."""
    with served(options, folder, "loads") as service, Browser() as browser:
        for tasks in (0, 10_000):
            if tasks:
                links = "".join(f"{slow}/{number}.bin\n" for number in range(tasks))
                service.tell("add", "-i", "-", "--paused", "-d", "files", stdin=links)
            found = {"first load": [], "second load": []}
            for _ in range(options.rounds):
                with contextlib.closing(browser.user(service)) as context:
                    for runs in found.values():
                        runs.append(loaded(context, service))
            for name, runs in found.items():
                requests, size, took = (statistics.median(column) for column in zip(*runs))
                times = sorted(run[2] for run in runs)
                print(f"{tasks} tasks, {name}: {requests:.0f} requests, {size / 1024:.1f} KiB; interactive after "
                      f"{took:.0f} ms, {times[0]:.0f} to {times[-1]:.0f}", flush=True)


def downloaded(service, browser, url, page):
    """Downloads a file: seconds, and the processor time of the service and of the browser in each of them."""
    number = service.tell("add", url, "--paused", "--again", "-d", "files")
    if page:
        page.locator("#list").get_by_text("file.bin").dblclick()
        page.locator(".detail:not(.loading)").wait_for()
    used = cpu(service.process.pid), browser.cpu()
    began = time.monotonic()
    service.tell("resume", number)
    service.tell("attach", "--quiet", number)
    took = time.monotonic() - began
    used = cpu(service.process.pid) - used[0], browser.cpu() - used[1]
    if page:
        page.locator(".detail[data-state=completed]").wait_for()
    task = service.tasks()["file.bin"]
    service.tell("remove", "--files", number)
    return task["finished"] - task["started"], used[0] / took, used[1] / took


def beside(options, folder, fast):
    """How much longer a download takes beside an open page; prints it."""
    with served(options, folder, "beside") as service, Browser() as browser, \
            contextlib.closing(browser.user(service)) as context:
        # In a virtual machine the first use of memory is slow.
        downloaded(service, browser, f"{fast}/file.bin", None)
        found = {False: [], True: []}
        for number in range(options.rounds):
            # Each goes first in every second pair.
            for is_open in (False, True) if number % 2 else (True, False):
                page = context.new_page() if is_open else None
                if page:
                    page.goto(service.address)
                    page.locator("#empty").wait_for()
                # What the page, or its end, has the browser do comes to an end.
                time.sleep(3)
                found[is_open].append(downloaded(service, browser, f"{fast}/file.bin", page))
                if page:
                    page.close()
    for is_open, runs in found.items():
        took, own, used = (statistics.median(column) for column in zip(*runs))
        print(f"{options.size} {'with' if is_open else 'without'} a page: {took:.2f} s; in each second, the service "
              f"takes {own:.2f} s of a processor, the browser {used:.2f} s")
    ratio = Ratio.of([(one[0], other[0]) for one, other in zip(found[False], found[True])])
    print(f"with a page: {ratio} of the time without, {options.rounds} pairs", flush=True)


def many(options, folder, slow):
    """What the service holds with many pages; prints it."""
    with served(options, folder, "many") as service, Browser() as browser:
        service.tell("add", *(f"{slow}/{number}.iso" for number in range(3)), "-d", "files")
        service.wait(lambda tasks: all(task.get("bytes_done") for task in tasks.values()))
        time.sleep(5)
        print(f"3 tasks, 0 pages: {rss(service.process.pid)[0]:.1f} MiB resident", flush=True)
        pages = []
        for _ in range(options.pages):
            pages.append(browser.browser.new_context().new_page())
            pages[-1].set_default_timeout(PATIENCE)
            pages[-1].goto(service.tell("open", "--no-browser"), wait_until="commit")
            pages[-1].get_by_text("0.iso", exact=True).first.wait_for()
        time.sleep(5)
        used, began = cpu(service.process.pid), time.monotonic()
        time.sleep(10)
        share = (cpu(service.process.pid) - used) / (time.monotonic() - began)
        streams = sum(page.evaluate("document.querySelector('#away').hidden && document.title !== 'segget'")
                      for page in pages)
        now, most = rss(service.process.pid)
        print(f"3 tasks, {options.pages} pages: {now:.1f} MiB resident, {most:.1f} MiB at the most; "
              f"{share:.0%} of a processor; {streams} of them are told of the speed")
        if streams < options.pages:
            raise Failure("some pages do not follow the events")


def measure(options, folder):
    """Everything that is asked for."""
    servers, urls = [], {}
    try:
        for name, size, rate in (("fast", parse_size(options.size), "0"), ("slow", 1 << 30, "64k")):
            (folder / name).mkdir()
            port = free_port()
            servers.append(serve(folder / name, port, size=size, rate=rate))
            urls[name] = f"http://127.0.0.1:{port}"
        if "load" in options.only:
            loads(options, folder, urls["slow"])
        if "beside" in options.only:
            beside(options, folder, urls["fast"])
        if "many" in options.only:
            many(options, folder, urls["slow"])
    finally:
        for server in servers:
            stop(server)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--size", default="4g")
    parser.add_argument("--pages", type=int, default=50)
    parser.add_argument("--segget", type=lambda path: str(pathlib.Path(path).resolve()),
                        default=str(ROOT / ".build/release/segget"))
    parser.add_argument("--only", default="load,beside,many", help="some of these (default: %(default)s)")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="segget-page-", dir="/dev/shm"))
    # nginx's workers are another user when it is started as root.
    folder.chmod(0o755)
    try:
        measure(options, folder)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    run_main(main)
