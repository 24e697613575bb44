#!/usr/bin/env python3
"""Builds an OCI image of segget from its Debian package, without a daemon and without root.

    scripts/image.py dist/segget_0.2.0-1_amd64.deb dist

The result, `segget-VERSION-oci-x86_64.tar`, is an OCI archive, and at once what `docker load` reads. The
same package, mirror and SOURCE_DATE_EPOCH (default: the date of the commit) give the same bytes.
"""

import argparse
import datetime
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile

from loopback import MIB, Failure, run_main

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUITE = "bookworm"
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
# Data, and the shell: what else they depend on is for their maintainer scripts, none of which is run. Commands at
# the end of tasks reach their variables by `sh -c`; `TZ` and rules by the time of day need time zones.
ALONE = ("base-files", "ca-certificates", "dash", "netbase", "tzdata")
# What segget's own maintainer scripts need, and nothing else does.
FOR_SCRIPTS = {"init-system-helpers"}
LEFT_OUT = re.compile(
    r"""usr/share/doc/[^/]+/(?!copyright$).     # all but licenses
    | usr/share/(base-files|bash-completion|debianutils|dict|fish|gcc|gdb|info|lintian|locale|man|menu|misc|zsh)/
    | usr/share/zoneinfo/(posix|right)/
    | usr/share/ca-certificates/               # they are in one file
    | usr/s?bin/(?!segget).                    # programs
    | (usr/)?sbin/
    | (usr/)?lib/(systemd|init)/
    | usr/lib/x86_64-linux-gnu/gconv/
    | etc/(ca-certificates|default|dpkg|init\.d|ld\.so\.conf\.d|profile\.d|skel|update-motd\.d)/
    | etc/issue
    | (boot|home|usr/games|usr/include|usr/src|var/(backups|local|lock|run|spool))/
    """, re.VERBOSE)
USER = 65532
VOLUMES = ("downloads", "state")
CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"
MOST = 60_000_000


def output(*command, **more):
    """What a program prints."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, **more).stdout


def digest(data):
    """As OCI names blobs."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def as_json(value):
    """The one form in which a value is written."""
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False).encode() + b"\n"


class Package:
    """A Debian package."""

    def __init__(self, path):
        self.path = path
        self.control = output("dpkg-deb", "--field", path).decode()

    def field(self, name):
        """A field of its control file, of one line."""
        found = re.search(rf"^{name}: *(.*)$", self.control, re.MULTILINE)
        return found[1] if found else ""

    def depends(self):
        """The names of packages without which its programs do not run."""
        names = (entry.split()[0] for entry in self.field("Depends").split(","))
        return [name for name in names if name not in FOR_SCRIPTS]

    def files(self):
        """Its files as `TarInfo`, content."""
        with tarfile.open(fileobj=io.BytesIO(output("dpkg-deb", "--fsys-tarfile", self.path))) as archive:
            for entry in archive:
                entry.name = entry.name.removeprefix("./").strip("/")
                if entry.name and not LEFT_OUT.match(entry.name + ("/" if entry.isdir() else "")):
                    yield entry, archive.extractfile(entry).read() if entry.isfile() else None


class Debian:
    """Packages of Debian's mirror, without regard to those that this machine has."""

    def __init__(self, folder, mirror):
        self.archives = folder / "archives"
        for path in (folder / "lists/partial", self.archives / "partial"):
            path.mkdir(parents=True)
        (folder / "status").touch()
        (folder / "sources.list").write_text("".join(
            f"deb [signed-by={KEYS}] {mirror}/{place} main\n"
            for place in (f"debian {SUITE}", f"debian {SUITE}-updates", f"debian-security {SUITE}-security")))
        options = {
            "APT::Architecture": "amd64", "APT::Architectures": "amd64", "APT::Sandbox::User": "root",
            "Dir::State::lists": folder / "lists", "Dir::State::status": folder / "status",
            "Dir::State::extended_states": folder / "extended_states",
            "Dir::Cache::archives": self.archives, "Dir::Cache::pkgcache": "", "Dir::Cache::srcpkgcache": "",
            "Dir::Etc::sourcelist": folder / "sources.list", "Dir::Etc::sourceparts": "/dev/null",
            "Dir::Etc::preferences": "/dev/null", "Dir::Etc::preferencesparts": "/dev/null"}
        self.command = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in options.items())]

    def fetch(self, *names):
        """Fetches packages with what they depend on, and those that are wanted alone; returns all of them."""
        self.apt("update")
        self.apt("install", "--yes", "--download-only", "--no-install-recommends", *names)
        self.apt("download", *ALONE)
        return [Package(path) for path in sorted(self.archives.glob("*.deb"))]

    def apt(self, *arguments):
        """apt-get, in the folder of packages; what it prints is shown if it fails."""
        done = subprocess.run([*self.command, *arguments], cwd=self.archives, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            raise Failure(f"`apt-get {' '.join(arguments)}` ends with {done.returncode}: {done.stdout.strip()}",
                          "look whether the mirror can be reached, or name another one: --mirror URL")


class Layer:
    """The files of the image."""

    def __init__(self, epoch):
        self.epoch = epoch
        self.entries = {}

    def add(self, name, content=b"", mode=0o644, kind=tarfile.REGTYPE, owner=0):
        """Adds a file or folder that no package has, and the folders above it."""
        entry = tarfile.TarInfo(name)
        entry.type, entry.mode, entry.uid, entry.gid, entry.mtime = kind, mode, owner, owner, self.epoch
        self.put(entry, content)

    def put(self, entry, content):
        """Adds a file or folder."""
        for above in map(str, pathlib.PurePath(entry.name).parents):
            if above != "." and above not in self.entries:
                self.add(above, mode=0o755, kind=tarfile.DIRTYPE)
        entry.uname = entry.gname = ""
        entry.mtime = min(int(entry.mtime), self.epoch)
        entry.size = len(content or b"")
        entry.pax_headers = {}
        self.entries[entry.name] = entry, content

    def tar(self):
        """All of it."""
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as archive:
            # A hard link comes behind its file.
            for _, (entry, content) in sorted(self.entries.items(), key=lambda item: (item[1][0].islnk(), item[0])):
                if entry.islnk() and entry.linkname.removeprefix("./") not in self.entries:
                    raise Failure(f"{entry.name} is a link to {entry.linkname}, which is left out")
                archive.addfile(entry, io.BytesIO(content or b""))
        return file.getvalue()


def certificates(package):
    """All certificates in one file, as update-ca-certificates writes them."""
    with tarfile.open(fileobj=io.BytesIO(output("dpkg-deb", "--fsys-tarfile", package.path))) as archive:
        found = {entry.name: archive.extractfile(entry).read() for entry in archive
                 if entry.isfile() and entry.name.startswith("./usr/share/ca-certificates/")}
    return b"".join(found[name].rstrip(b"\n") + b"\n" for name in sorted(found))


def layer(segget, packages, epoch):
    """The root file system."""
    root = Layer(epoch)
    for package in [*packages, segget]:
        for entry, content in package.files():
            root.put(entry, content)
        # Scanners look here for what an image has.
        root.add(f"var/lib/dpkg/status.d/{package.field('Package')}", package.control.encode())
    root.add(CERTIFICATES, certificates(next(each for each in packages if each.field("Package") == "ca-certificates")))
    root.add("etc/passwd", f"root:x:0:0:root:/root:/sbin/nologin\n"
             f"segget:x:{USER}:{USER}:segget:/state:/sbin/nologin\n"
             "nobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin\n".encode())
    root.add("etc/group", f"root:x:0:\nsegget:x:{USER}:\nnogroup:x:65534:\n".encode())
    root.add("etc/nsswitch.conf", b"passwd: files\ngroup: files\nhosts: files dns\nservices: files\n")
    # A new volume is owned as its folder is; whoever runs it as another user has to get in, too.
    for name in VOLUMES:
        root.add(name, mode=0o777, kind=tarfile.DIRTYPE, owner=USER)
    return root.tar()


def configuration(labels, created, diff):
    """The image's configuration, with Docker's extension of it, the health check."""
    second = 10**9
    return {
        "architecture": "amd64", "os": "linux", "created": created,
        "config": {
            "User": f"{USER}:{USER}",
            # Options of the service are in the environment, where whoever runs it can give others one by one, and
            # where the health check and other commands in the container have them, too.
            "Env": ["PATH=/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/state", "XDG_DATA_HOME=/state",
                    "SEGGET_RPC=0.0.0.0:6800", "SEGGET_WEB=0.0.0.0:6800", "SEGGET_DIRECTORY=/downloads"],
            "Entrypoint": ["segget"],
            "Cmd": ["serve"],
            "ExposedPorts": {"6800/tcp": {}},
            "Volumes": {f"/{name}": {} for name in VOLUMES},
            "WorkingDir": "/downloads",
            "StopSignal": "SIGTERM",
            "Healthcheck": {
                "Test": ["CMD", "segget", "serve", "--ping"], "Interval": 30 * second, "Timeout": 10 * second,
                "StartPeriod": 10 * second, "Retries": 3},
            "Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": [diff]},
        "history": [{"created": created, "created_by": "scripts/image.py"}]}


class Image:
    """An archive of an image."""

    def __init__(self, epoch):
        self.epoch = epoch
        self.files = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}\n'}

    def blob(self, kind, data):
        """Adds a blob; returns its descriptor."""
        self.files[self.path(digest(data))] = data
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": digest(data), "size": len(data)}

    @staticmethod
    def path(name):
        """Where a blob is."""
        return f"blobs/{name.replace(':', '/')}"

    def write(self, path):
        """Writes the archive, which is there as a whole or not at all."""
        part = path.with_name(path.name + ".part")
        with tarfile.open(part, "w", format=tarfile.GNU_FORMAT) as archive:
            for name in sorted({*self.files, "blobs", "blobs/sha256"}):
                entry = tarfile.TarInfo(name)
                entry.mtime = self.epoch
                content = self.files.get(name)
                entry.mode = 0o755 if content is None else 0o644
                entry.type = tarfile.DIRTYPE if content is None else tarfile.REGTYPE
                entry.size = len(content or b"")
                archive.addfile(entry, io.BytesIO(content or b""))
        part.rename(path)


def build(deb, folder, mirror, epoch):
    """Builds the image; returns its path and the digest of its manifest."""
    segget = Package(deb)
    version = segget.field("Version").rsplit("-", 1)[0]
    with tempfile.TemporaryDirectory(prefix="segget-image.") as work:
        root = layer(segget, Debian(pathlib.Path(work), mirror).fetch(*segget.depends()), epoch)
    created = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    labels = {f"org.opencontainers.image.{name}": text for name, text in {
        "title": "segget", "description": segget.field("Description"), "version": version,
        "licenses": "Apache-2.0", "revision": output("git", "-C", ROOT, "rev-parse", "HEAD").decode().strip(),
        "created": created}.items()}
    image = Image(epoch)
    packed = image.blob("layer.v1.tar+gzip", gzip.compress(root, compresslevel=9, mtime=0))
    config = image.blob("config.v1+json", as_json(configuration(labels, created, digest(root))))
    manifest = image.blob("manifest.v1+json", as_json({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config,
        "layers": [packed], "annotations": labels}))
    name = f"segget:{version}"
    image.files["index.json"] = as_json({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [{
            **manifest, "platform": {"architecture": "amd64", "os": "linux"}, "annotations": {
                "io.containerd.image.name": f"docker.io/library/{name}",
                "org.opencontainers.image.ref.name": version}}]})
    # Docker's own form, of the same blobs.
    image.files["manifest.json"] = as_json([{
        "Config": image.path(config["digest"]), "RepoTags": [name], "Layers": [image.path(packed["digest"])]}])
    if packed["size"] > MOST:
        raise Failure(f"the image has {packed['size']} bytes compressed; {MOST} is the limit")
    path = folder / f"segget-{version}-oci-x86_64.tar"
    image.write(path)
    return path, manifest["digest"]


def main():
    """Builds the image."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("deb", type=pathlib.Path, help="segget's Debian package")
    parser.add_argument("dist", type=pathlib.Path, help="the folder of the image")
    parser.add_argument("--mirror", default="http://deb.debian.org", help="Debian's mirror")
    arguments = parser.parse_args()
    for program in ("apt-get", "dpkg-deb", "git"):
        if not shutil.which(program):
            raise Failure(f"{program} is not installed", "the image can be built on Debian or Ubuntu")
    if not os.access(KEYS, os.R_OK):
        raise Failure(f"{KEYS} is not there", "install debian-archive-keyring")
    if not arguments.deb.is_file():
        raise Failure(f"`{arguments.deb}` is not there", "build it with `make deb`")
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or output("git", "-C", ROOT, "log", "-1", "--format=%ct"))
    arguments.dist.mkdir(parents=True, exist_ok=True)
    path, name = build(arguments.deb, arguments.dist, arguments.mirror, epoch)
    print(f"{path}: {path.stat().st_size / MIB:.1f} MiB, {name}")
    return 0


if __name__ == "__main__":
    run_main(main)
