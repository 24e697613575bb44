#!/usr/bin/env python3
"""How large the programs are, and how soon they begin: two builds side by side.

    python3 bench/size.py BEFORE AFTER [--rounds 200] [--size 2g]

BEFORE and AFTER are folders with a `segget` and a `segget-manager`, such as `.build/release`; they are stripped into a
folder of their own first. Starts are taken in turns; a time is from before fork to the end of the process, and
memory is the most that was resident. The download is a file of `--size` from nginx on loopback with
8 connections, into memory where /dev/shm has the room. Medians; the ratio is the median of pairs, with its least and
largest quarter, then that of the time on a processor.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "scripts"))
from loopback import MIB, Failure, Nginx, parse_size, run_main, work_folder  # noqa: E402

PROGRAMS = ("segget", "segget-manager")


def spend(*command):
    """Runs a program; returns its seconds, the most of its memory in MiB, and its seconds on a processor."""
    began = time.perf_counter()
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0), (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    took = time.perf_counter() - began
    if status:
        raise Failure(f"`{' '.join(command)}` ends with {os.waitstatus_to_exitcode(status)}")
    return took, usage.ru_maxrss * 1024 / MIB, usage.ru_utime + usage.ru_stime


def strip(folder, work):
    """The programs of a build, stripped."""
    work.mkdir()
    for name in PROGRAMS:
        subprocess.run(["strip", "-o", work / name, folder / name], check=True)
    return work


def pairs(name, one, other, rounds, run):
    """Runs two in turns, and prints what they take."""
    taken = [(run(one), run(other)) for _ in range(rounds)]
    times = [[pair[index][0] for pair in taken] for index in (0, 1)]
    memory = [[pair[index][1] for pair in taken] for index in (0, 1)]
    ratios, work = (sorted(pair[1][field] / pair[0][field] for pair in taken) for field in (0, 2))
    quarter = len(ratios) // 4
    before, after = (statistics.median(list_) for list_ in times)
    print(f"{name:<42} {before * 1000:8.1f} ms {after * 1000:8.1f} ms   {statistics.median(ratios):.3f}"
          f" ({ratios[quarter]:.3f}-{ratios[-1 - quarter]:.3f}), processor {statistics.median(work):.3f}   "
          f"{statistics.median(memory[0]):.1f} MiB {statistics.median(memory[1]):.1f} MiB", flush=True)


def main():
    """Measures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=200, help="starts of each")
    parser.add_argument("--pairs", type=int, default=15, help="downloads of each")
    parser.add_argument("--size", type=parse_size, default=parse_size("2g"), help="of the download")
    arguments = parser.parse_args()
    work = pathlib.Path(work_folder("segget-size", arguments.size + 500 * MIB))
    try:
        builds = [strip(folder, work / name) for folder, name in ((arguments.before, "one"), (arguments.after, "other"))]
        for name in PROGRAMS:
            sizes = [(build / name).stat().st_size for build in builds]
            print(f"{name:<42} {sizes[0] / 1e6:8.1f} MB {sizes[1] / 1e6:8.1f} MB   {sizes[1] / sizes[0]:.3f}")
        for name, words in (("segget --version", ["--version"]), ("segget-manager --version", ["--version"]),
                            ("segget help get", ["help", "get"])):
            program = name.split()[0]
            pairs(name, *builds, arguments.rounds, lambda build: spend(str(build / program), *words))
        if os.path.ismount("/dev/shm") and shutil.disk_usage("/dev/shm").free > arguments.size + 500 * MIB:
            place = pathlib.Path("/dev/shm") / work.name
            place.mkdir()
        else:
            place = work / "place"
            place.mkdir()
        try:
            (work / "files").mkdir()
            with open(work / "files/file", "wb") as file:
                for _ in range(arguments.size // MIB):
                    file.write(os.urandom(MIB))
            with Nginx(str(work), str(work / "files")) as nginx:
                pairs(f"{arguments.size // MIB} MiB over 8 connections", *builds, arguments.pairs, lambda build: spend(
                    str(build / "segget"), "-q", "-x", "8", "--overwrite", "-o", str(place / "out"),
                    f"http://127.0.0.1:{nginx.port}/file"))
        finally:
            shutil.rmtree(place)
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    run_main(main)
