"""A stub of the Hugging Face Hub for the benchmark and the trial: one repository, served by nginx alone.

The Hub is at one address: its API (`revision`, `tree`) and `resolve`, which has small files and redirects for large
ones. The bytes of large files are at a second address: the library regards the same host at another port as the
same origin. nginx's log has every request.

Python's standard library only.
"""

import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.parse
from dataclasses import dataclass

from loopback import Failure, die_with_parent, stop

REPOSITORY = "org/model"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
# Entries on a page of the Hub's tree.
PAGE = 1000
PATH = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"

CONFIGURATION = """
    USER daemon off; worker_processes 1; worker_rlimit_nofile 8192; pid pid; error_log error.log warn;
    events { worker_connections 4096; }
    http {
        client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi;
        scgi_temp_path scgi;
        log_format hub '$server_addr:$server_port $request_method $status $body_bytes_sent $request_uri';
        access_log access.log hub;
        sendfile on; tcp_nopush on; tcp_nodelay on; keepalive_requests 100000; reset_timedout_connection on;
        default_type application/octet-stream;
        map_hash_max_size 65536; map_hash_bucket_size 512; server_names_hash_bucket_size 128;
        limit_req_zone $server_port zone=small:1m rate=REQUESTS; limit_req_log_level info;
        map $status $code { default ''; 404 EntryNotFound; }
        map $arg_cursor $next { default ''; NEXT }
        map $path $blob { default ''; BLOBS }
        server {
            listen HUB backlog=1024;
            etag off;
            location = /status { access_log off; stub_status; }
            location ~ ^/api/models/org/model/revision/(main|COMMIT)$ {
                default_type application/json; root 'API'; try_files /revision.json =404;
            }
            location ~ ^/api/models/org/model/tree/(main|COMMIT)(?<below>/.+)?$ {
                default_type application/json; root 'API';
                add_header Link $next; add_header X-Error-Code $code always;
                try_files /tree$below/$arg_recursive$arg_cursor.json =404;
            }
            REDIRECTS
            location ~ ^/org/model/resolve/(main|COMMIT)/(?<path>.+)$ {
                alias 'FILES/$path'; PACE
                add_header ETag $blob; add_header X-Repo-Commit COMMIT always; add_header X-Error-Code $code always;
            }
        }
        server { listen LARGE backlog=1024; root 'FILES'; limit_rate RATE; }
    }
    """


@dataclass
class File:
    """A file of the repository."""

    path: str
    size: int
    is_large: bool = False
    sha256: str = ""
    git_sha1: str = ""

    @property
    def blob(self):
        """The name of its content in a cache."""
        return self.sha256 if self.is_large else self.git_sha1

    def write(self, folder):
        """Writes random content, and notes its digests."""
        path = os.path.join(folder, self.path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        sums = hashlib.sha256(), hashlib.sha1(b"blob %d\0" % self.size)
        with open(path, "wb", buffering=0) as file:
            for start in range(0, self.size, 1 << 20):
                block = os.urandom(min(1 << 20, self.size - start))
                file.write(block)
                for each in sums:
                    each.update(block)
        self.sha256, self.git_sha1 = (each.hexdigest() for each in sums)

    def is_right(self, path):
        """Whether a path has the content of the file."""
        try:
            with open(path, "rb", buffering=0) as file:
                return hashlib.file_digest(file, "sha256").hexdigest() == self.sha256
        except OSError:
            return False

    @property
    def entry(self):
        """What the Hub's API states of it."""
        entry = {"type": "file", "oid": self.git_sha1, "size": self.size, "path": self.path}
        if self.is_large:
            entry["lfs"] = {"oid": self.sha256, "size": self.size, "pointerSize": 134}
        return entry


@dataclass(frozen=True)
class Count:
    """Requests by kind, and the bytes of bodies that were sent."""

    api: int = 0
    heads: int = 0  # HEAD of `resolve`
    gets: int = 0  # GET of `resolve`: small files, and redirects
    bytes: int = 0  # GET at the server of large files
    sent: int = 0  # bytes of all bodies
    sent_of_files: int = 0  # the same without the API

    @property
    def hub(self):
        """Requests that the Hub counts."""
        return self.api + self.heads + self.gets

    @property
    def all(self):
        """All requests."""
        return self.hub + self.bytes


class HubStub:
    """The stub, which writes its files once, and serves them while it is used with `with`.

    `rate` limits each connection for large files, in bytes a second, and `pace` is how many requests for small files
    are answered in a second; 0: no limit.
    """

    def __init__(self, work, files, addresses=("127.0.0.1", "127.0.0.2"), rate=0, pace=0):
        self.work, self.files, self.addresses, self.rate, self.pace = work, files, addresses, rate, pace
        self.folder = os.path.join(work, "files")
        self.log = os.path.join(work, "access.log")
        self.process = None
        self.places = ("", "")
        os.makedirs(self.folder)
        for file in files:
            file.write(self.folder)
        self._write_api()

    @property
    def endpoint(self):
        """What `HF_ENDPOINT` is to be."""
        return f"http://{self.places[0]}"

    @property
    def size(self):
        """The bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def pages(self):
        """The pages of the tree."""
        return max(1, -(-len(self.files) // PAGE))

    def __enter__(self):
        program = shutil.which("nginx", path=PATH)
        if not program:
            raise Failure("nginx is not installed", "`scripts/packages.sh demo` installs what is missing")
        # nginx inherits the sockets, so that no other program can take the ports in between.
        listening = [socket.create_server((address, 0), backlog=1024) for address in self.addresses]
        for each in listening:
            each.setblocking(False)
        self.places = tuple("{}:{}".format(*each.getsockname()) for each in listening)
        configuration = os.path.join(self.work, "nginx.conf")
        with open(configuration, "w", encoding="utf-8") as file:
            file.write(self._configuration())
        numbers = [each.fileno() for each in listening]
        with open(os.path.join(self.work, "stderr"), "wb") as output:
            self.process = subprocess.Popen(
                [program, "-p", self.work, "-c", configuration, "-e", "error.log"], cwd=self.work,
                env={**os.environ, "NGINX": "".join(f"{number};" for number in numbers)}, pass_fds=numbers,
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, preexec_fn=die_with_parent)
        for each in listening:
            each.close()
        try:
            self._wait_until_ready()
        except BaseException:
            stop(self.process)
            raise
        return self

    def __exit__(self, *_):
        stop(self.process)

    # Counting

    def mark(self):
        """The place in the log from which `count` is to read."""
        self.settle()
        return os.path.getsize(self.log) if os.path.exists(self.log) else 0

    def requests(self, start=0):
        """The requests since a mark: whether to the Hub, method, status, bytes of the body, path."""
        self.settle()
        if not os.path.exists(self.log):
            return
        with open(self.log, "rb") as file:
            file.seek(start)
            text = file.read().decode()
        for line in text.splitlines():
            place, method, status, body, path = line.split(" ", 4)
            yield place == self.places[0], method, int(status), int(body), path

    def count(self, start=0):
        """The requests since a mark, counted."""
        api = heads = gets = ranges = sent = of_files = 0
        for is_hub, method, _, body, path in self.requests(start):
            sent += body
            if not is_hub:
                ranges += 1
            elif "/resolve/" not in path:
                api += 1
                continue
            elif method == "HEAD":
                heads += 1
            else:
                gets += 1
            of_files += body
        return Count(api, heads, gets, ranges, sent, of_files)

    def settle(self):
        """Waits until every request has ended and is in the log; at most 10 seconds."""
        deadline = time.monotonic() + 10
        while self._writing() > 1 and time.monotonic() < deadline:
            time.sleep(0.02)

    def _writing(self):
        """How many requests are being answered, this one included."""
        host, port = self.places[0].split(":")
        with socket.create_connection((host, int(port)), timeout=10) as asking:
            asking.sendall(b"GET /status HTTP/1.0\r\n\r\n")
            answer = b"".join(iter(lambda: asking.recv(4096), b""))
        found = re.search(rb"Writing: (\d+)", answer)
        return int(found[1]) if found else 0

    # The files of the server

    def snapshot(self, home):
        """Where a cache has the repository's files."""
        return os.path.join(self.repository(home), "snapshots", COMMIT)

    @staticmethod
    def repository(home):
        """The repository's folder in a cache."""
        return os.path.join(home, "hub", "models--" + REPOSITORY.replace("/", "--"))

    def wrong(self, folder):
        """The paths of files that are missing or wrong in a folder."""
        return [file.path for file in self.files if not file.is_right(os.path.join(folder, file.path))]

    def _write_api(self):
        folder = os.path.join(self.work, "api")
        os.makedirs(folder)
        siblings = [{"rfilename": file.path} for file in self.files]
        pages = {"revision": {"id": REPOSITORY, "sha": COMMIT, "private": False, "siblings": siblings}}
        # Only the list of the whole repository has several pages.
        for number in range(self.pages):
            entries = [file.entry for file in self.files[number * PAGE:(number + 1) * PAGE]]
            pages[f"tree/true{number or ''}"] = entries
        for file in self.files:
            below = file.path.split("/")
            for depth in range(len(below)):
                above = "".join(f"/{name}" for name in below[:depth])
                child = "/".join(below[:depth + 1])
                entry = file.entry if child == file.path else {"type": "directory", "oid": "", "size": 0, "path": child}
                pages.setdefault(f"tree{above}/false", {})[child] = entry
                if depth:
                    pages.setdefault(f"tree{above}/true", {})[file.path] = file.entry
        for name, content in pages.items():
            path = os.path.join(folder, f"{name}.json")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if name.startswith("tree/") and isinstance(content, dict):
                content = list(content.values())
            with open(path, "w", encoding="utf-8") as file:
                json.dump(content, file, separators=(",", ":"))

    def _configuration(self):
        hub, large = self.places
        tree = f"{self.endpoint}/api/models/{REPOSITORY}/tree/{COMMIT}?recursive=true&expand=false&cursor="
        following = "".join(
            f"""'{number or ""}' '<{tree}{number + 1}>; rel="next"';""" for number in range(self.pages - 1))
        blobs = "".join(f"""'{file.path}' '"{file.git_sha1}"';\n""" for file in self.files if not file.is_large)
        redirects = ""
        for file in self.files:
            place = f"http://{large}/{urllib.parse.quote(file.path)}?Signature=$request_id"
            for revision in (COMMIT, "main") if file.is_large else ():
                redirects += f"""
                    location = '/{REPOSITORY}/resolve/{revision}/{file.path}' {{
                        add_header X-Repo-Commit {COMMIT}; add_header X-Linked-Size {file.size};
                        add_header X-Linked-Etag '"{file.sha256}"'; return 302 '{place}';
                    }}"""
        # As root, nginx would give its workers to another user, who cannot read the folder.
        words = {
            "USER": "user root;" if os.geteuid() == 0 else "", "HUB": hub, "LARGE": large,
            "API": os.path.join(self.work, "api"), "FILES": self.folder, "COMMIT": COMMIT, "NEXT": following,
            "BLOBS": blobs, "REDIRECTS": redirects, "RATE": self.rate, "REQUESTS": f"{self.pace or 1}r/s",
            "PACE": "limit_req zone=small burst=100000;" if self.pace else ""}
        return re.sub(r"\b(" + "|".join(words) + r")\b", lambda found: str(words[found[0]]), CONFIGURATION)

    def _wait_until_ready(self):
        deadline = time.monotonic() + 10
        while True:
            if self.process.poll() is not None or time.monotonic() > deadline:
                with open(os.path.join(self.work, "stderr"), encoding="utf-8", errors="replace") as file:
                    raise Failure(f"nginx did not start: {file.read().strip() or 'no answer'}")
            try:
                if self._writing():
                    return
            except OSError:
                pass
            time.sleep(0.02)


def environment(stub, home, **others):
    """The environment for a client of the stub; `home` is the folder of its cache."""
    names = ("TELEMETRY", "UPDATE_CHECK", "PROGRESS_BARS", "XET")
    return {"PATH": PATH, "HOME": os.path.dirname(home), "LC_ALL": "C.UTF-8", "SEGGET_NO_CONFIG": "1",
            "HF_ENDPOINT": stub.endpoint, "HF_HOME": home,
            **{f"HF_HUB_DISABLE_{name}": "1" for name in names}, **others}
