#!/usr/bin/env python3
"""Tries an image of segget with skopeo, umoci, crun and podman, as root.

    make image && sudo scripts/try-image.py dist/segget_VERSION-oci-x86_64.tar
    scripts/try-image.py --check   says by exit code 77 and a line why it cannot be tried here

Containers run in namespaces and a cgroup of their own, with a network that has nothing but loopback: nothing is
left of them, however this ends.
"""

import argparse
import copy
import datetime
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import trial
from loopback import MIB, Failure, die_with_parent, run_main, stop
from trial import SIZE, Origin, check, mount, wait

# In the file system in memory that is mounted on /run.
PLACE = pathlib.Path("/run/segget-try")
SERVICE = "http://127.0.0.1:6800"
SECRET = "segget/queue.sqlite.rpc-secret"
CANNOT = 77


# Outside


def hindrance():
    """Why it cannot be tried here; `None` if it can."""
    for program in ("unshare", "mount", "ip", "skopeo", "umoci", "crun", "podman"):
        if not shutil.which(program):
            return f"it needs {program}"
    return trial.hindrance()


# Inside


def run(*command, accepts=(0,)):
    """Runs a program; returns what it prints on standard output."""
    command = list(map(str, command))
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode not in accepts:
        raise Failure(f"`{' '.join(command)}` ends with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


class Image:
    """An image, unpacked."""

    def __init__(self, archive):
        self.archive = archive
        self.bundle = PLACE / "bundle"
        run("skopeo", "copy", f"oci-archive:{archive}", f"oci:{PLACE}/layout:image")
        run("umoci", "unpack", "--image", f"{PLACE}/layout:image", self.bundle)
        # What umoci leaves out of it: the health check.
        self.config = json.loads(run("skopeo", "inspect", "--config", "--raw", f"docker-archive:{archive}"))["config"]
        self.runtime = json.loads((self.bundle / "config.json").read_text())

    def volume(self, name):
        """A new volume, which is owned as the image's folder is, as engines make it."""
        like = (self.bundle / "rootfs" / name).stat()
        folder = PLACE / "volumes" / f"{name}-{len(list((PLACE / 'volumes').glob('*')))}"
        folder.mkdir()
        os.chown(folder, like.st_uid, like.st_gid)
        folder.chmod(like.st_mode & 0o7777)
        return folder


class Container:
    """A container with the image as a root that is not writable, and without capabilities."""

    number = 0

    def __init__(self, image, volumes, arguments=None, user=None, environment=()):
        Container.number += 1
        self.name = f"container-{Container.number}"
        self.image = image
        runtime = copy.deepcopy(image.runtime)
        process = runtime["process"]
        process["terminal"] = False
        process["capabilities"] = {}
        process["env"] += environment
        if arguments is not None:
            process["args"] = [*image.config["Entrypoint"], *arguments]
        if user is not None:
            process["user"] = {"uid": user, "gid": user}
        self.user = process["user"]["uid"]
        runtime["root"] = {"path": str(image.bundle / "rootfs"), "readonly": True}
        runtime["mounts"] = [entry for entry in runtime["mounts"] if entry["destination"] not in volumes] + [
            {"destination": place, "type": "bind", "source": str(folder), "options": ["rbind", "rw", "nosuid", "nodev"]}
            for place, folder in volumes.items()]
        # The network is the one in which this script runs.
        runtime["linux"]["namespaces"] = [
            entry for entry in runtime["linux"]["namespaces"] if entry["type"] != "network"]
        # Rules about devices need a program in the kernel, which not every machine lets itself be given.
        runtime["linux"].pop("resources", None)
        bundle = PLACE / self.name
        bundle.mkdir()
        (bundle / "config.json").write_text(json.dumps(runtime))
        self.log = bundle / "log"
        with self.log.open("wb") as file:
            self.process = subprocess.Popen(
                [*CRUN, "run", "--bundle", str(bundle), self.name],
                stdin=subprocess.DEVNULL, stdout=file, stderr=file, preexec_fn=die_with_parent)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            run(*CRUN, "kill", self.name, "KILL", accepts=(0, 1))
        stop(self.process)

    def said(self):
        """What it has printed."""
        return self.log.read_text()

    def pid(self):
        """The process that is its first."""
        return json.loads(run(*CRUN, "state", self.name))["pid"]

    def kill(self, number):
        """Sends a signal to its first process; returns the exit code of the container."""
        run(*CRUN, "kill", self.name, signal.Signals(number).name.removeprefix("SIG"))
        return self.process.wait(timeout=30)

    def end(self):
        """Waits until it ends by itself; returns its exit code."""
        return self.process.wait(timeout=60)

    def healthy(self):
        """What the image's health check says."""
        kind, *command = self.image.config["Healthcheck"]["Test"]
        return kind == "CMD" and self.execute(*command).returncode == 0

    def execute(self, *command):
        """Runs a program in it, as engines do: as the container's user."""
        return subprocess.run([*CRUN, "exec", f"--user={self.user}:{self.user}", self.name, *command],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def ready(self):
        """Waits until the service answers."""
        def answers():
            if self.process.poll() is not None:
                raise Failure(f"the container has ended with {self.process.returncode}: {self.said()}")
            try:
                with urllib.request.urlopen(f"{SERVICE}/", timeout=5):
                    return True
            except urllib.error.HTTPError:
                return True
            except OSError:
                return False
        wait("the service", answers)
        return self


CRUN = ("crun", "--cgroup-manager=disabled")


class Client:
    """A program that drives the service, with the secret of the volume."""

    def __init__(self, state):
        self.secret = (state / SECRET).read_text().strip()

    def call(self, method, *parameters):
        """A call of JSON-RPC."""
        body = json.dumps({"jsonrpc": "2.0", "id": "1", "method": f"aria2.{method}",
                           "params": [f"token:{self.secret}", *parameters]}).encode()
        try:
            with urllib.request.urlopen(urllib.request.Request(f"{SERVICE}/jsonrpc", body), timeout=30) as reply:
                return json.load(reply)["result"]
        except urllib.error.HTTPError as error:
            raise Failure(f"{method} is answered by {error.code}: {error.read().decode(errors='replace')}") from None

    def add(self, url):
        """Adds a download over two connections; returns its gid."""
        return self.call("addUri", [url], {"split": "2", "max-connection-per-server": "2", "min-split-size": "1M"})

    def status(self, gid):
        """What there is to know about a download."""
        return self.call("tellStatus", gid)

    def waits(self, gid, state):
        """Waits until a download is in a state."""
        wait(f"{gid} {state}", lambda: self.status(gid)["status"] == state, 60)


def attempt(image, origin):
    """All that is tried, in order."""
    (PLACE / "volumes").mkdir()
    is_read_by_both(image)
    serves(image, origin)
    goes_on_in_a_new_container(image, origin)
    runs_as_others(image, origin)
    says_what_it_cannot_write(image, origin)
    is_run_by_podman(image)


def is_read_by_both(image):
    """The archive is OCI's, and Docker's."""
    oci, docker = (
        json.loads(run("skopeo", "inspect", f"{kind}-archive:{image.archive}")) for kind in ("oci", "docker"))
    version = image.config["Labels"]["org.opencontainers.image.version"]
    check(f"skopeo reads segget {version} as an OCI archive and as Docker's",
          oci["Labels"] == docker["Labels"] and oci["Architecture"] == docker["Architecture"] == "amd64")
    writable = [path for path in image.bundle.joinpath("rootfs").rglob("*")
                if not path.is_symlink() and path.stat().st_mode & 0o022]
    check("only its volumes and folders of temporary files can be written by all",
          {str(path.relative_to(image.bundle / "rootfs")) for path in writable}
          <= {"downloads", "state", "tmp", "var/tmp"}, writable)
    check("nothing in it has more rights than who runs it",
          not any(path.lstat().st_mode & 0o6000 for path in image.bundle.joinpath("rootfs").rglob("*")))


def serves(image, origin):
    """Without arguments it is a service, which is as careful as one has to be that others reach."""
    volumes = {"/state": image.volume("state"), "/downloads": image.volume("downloads")}
    with Container(image, volumes).ready() as container:
        path = volumes["/state"] / SECRET
        status = dict(line.split(":\t", 1) for line in
                      pathlib.Path(f"/proc/{container.pid()}/status").read_text().splitlines() if ":\t" in line)
        check("it runs as user 65532, without capabilities", status["Uid"].split() == status["Gid"].split()
              == ["65532"] * 4 and int(status["CapEff"], 16) == 0, status["Uid"])
        check("the health check says that it works", container.healthy())
        check("the secret is in the volume, for that user alone",
              path.stat().st_mode & 0o777 == 0o600 and path.stat().st_uid == 65532)
        client = Client(volumes["/state"])
        check("the log names the secret's file, and not the secret",
              f"/state/{SECRET}" in container.said() and client.secret not in container.said())
        gid = client.add(origin.url("/private"))
        client.waits(gid, "error")
        check("clients may not have it fetch from private addresses", not origin.sent, client.status(gid))
        check("SIGTERM ends it in order", container.kill(signal.SIGTERM) == 0, container.said())
    # A program that is no service, for the health check.
    with Container(image, volumes, [origin.url("/slow")]) as container:
        wait("bytes", lambda: any(name == "/slow" for name, *_ in list(origin.sent)))
        check("the health check says that no service is there", not container.healthy())
        check("`IMAGE URL` downloads", container.end() == 0, container.said())
    check("the file is right, and in /downloads", (volumes["/downloads"] / "slow").read_bytes() == origin.content)


def goes_on_in_a_new_container(image, origin):
    """What a container did before it was killed is not lost."""
    volumes = {"/state": image.volume("state"), "/downloads": image.volume("downloads")}
    allowed = ["SEGGET_DENY_PRIVATE=no"]
    with Container(image, volumes, environment=allowed).ready() as container:
        client = Client(volumes["/state"])
        first = client.add(origin.url("/first"))
        client.waits(first, "complete")
        check("a file comes, and is right", (volumes["/downloads"] / "first").read_bytes() == origin.content)
        second = client.add(origin.url("/second"))
        wait("bytes", lambda: int(client.status(second)["completedLength"]) > SIZE // 4)
        there = pathlib.Path(f"/proc/{container.pid()}/root/dev/shm")
        check("it has written nothing outside its volumes", not list(there.iterdir()))
        check("SIGKILL ends it in the middle of another", container.kill(signal.SIGKILL) == 128 + signal.SIGKILL
              and not (volumes["/downloads"] / "second").exists())
    with Container(image, volumes, environment=allowed).ready() as container:
        again = Client(volumes["/state"])
        check("in a new container with the same volumes the secret is the same", again.secret == client.secret)
        check("it knows what it has done", again.status(first)["status"] == "complete")
        again.waits(second, "complete")
        twice = origin.twice("/second")
        check(f"the other goes on ({twice / MIB:.1f} MiB are fetched twice)", twice <= 4 * MIB)
        check("that file is right, too", (volumes["/downloads"] / "second").read_bytes() == origin.content)
        check("nothing else is in the folder",
              {path.name for path in volumes["/downloads"].iterdir()} == {"first", "second"})
        check("the health check says that it works", container.healthy())


def runs_as_others(image, origin):
    """A user whom the image does not know."""
    volumes = {"/state": image.volume("state"), "/downloads": image.volume("downloads")}
    with Container(image, volumes, user=1000, environment=[
            "SEGGET_DENY_PRIVATE=no", "TZ=Asia/Tokyo",
            'SEGGET_ON_COMPLETE=sh -c \'echo "$SEGGET_TASK_PATH" >/state/hook\'']).ready() as container:
        client = Client(volumes["/state"])
        client.waits(client.add(origin.url("/other")), "complete")
        check("user 1000 can run it, and owns the file", (volumes["/downloads"] / "other").stat().st_uid == 1000)
        hook = volumes["/state"] / "hook"
        wait("the command", lambda: hook.exists() and hook.read_text().endswith("\n"))
        check("a command at the end of a task has a shell", hook.read_text() == "/downloads/other\n")
        check("the health check says that it works", container.healthy())
        said = datetime.datetime.strptime(container.said()[:19], "%Y-%m-%d %H:%M:%S")
        away = said - datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
        check("its time zone is that of TZ", round(away / datetime.timedelta(hours=1)) == 9, away)
        token = container.execute("segget", "open").stdout.strip()
        check("`segget open` in it prints the page's address", token.startswith(f"{SERVICE}/#token="), token)


def says_what_it_cannot_write(image, origin):
    """Folders that belong to somebody else."""
    theirs = PLACE / "volumes/theirs"
    theirs.mkdir(mode=0o755)
    volumes = {"/state": theirs, "/downloads": image.volume("downloads")}
    with Container(image, volumes) as container:
        check("without a state that it can write it ends", container.end() == 74, container.said())
        check(f"and says so: {container.said().strip()}", "`/state/segget`: Permission denied" in container.said())
    volumes = {"/state": image.volume("state"), "/downloads": theirs}
    with Container(image, volumes, [origin.url("/nowhere")]) as container:
        check("without a folder that it can write, a download ends", container.end() not in (0, 137))
        check(f"and says so: {container.said().strip()}", "Permission denied" in container.said())


def is_run_by_podman(image):
    """podman, as far as it goes without systemd and control groups."""
    podman = (
        "podman", f"--root={PLACE}/podman/root", f"--runroot={PLACE}/podman/run", f"--tmpdir={PLACE}/podman/tmp",
        "--storage-driver=vfs", "--events-backend=file", "--cgroup-manager=cgroupfs")
    name = f"segget:{image.config['Labels']['org.opencontainers.image.version']}"
    run(*podman, "load", "-i", image.archive)
    check("`podman load` reads it", run(*podman, "images", "--format", "{{.Names}}", name).strip()
          == f"[docker.io/library/{name}]")
    printed = run(*podman, "run", "--rm", "--cgroups=disabled", "--network=none", "--read-only", name, "--version")
    check(f"`podman run` runs it: {printed.splitlines()[0].split(' libcurl')[0]}", printed.startswith("segget "))
    run(*podman, "rmi", "--all", "--force")
    run(*podman, "pull", f"docker-archive:{image.archive}")
    kept = json.loads(run(*podman, "image", "inspect", name))[0]
    check("`podman pull docker-archive:…` has the health check, too",
          kept["Healthcheck"]["Test"] == image.config["Healthcheck"]["Test"])
    run(*podman, "rmi", "--all", "--force")


def inside(archive):
    """Prepares what containers need, and tries them."""
    mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run")
    mount("-t", "cgroup2", "cgroup2", "/sys/fs/cgroup")
    run("ip", "link", "set", "lo", "up")
    PLACE.mkdir()
    attempt(Image(archive), Origin())
    return 0


def main():
    """Tries it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("archive", type=pathlib.Path, nargs="?", help="the image, as `make image` makes it")
    parser.add_argument("--check", action="store_true", help="say whether it can be tried here")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        return inside(arguments.archive.absolute())
    if reason := hindrance():
        print(reason)
        return CANNOT
    if arguments.check:
        return 0
    if not arguments.archive or not arguments.archive.is_file():
        raise Failure(f"`{arguments.archive or 'dist'}` has no image", "make it with `make image`")
    return trial.isolated(__file__, sys.argv[1:], "--net")


if __name__ == "__main__":
    run_main(main)
