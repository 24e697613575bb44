#!/usr/bin/env python3
"""Tries `segget.service` and `segget.socket` with a real systemd of a user, as root.

    make build && sudo scripts/try-systemd.py [--segget .build/release/segget]
    scripts/try-systemd.py --check   says by exit code 77 and a line why it cannot be tried here

systemd and its journal run for a user who is not root, in namespaces and a cgroup of their own, beside whatever
manages the machine: nothing is left of them, however this ends.
"""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import trial
from loopback import MIB, Failure, die_with_parent, run_main, stop
from trial import SIZE, Origin, check, mount, wait

ROOT = pathlib.Path(__file__).resolve().parent.parent
SYSTEMD = "/lib/systemd/systemd"
# A user whom nobody has, in a folder of the file system in memory that is mounted on /run.
USER, NAME = 54321, "segget-try"
PLACE = pathlib.Path("/run/segget-try")
RUNTIME = pathlib.Path(f"/run/user/{USER}")
CANNOT = 77


# Outside


def hindrance():
    """Why it cannot be tried here; `None` if it can."""
    if not os.access(SYSTEMD, os.X_OK):
        return "it needs systemd"
    for program in ("unshare", "setpriv", "systemctl", "journalctl", "mount", "make"):
        if not shutil.which(program):
            return f"it needs {program}"
    return trial.hindrance()


# Inside


def prepare():
    """What a booted machine has before its users come."""
    mount("-t", "tmpfs", "tmpfs", "/run")
    mount("-t", "cgroup2", "cgroup2", str(unified_root()))
    for folder in ("/run/systemd/system", "/run/systemd/journald.conf.d", "/run/log/journal", RUNTIME, PLACE / "home"):
        pathlib.Path(folder).mkdir(parents=True)
    for folder in (RUNTIME, PLACE / "home"):
        os.chown(folder, USER, USER)
        folder.chmod(0o700)
    passwd = pathlib.Path("/etc/passwd").read_text()
    (PLACE / "passwd").write_text(f"{passwd}{NAME}:x:{USER}:{USER}::{PLACE}/home:/bin/sh\n")
    mount("--bind", str(PLACE / "passwd"), "/etc/passwd")
    pathlib.Path("/run/systemd/journald.conf.d/try.conf").write_text(
        "[Journal]\nStorage=volatile\nReadKMsg=no\nAudit=no\nRateLimitBurst=0\n")
    group = unified_root() / "user"
    group.mkdir()
    for path in (group, group / "cgroup.procs", group / "cgroup.subtree_control", group / "cgroup.threads"):
        os.chown(path, USER, USER)
    return group


def unified_root():
    """systemd takes the hierarchy for the only one where it is mounted here."""
    return pathlib.Path("/sys/fs/cgroup")


class User:
    """The user whose services are managed."""

    def __init__(self, prefix):
        self.bin = prefix / "bin/segget"
        self.environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(PLACE / "home"), "USER": NAME, "LOGNAME": NAME,
            "XDG_RUNTIME_DIR": str(RUNTIME), "LC_ALL": "C.UTF-8", "SYSTEMD_PAGER": "",
            # Whoever installs to /usr or /usr/local does without.
            "SYSTEMD_UNIT_PATH": f"{prefix}/share/systemd/user:"}
        self.home = PLACE / "home"

    def start(self, *command, **more):
        """Starts a program of the user's."""
        return subprocess.Popen(
            ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *map(str, command)],
            env=self.environment, cwd=self.home, stdin=subprocess.DEVNULL, **more)

    def run(self, *command, accepts=(0,)):
        """Runs a program of the user's; returns what it prints."""
        process = self.start(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        output, errors = process.communicate()
        if process.returncode not in accepts:
            raise Failure(f"`{' '.join(map(str, command))}` ends with {process.returncode}: {output}{errors}")
        return output

    def systemctl(self, *arguments, **more):
        """`systemctl --user`."""
        return self.run("systemctl", "--user", "--no-pager", *arguments, **more)

    def property(self, name, unit="segget.service"):
        """A property of a unit."""
        return self.systemctl("show", "--value", "-p", name, unit).strip()

    def segget(self, *arguments):
        """A command about the queue."""
        return self.run(self.bin, *arguments).strip()

    def task(self, number):
        """The JSON of a task."""
        tasks = json.loads(self.segget("list", "--json"))
        return next(task for task in tasks if task["id"] == number)

    def waits(self, state, *numbers):
        """Waits until tasks are in a state."""
        for number in numbers:
            wait(f"task {number} {state}", lambda: self.task(number)["state"] == state, 60)


def journal():
    """What the service has said: text and priority."""
    lines = subprocess.run(
        ["journalctl", "--directory=/run/log/journal", f"_UID={USER}", "_COMM=segget-manager", "-o", "json", "--all"],
        capture_output=True, text=True, check=True).stdout.splitlines()
    return [(entry["MESSAGE"], entry["PRIORITY"]) for entry in map(json.loads, lines)]


def inside(arguments):
    """Starts what a booted machine has, and tries the service."""
    prefix = PLACE / "prefix"
    group = prepare()
    binary = arguments.segget.absolute()
    manager = binary.with_name("segget-manager")
    # As they are: nothing is built here.
    subprocess.run(
        ["make", "-s", "-C", ROOT, "-o", binary, "-o", manager, "install", f"BINARY={binary}", f"PREFIX={prefix}"],
        check=True)
    user = User(prefix)
    processes = [subprocess.Popen(["/lib/systemd/systemd-journald"], preexec_fn=die_with_parent)]
    try:
        wait("the journal", lambda: os.path.exists("/run/systemd/journal/stdout"))
        # What the user starts stays in the group that is the user's.
        (group / "cgroup.procs").write_text(str(os.getpid()))
        processes.append(user.start(SYSTEMD, "--user", "--log-target=journal"))
        wait("the user's systemd", lambda: user.systemctl("is-system-running", accepts=(0, 1, 4)).strip() == "running")
        version = subprocess.run([SYSTEMD, "--version"], capture_output=True, text=True, check=True).stdout
        print(f"{version.splitlines()[0]}, for the user {NAME}", flush=True)
        attempt(user, Origin())
        return 0
    except Failure:
        print(user.systemctl("status", "segget.service", "segget.socket", accepts=(0, 1, 3, 4)), file=sys.stderr)
        print("\n".join(f"<{priority}>{text}" for text, priority in journal()), file=sys.stderr)
        raise
    finally:
        for process in reversed(processes):
            stop(process)


def attempt(user, origin):
    """All that is tried, in order."""
    starts_by_the_first_command(user, origin)
    reads_settings_again(user)
    goes_on_after_a_restart(user, origin)
    is_watched(user, origin)
    ends_soon(user, origin)
    logs(user, origin)


def starts_by_the_first_command(user, origin):
    """`enable --now segget.socket` is all that a user does."""
    user.systemctl("enable", "--now", "segget.socket")
    check("segget.socket listens, and nothing runs",
          user.property("ActiveState", "segget.socket") == "active" and user.property("ActiveState") == "inactive")
    check("segget.service starts at logins, too", user.property("UnitFileState") == "enabled")
    began = time.monotonic()
    first = user.segget("add", origin.url("/first"), "-x", "4")
    took = time.monotonic() - began
    check(f"the first `segget add` starts the service ({took:.2f} s)", user.property("ActiveState") == "active")
    pid = user.property("MainPID")
    status = dict(
        line.split(":\t", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)
    check("it is hardened, and nice", status["NoNewPrivs"] == "1" and status["Seccomp"] == "2"
          and os.getpriority(os.PRIO_PROCESS, int(pid)) == 10)
    wait("bytes", lambda: user.task(first)["bytes_done"] > MIB)
    wait("the status line", lambda: user.property("StatusText").startswith("1 running, "))
    line = next(line for line in user.systemctl("status", "segget.service").splitlines() if "Status:" in line)
    check(f"`systemctl --user status` has `{line.strip()}`", "1 running, " in line)
    user.waits("completed", first)
    path = user.home / "first"
    check("the file is right, and has the mode of the user's umask",
          hashlib.sha256(path.read_bytes()).digest() == hashlib.sha256(origin.content).digest()
          and path.stat().st_mode & 0o777 == 0o644, oct(path.stat().st_mode))
    wait("the status line", lambda: user.property("StatusText") == "nothing to do")


def reads_settings_again(user):
    """SIGHUP."""
    pid = user.property("MainPID")
    folder = user.home / ".config/segget"
    folder.mkdir(parents=True)
    (folder / "config").write_text("nice = 15\n")
    user.systemctl("reload", "segget.service")
    wait("the settings", lambda: any(text == "the settings were reloaded" for text, _ in journal()))
    check("`systemctl --user reload` has it read its settings again, in the same process",
          user.property("MainPID") == pid and os.getpriority(os.PRIO_PROCESS, int(pid)) == 15)


def goes_on_after_a_restart(user, origin):
    """A new program takes over."""
    number = user.segget("add", origin.url("/second"), "-x", "2")
    wait("bytes", lambda: user.task(number)["bytes_done"] > SIZE // 4)
    pid = user.property("MainPID")
    began = time.monotonic()
    user.systemctl("restart", "segget.service")
    took = time.monotonic() - began
    check(f"`systemctl --user restart` in the middle of a download ({took:.2f} s)",
          user.property("MainPID") != pid and user.property("ActiveState") == "active")
    user.waits("completed", number)
    again = origin.twice("/second")
    # What connections had on their way is asked for again; on a busy machine that may be much.
    check(f"no byte is fetched twice ({again // 1024} KiB were on their way)", again < MIB)
    check("the file is right", (user.home / "second").read_bytes() == origin.content)


def is_watched(user, origin):
    """A service that hangs is replaced, and one that does not is left alone."""
    folder = user.home / ".config/systemd/user/segget.service.d"
    folder.mkdir(parents=True)
    (folder / "soon.conf").write_text("[Service]\nWatchdogSec=2\nRestartSec=100ms\n")
    user.systemctl("daemon-reload")
    user.systemctl("restart", "segget.service")
    pid = user.property("MainPID")
    number = user.segget("add", origin.url("/third"), "-x", "2")
    began = time.monotonic()
    wait("time for two looks", lambda: time.monotonic() > began + 5)
    check("the watchdog hears that it is alive", user.property("MainPID") == pid)
    os.kill(int(pid), signal.SIGSTOP)
    wait("another process", lambda: user.property("MainPID") not in (pid, "0"), 60)
    check("one that hangs is replaced", user.property("NRestarts") == "1")
    user.waits("completed", number)
    check("what it fetched is right", (user.home / "third").read_bytes() == origin.content)


def ends_soon(user, origin):
    """`stop`, while three downloads run."""
    numbers = [user.segget("add", origin.url(f"/end-{number}"), "-x", "2") for number in range(3)]
    for number in numbers:
        wait("bytes", lambda number=number: user.task(number)["bytes_done"] > MIB)
    began = time.monotonic()
    user.systemctl("stop", "segget.service")
    took = time.monotonic() - began
    check(f"`systemctl --user stop` while 3 run takes {took:.2f} s",
          took < 2 and user.property("Result") == "success" and user.property("ExecMainStatus") == "0")
    check("the socket listens", user.property("ActiveState", "segget.socket") == "active")
    user.waits("completed", *numbers)
    check("the next command starts it, and what it stopped goes on",
          all((user.home / f"end-{number}").read_bytes() == origin.content for number in range(3)))


def logs(user, origin):
    """The journal."""
    number = user.segget("add", origin.url("/none?token=SECRET"))
    user.waits("failed", number)
    wait("the line", lambda: any(number in text and priority == "3" for text, priority in journal()))
    lines = journal()
    check("lines of the journal have priorities", {"3", "4", "5", "6"} <= {priority for _, priority in lines})
    check("no line has a query", not any("SECRET" in text for text, _ in lines))
    check("it says that services end at logout", any("enable-linger" in text for text, _ in lines))
    user.systemctl("stop", "segget.socket", "segget.service")
    check("nothing has failed in the end", user.property("Result") == "success")


def main():
    """Tries it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--segget", type=pathlib.Path, default=ROOT / ".build/release/segget", help="the program")
    parser.add_argument("--check", action="store_true", help="say whether it can be tried here")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        return inside(arguments)
    if reason := hindrance():
        print(reason)
        return CANNOT
    if arguments.check:
        return 0
    if not os.access(arguments.segget, os.X_OK):
        raise Failure(f"`{arguments.segget}` is not there", "build it with `make build`")
    return trial.isolated(__file__, sys.argv[1:])


if __name__ == "__main__":
    run_main(main)
