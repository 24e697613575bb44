#!/usr/bin/env python3
"""Installs, uses, upgrades and removes the Debian packages of dist/ in clean systems of their own, as root.

    make try-packages                            Debian 12 and 13; what is upgraded is built as 0.1.99 first
    scripts/try-packages.py --suite trixie       one of them; what is upgraded is the new one called 0.1.99
    scripts/try-packages.py --suite noble        Ubuntu 24.04, where its archive can be reached
    scripts/try-packages.py --check              says by exit code 77 and a line why it cannot be tried here

Each system is made by mmdebstrap from the distribution's own packages, without a compiler, and booted with its own
systemd by systemd-nspawn, in namespaces with nothing but loopback. Nothing is left of it, however this ends.
"""

import argparse
import hashlib
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import trial
from loopback import MIB, Failure, die_with_parent, run_main, stop
from trial import SIZE, Origin, check, mount, wait

ROOT = pathlib.Path(__file__).resolve().parent.parent
CANNOT = 77
# What people have on such a machine, and the shells whose completions are tried.
EXTRAS = "apt,systemd,systemd-sysv,dbus,dbus-user-session,libpam-systemd,man-db,bash-completion,zsh,fish"
SOURCES = {"noble": "deb [trusted=yes] http://archive.ubuntu.com/ubuntu noble main universe"}
OLD = "0.1.99-1"
USER, UID = "ann", 1000


def run(*command, **more):
    """Runs a program; returns what it prints."""
    done = subprocess.run(
        [*map(str, command)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        check=False, **more)
    if done.returncode:
        raise Failure(f"`{' '.join(map(str, command))}` ends with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


# Outside


def hindrance():
    """Why it cannot be tried here; `None` if it can."""
    for program in ("mmdebstrap", "systemd-nspawn", "nsenter", "unshare", "dpkg-deb", "ip"):
        if not shutil.which(program):
            return f"it needs {program}"
    return trial.hindrance()


def package(folder, name, version="*"):
    """The package of a name in a folder."""
    found = sorted(folder.glob(f"{name}_{version}_*.deb"))
    if len(found) != 1:
        raise Failure(f"`{folder}` has {len(found)} packages of {name}", "build them with `make deb`")
    return found[0]


def rename(deb, work):
    """The same package with an older version: its programs are those of the new one."""
    tree = work / "renamed"
    run("dpkg-deb", "--raw-extract", deb, tree)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub("(?m)^Version: .*$", f"Version: {OLD}", control.read_text()))
    return pathlib.Path(run("dpkg-deb", "-Zgzip", "-z1", "--root-owner-group", "--build", tree, work).split("'")[3])


def make_root(suite, root, old):
    """A system with the older package, which apt brings what it depends on."""
    began = time.monotonic()
    run("mmdebstrap", "--quiet", "--variant=minbase", f"--include={EXTRAS}", suite, root,
        SOURCES.get(suite, "http://deb.debian.org/debian"))
    (root / "etc/resolv.conf").write_bytes(pathlib.Path("/etc/resolv.conf").read_bytes())
    for program in ("swift", "gcc", "cc", "segget"):
        check(f"there is no {program}", not shutil.which(program, path=f"{root}/usr/bin:{root}/usr/local/bin"))
    shutil.copy(old, root / "old.deb")
    run("chroot", root, "apt-get", "-q", "update")
    run("chroot", root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qy", "--no-install-recommends", "install",
        "/old.deb")
    (root / "old.deb").unlink()
    name = re.search('PRETTY_NAME="(.*)"', (root / "etc/os-release").read_text())[1]
    print(f"ok: `apt-get install` brings segget into {name} ({time.monotonic() - began:.0f} s)", flush=True)


def outside(arguments):
    """Makes the systems, one after the other, and tries each."""
    new = [package(arguments.dist, name) for name in ("segget", "segget-aria2c")]
    for suite in arguments.suite or ["bookworm", "trixie"]:
        # A folder in memory may be too small.
        with tempfile.TemporaryDirectory(prefix="segget-try.", dir="/var/tmp") as work:
            work = pathlib.Path(work)
            old = package(arguments.old, "segget", OLD) if arguments.old else rename(new[0], work)
            root = work / "root"
            make_root(suite, root, old)
            for deb in new:
                shutil.copy(deb, root)
            code = trial.isolated(__file__, [str(root)], "--net")
            if code:
                return code
    return 0


# Inside


class Machine:
    """A booted system."""

    def __init__(self, root):
        self.root = root
        self.log = open(root.parent / "console", "wb")
        self.nspawn = subprocess.Popen(
            ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--console=pipe", "-D", root, "--boot"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT, preexec_fn=die_with_parent)
        self.leader = None
        wait("that it has booted", self._has_booted, 300)

    def _has_booted(self):
        # A helper of systemd-nspawn's comes first and soon ends; the system's first process takes its place.
        path = f"/proc/{self.nspawn.pid}/task/{self.nspawn.pid}/children"
        children = pathlib.Path(path).read_text().split()
        if not children:
            return False
        self.leader = int(children[0])
        return self.state() in ("running", "degraded")

    def command(self, *command, user=None):
        """The words that run a program there, as root or as the user."""
        home = "/root" if not user else f"/home/{user}"
        words = ["nsenter", f"--target={self.leader}", "--mount", "--uts", "--ipc", "--pid", "--cgroup", "--root",
                 "--wd", "env", "-i", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", f"HOME={home}",
                 "LC_ALL=C.UTF-8", "TERM=xterm"]
        if user:
            words += [f"XDG_RUNTIME_DIR=/run/user/{UID}", "setpriv", f"--reuid={UID}", f"--regid={UID}", "--init-groups",
                      "env", f"--chdir={home}"]
        return [*words, *map(str, command)]

    def run(self, *command, user=None, accepts=(0,)):
        """Runs a program there; returns what it prints."""
        done = subprocess.run(
            self.command(*command, user=user), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode not in accepts:
            text = " ".join(map(str, command))
            raise Failure(f"`{text}` ends with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def user(self, *command, **more):
        """Runs a program of the user's."""
        return self.run(*command, user=USER, **more)

    def state(self):
        """What systemd says of the whole."""
        return self.run("systemctl", "is-system-running", accepts=range(256)).strip()

    def property(self, name, unit="segget.service", scope="--user"):
        """A property of a unit of the user's, or of the system's."""
        return self.run("systemctl", scope, "show", "--value", "-p", name, unit,
                        user=USER if scope == "--user" else None).strip()

    def tasks(self):
        """What the user's queue has, by the ID."""
        return {task["id"]: task for task in json.loads(self.user("segget", "list", "--json"))}

    def home(self, name):
        """A file of the user's, from outside."""
        return self.root / "home" / USER / name

    def terminal(self, shell, *typed, until):
        """Types into a shell at a terminal, and returns what stands there once `until` does."""
        leader, follower = pty.openpty()
        process = subprocess.Popen(
            self.command(*shell, user=USER), stdin=follower, stdout=follower, stderr=follower,
            preexec_fn=die_with_parent, start_new_session=True)
        os.close(follower)
        shown, typed = b"", list(typed)
        try:
            deadline = time.monotonic() + 60
            while until not in shown:
                if time.monotonic() > deadline:
                    raise Failure(f"{shell[0]} does not complete: {shown.decode(errors='replace')}")
                # What is typed before the prompt is there would be read by nobody.
                if typed and select.select([leader], [], [], 0.5) == ([], [], []):
                    os.write(leader, typed.pop(0).encode())
                if select.select([leader], [], [], 0.1)[0]:
                    shown += os.read(leader, 4096)
        finally:
            process.kill()
            process.wait()
            os.close(leader)
        return shown.decode(errors="replace")

    def end(self):
        """Ends it."""
        stop(self.nspawn)
        self.log.close()


def is_right(path, origin):
    """Whether a file is what the origin has."""
    content = path.read_bytes() if path.exists() else b""
    return hashlib.sha256(content).digest() == hashlib.sha256(origin.content).digest()


def goes_on_with_the_new_version(machine, origin):
    """An upgrade while the queue is worked."""
    machine.user("systemctl", "--user", "enable", "--now", "segget.socket")
    numbers = [machine.user("segget", "add", origin.url(f"/queue-{index}"), "-x", "2").strip() for index in range(3)]
    wait("bytes", lambda: all(machine.tasks()[number]["bytes_done"] > MIB for number in numbers), 120)
    before = machine.property("MainPID")
    version = machine.run("dpkg-query", "--show", "--showformat", "${Version}", "segget")
    # What comes with it is not there to ask for, which apt does.
    machine.run("apt-get", "-qy", "install", "/segget_new.deb")
    after = machine.run("dpkg-query", "--show", "--showformat", "${Version}", "segget")
    check(f"an upgrade from {version} to {after} while 3 tasks run", version == OLD and after != OLD)
    wait("that the service is the new one", lambda: machine.property("MainPID") not in ("0", before))
    said = machine.user("sh", "-c", "segget list 2>&1")
    check("a command and the service are of one version", "version" not in said, said)
    wait("that all have come", lambda: all(task["state"] == "completed" for task in machine.tasks().values()), 120)
    check("nothing is lost", sorted(machine.tasks()) == sorted(numbers))
    check("all files are right", all(is_right(machine.home(f"queue-{index}"), origin) for index in range(3)))
    again = sum(origin.twice(f"/queue-{index}") for index in range(3))
    check(f"no byte is fetched twice ({again // 1024} KiB were on their way)", again < 2 * MIB)


def downloads(machine, origin):
    """A download, killed and resumed."""
    print(machine.user("segget", "--version").rstrip(), flush=True)
    process = subprocess.Popen(
        machine.command("segget", "-x", "4", origin.url("/file"), user=USER), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=die_with_parent)
    sent = lambda: sum(count for path, _, count in list(origin.sent) if path == "/file")
    wait("half of it", lambda: sent() > SIZE // 2)
    for status in pathlib.Path("/proc").glob("[0-9]*/comm"):
        if status.read_text() == "segget\n":
            os.kill(int(status.parent.name), signal.SIGKILL)
    process.wait()
    check("after SIGKILL its part is there", machine.home("file.part").exists())
    machine.user("segget", "-x", "4", origin.url("/file"))
    check("the same command resumes it, and it is right", is_right(machine.home("file"), origin))
    check(f"{origin.twice('/file') // 1024} KiB are fetched twice", origin.twice("/file") <= 4 * MIB)
    digest = hashlib.sha256(origin.content).hexdigest()
    machine.user("segget", "verify", "file", "--checksum", f"sha-256:{digest}")
    # By another digest it is another file, which must not end with 0.
    machine.user("segget", "verify", "file", "--checksum", f"sha-256:{'0' * 64}", accepts=range(1, 256))
    check("`segget verify` tells a right file from a wrong one", True)


def reads(machine):
    """Man pages and completions."""
    for page, word in (("segget", "download files"), ("segget-queue", "queue"), ("segget-aria2c", "download files")):
        check(f"`man {page}`", word in machine.user("env", "MANPAGER=cat", "man", page))
    for shell, typed in (
            (("bash", "-i"), ("segget --checks\t",)),
            (("zsh", "-f", "-i"), ("autoload -Uz compinit && compinit -u\n", "segget --checks\t"))):
        machine.terminal(shell, *typed, until=b"--checksum")
        check(f"{shell[0]} completes `segget --checks`", True)
    said = machine.user("fish", "-c", 'complete -C "segget --checks"')
    check("fish completes `segget --checks`", "--checksum" in said, said)


def serves(machine, origin):
    """The system's unit, as it is."""
    unit = f"segget@{USER}.service"
    for who, words in ((USER, "--user verify segget.service segget.socket"), (None, f"verify {unit}")):
        said = machine.run("sh", "-c", f"systemd-analyze {words} 2>&1", user=who)
        check(f"`systemd-analyze {words}` has nothing to say", "segget" not in said, said)
    score = machine.run("systemd-analyze", "security", "--no-pager", unit).strip().splitlines()[-1].strip()
    print(score, flush=True)
    machine.run("systemctl", "enable", "--now", unit)
    queue = f"/var/lib/segget/{USER}/queue.sqlite"
    machine.user("segget", "serve", "--ping", "--queue", queue)
    machine.user("segget", "add", "--queue", queue, "-d", f"/var/lib/segget/{USER}", origin.url("/system"))
    path = machine.root / f"var/lib/segget/{USER}/system"
    wait("its download", path.exists, 300)
    check(f"{unit} works a queue in /var/lib/segget/{USER}", is_right(path, origin))
    check("with nothing failed", machine.property("Result", unit, "--system") == "success")
    path.unlink()


def stands_in_for_aria2c(machine, origin):
    """The other package."""
    machine.run("apt-get", "-qy", "install", "/segget-aria2c_new.deb")
    check("`aria2c --version` is segget's", "segget" in machine.user("aria2c", "--version"))
    machine.user("aria2c", "-q", "-x4", "-o", "other", origin.url("/other"))
    check("aria2c brings a file", is_right(machine.home("other"), origin))
    check("it counts as aria2", "aria2" in machine.run("dpkg-query", "--show", "--showformat", "${Provides}", "segget-aria2c"))


def logs_little(machine):
    """The journal."""
    lines = machine.run("journalctl", "--no-pager", "--grep", "thread priority", accepts=(0, 1)).splitlines()
    check("the log has nothing about threads", not any("segget" in line for line in lines), lines[:2])


def goes(machine):
    """The end of the packages."""
    machine.run("apt-get", "-qy", "purge", "segget", "segget-aria2c")
    check("the service has ended", not any(
        path.read_text().startswith("segget") for path in pathlib.Path("/proc").glob("[0-9]*/comm")))
    machine.run("sh", "-c", "rm -f /*.deb")
    left = machine.run(
        # man(1) keeps what it has shown.
        "sh", "-c", "find / /run -xdev -path /home -prune -o -path /var/cache/man -prune -o"
        " '(' -iname '*segget*' -o -name 'aria2c*' ')' -print").split()
    check("nothing is left of it outside of homes", not left, left)
    check("the user's files stay", machine.home("file").exists() and machine.home("queue-0").exists())


def inside(arguments):
    """Boots a system, and tries all."""
    root = arguments.root
    run("ip", "link", "set", "lo", "up")
    mount("-t", "tmpfs", "tmpfs", "/run")
    run("umount", "--recursive", "/sys/fs/cgroup")
    mount("-t", "cgroup2", "cgroup2", "/sys/fs/cgroup")
    for name in ("segget", "segget-aria2c"):
        package(root, name).rename(root / f"{name}_new.deb")
    machine = Machine(root)
    try:
        print(f"ok: it has booted; systemd says `{machine.state()}`", flush=True)
        machine.run("useradd", "--create-home", "--shell", "/bin/bash", "--uid", UID, USER)
        machine.run("loginctl", "enable-linger", USER)
        wait("the user's systemd",
             lambda: machine.user("systemctl", "--user", "is-system-running", accepts=range(256)).strip() == "running")
        origin = Origin()
        goes_on_with_the_new_version(machine, origin)
        downloads(machine, origin)
        reads(machine)
        serves(machine, origin)
        stands_in_for_aria2c(machine, origin)
        logs_little(machine)
        goes(machine)
        return 0
    except Failure:
        print(machine.run("journalctl", "--no-pager", "-n", "60", accepts=range(256)), file=sys.stderr)
        raise
    finally:
        machine.end()


def main():
    """Tries them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dist", type=pathlib.Path, default=ROOT / "dist", help="folder of the packages")
    parser.add_argument("--old", type=pathlib.Path, help=f"folder of a package of version {OLD}, which is upgraded")
    parser.add_argument("--suite", action="append", help="bookworm, trixie or noble; repeatable")
    parser.add_argument("--check", action="store_true", help="say whether it can be tried here")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("root", type=pathlib.Path, nargs="?", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        return inside(arguments)
    if reason := hindrance():
        print(reason)
        return CANNOT
    return 0 if arguments.check else outside(arguments)


if __name__ == "__main__":
    run_main(main)
