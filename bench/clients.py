"""The programs that are compared, and their command lines: the one place to change them.

Each runs as its users would run it for speed: 16 connections where it has them, 64 for a set, its
defaults otherwise. In the templates `{url}` comes to `{out}`, its own name, in an empty folder; `{trust}` is the
option that names the certificate, with TLS; `{list}` is a file of URLs, a line each; `{plan}` is what
`prepare` has made of it.
"""

import os
import re
import shlex
import shutil
from dataclasses import dataclass

from link import ROOT
from loopback import Failure

# How often a client is started in the scenario of starts.
STARTS = 200
ARIA2 = "-q --no-conf --file-allocation=falloc {trust}"
LFTP = "{program} --norc -c 'set cmd:fail-exit yes; set net:max-retries 20; {trust}; "
DIGEST = " && openssl dgst -sha256 -r {out} | grep -q ^{sha256}"


@dataclass(frozen=True)
class Client:
    """A program and its command lines; what it has no line for, it takes no part in."""

    label: str
    program: str
    trust: str  # how it gets to know the certificate
    fetch: str = ""  # one file
    verify: str = ""  # with the SHA-256; by default what follows `fetch` is openssl
    resume: str = ""  # run, killed and run again; by default `fetch`
    recover: str = ""  # has it expect connections that hang; by default `fetch`
    batch: str = ""  # many files
    set: str = ""  # files of a set; by default `batch`
    prepare: str = ""  # run once before those of a set, and not measured

    def template(self, mode):
        """The command line for a mode of a scenario; empty when there is none."""
        if mode == "start" and self.fetch:
            return (f"n=0; while [ $n -lt {STARTS} ] && rm -f {{out}} && {self.fetch}; do n=$((n + 1)); done; "
                    f"[ $n -eq {STARTS} ]")
        if mode == "verify" and not self.verify and self.fetch:
            return self.fetch + DIGEST
        other = {"resume": self.fetch, "recover": self.fetch, "set": self.batch}
        return getattr(self, mode) or other.get(mode, "")

    def command(self, mode, **values):
        """What to execute. A line with operators goes through the shell."""
        trust = self.trust.format(**values) if values["url"].startswith("https:") else ""
        line = self.template(mode).format(program=shlex.quote(self.program), trust=trust, **values)
        return ["sh", "-c", line] if re.search(r"[|&]", line) else shlex.split(line)


def _segget(program, label, options):
    line = "{program} " + options + "{trust} "
    return Client(
        label, program, "--ca-certificate {certificate}", line + "-o {out} {url}",
        verify=line + "--checksum sha-256:{sha256} -o {out} {url}", batch=line + "-i {list}")


def _drop_in(program):
    """A name of the program by which it takes aria2c's command line; empty when it is not there."""
    found = shutil.which(program)
    if not found:
        return ""
    name = os.path.join(ROOT, ".build", "bench", "segget-aria2c")
    os.makedirs(os.path.dirname(name), exist_ok=True)
    fresh = f"{name}.{os.getpid()}"
    os.symlink(os.path.abspath(found), fresh)
    os.replace(fresh, name)
    return name


def all_clients(segget, before=""):
    """Every client by its short name; those that are not installed have an empty `program`.

    `before` is an earlier build of segget, for pairs of old and new.
    """
    next_program = os.environ.get("ARIA2_NEXT", "aria2-next")
    clients = {
        "curl": Client(
            "curl", "curl", "--cacert {certificate}", "{program} -sS --fail {trust} -o {out} {url}",
            resume="{program} -sS --fail {trust} -C - -o {out} {url}",
            recover="{program} -sS --fail {trust} --retry 10 --retry-all-errors -C - --speed-limit 1 --speed-time 10 "
                    "-o {out} {url}",
            batch="{program} -sS --fail {trust} --parallel --parallel-max 16 -K {config}",
            set="{program} -sS --fail {trust} --parallel --parallel-max 64 -K {config}"),
        "segget": _segget(segget, "segget", ""),
        "segget16": _segget(segget, "segget -x 16", "-x 16 "),
        "segget64": _segget(segget, "segget -x 64", "-x 64 "),
        # The same program, as what calls aria2c calls it.
        "segget-aria2c": Client(
            "segget-aria2c", _drop_in(segget), "--ca-certificate={certificate}",
            "{program} -q --no-conf {trust} -o {out} {url}",
            verify="{program} -q --no-conf {trust} --checksum=sha-256={sha256} -o {out} {url}",
            batch="{program} -q --no-conf {trust} -j16 -i {list}"),
        # The sizes are known before, as they are from a hub.
        "segget-plan": Client(
            "segget --plan", segget, "--ca-certificate {certificate}",
            set="{program} get {trust} --plan {plan} -d .", prepare="{program} plan {trust} -i {list} -o {plan}"),
        "before": _segget(before, "segget before", ""),
        "aria2c": Client(
            "aria2c -x 16", "aria2c", "--ca-certificate={certificate}",
            "{program} " + ARIA2 + " -x16 -s16 -k1M -o {out} {url}",
            verify="{program} " + ARIA2 + " -x16 -s16 -k1M --checksum=sha-256={sha256} -o {out} {url}",
            resume="{program} " + ARIA2 + " -c --auto-save-interval=1 -x16 -s16 -k1M -o {out} {url}",
            recover="{program} " + ARIA2 + " --timeout=10 --retry-wait=1 -x16 -s16 -k1M -o {out} {url}",
            batch="{program} " + ARIA2 + " -j16 -x1 -s1 -i {list}"),
        "aria2c-list": Client(
            "aria2c", "aria2c", "--ca-certificate={certificate}", set="{program} " + ARIA2 + " -i {list}"),
        "aria2c-tuned": Client(
            "aria2c -j8 -x8", "aria2c", "--ca-certificate={certificate}",
            set="{program} " + ARIA2 + " -j8 -x8 -s8 -k1M -i {list}"),
        # It has no option for the certificates to trust.
        "axel": Client("axel -n 16", "axel", "-k", "{program} -q -n 16 {trust} -o {out} {url}"),
        # Its chunks go over one connection, one after another. With -O it would not resume.
        "wget2": Client(
            "wget2", "wget2", "--ca-certificate={certificate}", "{program} -q --no-config {trust} -O {out} {url}",
            resume="{program} -q --no-config {trust} -c {url}",
            batch="{program} -q --no-config {trust} --max-threads=16 -i {list}",
            set="{program} -q --no-config {trust} --max-threads=64 -i {list}"),
        "lftp": Client(
            "lftp, pget -n 16", "lftp", "set ssl:ca-file {certificate}", LFTP + "pget -n 16 {url} -o {out}'",
            resume=LFTP + "pget -c -n 16 {url} -o {out}'",
            batch=LFTP + "mirror --parallel=16 --no-perms {base}{folder}/ .'"),
        # It takes what the server lists, and asks for the size of each file first.
        "rclone": Client(
            "rclone", "rclone", "--ca-cert {certificate}",
            set="{program} copy -q --config '' {trust} --transfers 64 --checkers 64 --http-url {base}{folder}/ "
                ":http: ."),
        # A fork of aria2 on libcurl; by default 16 connections and parts of 1 MiB.
        "aria2-next": Client(
            "aria2-next", next_program, "--ca-certificate={certificate}",
            "{program} -q --no-conf --state-dir=.state {trust} -o {out} {url}",
            verify="{program} -q --no-conf --state-dir=.state {trust} --checksum=sha-256={sha256} -o {out} {url}",
            resume="{program} -q --no-conf --state-dir=.state {trust} -c -o {out} {url}",
            batch="{program} -q --no-conf --state-dir=.state {trust} -j16 -i {list}"),
    }
    found = {}
    for name, client in clients.items():
        path = shutil.which(client.program)
        found[name] = Client(**{**vars(client), "program": os.path.abspath(path) if path else ""})
    return found


def chosen(names, clients):
    """The clients of these names that are installed, and the names of those that are not."""
    for name in names:
        if name not in clients:
            raise Failure(f"`{name}` is not a client that is known here", f"choose from {', '.join(clients)}")
        if name.startswith("segget") and not clients[name].program:
            raise Failure("segget is not there", "build it with `make build`, or name it: --segget FILE")
    return [name for name in names if clients[name].program], [name for name in names if not clients[name].program]
