#!/usr/bin/env python3
"""Asks a running service for much that nobody would ask for, and checks the answers by its own description.

    make api-check
    scripts/api-check.py [--segget FILE] [--examples 50] [--seed 1]

It starts `segget serve --rpc 0` with a home, a queue and a server of its own, and runs schemathesis against
/api/openapi.json: no answer is a server's error, and none has a status, a type or a body that the description
does not allow. The first run installs schemathesis into .build/api-check.
"""

import argparse
import functools
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".build/api-check"
PACKAGE = "schemathesis==4.32.5"
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
# The task that the examples of the description are about.
TASK = "53a1f0c2b7d94e68"


def schemathesis():
    """The program; it is installed where it is missing."""
    program = FOLDER / "bin/schemathesis"
    stamp = FOLDER / "package"
    if not stamp.exists() or stamp.read_text() != PACKAGE:
        subprocess.run([sys.executable, "-m", "venv", str(FOLDER)], check=True)
        pip = [str(FOLDER / "bin/python"), "-m", "pip", "install", "--quiet", "--no-input"]
        subprocess.run([*pip, "--disable-pip-version-check", PACKAGE], check=True)
        stamp.write_text(PACKAGE)
    return str(program)


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files, and says nothing."""

    def log_message(self, *_):
        pass


def port_of(service, log):
    """The port that a service says it listens on."""
    while True:
        found = re.search(r"JSON-RPC at http://127\.0\.0\.1:(\d+)/", log.read_text())
        if found:
            return int(found[1])
        if service.poll() is not None:
            sys.exit(f"the service has ended:\n{log.read_text()}")
        time.sleep(0.05)


def ask(url, secret, body=None):
    """The answer of the API."""
    request = urllib.request.Request(url, data=body and json.dumps(body).encode())
    request.add_header("Authorization", f"Bearer {secret}")
    return urllib.request.urlopen(request, timeout=60)


def first_event(url, secret):
    """The first event of the stream, which has no end that schemathesis could wait for."""
    with ask(url + "/events", secret) as stream:
        if stream.headers["Content-Type"] != "text/event-stream":
            sys.exit(f"/events is {stream.headers['Content-Type']}")
        while not (line := stream.readline()).startswith(b"event:"):
            if not line:
                sys.exit("/events ends")
        return line.split(b":")[1].strip()


def check(options, home):
    """Runs all of it; gives schemathesis' exit code."""
    (home / "files").mkdir()
    (home / "files/a").write_bytes(b"x" * 3_000_000)
    files = functools.partial(Quiet, directory=str(home / "files"))
    origin = http.server.ThreadingHTTPServer(("127.0.0.1", 0), files)
    threading.Thread(target=origin.serve_forever, daemon=True).start()
    log = home / "log"
    queue = str(home / "queue.sqlite")
    environment = dict(os.environ, HOME=str(home), SEGGET_NO_CONFIG="1")
    with log.open("wb") as output:
        service = subprocess.Popen(
            [options.segget, "serve", "--queue", queue, "--rpc", "0", "--directory", str(home / "downloads")],
            env=environment, stderr=output, stdout=output, stdin=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port_of(service, log)}"
        secret = pathlib.Path(queue + ".rpc-secret").read_text().strip()
        url = address + "/api/v2"
        source = f"http://127.0.0.1:{origin.server_port}/"
        add = {"command": "add", "root": str(home / "downloads")}
        commands = [dict(add, url=source + "a", id=TASK, tags=["a"]), dict(add, url=source + "gone"),
                    dict(add, url=source + "paused", paused=True)]
        ask(url + "/commands", secret, {"commands": commands})
        if first_event(url, secret) != b"snapshot":
            sys.exit("/events does not begin with a snapshot")
        command = [
            schemathesis(), "run", address + "/api/openapi.json", "--url", url,
            "--header", f"Authorization: Bearer {secret}", "--checks", CHECKS, "--exclude-path", "/events",
            "--max-examples", str(options.examples), "--seed", str(options.seed), "--no-color",
            "--generation-database", "none", "--request-timeout", "30", "--output-sanitize", "false",
            "--warnings", "off",
        ]
        result = subprocess.run(command, cwd=home, stdin=subprocess.DEVNULL)
        if service.poll() is not None:
            sys.exit(f"the service has ended:\n{log.read_text()}")
        with ask(url + "/health", secret) as reply:
            print(reply.read().decode())
        return result.returncode
    finally:
        service.terminate()
        service.wait(60)
        origin.shutdown()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--segget", default=str(ROOT / ".build/release/segget"))
    parser.add_argument("--examples", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="segget-api-") as home:
        sys.exit(check(options, pathlib.Path(home)))


if __name__ == "__main__":
    main()
