"""An nginx of our own on loopback, and what the demo and the benchmark share around it.

Python's standard library only. Nothing here touches a server that is already running.
"""

import ctypes
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

MIB = 1 << 20
GIB = 1 << 30


class Failure(Exception):
    """Something that ends the program with a message; `hint` says what to do next."""

    def __init__(self, message, hint=None):
        super().__init__(message)
        self.hint = hint


def run_main(main):
    """Runs `main`; turns signals into an orderly end, so that every `finally` is reached."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        if failure.hint:
            print(f"hint: {failure.hint}", file=sys.stderr)
        sys.exit(1)


def die_with_parent():
    """Makes the kernel end this child when its parent ends, even by SIGKILL."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def stop(process):
    """Ends a child of ours, and waits until it is gone."""
    if process and process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def size_text(count):
    """Bytes for people: `1.00 GiB`."""
    for unit, factor in (("GiB", GIB), ("MiB", MIB), ("KiB", 1024)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}" if count < 100 * factor else f"{count / factor:.0f} {unit}"
    return f"{count} bytes"


def parse_size(text):
    """`64m`, `1g` or a number of bytes."""
    factors = {"k": 1024, "m": MIB, "g": GIB}
    factor = factors.get(text[-1:].lower())
    try:
        return int(float(text[:-1]) * factor) if factor else int(text)
    except ValueError:
        raise Failure(f"`{text}` is not a size", "give bytes, or a number with k, m or g") from None


def work_folder(name, needed):
    """A new temporary folder with `needed` bytes free: in $TMPDIR, else on the disk."""
    # /tmp is often kept in memory; /var/tmp is not.
    parent = os.environ.get("TMPDIR") or ("/var/tmp" if os.access("/var/tmp", os.W_OK) else "/tmp")
    free = shutil.disk_usage(parent).free
    if free < needed:
        raise Failure(
            f"`{parent}` has {size_text(free)} free, {size_text(needed)} are needed",
            "free some space, or name another folder: TMPDIR=/path make …")
    return tempfile.mkdtemp(prefix=f"{name}.", dir=parent)


class Nginx:
    """nginx on an address of this machine, serving `folder`, on a port that the kernel chose.

    Its log has a line a request: status, bytes sent, bytes of the body, time of its end, seconds it took, and
    its `Range`. Use it with `with`.
    """

    def __init__(self, work, folder, rate=None, address="127.0.0.1"):
        self.work = work
        self.folder = folder
        self.rate = rate
        self.address = address
        self.process = None
        self.port = None
        self.log = os.path.join(work, "access.log")

    def __enter__(self):
        path = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"
        program = shutil.which("nginx", path=path)
        if not program:
            raise Failure("nginx is not installed", "install it, for example `apt-get install nginx-light`")
        # The kernel chooses a port when a socket is bound; nginx inherits the socket, as it does
        # when it replaces itself, so that nobody else can take the port in between.
        listening = socket.create_server((self.address, 0), backlog=511)
        # A worker that loses the race for a connection must not wait for the next one.
        listening.setblocking(False)
        self.port = listening.getsockname()[1]
        configuration = os.path.join(self.work, "nginx.conf")
        with open(configuration, "w", encoding="utf-8") as file:
            file.write(self._configuration())
        errors = os.path.join(self.work, "nginx.stderr")
        with open(errors, "wb") as output:
            self.process = subprocess.Popen(
                [program, "-p", self.work, "-c", configuration, "-e", os.path.join(self.work, "error.log")],
                env={**os.environ, "NGINX": f"{listening.fileno()};"},
                pass_fds=[listening.fileno()], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                preexec_fn=die_with_parent)
        listening.close()
        try:
            self._wait_until_ready(errors)
        except BaseException:
            stop(self.process)
            raise
        return self

    def __exit__(self, *_):
        stop(self.process)

    def finish(self):
        """Lets requests end and be logged, then ends nginx."""
        self.process.send_signal(signal.SIGQUIT)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            stop(self.process)

    def url(self, name):
        """The URL of a file of the folder."""
        return f"http://{self.address}:{self.port}/{name}"

    def served(self):
        """What the log says after `finish`: number of requests, bytes of their bodies."""
        bodies = [int(body) for _, _, body, *_ in self._requests()]
        return len(bodies), sum(bodies)

    def ranges(self, since):
        """What the log says after `finish` of requests that began at `since`, a `time.time()`, or later: the
        first byte and the one behind the last of each `Range`."""
        for _, _, _, end, took, wanted in self._requests():
            bounds = re.fullmatch(r"bytes=(\d+)-(\d+)", wanted)
            if bounds and float(end) - float(took) >= since:
                yield int(bounds[1]), int(bounds[2]) + 1

    def _requests(self):
        with open(self.log, encoding="ascii") as file:
            return [line.split() for line in file]

    def _wait_until_ready(self, errors):
        deadline = time.monotonic() + 10
        while True:
            if self.process.poll() is not None or time.monotonic() > deadline:
                with open(errors, encoding="utf-8", errors="replace") as file:
                    raise Failure(f"nginx did not start: {file.read().strip() or 'no answer'}")
            try:
                with socket.create_connection((self.address, self.port), timeout=1) as probe:
                    probe.sendall(b"GET /ready HTTP/1.0\r\n\r\n")
                    if probe.recv(16).startswith(b"HTTP/1.1 204"):
                        return
            except OSError:
                pass
            time.sleep(0.02)

    def _configuration(self):
        rate = f"limit_rate {self.rate};" if self.rate else ""
        temporary = " ".join(
            f"{kind}_temp_path '{self.work}/nginx-{kind}';"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        # As root, nginx would give its workers to another user, who cannot read the folder.
        user = "user root;" if os.geteuid() == 0 else ""
        return f"""
            {user} daemon off; worker_processes auto; pid '{self.work}/nginx.pid';
            error_log '{self.work}/error.log' warn;
            events {{ worker_connections 512; }}
            http {{
                {temporary}
                log_format brief '$status $bytes_sent $body_bytes_sent $msec $request_time $http_range';
                access_log '{self.log}' brief;
                sendfile on; tcp_nopush on; keepalive_requests 100000; {rate}
                server {{
                    listen {self.address}:{self.port};
                    root '{self.folder}';
                    location = /ready {{ access_log off; return 204; }}
                }}
            }}
            """
