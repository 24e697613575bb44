"""Tables, and the files that `--record` writes."""

import json
import os
import platform
import re
import subprocess

import plot
from loopback import MIB
from targets import both_cpu

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def number(value, digits=2):
    """A number for a cell; `–` for none."""
    return "–" if value is None else f"{value:.{digits}f}"


def label(cell, client):
    """What a client is called in a scenario."""
    after = cell.scenario.mode == "verify" and not client.verify
    return f"{client.label}, then openssl" if after else client.label


def table(scenario, cells, clients):
    """The measurements of a scenario as a Markdown table, the fastest client first."""
    limited, many = scenario.limit is not None, scenario.count > 0
    curl = cells["curl"].median("cpu") if "curl" in cells else None
    heads = ["client", "time s", "min–max"]
    heads += ["x limit"] if limited else []
    heads += ["files/s"] if many else []
    heads += ["CPU s"] if many or limited else ["CPU s/GiB", "to curl"]
    heads += ["with nginx's", "peak MiB", "conn.", "opened", "requests", "served/size", "runs"]
    lines = [f"| {' | '.join(heads)} |", f"| --- |{' ---: |' * (len(heads) - 1)}"]
    for name, cell in sorted(cells.items(), key=lambda item: item[1].median("wall") or 1e9):
        wall = cell.median("wall")
        row = [label(cell, clients[name])]
        if wall is None:
            lines.append(f"| {row[0]} | {cell.problems[0].replace('|', '/')} |{' |' * (len(heads) - 2)}")
            continue
        row += [number(wall), f"{min(r.wall for r in cell.good):.2f}–{max(r.wall for r in cell.good):.2f}"]
        row += [number(cell.ratio)] if limited else []
        row += [f"{scenario.count / wall:,.0f}"] if many else []
        if many or limited:
            row += [number(cell.median("cpu")), number(cell.median(both_cpu))]
        else:
            row += [number(cell.per_gib("cpu")), number(cell.median("cpu") / curl if curl else None),
                    number(cell.per_gib(both_cpu))]
        row += [number(cell.median("peak") / MIB, 1), number(cell.median("connections"), 0),
                number(cell.median("opened"), 0), number(cell.median("requests"), 0),
                number(cell.median("served") / scenario.total, 3)]
        row += [f"{len(cell.good)}" + (f" of {len(cell.runs)}" if cell.problems else "")]
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def first_line(*command):
    """The first line that a command prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip().split("\n")[0]


def versions(clients):
    """The programs and their versions, each one once."""
    found = []
    for client in clients:
        match = re.search(r"\d+(\.\d+)+", first_line(client.program, "--version"))
        text = f"{os.path.basename(client.program)} {match.group() if match else '?'}"
        if text not in found:
            found.append(text)
    return found


def machine():
    """What was measured on, without its name."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "?")
    return f"{os.cpu_count()} × {model}, Linux {platform.release().split('-')[0]}, files in memory"


def text(title, command, place, results, clients, verdicts):
    """The whole report in Markdown."""
    lines = [f"# {title}", "", f"    {command}", "", place, "",
             "Medians of runs taken in turns. `x limit`: time as a multiple of the least that the link or the "
             "servers' limits allow. `served/size`: bytes sent by the server's log, with headers, to the size of "
             "the files. `conn.`: connections open at a time; `opened`: in all. Every file was compared with what was "
             "served, by SHA-256."]
    for cells in results.values():
        scenario = next(iter(cells.values())).scenario
        limit = f"Limit: {scenario.limit:.2f} s" if scenario.limit else ""
        limit += ", that of 16 connections." if scenario.shared else "." if limit else ""
        lines += ["", f"## {scenario.name}: {scenario.title}", ""]
        lines += [limit, ""] if limit else []
        lines += [table(scenario, cells, clients)]
    lines += ["", "## Targets", ""] + [f"- {verdict}" for verdict in verdicts]
    return "\n".join(lines) + "\n"


def record(facts, results):
    """All runs, as `bench/results/*.json` keeps them."""
    runs = {scenario: {client: [run.record() for run in cell.runs] for client, cell in cells.items()}
            for scenario, cells in results.items()}
    limits = {scenario: next(iter(cells.values())).scenario.limit for scenario, cells in results.items()}
    return {**facts, "limits": limits, "runs": runs}


def write(name, markdown, recorded, results, clients):
    """Writes the report, all runs, and a plot of them. Returns the paths."""
    folder = os.path.join(ROOT, "bench", "results")
    os.makedirs(folder, exist_ok=True)
    contents = {
        "md": markdown.replace("\n\nMedians", f"\n\n![Times, CPU and files a second]({name}.svg)\n\nMedians", 1),
        "json": json.dumps(recorded, indent=1) + "\n",
        "svg": plot.svg(recorded["title"], results, clients),
    }
    paths = []
    for kind, content in contents.items():
        paths.append(os.path.join(folder, f"{name}.{kind}"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(content)
    return paths
