#!/usr/bin/env python3
"""Runs the lines of docs/guide/using-it-from.md with the programs that are there, against servers on loopback.

    make build && scripts/try-callers.py [--segget .build/release/segget] [--callers FOLDER] [SECTION ...]

Each section is tried in a temporary folder: a download is interrupted, the same command goes on, and the file is
compared with the server's. What cannot be tried is left out, with the reason. The exit code is 1 if one failed.

Programs are looked for in PATH: of Debian, those of pacman-package-manager, makepkg, slurm-wlm, munge, cron,
curl and jq; yt-dlp also where `scripts/servers.sh` puts it. In FOLDER (`.build/callers`) are those that Debian
has not, as published: `apt-fast`, `hfd*.sh`, and checkouts of pyenv and of Gentoo's `portage`. As root, more is
tried: Slurm, cron itself, and a timer of systemd.
"""

import argparse
import email.utils
import getpass
import hashlib
import http.server
import importlib.util
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading

import trial
from loopback import Failure, die_with_parent, run_main, stop

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/guide/using-it-from.md"
BLOCK = re.compile(r"^```\w+ try=([\w-]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SIZE = 6_000_000
# What connections have on their way when they are cut off, and what is not yet recorded, is asked for again.
SLACK = 512 << 10
# Ends only what hangs.
PATIENCE = 300
NOBODY = 65534


class LeftOut(Exception):
    """Why a section cannot be tried here."""


def wait(what, holds):
    """Waits until something holds, and returns it."""
    return trial.wait(what, holds, PATIENCE)


def check(what, holds, details=""):
    """Ends the section if something does not hold."""
    if not holds:
        raise Failure(f"not so: {what}\n{details}".rstrip())


def need(*programs):
    """Leaves the section out where a program is missing."""
    for program in programs:
        if not shutil.which(program):
            raise LeftOut(program)


# The server


class Origin(http.server.ThreadingHTTPServer):
    """Serves the files of a dictionary, and holds back the second half of one until it is released."""

    daemon_threads = True

    def __init__(self):
        self.files = {}  # path: content
        self.replies = {}  # path: a function of the request that answers it itself
        self.held = {}  # path: event
        self.sent = []  # path, number of bytes
        self.shown = []  # credentials
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """Says nothing of a connection that was cut off."""

    def url(self, path):
        """The URL of a path."""
        return f"http://127.0.0.1:{self.server_address[1]}{path}"

    def add(self, path, size=SIZE):
        """Offers a file; returns its content."""
        self.files[path] = os.urandom(size)
        return self.files[path]

    def hold(self, path):
        """Sends only the first half of a file from now on."""
        self.held[path] = threading.Event()

    def release(self, path):
        """Sends all of it."""
        self.held.pop(path).set()

    def bytes_of(self, path):
        """How many bytes of a file have been sent."""
        return sum(count for name, count in list(self.sent) if name == path)


class Handler(trial.RangeHandler):
    """Answers a request for a file, or a part of it."""

    def do_GET(self):
        """Answers."""
        path = self.path.partition("?")[0]
        if path in self.server.replies:
            self.server.replies[path](self)
            return
        self.server.shown.append(self.headers.get("Authorization"))
        content = self.server.files.get(path)
        if content is None:
            self.send_error(404)
            return
        size = len(content)
        first, last = self.begin(
            size, Content_Type="video/mp4" if path.endswith(".mp4") else "application/octet-stream",
            ETag=f'"{hashlib.md5(content).hexdigest()}"',
            Last_Modified=email.utils.formatdate(1_700_000_000, usegmt=True))
        released = self.server.held.get(path)
        try:
            while first <= last:
                if released and first >= size // 2:
                    released.wait()
                end = size // 2 if released and first < size // 2 else size
                piece = content[first:min(first + 65536, last + 1, end)]
                self.wfile.write(piece)
                # yt-dlp's own look at a file does not count.
                if self.headers.get("Connection") != "close":
                    self.server.sent.append((path, len(piece)))
                first += len(piece)
        except OSError:
            self.close_connection = True


# The stage


def recorded(part):
    """How many bytes the manifest beside a part says have arrived."""
    arrived = {}
    try:
        text = part.with_name(part.name.removesuffix(".part") + ".segget").read_text(errors="replace")
    except OSError:
        return 0
    for line in text.splitlines():
        try:
            arrived.update((first, count) for first, count, _ in json.loads(line).get("extents", []))
        except ValueError:
            pass
    end = total = 0
    for first, count in sorted(arrived.items()):
        total += max(0, first + count - max(first, end))
        end = max(end, first + count)
    return total


class Stage:
    """What a section has: a folder, a server, the page's lines, and segget as it is installed."""

    def __init__(self, segget, callers, work):
        self.work, self.callers, self.origin = work, callers, Origin()
        self.blocks = dict(BLOCK.findall(PAGE.read_text()))
        self.prefix = work / "usr"
        self.home = work / "home"
        for folder in ("usr/bin", "usr/libexec/segget", "home"):
            (work / folder).mkdir(parents=True)
        # A copy: whoever runs the lines as another user may not see where the program is.
        shutil.copy(segget, self.prefix / "bin/segget")
        (self.prefix / "bin/segget-aria2c").symlink_to("segget")
        (self.prefix / "libexec/segget/aria2c").symlink_to("../../bin/segget")
        self.environment = {
            "PATH": f"{self.prefix}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": str(self.home), "TMPDIR": str(work), "LC_ALL": "C.UTF-8", "no_proxy": "*",
            "USER": getpass.getuser(), "LOGNAME": getpass.getuser()}

    def lines(self, name, places=None):
        """A block of the page; `/usr` is where segget is here."""
        text = self.blocks[name]
        for old, new in {**(places or {}), "/usr/bin/segget": f"{self.prefix}/bin/segget",
                         "/usr/libexec/segget": f"{self.prefix}/libexec/segget"}.items():
            check(f"the block `{name}` of the page has `{old}`", old in text or old.startswith("/usr/"))
            text = text.replace(old, str(new))
        return text

    def published(self, *names):
        """What others have published, in the folder of callers."""
        for name in names:
            if not any(self.callers.glob(name)):
                raise LeftOut(f"`{name}` in {self.callers}")
        return sorted(self.callers.glob(names[0]))

    def start(self, command, **more):
        """Starts a command in the folder, in a session of its own as at a terminal."""
        environment = {**self.environment, **more.pop("env", {})}
        return subprocess.Popen(
            [str(word) for word in command], cwd=more.pop("cwd", self.work), env=environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
            preexec_fn=die_with_parent, **more)

    def run(self, command, accepts=(0,), **more):
        """Runs a command to its end; returns what it says."""
        process = self.start(command, **more)
        try:
            output, _ = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise Failure(f"`{shlex.join(map(str, command))[:200]}` has not ended after {PATIENCE} s") from None
        finally:
            self.end(process)
        check(f"`{shlex.join(map(str, command))[:200]}` ends with {accepts}", process.returncode in accepts,
              f"it ends with {process.returncode}: {output}")
        return output

    @staticmethod
    def end(process, number=signal.SIGKILL):
        """Sends a signal to all that a command has started."""
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass

    def interrupt(self, path, part, command, **more):
        """Presses Ctrl-C when half of a file is there, then runs the same again to its end.

        The second run must not fetch what is there; returns what it says.
        """
        part = pathlib.Path(part)
        self.origin.hold(path)
        process = self.start(command, **more)
        said = []
        reader = threading.Thread(target=lambda: said.append(process.stdout.read()), daemon=True)
        reader.start()
        try:
            half = len(self.origin.files[path]) // 2
            wait(f"half of {part}", lambda: recorded(part) >= half or process.poll() is not None)
            check("it waits for the second half", process.poll() is None, "".join(said))
            self.end(process, signal.SIGINT)
            process.wait(timeout=PATIENCE)
        finally:
            self.end(process)
            reader.join(timeout=10)
            self.origin.release(path)
        there = recorded(part)
        check(f"{part.name} and its manifest stay", part.exists() and there >= half, "".join(said))
        before = self.origin.bytes_of(path)
        output = self.run(command, **more)
        again = self.origin.bytes_of(path) - before
        check("the second run goes on", again <= 2 * half - there + SLACK,
              f"it fetched {again} bytes where {2 * half - there} were missing\n{output}")
        return output

    def same(self, file, path):
        """Compares a file with the server's; nothing of its download is left beside it."""
        file = pathlib.Path(file)
        check(f"{file} is there", file.exists(), "\n".join(sorted(os.listdir(file.parent))))
        check(f"{file} is the server's", file.read_bytes() == self.origin.files[path])
        left = [name for name in os.listdir(file.parent) if name.endswith((".part", ".segget"))]
        check(f"nothing is left beside {file}", not left, left)


def as_root():
    """How a program is run that asks whether it is root's."""
    if os.geteuid() == 0:
        return []
    need("fakeroot")
    return ["fakeroot"]


# The sections


def pacman(stage):
    """A repository with one package, installed into a folder."""
    need("pacman", "repo-add", "bsdtar", "zstd")
    work, origin, name = stage.work, stage.origin, "hello-1.0-1-any.pkg.tar.zst"
    (work / "build/usr/share").mkdir(parents=True)
    (work / "build/usr/share/hello").write_bytes(os.urandom(SIZE))
    (work / "build/.PKGINFO").write_text(
        "pkgname = hello\npkgbase = hello\npkgver = 1.0-1\npkgdesc = hello\nurl = http://127.0.0.1/\n"
        f"builddate = 1700000000\npackager = me\nsize = {SIZE}\narch = any\n")
    (work / "repository").mkdir()
    stage.run(["bsdtar", "--zstd", "-cf", work / "repository" / name, ".PKGINFO", "usr"], cwd=work / "build")
    stage.run(["repo-add", "try.db.tar.gz", name], cwd=work / "repository")
    origin.files = {"/try.db": (work / "repository/try.db").read_bytes(),
                    f"/{name}": (work / "repository" / name).read_bytes()}
    root = work / "root"
    cache, data = root / "var/cache/pacman/pkg", root / "var/lib/pacman"
    for folder in (cache, data):
        folder.mkdir(parents=True)

    def configured(level):
        path = work / f"pacman-{level}.conf"
        path.write_text(
            f"[options]\nRootDir = {root}\nDBPath = {data}\nCacheDir = {cache}\nLogFile = {root}/log\n"
            f"GPGDir = {root}/gnupg\nHookDir = {root}/hooks\nArchitecture = auto\nSigLevel = {level}\n"
            f"{stage.lines('pacman')}[try]\nServer = {origin.url('/none')}\nServer = {origin.url('')}\n")
        return [*as_root(), "pacman", "--config", path, "--noconfirm", "-Sy", "hello"]

    stage.interrupt(f"/{name}", cache / f"{name}.part.part", configured("Optional"))
    stage.same(cache / name, f"/{name}")
    check("the package is installed", (root / "usr/share/hello").read_bytes()
          == (work / "build/usr/share/hello").read_bytes())
    # A database that has changed replaces the one that is there, and what another downloader left is no hindrance.
    origin.files["/try.db"] = (work / "repository/try.files").read_bytes()
    (data / "sync/try.db.part").write_text("begun")
    stage.run(configured("Optional"))
    stage.same(data / "sync/try.db", "/try.db")
    output = stage.run(configured("DatabaseRequired"), accepts=(1,))
    check("a signature that is required and not there is an error", "signature" in output, output)
    return stage.run(["pacman", "--version"]).split("\n")[1].split("-  ")[-1].strip(" .-")


def makepkg(stage):
    """A PKGBUILD with one source."""
    need("makepkg", "bsdtar")
    work, content = stage.work, stage.origin.add("/hello-1.0.bin")
    folder = work / "package"
    folder.mkdir()
    (folder / "PKGBUILD").write_text(
        f"pkgname=hello\npkgver=1.0\npkgrel=1\narch=(any)\nsource=({stage.origin.url('/hello-1.0.bin')})\n"
        f"sha256sums=({hashlib.sha256(content).hexdigest()})\npackage() {{ :; }}\n")
    (stage.home / ".makepkg.conf").write_text(stage.lines("makepkg"))
    command = ["makepkg", "--nodeps", "--verifysource"]
    if os.geteuid() == 0:
        # It refuses root.
        need("setpriv")
        for place in (folder, stage.home):
            os.chown(place, NOBODY, NOBODY)
        command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command]
    output = stage.interrupt("/hello-1.0.bin", folder / "hello-1.0.bin.part.part", command, cwd=folder)
    check("makepkg has compared the checksum", "hello-1.0.bin ... Passed" in output, output)
    stage.same(folder / "hello-1.0.bin", "/hello-1.0.bin")
    return stage.run(["makepkg", "--version"]).split("\n")[0]


def gentoo(stage):
    """An ebuild with one distfile: by Portage, else as Portage calls it."""
    path, folder = "/hello-1.0.tar.gz", stage.work / "distfiles"
    content = stage.origin.add(path)
    tools = list(stage.callers.glob("*portage*/bin/ebuild")) or [shutil.which("ebuild")]
    if tools[0]:
        command, name = portage(stage, tools[0], path, content), "Portage"
    else:
        folder.mkdir()
        command, name = ["bash", "-c", f"{stage.lines('gentoo')}\neval \"$FETCHCOMMAND\""], "bash, without Portage"
    variables = {
        "DISTDIR": str(folder), "FILE": "hello-1.0.tar.gz.__download__", "URI": stage.origin.url(path)}
    stage.interrupt(path, folder / "hello-1.0.tar.gz.__download__.part", command, env=variables)
    if not tools[0]:
        (folder / "hello-1.0.tar.gz.__download__").rename(folder / "hello-1.0.tar.gz")
    stage.same(folder / "hello-1.0.tar.gz", path)
    if tools[0]:
        # What another downloader has begun, which is long enough for RESUMECOMMAND.
        (folder / "hello-1.0.tar.gz").unlink()
        (folder / "hello-1.0.tar.gz.__download__").write_bytes(bytes(SIZE // 2))
        output = stage.run(command, env=variables)
        check("Portage calls RESUMECOMMAND", "Resuming download" in output, output)
        stage.same(folder / "hello-1.0.tar.gz", path)
    return name


def portage(stage, ebuild, path, content):
    """A repository of ebuilds and a configuration; returns the command that fetches."""
    work = stage.work
    repository, settings = work / "repository", work / "settings/etc/portage"
    for folder in (repository / "metadata", repository / "profiles/default", repository / "dev/hello", settings,
                   work / "root", work / "cache"):
        folder.mkdir(parents=True)
    digests = f"BLAKE2B {hashlib.blake2b(content).hexdigest()} SHA512 {hashlib.sha512(content).hexdigest()}"
    for name, text in {
        "metadata/layout.conf": "masters =\nthin-manifests = true\nmanifest-hashes = BLAKE2B SHA512\n",
        "profiles/repo_name": "try\n", "profiles/arch.list": "amd64\n", "profiles/categories": "dev\n",
        "profiles/default/make.defaults": 'ARCH="amd64"\nACCEPT_KEYWORDS="amd64"\n',
        "dev/hello/hello-1.0.ebuild":
            'EAPI=8\nDESCRIPTION="hello"\nHOMEPAGE="http://127.0.0.1/"\nSLOT="0"\nLICENSE="none"\n'
            f'KEYWORDS="amd64"\nSRC_URI="{stage.origin.url("/none" + path)} {stage.origin.url(path)}"\n',
        "dev/hello/Manifest": f"DIST {path[1:]} {len(content)} {digests}\n",
    }.items():
        (repository / name).write_text(text)
    (settings / "repos.conf").write_text(f"[DEFAULT]\nmain-repo = try\n[try]\nlocation = {repository}\n")
    (settings / "make.profile").symlink_to(repository / "profiles/default")
    (settings / "make.conf").write_text(
        f'DISTDIR="{work}/distfiles"\nPORTAGE_TMPDIR="{work}"\nPORTAGE_DEPCACHEDIR="{work}/cache"\n'
        f'PKGDIR="{work}/packages"\nGENTOO_MIRRORS=""\nFEATURES="-userfetch -userpriv -sandbox -usersandbox '
        f'-network-sandbox -pid-sandbox -ipc-sandbox -mount-sandbox"\n{stage.lines("gentoo")}')
    return ["env", f"PORTAGE_CONFIGROOT={work}/settings", f"ROOT={work}/root", sys.executable,
            ebuild, repository / "dev/hello/hello-1.0.ebuild", "fetch"]


def apt_fast(stage):
    """Two packages, of which apt-get tells; apt-get itself is a stand-in."""
    need("apt-config", "flock")
    script, = stage.published("apt-fast")[:1]
    work, origin = stage.work, stage.origin
    names = ["hello_1%3a2.0_amd64.deb", "world_1.0_amd64.deb"]
    lines = []
    for name in names:
        content = origin.add(f"/pool/{name}")
        lines.append(f"'{origin.url('/pool/' + name)}' {name} {len(content)} "
                     f"SHA256:{hashlib.sha256(content).hexdigest()}")
    (work / "stand-in").mkdir()
    (work / "archives").mkdir()
    (work / "partial").mkdir()
    (work / "uris").write_text("\n".join(lines) + "\n")
    manager = work / "stand-in/apt-get"
    manager.write_text(f'#!/bin/sh\ncase "$*" in *--print-uris*) cat {work}/uris ;; *) echo "installs" ;; esac\n')
    manager.chmod(0o755)
    (work / "apt-fast.conf").write_text(stage.lines("apt-fast"))
    # The script has the folders of its configuration in it.
    text = script.read_text()
    check("apt-fast reads its configuration where it did", "/usr/local/etc /etc" in text)
    (work / "apt-fast").write_text(text.replace("/usr/local/etc /etc", str(work)))
    variables = {"_APTMGR": str(manager), "APTCACHE": f"{work}/archives", "DLDIR": f"{work}/partial",
                 "DLLIST": f"{work}/list", "LCK_FILE": f"{work}/lock", "TERM": "dumb"}
    output = stage.interrupt(
        f"/pool/{names[0]}", work / f"partial/{names[0]}.part",
        [*as_root(), "bash", work / "apt-fast", "-y", "install", "hello"], env=variables)
    for name in names:
        stage.same(work / "archives" / name, f"/pool/{name}")
    check("nothing is left of the download", not os.listdir(work / "partial"), os.listdir(work / "partial"))
    check("apt-get installs", "installs" in output, output)
    # Another file than apt's lists say is not handed over.
    origin.files[f"/pool/{names[1]}"] = bytes(SIZE)
    (work / "archives" / names[1]).unlink()
    stage.run([*as_root(), "bash", work / "apt-fast", "-y", "install", "hello"], env=variables)
    check("a file with another checksum is not handed over", not (work / "archives" / names[1]).exists())
    return re.search(r"apt-fast v[\d.]+", text)[0]


def yt_dlp(stage):
    """A film."""
    own = ROOT / ".build/servers/bin/yt-dlp"
    program = own if own.exists() else shutil.which("yt-dlp")
    program = next(stage.callers.glob("yt-dlp"), None) or program
    if not program:
        raise LeftOut("yt-dlp (scripts/servers.sh)")
    stage.origin.add("/clip.mp4")
    folder = stage.work / "films"
    folder.mkdir()
    (stage.work / "config").write_text(stage.lines("yt-dlp"))
    stage.interrupt(
        "/clip.mp4", folder / "clip [clip].mp4.part.part",
        [program, "--ignore-config", "--config-locations", stage.work / "config", stage.origin.url("/clip.mp4")],
        cwd=folder)
    stage.same(folder / "clip [clip].mp4", "/clip.mp4")
    return "yt-dlp " + stage.run([program, "--version"]).strip()


def hfd(stage):
    """A model of a stub of the Hub, which redirects to another host; in each form of the script that is there."""
    need("curl", "jq")
    hub, tokens, names = stage.origin, [], ["config.json", "model.safetensors", "onnx/model.onnx"]
    cdn = Origin()
    # Older forms clone the repository by git.
    scripts = [path for path in stage.published("hfd*.sh") if "siblings" in path.read_text()]
    for name in names:
        content = cdn.add(f"/cdn/{name}", 2000 if name == "config.json" else SIZE)
        hub.files[f"/cdn/{name}"] = content

    def answer(handler, body, status=200, location=None):
        handler.send_response(status)
        if location:
            handler.send_header("Location", location)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(body)

    siblings = [{"rfilename": name, "size": len(hub.files[f"/cdn/{name}"])} for name in names]
    total = sum(file["size"] for file in siblings)
    hub.replies["/api/models/org/model"] = lambda handler: answer(
        handler, json.dumps({"gated": False, "siblings": siblings}).encode())
    hub.replies["/api/models/org/model/treesize/main"] = lambda handler: answer(
        handler, json.dumps({"path": "/", "size": total}).encode())
    for name in names:
        def redirect(handler, name=name):
            tokens.append(handler.headers.get("Authorization"))
            answer(handler, b"", 302, cdn.url(f"/cdn/{name}?Signature={len(tokens)}"))
        hub.replies[f"/org/model/resolve/main/{name}"] = redirect
    seen = []
    stage.origin = cdn
    try:
        for script in scripts:
            folder = stage.work / script.stem
            folder.mkdir()
            shutil.copy(script, folder / "hfd.sh")
            (folder / "hfd.sh").chmod(0o755)
            line = stage.lines("hfd").strip() + " --hf_username me --hf_token hf_secret"
            stage.interrupt(
                "/cdn/model.safetensors", folder / "model/model.safetensors.part", ["bash", "-c", line], cwd=folder,
                env={"HF_ENDPOINT": hub.url("")})
            for name in names:
                stage.same(folder / "model" / name, f"/cdn/{name}")
            seen.append(script.name)
    finally:
        cdn.shutdown()
        cdn.server_close()
        stage.origin = hub
    check("the Hub sees the token", set(tokens) == {"Bearer hf_secret"}, set(tokens))
    check("nobody else sees it", set(cdn.shown) == {None}, set(cdn.shown))
    return ", ".join(seen)


def pyenv(stage):
    """A definition whose archive is copied."""
    program, = stage.published("*pyenv*/bin/pyenv")[:1]
    work, origin = stage.work, stage.origin
    (work / "hello-1.0").mkdir()
    (work / "hello-1.0/data").write_bytes(os.urandom(SIZE))
    (work / "hello-1.0/bin").mkdir()
    with tarfile.open(work / "hello.tar.gz", "w:gz") as archive:
        archive.add(work / "hello-1.0", "hello-1.0")
    content = (work / "hello.tar.gz").read_bytes()
    origin.files["/hello-1.0.tar.gz"] = content
    (work / "definitions").mkdir()
    (work / "definitions/3.13.5").write_text(
        f'install_package "hello-1.0" "{origin.url("/hello-1.0.tar.gz")}#{hashlib.sha256(content).hexdigest()}" '
        'copy\n')
    script = stage.lines("pyenv").replace("\npyenv ", f"\n{program} ")
    variables = {"PYENV_ROOT": f"{work}/pyenv", "PYTHON_BUILD_DEFINITIONS": f"{work}/definitions"}
    (work / "pyenv/versions").mkdir(parents=True)
    source = stage.home / ".cache/pyenv-build/3.13.5"
    stage.interrupt("/hello-1.0.tar.gz", source / "hello-1.0.tar.gz.part", ["bash", "-c", script], env=variables)
    check("what was in the archive is installed", (work / "pyenv/versions/3.13.5/data").read_bytes()
          == (work / "hello-1.0/data").read_bytes())
    return stage.run([program, "--version"]).strip()


class Cluster:
    """A Slurm cluster of two node daemons on this machine, as root. Use it with `with`."""

    def __init__(self, work):
        self.work, self.settings, self.processes = work, work / "slurm.conf", []

    def __enter__(self):
        host, work = socket.gethostname().partition(".")[0], self.work
        for folder in ("state", "spool"):
            (work / folder).mkdir(parents=True)
        ports = [free_port() for _ in range(3)]
        self.settings.write_text(
            f"ClusterName=try\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={ports[0]}\nSlurmUser=root\n"
            f"SlurmdUser=root\nAuthType=auth/munge\nAuthInfo=socket={work}/munge.sock\n"
            f"StateSaveLocation={work}/state\nSlurmdSpoolDir={work}/spool/%n\nSlurmctldPidFile={work}/ctld.pid\n"
            f"SlurmdPidFile={work}/%n.pid\nSlurmctldLogFile={work}/ctld.log\nSlurmdLogFile={work}/%n.log\n"
            "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\n"
            "SelectTypeParameters=CR_CPU\nReturnToService=2\nMpiDefault=none\n"
            "JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n"
            "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n" + "".join(
                f"NodeName=n{number} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 State=UNKNOWN\n"
                for number, port in enumerate(ports[1:])))
        (work / "key").write_bytes(os.urandom(1024))
        (work / "key").chmod(0o400)
        try:
            self.start("munged", "--foreground", "--force", f"--key-file={work}/key", f"--socket={work}/munge.sock",
                       f"--pid-file={work}/munge.pid", f"--log-file={work}/munge.log", f"--seed-file={work}/seed")
            wait("munged", (work / "munge.sock").exists)
            self.start("slurmctld", "-D", "-f", self.settings)
            for number in range(2):
                self.start("slurmd", "-D", "-f", self.settings, "-N", f"n{number}")
            wait("two idle nodes", lambda: self.ask("sinfo", "-h", "-N", "-t", "idle", "-o", "%N").count("n") == 2)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if len(self.processes) > 1:
            # What runs on nodes is no child of theirs.
            self.ask("scancel", "--user=root")
            deadline = time.monotonic() + 60
            while self.ask("squeue", "-h") and time.monotonic() < deadline:
                time.sleep(0.1)
        for process in reversed(self.processes):
            stop(process)

    def start(self, *command):
        """Starts a daemon."""
        with open(self.work / f"{command[0]}.out", "ab") as output:
            self.processes.append(subprocess.Popen(
                list(map(str, command)), env={**os.environ, "SLURM_CONF": str(self.settings)}, stdout=output,
                stderr=output, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent))

    def ask(self, *command):
        """Runs a command of Slurm's; returns what it says."""
        return subprocess.run(
            list(command), env={**os.environ, "SLURM_CONF": str(self.settings)}, capture_output=True, text=True,
            check=False).stdout.strip()


def free_port():
    """A port that the kernel chose."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


def slurm(stage):
    """A job array over a list: one task is requeued, one is told to stop and requeues itself."""
    if os.geteuid() != 0:
        raise LeftOut("root")
    need("slurmctld", "slurmd", "munged", "sbatch")
    work, origin = stage.work, stage.origin
    names = ["zero", "one", "two", "three"]
    for name in names:
        origin.add(f"/{name}", SIZE if name in ("zero", "one") else 100_000)
    # Files 1, 3, ... are those of task 1.
    order = ["one", "zero", "three", "two"]
    (work / "list.txt").write_text("# files\n" + "".join(
        f"{origin.url('/' + name)}\n  out={name}.bin\n\n" for name in order))
    (work / "job.sh").write_text(stage.lines("slurm", {"--array=0-15%4": "--array=0-1%2"}))
    with Cluster(work / "slurm") as cluster:
        for name in ("zero", "one"):
            origin.hold(f"/{name}")
        job = stage.run(["sbatch", "--parsable", "job.sh"], env={"SLURM_CONF": str(cluster.settings)}).strip()
        parts = {name: work / f"data/{name}.bin.part" for name in ("zero", "one")}

        def logs():
            return "\n".join(path.read_text() for path in work.glob("fetch-*.log"))

        for name, part in parts.items():
            wait(f"half of {name}", lambda part=part: recorded(part) >= SIZE // 2)
        cluster.ask("scontrol", "requeue", f"{job}_1")
        cluster.ask("scancel", "--signal=TERM", f"{job}_0")
        wait("both tasks are requeued", lambda: cluster.ask(
            "squeue", "-h", "-r", "-j", job, "-t", "PENDING", "-o", "%i").split() in (
                [f"{job}_0", f"{job}_1"], [f"{job}_1", f"{job}_0"]))
        check("segget was stopped", "stopped by SIGTERM" in logs(), logs())
        there = {name: recorded(part) for name, part in parts.items()}
        before = {name: origin.bytes_of(f"/{name}") for name in parts}
        for name in parts:
            origin.release(f"/{name}")
        for task in (0, 1):
            # Slurm waits for two minutes before it runs a requeued job again.
            cluster.ask("scontrol", "update", f"JobId={job}_{task}", "StartTime=now")
        wait("the end of the job", lambda: not cluster.ask("squeue", "-h", "-j", job))
        for name in names:
            origin.files[f"/{name}.bin"] = origin.files[f"/{name}"]
            stage.same(work / f"data/{name}.bin", f"/{name}.bin")
        for name in parts:
            again = origin.bytes_of(f"/{name}") - before[name]
            missing = SIZE - there[name]
            check(f"{name} goes on", again <= missing + SLACK, f"{again} bytes of {missing}\n{logs()}")
        check("lists of tasks are gone", not list(work.glob("list.*.*.*")) and not list(work.glob(f"list.{job}*")))
        return cluster.ask("sinfo", "--version")


def cron(stage):
    """The line, as cron runs it; by cron itself where that can be had apart from the machine's."""
    need("flock")
    work, origin = stage.work, stage.origin
    origin.add("/new.bin")
    text = stage.lines("cron", {"17 3 * * *": "* * * * *"})
    line = next(line for line in text.splitlines() if line.startswith("* "))
    commands = {}
    for name, paths in {"good": ["/new.bin"], "bad": ["/none"], "locked": ["/new.bin"]}.items():
        (work / name / "files").mkdir(parents=True)
        (work / name / "list.txt").write_text("".join(f"{origin.url(path)}\n" for path in paths))
        commands[name] = line[9:].strip().replace("/srv/mirror", str(work / name))
    plain = ["env", "-i", f"HOME={stage.home}", "PATH=/usr/bin:/bin", "/bin/sh", "-c"]
    output = stage.interrupt("/new.bin", work / "good/files/new.bin.part", [*plain, commands["good"]])
    check("success says nothing", not output, output)
    stage.same(work / "good/files/new.bin", "/new.bin")
    before = origin.bytes_of("/new.bin")
    check("what is there is not fetched again", not stage.run([*plain, commands["good"]])
          and origin.bytes_of("/new.bin") == before)
    origin.add("/new.bin", SIZE // 2)
    check("what has changed is fetched", not stage.run([*plain, commands["good"]]))
    stage.same(work / "good/files/new.bin", "/new.bin")
    output = stage.run([*plain, commands["bad"]], accepts=(69,))
    check("a failure says something", "404" in output, output)
    with open(work / "locked/lock", "w", encoding="ascii") as lock:
        subprocess.run(["flock", str(lock.fileno())], pass_fds=[lock.fileno()], check=True)
        check("a second run ends at once", not stage.run([*plain, commands["locked"]])
              and not os.listdir(work / "locked/files"))
        if os.geteuid() != 0 or not shutil.which("cron") or not shutil.which("unshare"):
            return "as cron runs it; cron itself needs root"
        origin.files["/new.bin"] = os.urandom(SIZE)
        (work / "good/files/new.bin").unlink()
        by_cron(stage, text.replace(line, "\n".join(
            f"* * * * * {command}" for command in commands.values())))
        stage.same(work / "good/files/new.bin", "/new.bin")
        check("a second run has not begun", not os.listdir(work / "locked/files"))
    mails = (work / "mails").read_text()
    check("there is a mail about the failure, and no other", str(work / "bad") in mails
          and str(work / "good") not in mails and str(work / "locked") not in mails, mails)
    return "cron"


def by_cron(stage, table):
    """Runs a table by cron, with nothing else of the machine's, until there are a file and a mail."""
    work = stage.work
    (work / "table").write_text(table)
    (work / "sendmail").write_text(f"#!/bin/sh\ncat >>{work}/mails\n")
    (work / "sendmail").chmod(0o755)
    (work / "empty").touch()
    shutil.copy(shutil.which("cron"), work / "cron")
    # In a mount namespace of its own: its folders, those of its table, and who sends mail.
    process = stage.start(["unshare", "--mount", "sh", "-e", "-c", f"""
        mkdir -p /var/spool/cron/crontabs
        for folder in /run /var/spool/cron/crontabs /etc/cron.d /usr/sbin; do mount -t tmpfs tmpfs $folder; done
        mount --bind {work}/empty /etc/crontab
        cp {work}/sendmail /usr/sbin/sendmail
        cp {work}/table /var/spool/cron/crontabs/root
        chmod 600 /var/spool/cron/crontabs/root
        exec {work}/cron -f"""])
    try:
        wait("a file and a mail, at the next minute", lambda: process.poll() is not None or (
            (work / "good/files/new.bin").exists() and (work / "mails").exists()))
        check("cron runs", process.poll() is None, process.poll() is not None and process.stdout.read())
    finally:
        stage.end(process)
        process.wait()


def systemd():
    """What `try-systemd.py` has."""
    spec = importlib.util.spec_from_file_location("try_systemd", ROOT / "scripts/try-systemd.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # It runs this script inside, in place of itself.
    module.__file__ = __file__
    return module


def timer(stage):
    """The units, with a real systemd of a user."""
    module = systemd()
    if reason := module.hindrance():
        raise LeftOut(reason.removeprefix("it needs "))
    code = module.isolated(["--segget", str(stage.prefix / "bin/segget"), "timer"])
    check("it works inside", code == 0)
    return subprocess.run(
        [module.SYSTEMD, "--version"], capture_output=True, text=True, check=True).stdout.split(" (")[0]


def inside(arguments):
    """Starts what a booted machine has, and tries the timer."""
    module = systemd()
    group = module.prepare()
    stage = Stage(arguments.segget, arguments.callers, module.PLACE / "stage")
    user = module.User(stage.prefix)
    stand_in = stage.work / "stand-in"
    stand_in.mkdir()
    mails = user.home / "mails"
    (stand_in / "mail").write_text(f'#!/bin/sh\n{{ echo "subject: $2"; cat; }} >>{mails}\n')
    (stand_in / "mail").chmod(0o755)
    units, mirror = user.home / ".config/systemd/user", user.home / "mirror"
    for folder in (units, mirror / "files"):
        folder.mkdir(parents=True)
    stage.origin.add("/new.bin")
    (mirror / "list.txt").write_text(f"{stage.origin.url('/new.bin')}\n")
    (units / "mirror.service").write_text(stage.lines("service"))
    # Not so often that systemd takes it for a loop.
    (units / "mirror.timer").write_text(stage.lines(
        "timer", {"OnCalendar=*-*-* 03:17": "OnCalendar=*:*:0/3\nAccuracySec=1us"}))
    (units / "mail@.service").write_text(stage.lines("mail"))
    for folder, _, names in os.walk(user.home):
        for name in ["", *names]:
            os.chown(os.path.join(folder, name), module.USER, module.USER)
    processes = [subprocess.Popen(["/lib/systemd/systemd-journald"], preexec_fn=die_with_parent)]
    try:
        wait("the journal", lambda: os.path.exists("/run/systemd/journal/stdout"))
        (group / "cgroup.procs").write_text(str(os.getpid()))
        processes.append(user.start(module.SYSTEMD, "--user", "--log-target=journal"))
        wait("the user's systemd",
             lambda: user.systemctl("is-system-running", accepts=(0, 1, 4)).strip() == "running")
        user.systemctl("set-environment", f"PATH={stand_in}:/usr/bin:/bin")
        by_timer(stage, user, mirror, mails)
        return 0
    except Failure:
        print(user.systemctl("status", "mirror.timer", "mirror.service", "mail@mirror.service.service",
                             accepts=(0, 1, 3, 4)), mails.exists() and mails.read_text(), file=sys.stderr)
        raise
    finally:
        for process in reversed(processes):
            stop(process)


def by_timer(stage, user, mirror, mails):
    """The timer starts it, it is stopped, and goes on; then it fails."""
    part = mirror / "files/new.bin.part"
    stage.origin.hold("/new.bin")
    user.systemctl("enable", "--now", "mirror.timer")
    wait("half of the file", lambda: recorded(part) >= SIZE // 2)
    user.systemctl("stop", "mirror.service")
    result = user.property("Result", "mirror.service")
    check("a service that is stopped has not failed", result == "success" and not mails.exists(), result)
    # The timer may have started it again.
    there, before = recorded(part), stage.origin.bytes_of("/new.bin")
    stage.origin.release("/new.bin")
    wait("the file", (mirror / "files/new.bin").exists)
    again = stage.origin.bytes_of("/new.bin") - before
    check("it goes on", again <= SIZE - there + SLACK, again)
    wait("its end", lambda: user.property("ActiveState", "mirror.service") == "inactive")
    stage.same(mirror / "files/new.bin", "/new.bin")
    check("success sends no mail", not mails.exists())
    (mirror / "list.txt").write_text(f"{stage.origin.url('/none')}\n")
    # Here the user may not read the journal, of which the last lines are in the mail elsewhere.
    wait("a mail about a failure", lambda: mails.exists() and "status=69" in mails.read_text())
    check("it has the name of the service", "subject: mirror.service failed" in mails.read_text(), mails.read_text())


SECTIONS = {
    "pacman": pacman, "makepkg": makepkg, "gentoo": gentoo, "apt-fast": apt_fast, "yt-dlp": yt_dlp, "hfd": hfd,
    "pyenv": pyenv, "slurm": slurm, "cron": cron, "timer": timer}


def main():
    """Tries what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--segget", type=pathlib.Path, default=ROOT / ".build/release/segget", help="the program")
    parser.add_argument("--callers", type=pathlib.Path, default=ROOT / ".build/callers",
                        help="where what others have published is")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.sections if name not in SECTIONS]:
        raise Failure(f"`{unknown[0]}` is no section", f"these are: {', '.join(SECTIONS)}")
    if not os.access(arguments.segget, os.X_OK):
        raise Failure(f"`{arguments.segget}` is not there", "build it with `make build`")
    arguments.callers = arguments.callers.absolute()
    if arguments.inside:
        return inside(arguments)
    failures = 0
    for name in arguments.sections or SECTIONS:
        with tempfile.TemporaryDirectory(prefix="segget-callers.", dir="/var/tmp") as folder:
            work = pathlib.Path(folder)
            # Whoever runs the lines as another user has to come in.
            work.chmod(0o755)
            stage = Stage(arguments.segget, arguments.callers, work)
            try:
                print(f"ok: {name} ({SECTIONS[name](stage)})", flush=True)
            except LeftOut as reason:
                print(f"left out: {name}: it needs {reason}", flush=True)
            except Failure as failure:
                failures += 1
                print(f"FAILED: {name}: {failure}", flush=True)
            finally:
                stage.origin.shutdown()
                stage.origin.server_close()
    return 1 if failures else 0


if __name__ == "__main__":
    run_main(main)
