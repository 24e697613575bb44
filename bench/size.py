#!/usr/bin/env python3
"""How large the programs are, and how soon they start: two builds side by side.

    python3 bench/size.py BEFORE AFTER [--rounds 20]

BEFORE and AFTER are folders with a `segget` and a `segget-manager`, such as `.build/release`; they are stripped into a
temporary folder first. hyperfine starts them in turns, ten times each, as often as `--rounds` says. Printed are the
medians, the ratio of the pairs of turns with its quartiles, that of the time on a processor, and the most memory that
was resident. `make bench BENCH='--before BEFORE/segget --scenarios L1'` compares what downloads take.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from statistics import median

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "scripts"))
from loopback import MIB, Failure, run_main  # noqa: E402
from pairs import Ratio  # noqa: E402

PROGRAMS = ("segget", "segget-manager")


def strip(folder, work):
    """The programs of a build, stripped."""
    work.mkdir()
    for name in PROGRAMS:
        subprocess.run(["strip", "-o", work / name, folder / name], check=True)
    return work


def peak(command):
    """The most memory of a program that was resident, in MiB."""
    process = subprocess.Popen(command.split(), stdout=subprocess.DEVNULL)
    return os.wait4(process.pid, 0)[2].ru_maxrss * 1024 / MIB


def starts(name, builds, rounds):
    """Starts two builds in turns, and prints what they take."""
    commands = [f"{build}/{name}" for build in builds]
    report = builds[0] / "report.json"
    subprocess.run(
        ["hyperfine", "-N", "--style", "none", "--warmup", "2", "--runs", "10", "--export-json", report,
         *commands * rounds], check=True)
    turns = json.loads(report.read_text())["results"]
    before, after = turns[::2], turns[1::2]
    taken = Ratio.of([(one["median"], other["median"]) for one, other in zip(before, after)])
    work = median((b["user"] + b["system"]) / (a["user"] + a["system"]) for a, b in zip(before, after))
    times = [median(turn["median"] for turn in half) * 1000 for half in (before, after)]
    print(f"{name:<26} {times[0]:8.1f} ms {times[1]:8.1f} ms   {taken}, processor {work:.3f}   "
          f"{peak(commands[0]):.1f} MiB {peak(commands[1]):.1f} MiB", flush=True)


def main():
    """Measures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=20, help="turns of ten starts each")
    arguments = parser.parse_args()
    if not shutil.which("hyperfine"):
        raise Failure("hyperfine is not installed", "`scripts/packages.sh bench` installs it")
    with tempfile.TemporaryDirectory(prefix="segget-size-") as work:
        builds = [strip(folder, pathlib.Path(work) / name)
                  for folder, name in ((arguments.before, "one"), (arguments.after, "other"))]
        for name in PROGRAMS:
            sizes = [(build / name).stat().st_size for build in builds]
            print(f"{name:<26} {sizes[0] / 1e6:8.1f} MB {sizes[1] / 1e6:8.1f} MB   {sizes[1] / sizes[0]:.3f}")
        for name in ("segget --version", "segget-manager --version", "segget help get"):
            starts(name, builds, arguments.rounds)


if __name__ == "__main__":
    run_main(main)
