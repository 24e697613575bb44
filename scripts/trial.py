"""What the trials of this folder share: an origin that notes what it has sent, and namespaces of their own.

Python's standard library only.
"""

import http.server
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

from loopback import MIB, Failure, die_with_parent, stop

SIZE, PACE, PIECE = 24 * MIB, 3 * MIB, 16 * 1024


# Outside


def unified():
    """Where the one hierarchy of control groups (version 2) is mounted; `None` if it is not."""
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        _, place, kind, *_ = line.split()
        if kind == "cgroup2":
            return pathlib.Path(place)
    return None


def hindrance():
    """Why there can be no namespaces and control groups here; `None` if there can."""
    if os.geteuid() != 0:
        return "it needs root"
    groups = unified()
    if not groups:
        return "it needs a mounted cgroup2"
    try:
        group = groups / f"segget-try-{os.getpid()}"
        group.mkdir()
        group.rmdir()
    except OSError as error:
        return f"no control group can be made: {error}"
    done = subprocess.run(
        ["unshare", "--mount", "--pid", "--cgroup", "--fork", "--mount-proc", "mount", "-t", "tmpfs", "tmpfs", "/run"],
        capture_output=True, text=True, check=False)
    return f"no namespaces can be made: {done.stderr.strip()}" if done.returncode else None


def isolated(script, arguments, *namespaces):
    """Runs a script with `--inside` in namespaces and a control group of its own; returns its exit code.

    The namespaces are those of mounts, processes and control groups, and what `namespaces` has for unshare(1).
    """
    group = unified() / f"segget-try-{os.getpid()}"
    group.mkdir()

    def enter():
        die_with_parent()
        (group / "cgroup.procs").write_text(str(os.getpid()))

    process = None
    try:
        process = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--cgroup", *namespaces, "--fork", "--kill-child", "--mount-proc",
             sys.executable, script, "--inside", *arguments],
            stdin=subprocess.DEVNULL, preexec_fn=enter)
        return process.wait()
    finally:
        stop(process)
        remove(group)


def remove(group):
    """Removes a control group and those in it, once the kernel has let go of their processes."""
    deadline = time.monotonic() + 10
    while group.exists():
        for folder, _, _ in os.walk(group, topdown=False):
            try:
                os.rmdir(folder)
            except OSError:
                time.sleep(0.02)
        if time.monotonic() > deadline:
            raise Failure(f"{group} cannot be removed")


# Inside


def mount(*arguments):
    """Runs mount(8)."""
    subprocess.run(["mount", *arguments], check=True)


class Origin(http.server.ThreadingHTTPServer):
    """Serves one file at every path, slowly, and notes which of its bytes it has sent."""

    daemon_threads = True

    def __init__(self):
        self.content = os.urandom(SIZE)
        self.sent = []  # path, first byte, number of bytes
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, path):
        """The URL of a path."""
        return f"http://127.0.0.1:{self.server_address[1]}{path}"

    def twice(self, path):
        """How many bytes of a path were sent more than once."""
        spans = sorted((first, first + count) for name, first, count in list(self.sent) if name == path)
        end = again = 0
        for first, last in spans:
            again += max(0, min(end, last) - first)
            end = max(end, last)
        return again


class RangeHandler(http.server.BaseHTTPRequestHandler):
    """What all answers with a file, or a part of it, have; `do_GET` is for the class that is made of it."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Says nothing."""

    def do_HEAD(self):
        """Answers without the file."""
        self.do_GET()

    def begin(self, size, **fields):
        """Sends the head for a file of that size; returns which bytes are to follow, the second one included."""
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        first, last = (int(wanted[1]), int(wanted[2] or size - 1)) if wanted else (0, size - 1)
        last = min(last, size - 1)
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(last + 1 - first))
        self.send_header("Accept-Ranges", "bytes")
        if wanted:
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        return (first, last) if self.command != "HEAD" else (0, -1)


class Handler(RangeHandler):
    """Answers a request for the file, or a part of it."""

    def do_GET(self):
        """Answers."""
        if self.path.startswith("/none"):
            self.send_error(404)
            return
        first, last = self.begin(SIZE, ETag='"one"')
        try:
            while first <= last:
                count = min(PIECE, last + 1 - first)
                self.wfile.write(self.server.content[first:first + count])
                self.server.sent.append((self.path, first, count))
                first += count
                time.sleep(count / PACE)
        except OSError:
            self.close_connection = True


def wait(what, holds, seconds=120):
    """Waits until something holds, and returns it."""
    deadline = time.monotonic() + seconds
    while not (value := holds()):
        if time.monotonic() > deadline:
            raise Failure(f"after {seconds} s there is still not: {what}")
        time.sleep(0.02)
    return value


def check(what, holds, details=""):
    """Says that something holds; ends the script if it does not."""
    if not holds:
        raise Failure(f"not so: {what} {details}".rstrip())
    print(f"ok: {what}", flush=True)
