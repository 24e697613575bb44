"""Namespaces of our own, so that nothing is left of a run, however it ends.

Processes, network devices, sockets and the memory in `WORK` live in namespaces of this program. The
kernel removes all of it when the program ends, even by SIGKILL.
"""

import contextlib
import ctypes
import os
import signal
import subprocess

from loopback import MIB, Failure

# Where a file system in memory is mounted for this program alone.
WORK = "/dev/shm"

CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET = 0x00020000, 0x20000000, 0x40000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


def _call(name, *arguments):
    """A function of the C library that returns -1 and sets errno when it fails."""
    if getattr(LIBC, name)(*arguments) == -1:
        number = ctypes.get_errno()
        raise Failure(f"{name}: {os.strerror(number)}", "the benchmark needs to be root, outside of most containers")


def isolate(memory):
    """Goes on in new namespaces; `WORK` is empty there, with room for `memory` bytes; 0 leaves it as it is."""
    if os.geteuid() != 0:
        raise Failure("the benchmark needs network namespaces of its own, which only root can make",
                      "`make build`, and then `sudo python3 bench/compare.py`")
    with open("/proc/meminfo", encoding="ascii") as file:
        available = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
    if available < memory:
        raise Failure(f"{available // MIB} MiB of memory are available; the files need {memory // MIB}",
                      "end other programs, or name scenarios with smaller files: --scenarios W1,W2")
    _call("unshare", CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET)
    child = os.fork()
    if child:
        _be_parent(child)
    # A terminal's Ctrl-C reaches the parent, who passes it on; once is enough.
    os.setsid()
    _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL)
    _call("mount", None, b"/", None, MS_REC | MS_PRIVATE, None)
    _call("mount", b"proc", b"/proc", b"proc", 0, None)
    if memory:
        _call("mount", b"tmpfs", WORK.encode(), b"tmpfs", 0, f"size={memory},mode=755".encode())
    run("ip", "link", "set", "lo", "up")


def leave_orphans_to_parent():
    """Goes on in a child; the first process of the namespace only collects those whose parents have ended."""
    child = os.fork()
    if not child:
        return
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: os.kill(child, number))
    while True:
        process, status = os.waitpid(-1, 0)
        if process == child:
            status = os.waitstatus_to_exitcode(status)
            os._exit(status if status >= 0 else 128 - status)


def _be_parent(child):
    """Passes signals on to the child, and ends like it."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: os.kill(child, number))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os._exit(status if status >= 0 else 128 - status)


def run(*command):
    """Runs a short command; what it prints is the message when it fails."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"`{' '.join(command)}`: {(done.stderr + done.stdout).strip()}")
    return done.stdout


class Network:
    """A network namespace, held open by a descriptor."""

    def __init__(self, new):
        before = os.open("/proc/self/ns/net", os.O_RDONLY)
        if new:
            _call("unshare", CLONE_NEWNET)
            run("ip", "link", "set", "lo", "up")
        self.descriptor = os.open("/proc/self/ns/net", os.O_RDONLY)
        _call("setns", before, CLONE_NEWNET)
        os.close(before)
        # Or else the kernel's own packets would be lost in place of others, some times.
        if os.path.exists("/proc/sys/net/ipv6"):
            self.set("net.ipv6.conf.default.disable_ipv6", 1)

    @contextlib.contextmanager
    def entered(self):
        """What is started meanwhile lives in this namespace, and stays there."""
        before = os.open("/proc/self/ns/net", os.O_RDONLY)
        try:
            _call("setns", self.descriptor, CLONE_NEWNET)
            yield self
        finally:
            _call("setns", before, CLONE_NEWNET)
            os.close(before)

    def set(self, name, value):
        """Sets a `sysctl` of this namespace."""
        with self.entered(), open(f"/proc/sys/{name.replace('.', '/')}", "w", encoding="ascii") as file:
            file.write(str(value))
