#!/usr/bin/env python3
"""The picture of the README: how long segget and its peers take, for a reader who looks for five seconds.

    python3 bench/picture.py RESULTS.json [FILE.svg]    # by default docs/speed.svg

RESULTS.json is a file of bench/results. `make bench` draws the same from what it has measured. Neither gnuplot nor
matplotlib writes an SVG that follows the reader's light or dark scheme.
"""

import json
import os
import sys
from html import escape
from statistics import median

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Scenario, title, and what is fetched: those that a user may meet, where segments help and where they do not.
PANELS = (
    ("C1s", "Server limits each connection", "128 MiB, 2 MiB/s for each connection"),
    ("S1", "Some connections are slow", "256 MiB, each fifth connection throttled"),
    ("W2c", "Distant server, packet loss", "64 MiB, 80 ms, 200 Mbit/s, 0.5 % loss"),
    ("W1", "Distant server, no loss", "128 MiB, 80 ms, 200 Mbit/s"),
    ("R2b", "Network gone for 8 s", "256 MiB, 40 ms, 200 Mbit/s"),
    ("R1", "Killed half-way, run again", "192 MiB, 20 ms, 100 Mbit/s"),
    ("M1w", "2,000 small files", "16 KiB each, 20 ms, 200 Mbit/s"),
    ("L1", "Loopback", "2 GiB, no network between"),
)
# In this order, those that took part.
CLIENTS = (("segget", "segget"), ("curl", "curl"), ("aria2c", "aria2c"), ("axel", "axel"), ("wget2", "wget2"))

WIDTH, MARGIN, COLUMN = 880, 24, 416
NAMES, VALUES = 62, 70  # room for names before the bars, and for times behind them
BARS = COLUMN - NAMES - VALUES - 24
HEAD, BAR, GAP, BELOW = 46, 15, 6, 22
TOP, FOOT = 62, 58

LIGHT = {"paper": "#ffffff", "ink": "#24292f", "dim": "#57606a", "own": "#d1480f", "peer": "#8c96a1"}
DARK = {"paper": "#161b22", "ink": "#e6edf3", "dim": "#9aa4ae", "own": "#ff8a4c", "peer": "#6b7683"}
STYLE = ("text{font:13px 'Segoe UI',Helvetica,Arial,'DejaVu Sans',sans-serif}.head{font-size:18px;font-weight:600}"
         ".title{font-size:14px;font-weight:600}.dim{font-size:12px}.name{text-anchor:end}.own{font-weight:700}"
         ".limit{stroke-width:1.5;stroke-dasharray:3 3}")


def colours(of):
    """The rules of a scheme. No variables: not every renderer knows them."""
    return (f"text{{fill:{of['ink']}}}.dim{{fill:{of['dim']}}}.paper{{fill:{of['paper']}}}.bar{{fill:{of['peer']}}}"
            f".mine{{fill:{of['own']}}}.limit{{stroke:{of['ink']}}}")


def times(runs):
    """What a panel shows of each client: its name, the median in seconds or none, and a text."""
    shown = []
    for client, label in CLIENTS:
        if client not in runs:
            continue
        good = [run["wall"] for run in runs[client] if not run["problem"]]
        if good:
            seconds = median(good)
            shown.append((label, seconds, f"{seconds:.1f} s" if seconds >= 1 else f"{seconds:.2f} s"))
        else:
            shown.append((label, None, "not done" if any(run["late"] for run in runs[client]) else "failed"))
    return shown


def height(rows):
    """The height of a panel."""
    return HEAD + rows * (BAR + GAP) + BELOW


def panel(title, about, rows, limit, left, top):
    """The elements of a panel."""
    longest = max((seconds for _, seconds, _ in rows if seconds), default=1)
    scale = BARS / max(longest, limit or 0)
    parts = [f'<text x="{left}" y="{top + 14}" class="title">{escape(title)}</text>'
             f'<text x="{left}" y="{top + 31}" class="dim">{escape(about)}</text>']
    start, first = left + NAMES, top + HEAD
    for row, (label, seconds, text) in enumerate(rows):
        y = first + row * (BAR + GAP)
        own = label == "segget"
        length = (seconds or 0) * scale
        # A time stands behind the line of the limit, not on it.
        behind = max(length, (limit or 0) * scale if length > (limit or 0) * scale - VALUES else length)
        parts.append(
            f'<text x="{start - 8}" y="{y + 12}" class="name{" own" if own else ""}">{escape(label)}</text>'
            f'<rect x="{start}" y="{y}" width="{length:.1f}" height="{BAR}" rx="2" class="{"mine" if own else "bar"}"/>'
            f'<text x="{start + behind + 7:.1f}" y="{y + 12}"{" class=" + chr(34) + "own" + chr(34) if own else ""}>'
            f"{escape(text)}</text>")
    if limit:
        x = start + limit * scale
        bottom = first + len(rows) * (BAR + GAP)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{first - 5}" y2="{bottom}" class="limit"/>')
    return parts


def svg(results):
    """The picture of results as `bench/results/*.json` has them; `None` where nothing of it was measured."""
    panels = [(title, about, times(results["runs"][name]), results["limits"].get(name))
              for name, title, about in PANELS if "segget" in results["runs"].get(name, {})]
    if not panels:
        return None
    parts, top = [], TOP
    for index in range(0, len(panels), 2):
        row = panels[index:index + 2]
        for column, (title, about, rows, limit) in enumerate(row):
            parts += panel(title, about, rows, limit, MARGIN + column * COLUMN, top)
        top += max(height(len(rows)) for _, _, rows, _ in row)
    bottom = top + FOOT - BELOW
    note = f"Medians, {results['title']}. Dashed: the least time that the link, or 16 limited connections, allow."
    style = f"{STYLE}{colours(LIGHT)}@media(prefers-color-scheme:dark){{{colours(DARK)}}}"
    peers = "segget with defaults, the others over 16 connections where they have them."
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{bottom}" '
            f'viewBox="0 0 {WIDTH} {bottom}" role="img"><title>How long downloads take</title><style>{style}</style>'
            f'<rect width="{WIDTH}" height="{bottom}" rx="8" class="paper"/>'
            f'<text x="{MARGIN}" y="34" class="head">Seconds to download: shorter is better</text>'
            f'{"".join(parts)}<text x="{MARGIN}" y="{bottom - 34}" class="dim">{escape(peers)}</text>'
            f'<text x="{MARGIN}" y="{bottom - 16}" class="dim">{escape(note)}</text></svg>\n')


def write(results, path):
    """Writes the picture. Returns whether there was anything to draw."""
    content = svg(results)
    if content is None:
        return False
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(content)
    return True


def main():
    """Draws the picture of a file of results."""
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        results = json.load(file)
    path = os.path.abspath(sys.argv[2]) if len(sys.argv) == 3 else os.path.join(ROOT, "docs", "speed.svg")
    if not write(results, path):
        sys.exit(f"error: `{sys.argv[1]}` has none of the scenarios that the picture shows")
    print(f"written to {path}")


if __name__ == "__main__":
    main()
