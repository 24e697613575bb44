#!/usr/bin/env python3
"""Compares segget with curl and others: one file, nginx on loopback, everything on this machine.

    make bench
    make bench BENCH='--size 2g,20g --sparse --clients segget --connections 16 --schemes http'
    make bench BENCH='--record 2-core-laptop'       # also writes bench/results/DATE-2-core-laptop.md

What counts is the client's CPU time (user and system, from wait4) as a ratio to curl's in the same
run, and its peak memory. Wall time on loopback says little about networks: it is there to show that
nothing is idle. Clients take turns, so that what else the machine does hits all of them; the numbers
are medians. Every file is compared with the original, byte by byte.

Ends with 1 when a target of segget's is missed.
"""

import argparse
import datetime
import os
import platform
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
from loopback import GIB, MIB, Failure, Nginx, die_with_parent, parse_size, run_main, size_text, stop, work_folder

# Seconds that one run of one client may take.
LONGEST_RUN = 600

# What segget promises.
CPU_RATIO = 1.3  # of curl's CPU time per GiB, plain HTTP
PEAK_MEMORY = 32 * MIB  # whatever the size of the file, up to 16 connections
MEMORY_GROWTH = 2 * MIB  # from one size to another; measuring noise, in truth none


class Client:
    """A program to measure, with its number of connections."""

    def __init__(self, name, connections, program):
        self.name = name
        self.connections = connections
        self.program = program
        self.label = f"{name} -x {connections}" if name in SEGMENTED else name

    def command(self, url, output, certificate, size):
        """The command line that brings `url` to `output`."""
        count = str(self.connections)
        trust = certificate if url.startswith("https:") else None
        if self.name == "segget":
            options = ["get", url, "-q", "-x", count, "-o", output]
            return [self.program] + options + (["--ca-certificate", trust] if trust else [])
        if self.name == "curl":
            return [self.program, "-sS", "-f", "-o", output] + (["--cacert", trust] if trust else []) + [url]
        if self.name == "aria2c":
            options = ["-q", "--no-conf", "-x", count, "-s", count, "-k", "1M", "--file-allocation=falloc",
                       "-d", os.path.dirname(output), "-o", os.path.basename(output)]
            return [self.program] + options + ([f"--ca-certificate={trust}"] if trust else []) + [url]
        if self.name == "axel":
            # It has no option for the certificates to trust.
            return [self.program, "-q", "-n", count, "-o", output] + (["-k"] if trust else []) + [url]
        if self.name == "wget2":
            chunk = ["--max-threads", count, f"--chunk-size={max(1, size // self.connections)}"]
            options = ["-q", "--no-config", "-O", output] + (chunk if self.connections > 1 else [])
            return [self.program] + options + ([f"--ca-certificate={trust}"] if trust else []) + [url]
        options = ["-q", "--no-config", "-O", output]
        return [self.program] + options + ([f"--ca-certificate={trust}"] if trust else []) + [url]


SEGMENTED = ("segget", "aria2c", "axel", "wget2")
KNOWN = ("segget", "curl", "aria2c", "axel", "wget2", "wget")


class Measurement:
    """The runs of one client for one file."""

    def __init__(self):
        self.wall = []
        self.cpu = []
        self.memory = []
        self.problems = []

    def median(self, name):
        """Median of `wall`, `cpu` or `memory`; `None` without a good run."""
        values = getattr(self, name)
        return statistics.median(values) if values else None


def measure(command, folder):
    """Runs a command: its exit status, wall seconds, CPU seconds, peak memory in bytes."""
    # Not subprocess.run: wait4 tells what this one child has used.
    begun = time.monotonic()
    process = subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, preexec_fn=die_with_parent)
    # A client that hangs is ended, and told as failed.
    limit = threading.Timer(LONGEST_RUN, process.kill)
    limit.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
    finally:
        limit.cancel()
        stop(process)
    error = process.stderr.read(2000).decode(errors="replace").strip()
    process.stderr.close()
    return process.returncode, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, error


def make_file(path, size, sparse):
    """Writes the file to serve: random bytes, or holes with a random block in every 64 MiB."""
    with open(path, "wb") as file:
        if not sparse:
            for start in range(0, size, MIB):
                file.write(os.urandom(min(MIB, size - start)))
            return
        file.truncate(size)
        for start in range(0, size, 64 * MIB):
            file.seek(start)
            file.write(os.urandom(min(4096, size - start)))


def run_all(arguments, clients, sizes, nginx, work):
    """Measures everything. Returns measurements by size, scheme and client label."""
    results = {}
    output = os.path.join(work, "out", "file.bin")
    for size in sizes:
        source = os.path.join(work, "public", "file.bin")
        make_file(source, size, arguments.sparse)
        for scheme in arguments.schemes.split(","):
            cells = {client.label: Measurement() for client in clients}
            results[size, scheme] = cells
            for turn in range(arguments.runs):
                # Another one begins each time.
                for client in clients[turn % len(clients):] + clients[:turn % len(clients)]:
                    shutil.rmtree(os.path.dirname(output), ignore_errors=True)
                    os.mkdir(os.path.dirname(output))
                    os.sync()  # nobody pays for what the one before has left to write
                    command = client.command(nginx.url("file.bin", scheme), output, nginx.certificate, size)
                    status, wall, cpu, memory, error = measure(command, os.path.dirname(output))
                    cell = cells[client.label]
                    if status != 0:
                        cell.problems.append(f"exit status {status}: {error}")
                    elif subprocess.run(["cmp", "-s", source, output], check=False).returncode != 0:
                        cell.problems.append("the file is not the one that was served")
                    else:
                        cell.wall.append(wall)
                        cell.cpu.append(cpu * GIB / size)
                        cell.memory.append(memory)
                    print(f"  {size_text(size)} {scheme} run {turn + 1}: {client.label}: "
                          + (cell.problems[-1] if cell.problems else
                             f"{wall:.2f} s, {cpu * GIB / size:.2f} CPU s/GiB, {memory / MIB:.1f} MiB"),
                          file=sys.stderr, flush=True)
    return results


def table(cells):
    """The measurements of one size and scheme as a Markdown table."""
    anchor = cells["curl"].median("cpu") if "curl" in cells else None
    lines = ["| client | wall s | CPU s/GiB | CPU, min–max | to curl | peak MiB | runs |",
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for label, cell in cells.items():
        cpu = cell.median("cpu")
        if cpu is None:
            lines.append(f"| {label} | failed: {cell.problems[0]} | | | | | 0 |")
            continue
        ratio = f"{cpu / anchor:.2f}" if anchor else "–"
        lines.append(
            f"| {label} | {cell.median('wall'):.2f} | {cpu:.2f} | {min(cell.cpu):.2f}–{max(cell.cpu):.2f} "
            f"| {ratio} | {cell.median('memory') / MIB:.1f} | {len(cell.cpu)} |")
    return "\n".join(lines)


def verdicts(results):
    """Judges segget's targets: a list of (passed, sentence)."""
    found = []
    peaks = {}
    for (size, scheme), cells in results.items():
        anchor = cells["curl"].median("cpu") if "curl" in cells else None
        for label, cell in cells.items():
            if not label.startswith("segget"):
                continue
            if cell.problems:
                found.append((False, f"{size_text(size)} over {scheme}, {label}: {cell.problems[0]}"))
                continue
            if scheme == "http" and anchor:
                ratio = cell.median("cpu") / anchor
                found.append((ratio <= CPU_RATIO,
                              f"CPU per GiB over http, {label}: {ratio:.2f} times curl's; at most {CPU_RATIO}"))
            peak = max(cell.memory)
            peaks.setdefault((scheme, label), []).append(cell.median("memory"))
            found.append((peak <= PEAK_MEMORY,
                          f"peak memory over {scheme}, {label}, {size_text(size)}: {peak / MIB:.1f} MiB; "
                          f"at most {PEAK_MEMORY // MIB}"))
    for (scheme, label), values in peaks.items():
        if len(values) > 1:
            growth = max(values) - min(values)
            found.append((growth <= MEMORY_GROWTH,
                          f"peak memory over {scheme}, {label}: {growth / MIB:.1f} MiB apart between sizes; "
                          f"at most {MEMORY_GROWTH // MIB}"))
    return found


def first_line(command):
    """The first line that a command prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip().split("\n")[0]


def machine(folder):
    """What was measured on, without its name."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "?")
    filesystem = subprocess.run(
        ["df", "--output=fstype", folder], capture_output=True, text=True, check=True).stdout.split()[-1]
    return f"{os.cpu_count()} × {model}, Linux {platform.release().split('-')[0]}, output on {filesystem}"


def main():
    """Measures and reports."""
    parser = argparse.ArgumentParser(
        description="Compare segget with curl and others on loopback.",
        epilog="SIZE and RUNS in the environment are the defaults of --size and --runs.")
    parser.add_argument("--segget", default=os.path.join(ROOT, ".build/release/segget"), help="the program")
    parser.add_argument("--size", default=os.environ.get("SIZE", "1g"),
                        help="sizes of the file, such as 1g or 2g,20g (default: 1g)")
    parser.add_argument("--sparse", action="store_true", help="serve a sparse file; what is written is not sparse")
    parser.add_argument("--runs", type=int, default=int(os.environ.get("RUNS", "5")), help="runs of each (default: 5)")
    parser.add_argument("--clients", default=",".join(KNOWN), help="which to measure, as far as installed (default: all)")
    parser.add_argument("--connections", default="1,8,16", help="for those that segment (default: 1,8,16)")
    parser.add_argument("--schemes", default="http,https", help="http, https or both (default: both)")
    parser.add_argument("--record", metavar="MACHINE",
                        help="write bench/results/DATE-MACHINE.md; MACHINE describes it in a word or two")
    arguments = parser.parse_args()

    sizes = [parse_size(size) for size in arguments.size.split(",")]
    counts = [int(count) for count in arguments.connections.split(",")]
    clients, versions = [], []
    for name in arguments.clients.split(","):
        if name not in KNOWN:
            raise Failure(f"`{name}` is not a client that is known here", f"choose from {', '.join(KNOWN)}")
        program = os.path.abspath(arguments.segget) if name == "segget" else shutil.which(name)
        if not program or not os.access(program, os.X_OK):
            if name == "segget":
                raise Failure(f"`{program}` is not there", "build it with `make build`")
            continue
        clients += [Client(name, count, program) for count in (counts if name in SEGMENTED else [1])]
        number = re.search(r"\d+(\.\d+)+", first_line([program, "--version"]))
        versions.append(f"{name} {number.group() if number else '?'}")

    largest = max(sizes)
    work = work_folder("segget-bench", (largest if arguments.sparse else 2 * largest) + GIB)
    try:
        for folder in ("public", "out"):
            os.mkdir(os.path.join(work, folder))
        with Nginx(work, os.path.join(work, "public"), tls="https" in arguments.schemes) as nginx:
            # A child's peak memory counts from its birth, as a copy of this program: the least that shows.
            floor = measure(["true"], work)[3]
            results = run_all(arguments, clients, sizes, nginx, work)
            place = machine(work)
    finally:
        shutil.rmtree(work, ignore_errors=True)

    today = datetime.date.today().isoformat()
    command = f"make bench BENCH='{shlex.join(sys.argv[1:])}'" if sys.argv[1:] else "make bench"
    report = [f"# {today}, {arguments.record or 'this machine'}", "", f"    {command}", "",
              f"{place}; {', '.join(versions)}. "
              f"{'One run' if arguments.runs == 1 else f'Medians of {arguments.runs} runs, taken in turns'}. "
              f"Peak memory under {floor / MIB:.0f} MiB cannot be seen."]
    for (size, scheme), cells in results.items():
        sparse = ", sparse," if arguments.sparse else ""
        report += ["", f"## {size_text(size)}{sparse} over {scheme}", "", table(cells)]
    judged = verdicts(results)
    report += ["", "## Targets", ""] + [f"- {'PASS' if passed else 'FAIL'}: {text}" for passed, text in judged]
    text = "\n".join(report) + "\n"
    print(text)
    if arguments.record:
        folder = os.path.join(ROOT, "bench", "results")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, f"{today}-{arguments.record}.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        print(f"written to {path}", file=sys.stderr)
    return 0 if all(passed for passed, _ in judged) else 1


if __name__ == "__main__":
    run_main(main)
