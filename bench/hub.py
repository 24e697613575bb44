#!/usr/bin/env python3
"""Compares segget with `hf` on a model of the Hugging Face Hub, over an emulated link.

    make bench-hub
    make bench-hub BENCH='--runs 5 --clients cache,hf --large 3:64m --small 100'

A stub of the Hub (scripts/hubstub.py) has large files and small ones of 1 to 200 KiB. The clients take turns; the
table has medians. CPU time (user and system) and peak memory are those of wait4. Every file is compared with what
was served, by SHA-256. Xet and telemetry of `hf` are off.

Needs root, for namespaces of its own; nothing of them remains. Exit code 1 if a file is wrong, or if the cache or
the folder takes longer than `hf`, or more than a tenth of its memory or half of its requests.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass, field

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "scripts"))

from hubstub import REPOSITORY, Count, File, HubStub, environment
from isolation import WORK, Network, isolate, run
from link import DEVICE, SERVER, Emulator, Link, compiled
from loopback import MIB, Failure, die_with_parent, parse_size, run_main

# The address of the server of large files, beside the Hub's on one link.
LARGE = "10.77.0.3"
# Bytes that the server's sockets hold beyond those in flight, so that the log has what was received.
UNSENT = 32 * 1024
# Seconds after which a client is given up.
LONGEST = 180
# The most that segget may take, as a share of `hf`'s.
TARGETS = {"time": 1, "memory": 0.1, "requests": 0.5}


@dataclass
class Result:
    """What one run has taken: seconds and bytes."""

    wall: float
    cpu: float
    peak: int
    count: Count


@dataclass
class Client:
    """A client and its results."""

    label: str
    command: list
    folder: str  # where its files are, below the folder of the run
    results: list = field(default_factory=list)

    def median(self, read):
        """The median of what `read` finds in each result."""
        return statistics.median(read(each) for each in self.results)


def parse():
    """The options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--segget", default=os.path.join(ROOT, ".build/release/segget"), metavar="FILE")
    parser.add_argument("--hf", default=os.path.join(ROOT, ".build/servers/bin/hf"), metavar="FILE")
    parser.add_argument("--clients", default="cache,folder,hf", metavar="NAMES", help="default: cache,folder,hf")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="runs of each (default: 3)")
    parser.add_argument("--large", default="3:64m", metavar="N:SIZE", help="large files (default: 3:64m)")
    parser.add_argument("--small", type=int, default=100, metavar="N", help="number of small files (default: 100)")
    parser.add_argument("--round-trip", type=float, default=60, metavar="MS", help="default: 60")
    parser.add_argument("--rate", type=float, default=300, metavar="MBIT", help="Mbit a second (default: 300)")
    return parser.parse_args()


def model(options):
    """The files of the repository."""
    count, size = options.large.split(":")
    sizes = random.Random(1)
    files = [File(f"model-{number + 1:05}.safetensors", parse_size(size), is_large=True)
             for number in range(int(count))]
    return files + [File(f"part-{number % 5}/file-{number:04}.json", sizes.randint(1024, 200 * 1024))
                    for number in range(options.small)]


def clients(options):
    """The clients by name."""
    address = f"hf://{REPOSITORY}"
    everyone = {
        "cache": Client("segget get, cache", [options.segget, "get", "-q", address], "cache"),
        "folder": Client("segget get -d", [options.segget, "get", "-q", address, "-d", "model"], "model"),
        "hf": Client("hf download", [options.hf, "download", REPOSITORY], "cache")}
    for name in options.clients.split(","):
        if name not in everyone:
            raise Failure(f"`{name}` is not a client", f"choose from {', '.join(everyone)}")
    chosen = {name: everyone[name] for name in options.clients.split(",")}
    for client in chosen.values():
        client.command[0] = os.path.abspath(client.command[0])
        if not os.access(client.command[0], os.X_OK):
            raise Failure(f"`{client.command[0]}` is not there", "`make build`, or `scripts/servers.sh`")
        # Its first start reads it from the disk.
        subprocess.run([client.command[0], "--version"], capture_output=True, check=False,
                       env={**os.environ, "HF_HUB_DISABLE_UPDATE_CHECK": "1", "HF_HUB_DISABLE_TELEMETRY": "1"})
    return chosen


def second_address(server, client):
    """Gives the server the address of large files."""
    with server.entered():
        run("ip", "address", "add", f"{LARGE}/24", "dev", DEVICE)
    with client.entered():
        run("ip", "neighbour", "replace", LARGE, "lladdr", "02:00:00:00:00:01", "dev", DEVICE, "nud", "permanent")


def measure(client, network, server, stub):
    """Runs a client once."""
    out = os.path.join(WORK, "out")
    shutil.rmtree(out, ignore_errors=True)
    os.mkdir(out)
    home = os.path.join(out, "home")
    with server.entered():
        start = stub.mark()
    reading, writing = os.pipe()
    log = os.path.join(WORK, "client.log")
    with open(log, "wb") as output:
        launcher = subprocess.Popen(
            [compiled("launch"), str(network.descriptor), str(writing), str(LONGEST), "--", *client.command],
            cwd=out, env=environment(stub, home), stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            pass_fds=[network.descriptor, writing], preexec_fn=die_with_parent)
    os.close(writing)
    with open(reading, encoding="ascii") as report:
        taken = json.loads(report.read())
    launcher.wait()
    if taken["status"] != 0:
        with open(log, encoding="utf-8", errors="replace") as file:
            raise Failure(f"{client.label}: exit code {taken['status']}: {file.read()[-500:]}")
    with server.entered():
        count = stub.count(start)
    wrong = stub.wrong(stub.snapshot(home) if client.folder == "cache" else os.path.join(out, client.folder))
    if wrong:
        raise Failure(f"{client.label}: {len(wrong)} files are wrong or missing: {', '.join(wrong[:3])}")
    shutil.rmtree(out)
    return Result(taken["wall"], taken["cpu"], taken["peak"], count)


def table(chosen, size, least):
    """The medians as a table, with ratios to `hf`."""
    rows = ["| client | time | to the limit | CPU time | memory | requests | API, HEAD, GET, large | served "
            "| to `hf`: time, CPU, memory, requests |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    base = chosen.get("hf")
    for client in chosen.values():
        numbers = [client.median(read) for read in MEASURES.values()]
        ratios = ", ".join(f"{own / other:.2f}" for own, other in zip(
            numbers, [base.median(read) for read in MEASURES.values()])) if base else "–"
        wall, cpu, peak, requests = numbers
        kinds = ", ".join(f"{client.median(lambda each, kind=kind: getattr(each.count, kind)):.0f}"
                          for kind in ("api", "heads", "gets", "bytes"))
        walls = [each.wall for each in client.results]
        rows.append(
            f"| {client.label} | {wall:.2f} s ({min(walls):.2f}–{max(walls):.2f}) | {wall / least:.2f} | {cpu:.2f} s "
            f"| {peak / MIB:.1f} MiB | {requests:.0f} | {kinds} | "
            f"{client.median(lambda each: each.count.sent_of_files) / size:.3f} | {ratios} |")
    return "\n".join(rows)


MEASURES = {
    "time": lambda each: each.wall, "CPU": lambda each: each.cpu, "memory": lambda each: each.peak,
    "requests": lambda each: each.count.all}


def missed(chosen):
    """The targets that segget has missed."""
    base = chosen.get("hf")
    for name, client in chosen.items():
        for measure_name, most in TARGETS.items() if base and name != "hf" else ():
            read = MEASURES[measure_name]
            ratio = client.median(read) / base.median(read)
            if ratio > most:
                yield f"{client.label}: {measure_name} is {ratio:.3f} of `hf`'s, at most {most} is the target"


def main():
    """Measures and reports."""
    options = parse()
    chosen = clients(options)
    for name in ("launch", "link"):
        compiled(name)
    files = model(options)
    size = sum(file.size for file in files)
    isolate(3 * size + 256 * MIB)
    link = Link(options.round_trip / 1000, options.rate, unsent=UNSENT)
    server, client = Network(new=True), Network(new=True)
    with Emulator(link, server, client):
        second_address(server, client)
        with server.entered():
            stub = HubStub(os.path.join(WORK, "hub"), files, (SERVER, LARGE))
            stub.__enter__()
        try:
            for turn in range(options.runs):
                names = list(chosen) if turn % 2 == 0 else list(chosen)[::-1]
                for name in names:
                    each = chosen[name]
                    each.results.append(result := measure(each, client, server, stub))
                    print(f"{turn + 1} {each.label:18} {result.wall:6.2f} s, CPU {result.cpu:.2f} s, "
                          f"{result.peak / MIB:.1f} MiB, {result.count}", file=sys.stderr, flush=True)
        finally:
            stub.__exit__()
    print(f"{len(files)} files, {size / MIB:.0f} MiB; {options.round_trip:g} ms, {options.rate:g} Mbit/s, "
          f"medians of {options.runs}\n")
    print(table(chosen, size, link.seconds(size)))
    failures = list(missed(chosen))
    for line in failures:
        print(f"missed: {line}")
    return 1 if failures else 0


if __name__ == "__main__":
    run_main(main)
