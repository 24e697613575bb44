#!/usr/bin/env python3
"""Measures `segget serve`: what subscribers of events cost downloads, and what it takes when it has nothing to do.

    make build
    python3 bench/service.py [--pairs 15] [--size 2g] [--seconds 60] [--segget .build/release/segget]

On loopback, in a temporary folder in memory; nginx serves. Exit code 1 when something is not as it is to be.
"""
import argparse
import contextlib
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from loopback import MIB, Failure, die_with_parent, parse_size, run_main, stop
from manager import free_port, rss, serve
from pairs import Ratio

SUBSCRIBERS = 100
# So many tasks that a snapshot of them does not fit into a socket's buffer.
TASKS = 2000
# What each slow subscriber reads in a second, in bytes, and how often it reads, in seconds.
RATE, STEP = 2048, 0.5

# What it is to keep to.
MOST_LOST = 1.02
MOST_MEMORY = 40  # MiB resident
MOST_WAKES = 0.1  # a second
MOST_TO_END = 2  # seconds


def subscribe(path):
    """A connection that has asked for events, and read nothing."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    connection.sendall(b"GET /v2/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return connection


class Service:
    """`segget serve` with a queue of its own, until the end of a `with`."""

    def __init__(self, segget, folder, *arguments):
        self.segget, self.folder, self.arguments = segget, folder, arguments
        self.queue = ["--queue", str(folder / "queue.sqlite")]
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("SEGGET_")}
        self.environment |= {
            "SEGGET_NO_CONFIG": "1", "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state"),
            "XDG_RUNTIME_DIR": str(folder)}
        self.process = None
        self.ready_after = None

    def __enter__(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            address = self.folder / f"notify-{time.monotonic_ns()}"
            manager.bind(str(address))
            manager.settimeout(30)
            began = time.monotonic()
            self.process = subprocess.Popen(
                [self.segget, "serve", *self.queue, *self.arguments], cwd=self.folder, stderr=subprocess.DEVNULL,
                env=self.environment | {"NOTIFY_SOCKET": str(address)}, preexec_fn=die_with_parent)
            while b"READY=1" not in manager.recv(8192):
                pass
            self.ready_after = time.monotonic() - began
        return self

    def __exit__(self, *_):
        stop(self.process)

    def tell(self, *arguments):
        """A command about the queue; returns what it prints."""
        return subprocess.run(
            [self.segget, arguments[0], *self.queue, *arguments[1:]], cwd=self.folder, env=self.environment,
            capture_output=True, text=True, check=True).stdout.strip()

    def tasks(self, *arguments):
        """The JSON of tasks."""
        return json.loads(self.tell("list", "--json", *arguments))

    def socket(self):
        """Path of its socket."""
        return json.loads((self.folder / "queue.sqlite.lock").read_text())["socket"]

    def fetch(self, url):
        """The seconds that one download takes, by the service's own times; its file is removed."""
        number = self.tell("add", url, "-d", str(self.folder / "files"), "--again")
        # Asking for it would take time of the processor.
        while not (self.folder / "files/file").exists():
            time.sleep(0.02)
        while True:
            task = next(task for task in self.tasks() if task["id"] == number)
            if task["state"] == "completed":
                break
        self.tell("remove", "--files", number)
        return task["finished"] - task["started"]

    def wakes(self, seconds):
        """How often its threads wake meanwhile: each time they wait again after that."""
        def counts():
            found = {}
            for status in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/status"):
                with contextlib.suppress(OSError):
                    lines = status.read_text().splitlines()
                    found[status.parent.name] = next(
                        int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))
            return found

        before = counts()
        latest = dict(before)
        # Threads that have nothing to do end after some seconds.
        for _ in range(seconds):
            time.sleep(1)
            latest |= counts()
        return sum(count - before.get(thread, 0) for thread, count in latest.items())

    def shared(self):
        """Its memory, what it shares counted in part, in MiB."""
        lines = pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def read_slowly(path):
    """As a process of its own: 100 subscribers who read slowly, and one who never does, until it is ended."""
    slow, never = [subscribe(path) for _ in range(SUBSCRIBERS)], subscribe(path)
    print("attached", flush=True)
    while never:
        time.sleep(STEP)
        for connection in slow:
            with contextlib.suppress(BlockingIOError):
                connection.recv(int(RATE * STEP), socket.MSG_DONTWAIT)


@contextlib.contextmanager
def subscribers(service):
    """They are there, until the end of a `with`."""
    process = subprocess.Popen(
        [sys.executable, __file__, "--read", service.socket()], stdout=subprocess.PIPE, preexec_fn=die_with_parent)
    try:
        process.stdout.readline()
        yield
    finally:
        stop(process)


def losses(service, url, pairs):
    """How much longer a download takes while there are subscribers; returns whether that is as it is to be."""
    # In a virtual machine the first use of memory is slow.
    service.fetch(url)
    before = rss(service.process.pid)[0]
    times = []
    for number in range(pairs):
        pair = {}
        # Each goes first in every second pair.
        for listened in (False, True) if number % 2 else (True, False):
            with subscribers(service) if listened else contextlib.nullcontext():
                time.sleep(1)
                pair[listened] = service.fetch(url)
        times.append((pair[False], pair[True]))
    ratio = Ratio.of(times)
    alone = sorted(pair[0] for pair in times)
    now, most = rss(service.process.pid)
    print(f"{SUBSCRIBERS} slow subscribers and one that never reads: {ratio} of the time without, {pairs} pairs; "
          f"without {statistics.median(alone):.2f} s, {alone[0]:.2f} to {alone[-1]:.2f}")
    print(f"memory: {before:.1f} MiB before them, {most:.1f} MiB at the most, {now:.1f} MiB after")
    return ratio.middle <= MOST_LOST or ratio.low <= 1


def never_reads(service, url):
    """How long one that never reads is kept, while tasks change; returns whether that is as it is to be."""
    (service.folder / "list").write_text("".join(f"{url}?{number}\n" for number in range(TASKS)))
    service.tell("add", "--paused", "-i", "list")
    number = service.tell("add", url, "-d", str(service.folder / "files"), "--again", "--limit-rate", "1m")
    before = rss(service.process.pid)[0]
    began = time.monotonic()
    connection = subscribe(service.socket())
    poll = select.poll()
    # Hung up is told without being asked for.
    poll.register(connection, 0)
    is_closed = bool(poll.poll(150_000))
    now, most = rss(service.process.pid)
    print(f"one that never reads, of {TASKS} tasks: " + (
        f"closed after {time.monotonic() - began:.0f} s" if is_closed else "never closed")
        + f"; memory {before:.1f} MiB before, {most:.1f} MiB at the most, {now:.1f} MiB after")
    service.tell("remove", "--files", number)
    return is_closed


def idle(service, seconds, what):
    """How often it wakes and what it holds; returns whether that is as it is to be."""
    # Threads that were needed at the start end, and what is looked up then settles.
    time.sleep(30)
    wakes = service.wakes(seconds)
    resident, shared = rss(service.process.pid)[0], service.shared()
    print(f"nothing to do{what}: {wakes} wakes in {seconds} s, {resident:.1f} MiB resident, "
          f"{shared:.1f} MiB with its part of what is shared")
    return wakes <= MOST_WAKES * seconds and resident <= MOST_MEMORY


def starts(segget, folder, rounds):
    """How long it takes until it is ready, and prints it."""
    times = []
    for _ in range(rounds):
        with Service(segget, folder) as service:
            times.append(service.ready_after)
    print(f"start: ready after {statistics.median(times) * 1000:.0f} ms, {max(times) * 1000:.0f} ms at the most")


def ends(segget, folder, url, rounds):
    """How long it takes to end while three downloads run; returns whether that is as it is to be."""
    times, codes = [], set()
    for _ in range(rounds):
        with Service(segget, folder) as service:
            for _ in range(3):
                service.tell("add", url, "-d", str(folder / "files"), "--again")
            while sum(task["bytes_done"] > 0 for task in service.tasks("--state", "running")) < 3:
                time.sleep(0.05)
            began = time.monotonic()
            service.process.send_signal(signal.SIGTERM)
            codes.add(service.process.wait())
            times.append(time.monotonic() - began)
        with Service(segget, folder) as service:
            service.tell("remove", "--files", "--all")
    print(f"SIGTERM while 3 run: ended after {statistics.median(times) * 1000:.0f} ms, "
          f"{max(times) * 1000:.0f} ms at the most, exit codes {sorted(codes)}")
    return max(times) <= MOST_TO_END and codes == {0}


def measure(options, folder):
    """Everything; returns whether all is as it is to be."""
    size = parse_size(options.size)
    ports = free_port(), free_port()
    servers = []
    good = []
    try:
        for name, port, rate in (("fast", ports[0], "0"), ("slow", ports[1], "512k")):
            (folder / name).mkdir()
            servers.append(serve(folder / name, port, size=size, rate=rate))
        fast, slow = (f"http://127.0.0.1:{port}/file" for port in ports)

        def place(name):
            (folder / name).mkdir()
            return folder / name

        if "times" in options.only:
            starts(options.segget, place("starts"), options.rounds)
            good.append(ends(options.segget, place("ends"), slow, options.rounds))
        if "idle" in options.only:
            with Service(options.segget, place("idle")) as service:
                good.append(idle(service, options.seconds, ""))
                with subscribe(service.socket()):
                    # The keep-alive may wake it.
                    idle(service, options.seconds, ", with a subscriber")
        if "subscribers" in options.only:
            # Others who use this machine are not to be preferred.
            with Service(options.segget, place("pairs"), "--nice", "0") as service:
                good.append(losses(service, fast, options.pairs))
                good.append(never_reads(service, fast))
    finally:
        for server in servers:
            stop(server)
    return all(good)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--size", default="2g")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--segget", default=str(ROOT / ".build/release/segget"))
    parser.add_argument("--only", default="times,idle,subscribers", help="some of these (default: %(default)s)")
    parser.add_argument("--read", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        return read_slowly(options.read)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="segget-service-", dir="/dev/shm"))
    # nginx's workers are another user when it is started as root.
    folder.chmod(0o755)
    try:
        return 0 if measure(options, folder) else 1
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    run_main(main)
