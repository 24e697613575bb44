#!/usr/bin/env python3
"""Tries segget on one cache with the real huggingface_hub, against a stub of the Hub on loopback.

    make hub-trial
    make hub-trial HUB='--only versions --versions 2.4.0'
    make hub-trial HUB='--only kills,corrupt --seed 7'

The versions of huggingface_hub are those of scripts/hub-versions, installed from PyPI below .build/hub-trial.

    versions  segget first, the library first, both at the same time, either one killed: all files are right,
              and no byte is requested twice where one has finished; in the cache, and in a folder
    kills     20 SIGKILLs of segget while it downloads 2,000 small files and 3 large ones of 512 MiB: at most 1.01 of
              the size is served; the free space that it needs is 4 GiB
    corrupt   200 files with one wrong byte, 100 of them large: exit code 65, and none is published

Each check is printed as `ok:` or `FAILED:`. Exit code 1 if one has failed.
"""

import argparse
import os
import pathlib
import random
import shlex
import shutil
import signal
import subprocess
import sys
import time

from hubstub import COMMIT, REPOSITORY, File, HubStub, environment
from loopback import MIB, die_with_parent, parse_size, run_main, size_text, work_folder

ROOT = pathlib.Path(__file__).resolve().parent.parent
VENVS = ROOT / ".build" / "hub-trial"
ADDRESS = f"hf://{REPOSITORY}"
# Bytes a second of each connection for large files, where a download has to last.
SLOW = 4 * MIB
# Seconds without a change after which segget continues a file of the library.
REST = 60
# Patterns of unfinished downloads in the folder of a repository in the cache.
PARTS = ("blobs/*.incomplete", ".segget/run-*", ".segget/new-*")
# Seconds in which each command has to end.
LONGEST = 600


class Trial:
    """A stub, a cache that is empty at first, and how they are used."""

    def __init__(self, options, work, files, rate=0, pace=0):
        self.options, self.work = options, work
        self.place = pathlib.Path(work, str(Trial.number))
        Trial.number += 1
        (self.place / "stub").mkdir(parents=True)
        self.home = str(self.place / "home")
        self.stub = HubStub(str(self.place / "stub"), files, rate=rate, pace=pace)

    number = 0
    failures = []

    def __enter__(self):
        self.stub.__enter__()
        return self

    def __exit__(self, *_):
        self.stub.__exit__()
        shutil.rmtree(self.place)

    @staticmethod
    def check(what, holds, details=""):
        """Prints whether something holds, with numbers; remembers what does not."""
        if not holds:
            Trial.failures.append(what)
        print(f"{'ok' if holds else 'FAILED'}: {what}{f': {details}' if details else ''}", flush=True)
        return holds

    # Programs

    def start(self, command, **others):
        """Starts a program on the cache."""
        return subprocess.Popen(
            command, cwd=self.place, env=environment(self.stub, self.home, **others), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=die_with_parent)

    @staticmethod
    def end(process):
        """Waits for a program; returns its exit code and what it has printed."""
        try:
            output, errors = process.communicate(timeout=LONGEST)
            return process.returncode, output, errors
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
            return "late", output, errors

    def run(self, command, **others):
        """Runs a program on the cache."""
        return self.end(self.start(command, **others))

    def segget(self, *arguments, address=ADDRESS):
        """The command line of segget."""
        return [self.options.segget, "get", "-q", "--print-path", *arguments, address]

    @staticmethod
    def library(version, *arguments):
        """The command line of the library."""
        return [str(VENVS / version / "bin" / "hf"), *(arguments or ("download", REPOSITORY))]

    # The cache

    @property
    def repository(self):
        """The repository's folder in the cache."""
        return pathlib.Path(self.stub.repository(self.home))

    def is_right(self, what):
        """Checks that all files of the snapshot are right."""
        wrong = self.stub.wrong(self.stub.snapshot(self.home))
        return self.check(f"{what}: all files are right", not wrong, ", ".join(wrong[:3]))

    def ended(self, what, outcome, code=0):
        """Checks the exit code of a program."""
        found, output, errors = outcome
        details = "" if found == code else f"exit code {found}: {(output + errors)[-800:]}"
        return self.check(what, found == code, details)

    def is_clean(self, name):
        """Checks that no part and no folder of a run remains in the cache."""
        left = [str(path.relative_to(self.repository)) for pattern in PARTS for path in self.repository.glob(pattern)]
        self.check(f"{name}: no part remains", not left, ", ".join(left))

    def bytes_since(self, mark):
        """The requests for bytes of files since a mark: GET of `resolve`, and of large files."""
        count = self.stub.count(mark)
        return count.gets + count.bytes

    def wait_for(self, found, process, seconds=30):
        """Waits until `found` returns something true while a program runs; returns it."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and process.poll() is None:
            if value := found():
                return value
            time.sleep(0.02)
        return None


# Versions


def model():
    """The files of a small model."""
    return [File("config.json", 700), File("onnx/a b.json", 40_000), File("empty.txt", 0),
            File("tokenizer.bin", 3 * MIB, is_large=True), File("model.safetensors", 24 * MIB, is_large=True)]


def try_segget_first(options, work, version):
    """The library finds all that segget has downloaded."""
    name = f"{version}, segget first"
    with Trial(options, work, model()) as trial:
        outcome = trial.run(trial.segget())
        trial.ended(f"{name}: segget downloads", outcome)
        trial.is_right(name)
        path = outcome[1].strip()
        for what, others in (("the library", {}), ("the library offline", {"HF_HUB_OFFLINE": "1"})):
            mark = trial.stub.mark()
            second = trial.run(trial.library(version), **others)
            trial.ended(f"{name}: {what}", second)
            trial.check(f"{name}: {what}: the same path", path in second[1], "" if path in second[1] else second[1])
            count = trial.stub.count(mark)
            trial.check(f"{name}: {what}: no GET for bytes", count.gets + count.bytes == 0, str(count))
        code = f"from huggingface_hub import snapshot_download as s; print(s('{REPOSITORY}', local_files_only=True))"
        third = trial.run([str(VENVS / version / "bin" / "python"), "-c", code])
        trial.check(f"{name}: snapshot_download(local_files_only=True) finds the snapshot",
                    third[0] == 0 and third[1].strip() == path, "" if third[0] == 0 else third[2][-500:])
        if not version.startswith("0."):
            trial.ended(f"{name}: hf cache verify", trial.run(trial.library(version, "cache", "verify", REPOSITORY)))


def try_folder(options, work, version):
    """The library finds all that segget has downloaded into a folder, and the list of files."""
    name = f"{version}, folder"
    with Trial(options, work, model()) as trial:
        trial.ended(f"{name}: segget downloads", trial.run(trial.segget("-d", "m")))
        library = trial.library(version, "download", REPOSITORY, "--local-dir", "m")
        mark = trial.stub.mark()
        trial.ended(f"{name}: the library", trial.run(library))
        count = trial.stub.count(mark)
        trial.check(f"{name}: the library: no GET for bytes", count.gets + count.bytes == 0, str(count))
        lists = [path for *_, path in trial.stub.requests(mark) if "/tree/" in path]
        trial.check(f"{name}: the library: no request for the list of files", not lists, ", ".join(lists))
        wrong = trial.stub.wrong(trial.place / "m")
        trial.check(f"{name}: all files are right", not wrong, ", ".join(wrong[:3]))


def try_library_first(options, work, version):
    """segget finds all that the library has downloaded."""
    name = f"{version}, library first"
    with Trial(options, work, model()) as trial:
        trial.ended(f"{name}: the library downloads", trial.run(trial.library(version)))
        mark = trial.stub.mark()
        outcome = trial.run(trial.segget())
        trial.ended(f"{name}: segget", outcome)
        count = trial.stub.count(mark)
        trial.check(f"{name}: segget requests no bytes", count.gets + count.bytes == 0, str(count))
        trial.check(f"{name}: segget names the snapshot", outcome[1].strip() == trial.stub.snapshot(trial.home))
        trial.is_right(name)


def try_both(options, work, version):
    """Both download at the same time."""
    # The library takes half a second to start; either one has to be the first once.
    for delay in (0, 0.5, 1):
        name = f"{version}, both, segget {delay} s later"
        with Trial(options, work, model(), SLOW) as trial:
            library = trial.start(trial.library(version))
            time.sleep(delay)
            segget = trial.start(trial.segget())
            outcomes = trial.end(library), trial.end(segget)
            trial.ended(f"{name}: the library downloads", outcomes[0])
            trial.ended(f"{name}: segget downloads", outcomes[1])
            trial.is_right(name)
            count = trial.stub.count()
            print(f"    served {count.sent_of_files / trial.stub.size:.2f} of the size", flush=True)
            trial.is_clean(name)


def try_killed_library(options, work, version):
    """The library is killed in the middle of a large file, and segget finishes."""
    for is_rested in (False, True):
        name = f"{version}, library killed" + (f" {REST} s ago" if is_rested else "")
        with Trial(options, work, model(), SLOW) as trial:
            files = {file.sha256: file for file in trial.stub.files if file.size >= 24 * MIB}

            def half():
                found = [path for path in trial.repository.glob("blobs/*.incomplete")
                         if path.name.split(".")[0] in files and path.stat().st_size > 8 * MIB]
                return found[0] if found else None

            library = trial.start(trial.library(version))
            left = trial.wait_for(half, library)
            library.kill()
            trial.end(library)
            if not trial.check(f"{name}: it leaves a part of a large file", left is not None):
                continue
            kept = left.stat().st_size
            if is_rested:
                for path in trial.repository.glob("blobs/*.incomplete"):
                    os.utime(path, (time.time() - 2 * REST,) * 2)
            mark = trial.stub.mark()
            # Of ranges that other connections shorten, the server has sent more than was received.
            trial.ended(f"{name}: segget finishes", trial.run(trial.segget("-x", "1")))
            trial.is_right(name)
            large = sum(body for is_hub, _, _, body, path in trial.stub.requests(mark)
                        if not is_hub and "model.safetensors" in path)
            missing = 24 * MIB - kept if is_rested else 24 * MIB
            trial.check(f"{name}: segget requests the missing bytes", large <= missing + MIB,
                        f"{size_text(large)} of {size_text(missing)}")
            mark = trial.stub.mark()
            trial.ended(f"{name}: the library then", trial.run(trial.library(version)))
            trial.check(f"{name}: the library then requests no bytes", trial.bytes_since(mark) == 0)


def try_killed_segget(options, work, version):
    """segget is killed in the middle of a large file, and the library finishes."""
    name = f"{version}, segget killed"
    with Trial(options, work, model(), SLOW) as trial:
        segget = trial.start(trial.segget("-x", "2"))

        def half():
            return [path for path in trial.repository.glob(".segget/run-*/*.part")
                    if path.stat().st_blocks * 512 > 8 * MIB]

        left = trial.wait_for(half, segget)
        segget.kill()
        trial.end(segget)
        trial.check(f"{name}: it leaves a part of a large file", bool(left))
        trial.ended(f"{name}: the library finishes", trial.run(trial.library(version)))
        trial.is_right(name)
        mark = trial.stub.mark()
        trial.ended(f"{name}: segget then", trial.run(trial.segget()))
        trial.check(f"{name}: segget then requests no bytes", trial.bytes_since(mark) == 0)
        trial.is_right(f"{name}, and run again")
        trial.is_clean(name)


def try_versions(options, work):
    """All trials with each version of the library."""
    for version in options.versions:
        install(version)
        for each in (try_segget_first, try_folder, try_library_first, try_both, try_killed_library, try_killed_segget):
            each(options, work, version)


def install(version):
    """Installs a version of the library, unless it is there."""
    folder = VENVS / version
    if (folder / "installed").exists():
        return
    print(f"installing: huggingface_hub {version}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-input",
                    "--disable-pip-version-check", f"huggingface_hub=={version}"], check=True)
    (folder / "installed").touch()


# Kills


def try_kills(options, work):
    """Kills segget at random moments; in the end all is right, and little was requested twice."""
    chance = random.Random(options.seed)
    files = [File(f"data/{number % 20}/{number:04}.json", chance.randint(1024, 20 * 1024)) for number in range(2000)]
    each = parse_size(options.large)
    files += [File(f"model-{number}.safetensors", each, is_large=True) for number in range(3)]
    large = sum(file.is_large for file in files)
    # The server limits the rate: what a slow client has not read would count as served.
    with Trial(options, work, files, parse_size(options.rate), options.pace) as trial:
        size = trial.stub.size
        begun = time.monotonic()
        extra = shlex.split(options.extra) + (["-x", str(options.connections)] if options.connections else [])
        trial.ended("kills: a run without a kill", trial.run(trial.segget(*extra)))
        whole, count = time.monotonic() - begun, trial.stub.count()
        once = count.sent_of_files
        print(f"    {whole:.1f} s, served {count.sent_of_files / size:.4f}, {count}", flush=True)
        shutil.rmtree(trial.home)
        start = trial.stub.mark()
        runs = killed = 0
        # Nearly the whole time, so that also the small files, which are the last ones, are interrupted.
        pauses = [chance.uniform(0.1, 1.7) for _ in range(options.kills)]
        for pause in pauses:
            runs += 1
            segget = trial.start(trial.segget(*extra))
            time.sleep(0.95 * whole * pause / sum(pauses))
            segget.send_signal(signal.SIGKILL)
            if trial.end(segget)[0] != -signal.SIGKILL:
                break
            killed += 1
            blobs = len(list(trial.repository.glob("blobs/*")))
            count = trial.stub.count(start)
            print(f"    kill {killed}: {blobs} blobs, served {count.sent_of_files / size:.4f}, {count}", flush=True)
        runs += 1
        trial.ended("kills: the last run", trial.run(trial.segget(*extra)))
        trial.is_right("kills")
        trial.check(f"kills: segget was killed {options.kills} times", killed == options.kills, str(killed))
        count = trial.stub.count(start)
        # segget records what was received every 100 ms, so a kill costs the bytes of 50 ms, and small files in flight.
        trial.check("kills: bytes served", count.sent_of_files <= 1.01 * size,
                    f"{count.sent_of_files / size:.4f} of the size, {once / size:.4f} without kills; at most 1.01 is "
                    f"the goal; each kill costs {size_text(max(0, count.sent_of_files - once) // max(1, killed))} at "
                    f"{size_text(int(size / whole))}/s")
        small = len(files) - large
        most = small + (trial.stub.pages + 5) * runs + large * runs
        trial.check("kills: requests to the Hub", count.hub <= most,
                    f"{count.hub} (API {count.api}, resolve {count.gets}); at most {most} is the goal, in {runs} runs; "
                    f"{count.bytes} ranges of large files")
        twice = {}
        for is_hub, _, _, body, path in trial.stub.requests(start):
            if is_hub and "/resolve/" in path and "/data/" in path:
                twice[path] = twice.get(path, 0) + 1
        print(f"    {sum(twice.values()) - len(twice)} requests for small files were repeated", flush=True)
        mark = trial.stub.mark()
        trial.ended("kills: segget once more", trial.run(trial.segget()))
        trial.check("kills: segget once more requests no bytes", trial.bytes_since(mark) == 0)
        trial.is_clean("kills")


# Corruption


def try_corrupt(options, work):
    """Files with one wrong byte are refused, and not published."""
    chance = random.Random(options.seed)
    files = [File(f"small/{number:03}.json", chance.randint(1, 60_000)) for number in range(100)]
    files += [File(f"large/{number:03}.bin", chance.randint(1, 3 * MIB), is_large=True) for number in range(100)]
    with Trial(options, work, files) as trial:
        for file in files:
            with open(os.path.join(trial.stub.folder, file.path), "r+b", buffering=0) as content:
                place = chance.randrange(file.size)
                content.seek(place)
                byte = content.read(1)[0]
                content.seek(place)
                content.write(bytes([byte ^ 1 << chance.randrange(8)]))
        for folder in (None, "m"):
            where = f"corrupt, {'cache' if folder is None else 'folder'}"
            target = [] if folder is None else ["-d", folder]
            refused = {True: 0, False: 0}
            codes = {}
            for file in files:
                code, _, _ = trial.run(trial.segget(*target, address=f"{ADDRESS}/{file.path}"))
                codes[code] = codes.get(code, 0) + 1
                refused[file.is_large] += code == 65 and not published(trial, file, folder)
            trial.check(f"{where}: each of {len(files)} files is refused", sum(refused.values()) == len(files),
                        f"{refused[False]} small and {refused[True]} large ones; exit codes {codes}")
            trial.ended(f"{where}: the whole repository is refused", trial.run(trial.segget(*target)), 65)
            there = [file.path for file in files if published(trial, file, folder)]
            trial.check(f"{where}: nothing of it is published", not there, ", ".join(there[:3]))


def published(trial, file, folder):
    """Whether a file has its name in the cache, or in a folder."""
    if folder:
        return os.path.lexists(trial.place / folder / file.path)
    return (os.path.lexists(trial.repository / "blobs" / file.blob)
            or os.path.lexists(trial.repository / "snapshots" / COMMIT / file.path))


TRIALS = {"versions": try_versions, "kills": try_kills, "corrupt": try_corrupt}


def main():
    """Tries all."""
    known = (ROOT / "scripts" / "hub-versions").read_text(encoding="ascii").split()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--segget", default=str(ROOT / ".build/release/segget"), metavar="FILE")
    parser.add_argument("--only", default=",".join(TRIALS), metavar="NAMES", help=f"default: {','.join(TRIALS)}")
    parser.add_argument("--versions", default=",".join(known), metavar="NAMES", help=f"default: {','.join(known)}")
    parser.add_argument("--kills", type=int, default=20, metavar="N", help="default: 20")
    parser.add_argument("--large", default="512m", metavar="SIZE",
                        help="bytes of each of the 3 large files of the download that is killed (default: 512m)")
    parser.add_argument("--rate", default="1m", metavar="SIZE",
                        help="bytes a second of each connection for large files that is killed (default: 1m)")
    parser.add_argument("--connections", type=int, default=8, metavar="N",
                        help="connections of the download that is killed; 0: auto (default: 8)")
    parser.add_argument("--with", dest="extra", default="", metavar="OPTIONS", help="options of segget that is killed")
    parser.add_argument("--pace", type=int, default=80, metavar="N",
                        help="small files a second of the download that is killed (default: 80)")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31), metavar="N")
    options = parser.parse_args()
    options.segget = os.path.abspath(options.segget)
    options.versions = options.versions.split(",")
    print(f"seed {options.seed}", flush=True)
    work = work_folder("segget-hub-trial", 6 * parse_size(options.large) + 1024 * MIB)
    try:
        for name in options.only.split(","):
            TRIALS[name](options, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(f"{len(Trial.failures)} checks failed" if Trial.failures else "all is well", flush=True)
    return 1 if Trial.failures else 0


if __name__ == "__main__":
    run_main(main)
