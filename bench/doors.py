#!/usr/bin/env python3
"""Measures `segget serve --rpc` beside aria2c: what callers over TCP cost, and how soon they are answered.

    make build
    python3 bench/doors.py [--pairs 9] [--rounds 5] [--size 4g] [--seconds 60] [--segget .build/release/segget]

On loopback, in a temporary folder in memory; nginx serves. Exit code 1 when something is not as it is to be.
"""
import argparse
import contextlib
import json
import pathlib
import re
import selectors
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from loopback import Failure, die_with_parent, parse_size, run_main, stop
from manager import cpu, free_port, rss, serve
from pairs import Ratio
from service import MOST_LOST, RATE, STEP, Service

# Of each kind, when they are to slow a download.
SLOW = 100
# Calls a second, for as long as `--seconds` says, and for as long as a download runs.
MANY, POLLS = 1000, 100
# So many tasks that an answer of all of them does not fit into a socket's buffer.
TASKS = 2000
# What memory may differ by from the tenth part of the calls to their end.
MOST_GROWTH = 2  # MiB
# Longest time that a short call takes beside clients that ask for all tasks, in seconds, for 99 of 100 calls.
MOST_DELAY = 0.05


class Caller:
    """A connection that calls methods of aria2, one after the other."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reader = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.reader.close()
        self.socket.close()

    @staticmethod
    def request(method, *arguments):
        """The bytes of a call."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": arguments}).encode()
        return b"POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)

    def call(self, method, *arguments):
        """What it answers; a failure ends the measurement."""
        self.socket.sendall(self.request(method, *arguments))
        length = None
        while (line := self.reader.readline()) != b"\r\n":
            if not line:
                raise Failure(f"the connection ended in the answer to {method}")
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        answer = json.loads(self.reader.read(length))
        if "error" in answer:
            raise Failure(f"{method}: {answer['error']}")
        return answer["result"]


class Daemon:
    """A process that answers aria2's calls on a port of its own, until the end of a `with`."""

    def __init__(self, name, folder, *command):
        self.name, self.folder, self.command, self.port = name, folder, command, free_port()
        self.process = None

    def __enter__(self):
        self.folder.mkdir()
        command = [word.replace("PORT", str(self.port)) for word in self.command]
        self.process = subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder),
                 "TMPDIR": str(self.folder), "SEGGET_NO_CONFIG": "1"}, preexec_fn=die_with_parent)
        while self.process.poll() is None:
            with contextlib.suppress(OSError), self.caller() as caller:
                caller.call("aria2.getVersion")
                return self
            time.sleep(0.01)
        raise Failure(f"{self.name} ended with code {self.process.returncode}")

    def __exit__(self, *_):
        stop(self.process)
        shutil.rmtree(self.folder)

    def caller(self):
        """A connection to it."""
        return Caller(self.port)


def daemons(segget, folder):
    """Ours as a service and as the drop-in, and aria2's."""
    drop_in = folder / "segget-aria2c"
    if not drop_in.exists():
        drop_in.symlink_to(segget)
    as_aria2 = ["--no-conf", "--enable-rpc", "--rpc-listen-port=PORT", "-x16", "-s16", "-k1M"]
    return [
        Daemon("segget serve", folder / "serve", segget, "serve", "--queue", str(folder / "serve/queue.sqlite"),
               "--nice", "0", "-d", str(folder / "serve/files"), "--rpc", "127.0.0.1:PORT", "--rpc-no-secret"),
        Daemon("segget-aria2c", folder / "drop-in", str(drop_in), *as_aria2),
        Daemon("aria2c", folder / "aria2c", shutil.which("aria2c"), *as_aria2, "--file-allocation=none"),
    ]


def idle(segget, folder):
    """What each holds that has nothing to do, and prints it."""
    for daemon in daemons(segget, folder):
        with daemon:
            with daemon.caller() as caller:
                for _ in range(100):
                    caller.call("aria2.tellActive")
            time.sleep(10)
            print(f"{daemon.name}: {rss(daemon.process.pid)[0]:.1f} MiB resident with nothing to do")


def download(daemon, url, polls):
    """One download; returns its seconds, processor time and those of each `tellActive` meanwhile."""
    latencies = []
    with daemon.caller() as caller:
        began, used = time.monotonic(), cpu(daemon.process.pid)
        number = caller.call("aria2.addUri", [url], {"out": "file"})
        next_call = began
        while True:
            called = time.monotonic()
            if polls:
                caller.call("aria2.tellActive")
                latencies.append(time.monotonic() - called)
            if called >= next_call:
                next_call = called + 0.05
                status = caller.call("aria2.tellStatus", number, ["status", "errorMessage", "files"])
                if status["status"] == "complete":
                    break
                if status["status"] == "error":
                    raise Failure(f"{daemon.name}: {status['errorMessage']}")
            time.sleep(max(0, called + 1 / POLLS - time.monotonic()) if polls else 0.05)
        seconds, used = time.monotonic() - began, cpu(daemon.process.pid) - used
        caller.call("aria2.removeDownloadResult", number)
    pathlib.Path(status["files"][0]["path"]).unlink()
    return seconds, used, latencies


def polled(segget, folder, url, rounds):
    """How soon `tellActive` is answered while a download runs at full speed, and what it costs; prints it."""
    found = {}
    for _ in range(rounds):
        # They take turns, so that what else the machine does hits all.
        for daemon in daemons(segget, folder):
            with daemon:
                download(daemon, url, polls=False)
                found.setdefault(daemon.name, []).append(
                    (download(daemon, url, polls=False), download(daemon, url, polls=True)))
    for name, pairs in found.items():
        latencies = sorted(latency for _, asked in pairs for latency in asked[2])
        quiet, asked = ([pair[which] for pair in pairs] for which in (0, 1))
        print(f"{name}, {POLLS} tellActive a second: answered after {statistics.median(latencies) * 1000:.2f} ms, "
              f"99 % within {latencies[int(len(latencies) * 0.99)] * 1000:.2f} ms, "
              f"all within {latencies[-1] * 1000:.2f} ms, {len(latencies)} calls; "
              f"download {statistics.median(run[0] for run in asked):.2f} s "
              f"({statistics.median(run[0] for run in quiet):.2f} s unasked), "
              f"processor {statistics.median(run[1] for run in asked):.2f} s "
              f"({statistics.median(run[1] for run in quiet):.2f} s unasked)")


def steady(segget, folder, url, seconds):
    """Memory while each is asked `MANY` times a second; returns whether ours is flat."""
    good = True
    for daemon in daemons(segget, folder):
        with daemon, daemon.caller() as caller:
            number = caller.call("aria2.addUri", [url], {"out": "file"})
            began = time.monotonic()
            latencies, early = [], None
            used = cpu(daemon.process.pid)
            for count in range(MANY * seconds):
                time.sleep(max(0, began + count / MANY - time.monotonic()))
                called = time.monotonic()
                caller.call("aria2.tellStatus", number)
                latencies.append(time.monotonic() - called)
                if count == MANY * seconds // 10:
                    early = rss(daemon.process.pid)[0]
            took, used = time.monotonic() - began, cpu(daemon.process.pid) - used
            late = rss(daemon.process.pid)[0]
            latencies.sort()
            print(f"{daemon.name}, {len(latencies) / took:.0f} tellStatus a second for {took:.0f} s, one download "
                  f"at 512 KiB/s a connection: {early:.1f} MiB after a tenth, {late:.1f} MiB at the end; "
                  f"answered after {statistics.median(latencies) * 1000:.2f} ms, "
                  f"99 % within {latencies[int(len(latencies) * 0.99)] * 1000:.2f} ms; "
                  f"{used / took * 100:.0f} % of a processor")
            good &= daemon.name == "aria2c" or late - early <= MOST_GROWTH
    return good


def be_slow(port, secret):
    """As a process of its own: those who send slowly and those who read slowly, until it is ended."""
    all_tasks = Caller.request("aria2.tellWaiting", "token:" + secret, 0, TASKS)

    def connect(reads):
        connection = socket.socket()
        # Else the kernel takes an answer of many tasks at once.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", port))
        connection.sendall(all_tasks if reads else all_tasks[:60])
        return connection

    connections = [[connect(reads), reads] for reads in [True, False] * SLOW]
    print("attached", flush=True)
    while connections:
        time.sleep(STEP)
        for place in connections:
            try:
                if place[1]:
                    ended = not place[0].recv(int(RATE * STEP), socket.MSG_DONTWAIT)
                else:
                    ended = place[0].send(b" ") == 0
            except BlockingIOError:
                continue
            except OSError:
                ended = True
            # Who is closed for being slow comes again.
            if ended:
                place[0].close()
                with contextlib.suppress(OSError):
                    place[0] = connect(place[1])


def settle(pid):
    """Waits until a process has hardly anything to do."""
    before = cpu(pid)
    while True:
        time.sleep(1)
        now = cpu(pid)
        if now - before < 0.05:
            return
        before = now


@contextlib.contextmanager
def slow_ones(port, secret):
    """They are there, until the end of a `with`."""
    process = subprocess.Popen(
        [sys.executable, __file__, "--be-slow", str(port), secret], stdout=subprocess.PIPE, preexec_fn=die_with_parent)
    try:
        process.stdout.readline()
        yield
    finally:
        stop(process)


def losses(segget, folder, url, pairs):
    """How much longer a download takes beside the slow; returns whether that is as it is to be."""
    port = free_port()
    # Others who use this machine are not to be preferred.
    with Service(segget, folder, "--nice", "0", "--rpc", str(port)) as service:
        secret = service.tell("serve", "--show-secret")
        (folder / "list").write_text("".join(f"{url}?{number}\n" for number in range(TASKS)))
        service.tell("add", "--paused", "-i", "list")
        # In a virtual machine the first use of memory is slow.
        service.fetch(url)
        before = rss(service.process.pid)[0]
        times = []
        for number in range(pairs):
            pair = {}
            # Each goes first in every second pair.
            for beside in (False, True) if number % 2 else (True, False):
                with slow_ones(port, secret) if beside else contextlib.nullcontext():
                    # To make a hundred answers of all tasks takes seconds, in which the times of tasks are noted late.
                    settle(service.process.pid)
                    pair[beside] = service.fetch(url)
            times.append((pair[False], pair[True]))
        now, most = rss(service.process.pid)
    ratio = Ratio.of(times)
    alone = sorted(pair[0] for pair in times)
    print(f"{SLOW} slow senders and {SLOW} slow readers: {ratio} of the time without, {pairs} pairs; "
          f"without {statistics.median(alone):.2f} s, {alone[0]:.2f} to {alone[-1]:.2f}")
    print(f"memory: {before:.1f} MiB before them, {most:.1f} MiB at the most, {now:.1f} MiB after")
    return ratio.middle <= MOST_LOST or ratio.low <= 1


def be_crowd(port, secret):
    """As a process of its own: `SLOW` clients that ask for all tasks at once and read the answers."""
    request = Caller.request("aria2.tellWaiting", "token:" + secret, 0, TASKS)
    waiting = selectors.DefaultSelector()
    for _ in range(SLOW):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.sendall(request)
        waiting.register(connection, selectors.EVENT_READ, [b"", None])
    while waiting.get_map():
        for key, _ in waiting.select():
            got = key.fileobj.recv(1 << 20)
            text, length = key.data
            if length is None:
                text += got
                head, end, rest = text.partition(b"\r\n\r\n")
                if end:
                    length = int(re.search(rb"(?i)content-length: (\d+)", head)[1]) - len(rest)
            else:
                length -= len(got)
            key.data[:] = text, length
            if not got or length == 0:
                if length != 0:
                    raise Failure("a client's connection ended in its answer")
                waiting.unregister(key.fileobj)
                key.fileobj.close()


def crowd(segget, folder):
    """How soon a short call is answered while `SLOW` clients ask for `TASKS` tasks; prints it, returns whether soon."""
    port = free_port()
    with Service(segget, folder, "--nice", "0", "--rpc", str(port)) as service:
        secret = service.tell("serve", "--show-secret")
        (folder / "list").write_text("".join(f"http://127.0.0.1:1/?{number}\n" for number in range(TASKS)))
        service.tell("add", "--paused", "-i", "list")
        settle(service.process.pid)
        before = rss(service.process.pid)[0]
        latencies = []
        with Caller(port) as caller:
            call = lambda: caller.call("aria2.getGlobalStat", "token:" + secret)  # noqa: E731
            call()
            began = time.monotonic()
            process = subprocess.Popen(
                [sys.executable, __file__, "--be-crowd", str(port), secret], preexec_fn=die_with_parent)
            while process.poll() is None:
                called = time.monotonic()
                call()
                latencies.append(time.monotonic() - called)
                time.sleep(0.01)
            took = time.monotonic() - began
        if process.returncode:
            raise Failure("the clients were not all answered")
        most = rss(service.process.pid)[1]
    latencies.sort()
    print(f"{SLOW} clients ask for {TASKS} tasks at once: all answered after {took:.2f} s; a short call meanwhile "
          f"after {statistics.median(latencies) * 1000:.1f} ms, 99 % within "
          f"{latencies[int(len(latencies) * 0.99)] * 1000:.1f} ms, all within {latencies[-1] * 1000:.1f} ms; "
          f"memory {before:.1f} MiB before, {most:.1f} MiB at the most")
    return latencies[int(len(latencies) * 0.99)] <= MOST_DELAY


def measure(options, folder):
    """Everything; returns whether all is as it is to be."""
    servers, urls, good = [], {}, []
    try:
        for name, rate in (("fast", "0"), ("slow", "512k")):
            (folder / name).mkdir()
            port = free_port()
            servers.append(serve(folder / name, port, size=parse_size(options.size), rate=rate))
            urls[name] = f"http://127.0.0.1:{port}/file"
        if "idle" in options.only:
            idle(options.segget, folder)
        if "polled" in options.only:
            polled(options.segget, folder, urls["fast"], options.rounds)
        if "steady" in options.only:
            good.append(steady(options.segget, folder, urls["slow"], options.seconds))
        if "crowd" in options.only:
            (folder / "crowd").mkdir()
            good.append(crowd(options.segget, folder / "crowd"))
        if "slow" in options.only:
            (folder / "pairs").mkdir()
            good.append(losses(options.segget, folder / "pairs", urls["fast"], options.pairs))
    finally:
        for server in servers:
            stop(server)
    return all(good)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--size", default="2g")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--segget", type=lambda path: str(pathlib.Path(path).resolve()),
                        default=str(ROOT / ".build/release/segget"))
    parser.add_argument("--only", default="idle,polled,steady,crowd,slow", help="some of these (default: %(default)s)")
    parser.add_argument("--be-slow", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--be-crowd", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.be_crowd:
        return be_crowd(int(options.be_crowd[0]), options.be_crowd[1])
    if options.be_slow:
        return be_slow(int(options.be_slow[0]), options.be_slow[1])
    folder = pathlib.Path(tempfile.mkdtemp(prefix="segget-doors-", dir="/dev/shm"))
    # nginx's workers are another user when it is started as root.
    folder.chmod(0o755)
    try:
        return 0 if measure(options, folder) else 1
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    run_main(main)
