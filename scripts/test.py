#!/usr/bin/env python3
"""Runs the built tests, each suite in a process of its own, several at a time; reports each as it ends.

    scripts/test.py               all of them
    scripts/test.py --only WORDS  those in whose name (Module.Suite/test) this regular expression is found

Most suites wait for other processes, networks and limits of time, so more run at a time than there are
processors: as many as keep these busy by what each used last time. The slow ones come first, so that none
is left to run alone. What they took is in scripts/test-times, and newer in .build/test-times (suite,
seconds, of these on a processor); `--remember` writes the former. A suite's log is in .build/test-logs.

A suite that ends without saying that each of its tests passed or was skipped has failed. So has one that
takes several times as long as it took before: it is killed, with all that it started.
"""

import argparse
import collections
import os
import pathlib
import re
import selectors
import shutil
import signal
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = str(ROOT / ".build/debug/seggetPackageTests.xctest")
KEPT_TIMES = ROOT / "scripts/test-times"
FRESH_TIMES = ROOT / ".build/test-times"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# A suite that was never timed is taken to be middling: how long it takes, and how long on a processor.
MIDDLING = (10.0, 3.0)
# A line is printed at least this often, in seconds.
QUIET = 20


def number_of(count, thing):
    """Such as `1 suite`, `3 suites`."""
    return f"{count} {thing}" + ("" if count == 1 else "s")


class Suite:
    """A suite of which some tests are to run, and what became of it."""

    def __init__(self, name, tests, chosen, times):
        self.name = name
        self.short = name.partition(".")[2]
        self.tests = chosen
        self.whole = chosen == tests
        self.filter = f"^{re.escape(name)}/" + ("" if self.whole else f"({'|'.join(map(re.escape, chosen))})")
        self.seconds, self.busy = times.get(name, MIDDLING)
        self.started = 0.0
        self.log = None
        self.failure = None
        self.skipped = []

    @property
    def load(self):
        """Processors that it keeps busy."""
        return min(self.busy / max(self.seconds, 0.1), 1.0)


def read_times():
    """Seconds, and those on a processor, by suite; the newer ones count."""
    times = {}
    for path in (KEPT_TIMES, FRESH_TIMES):
        if path.exists():
            for line in path.read_text().splitlines():
                name, *numbers = line.split()
                times[name] = tuple(map(float, numbers))
    return times


def write_times(path, times):
    """Writes them so that no reader sees half of it."""
    fresh = path.with_name(path.name + ".new")
    lines = [f"{name} {wall:.1f} {busy:.1f}\n" for name, (wall, busy) in sorted(times.items())]
    fresh.write_text("".join(lines))
    fresh.replace(path)


def list_tests(binary):
    """Tests by suite, from what the tests' program says it has."""
    with os.popen(f"'{binary}' --testing-library swift-testing --list-tests </dev/null") as pipe:
        every = collections.defaultdict(list)
        for line in pipe:
            suite, _, test = line.strip().partition("/")
            every[suite].append(test)
    return every


def choose(every, only, skip, times):
    """Suites with the tests to run, the slow ones first."""
    suites = []
    for name, tests in every.items():
        chosen = [
            test for test in tests
            if re.search(only, f"{name}/{test}")
            and not any(re.search(words, f"{name}/{test}") for words in skip)]
        if chosen:
            suites.append(Suite(name, tests, chosen, times))
    return sorted(suites, key=lambda suite: -suite.seconds)


def processes():
    """Parent and session of each process that has not ended, by id."""
    found = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            # The program's name, in brackets, may have any character.
            fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] not in "ZX":
            found[int(entry.name)] = (int(fields[1]), int(fields[3]))
    return found


def kill(leader):
    """Kills a process, its children and theirs, and all of its session, until none is left."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        known = processes()
        doomed = {pid for pid, (_, session) in known.items() if leader in (pid, session)}
        while more := {pid for pid, (parent, _) in known.items() if parent in doomed} - doomed:
            doomed |= more
        if not doomed:
            return
        for pid in doomed:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.01)


class Run:
    """Suites that wait, run and have ended."""

    def __init__(self, options, suites, times):
        self.options = options
        self.times = times
        self.waiting = list(suites)
        self.running = {}
        self.ended = []
        self.total = len(suites)
        self.busy = 0.0
        self.logs = pathlib.Path(options.logs).resolve()
        shutil.rmtree(self.logs, ignore_errors=True)
        self.logs.mkdir(parents=True)

    def start(self):
        """Starts what the processors have room for."""
        while self.waiting and len(self.running) < self.options.jobs:
            room = self.options.load - sum(suite.load for suite in self.running.values())
            fitting = [suite for suite in self.waiting if suite.load <= room or not self.running]
            if not fitting:
                return
            suite = fitting[0]
            self.waiting.remove(suite)
            suite.log = self.logs / f"{suite.name}.log"
            arguments = [self.options.binary, "--testing-library", "swift-testing", "--no-parallel"]
            suite.started = time.monotonic()
            pid = os.posix_spawn(
                self.options.binary, arguments + ["--filter", suite.filter], os.environ,
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 1, suite.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644),
                    (os.POSIX_SPAWN_DUP2, 1, 2)],
                setsid=True, setsigdef=[signal.SIGINT, signal.SIGTERM, signal.SIGPIPE])
            self.running[pid] = suite

    def reap(self):
        """Takes the suites that have ended."""
        while self.running:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is None:
                return
            # Its number is nobody else's until it has been waited for.
            kill(ended.si_pid)
            pid, status, usage = os.wait4(ended.si_pid, 0)
            busy = usage.ru_utime + usage.ru_stime
            self.take(self.running.pop(pid), os.waitstatus_to_exitcode(status), busy)

    def take(self, suite, code, busy):
        """Judges a suite that has ended, and reports it."""
        wall = time.monotonic() - suite.started
        text = COLOUR.sub("", suite.log.read_text(errors="replace"))
        ran = re.findall(r"^. Test run with (\d+) tests? in \d+ suites? passed", text, re.MULTILINE)
        suite.skipped = re.findall(r"^➜ Test (.* skipped.*)$", text, re.MULTILINE)
        if suite.failure is None:
            if code < 0:
                suite.failure = f"signal {-code} ended it"
            elif code != 0:
                failed = len(re.findall(r"^✘ Test (?!run ).* failed after", text, re.MULTILINE))
                suite.failure = f"{failed} of {len(suite.tests)} tests" if failed else f"exit code {code}"
            elif len(ran) != 1:
                suite.failure = "it did not come to its end"
            elif int(ran[0]) != len(suite.tests):
                suite.failure = f"{ran[0]} of {len(suite.tests)} tests ran"
        self.busy += busy
        self.ended.append(suite)
        tests = number_of(len(suite.tests), "test")
        width = len(str(self.total))
        print(
            f"[{len(self.ended):{width}}/{self.total}] {suite.short}:",
            f"FAILED, {suite.failure}, after {wall:.1f} s" if suite.failure else
            f"{tests} in {wall:.1f} s" + (f", {len(suite.skipped)} skipped" if suite.skipped else ""), flush=True)
        if suite.failure:
            print(excerpt(suite, text), flush=True)
        elif suite.whole:
            self.times[suite.name] = (wall, busy)

    def kill_what_hangs(self):
        """Kills suites that take several times as long as they did."""
        for pid, suite in self.running.items():
            bound = self.options.patience * (300 + 4 * suite.seconds)
            if suite.failure is None and time.monotonic() - suite.started > bound:
                suite.failure = f"killed, as it had not ended after {bound:.0f} s"
                kill(pid)

    def stop(self):
        """Kills all that was started."""
        for pid in self.running:
            kill(pid)
            os.waitpid(pid, 0)


def excerpt(suite, text):
    """What whoever repairs it wants to see first."""
    lines, kept = text.splitlines(), []
    for number, line in enumerate(lines):
        if re.search(r"recorded an issue|^error:|Fatal error|Crash", line):
            # An issue that a program's output goes with goes on until the next: what it said last matters most.
            end = number + 1
            while end < len(lines) and lines[end].startswith(("↳", "  ")):
                end += 1
            block = lines[number:max(end, number + 12)]
            block = block if len(block) <= 24 else block[:8] + ["…"] + block[-15:]
            kept += [line for line in block if line not in kept]
    if not kept:
        kept = lines[-30:]
    kept = [f"    {line[:1000]}" for line in kept[:60]]
    return "\n".join(kept + [f"    all of it: {suite.log}"])


def watch(run):
    """Runs all; returns the signal that stopped it, if one did."""
    # A signal writes its number here; also that a child has ended.
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, frame: None)
    selector = selectors.DefaultSelector()
    selector.register(reader, selectors.EVENT_READ)
    reported = time.monotonic()
    while run.waiting or run.running:
        run.start()
        if selector.select(timeout=1):
            stops = set(os.read(reader, 4096)) - {signal.SIGCHLD}
            if stops:
                return min(stops)
        before = len(run.ended)
        run.reap()
        run.kill_what_hangs()
        if len(run.ended) > before:
            reported = time.monotonic()
        elif time.monotonic() - reported > QUIET:
            reported = time.monotonic()
            suites = [f"{suite.short} ({reported - suite.started:.0f} s)" for suite in run.running.values()]
            print("… running:", ", ".join(suites), flush=True)
    return None


def main():
    parser = argparse.ArgumentParser(description="Runs the built tests.")
    parser.add_argument("--only", default="", metavar="WORDS", help="a regular expression on Module.Suite/test")
    parser.add_argument("--skip", action="append", default=[], metavar="WORDS", help="tests to leave out")
    parser.add_argument("--longest", type=float, metavar="SECONDS", help="leave out suites that take longer")
    parser.add_argument("--binary", default=BINARY, help="the tests' program")
    parser.add_argument("--jobs", type=int, default=10, help="at most so many suites at a time")
    parser.add_argument("--load", type=float, default=os.cpu_count(), help="processors to keep busy")
    parser.add_argument("--patience", type=float, default=1, help="times the bound of time of each suite")
    parser.add_argument("--logs", default=str(ROOT / ".build/test-logs"), metavar="FOLDER")
    parser.add_argument("--remember", action="store_true", help="write scripts/test-times")
    options = parser.parse_args()

    started = time.monotonic()
    times = read_times()
    every = list_tests(options.binary)
    suites = choose(every, options.only, options.skip, times)
    if options.longest:
        suites = [suite for suite in suites if suite.seconds <= options.longest]
    count = sum(len(suite.tests) for suite in suites)
    what = f"{number_of(count, 'test')} in {number_of(len(suites), 'suite')}"
    print(f"{what}, at most {number_of(options.jobs, 'suite')} at a time", flush=True)
    run = Run(options, suites, times)
    try:
        stopped = watch(run)
    finally:
        run.stop()
    if options.binary == BINARY:
        known = {name: times[name] for name in times if name in every}
        for path in [FRESH_TIMES] + ([KEPT_TIMES] if options.remember else []):
            write_times(path, known)
    for suite in run.ended:
        for line in suite.skipped:
            print(f"{suite.short}: {line}")
    failed = [suite for suite in run.ended if suite.failure]
    for suite in failed:
        print(f"\nFAILED: {suite.short}: {suite.failure}")
        print(excerpt(suite, COLOUR.sub("", suite.log.read_text(errors="replace"))))
    seconds = time.monotonic() - started
    if stopped:
        print(f"stopped by {signal.Signals(stopped).name} after {len(run.ended)} of {run.total} suites")
        return 128 + stopped
    print(f"{run.busy:.0f} s on a processor, {run.busy / seconds:.1f} of {os.cpu_count()} busy")
    outcome = "failed" if failed or not suites else "passed"
    print(f"Test run with {what} {outcome} after {seconds:.0f} seconds")
    return 0 if outcome == "passed" else 1


if __name__ == "__main__":
    sys.exit(main())
