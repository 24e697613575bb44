"""A plot of the results as SVG: a panel for each scenario, a bar for each client.

With gnuplot or matplotlib it takes about as many lines: most of them choose what is drawn.
"""

from html import escape

from targets import both_cpu

WIDTH, PANEL, BAR, GAP, NAMES, TOP = 980, 490, 16, 5, 140, 60
BARS = PANEL - NAMES - 120  # the longest
OWN, OTHER, PALE_OWN, PALE_OTHER = "#b3361b", "#5b6b7b", "#e3a596", "#b9c3cd"


def _bars(cells):
    """What a panel shows: its unit, and for each client a value, a second one beyond it, and a text."""
    scenario = next(iter(cells.values())).scenario
    found = {}
    for name, cell in cells.items():
        if not cell.good:
            found[name] = (0, 0, "failed")
        elif scenario.files:
            rate = scenario.files / cell.median("wall")
            found[name] = (rate, 0, f"{rate:,.0f}")
        elif scenario.limit:
            found[name] = (cell.ratio, 0, f"{cell.ratio:.2f}")
        elif scenario.mode == "verify":
            found[name] = (cell.median("wall"), 0, f"{cell.median('wall'):.2f}")
        else:
            cpu, both = cell.per_gib("cpu"), cell.per_gib(both_cpu)
            found[name] = (cpu, max(0, both - cpu), f"{cpu:.2f} + {both - cpu:.2f}")
    if scenario.files:
        return "files a second: more is better", found, True
    if scenario.limit:
        return "time, x limit", found, False
    if scenario.mode == "verify":
        return "time, seconds, with openssl where the client has no digest", found, False
    return "CPU s/GiB, client + nginx", found, False


def _panel(cells, clients, left, top):
    """The elements of a panel, and its height."""
    scenario = next(iter(cells.values())).scenario
    unit, bars, more_is_better = _bars(cells)
    shown = [sum(bar[:2]) for bar in bars.values()]
    # One very slow client does not make all others look alike.
    scale = (BARS) / min(max(shown) or 1, 4 * (sorted(shown)[len(shown) // 2] or 1))
    parts = [f'<text x="{left}" y="{top}" class="title">{escape(scenario.name)}</text>'
             f'<text x="{left + 56}" y="{top}">{escape(scenario.about)}</text>',
             f'<text x="{left}" y="{top + 16}" class="unit">{escape(scenario.amount)}; {escape(unit)}</text>']
    top += 26
    # The best first, failures last.
    sign = -1 if more_is_better else 1
    order = sorted(bars, key=lambda name: (bars[name][0] == 0, sign * sum(bars[name][:2])))
    for row, name in enumerate(order):
        value, beyond, text = bars[name]
        y = top + row * (BAR + GAP)
        own = name.startswith("segget")
        width = min(value * scale, BARS)
        second = min(beyond * scale, BARS - width)
        parts.append(
            f'<text x="{left + NAMES - 8}" y="{y + 12}" class="{"own" if own else "name"}">'
            f"{escape(clients[name].label)}</text>"
            f'<rect x="{left + NAMES}" y="{y}" width="{width:.1f}" height="{BAR}" fill="{OWN if own else OTHER}"/>'
            f'<rect x="{left + NAMES + width:.1f}" y="{y}" width="{second:.1f}" height="{BAR}" '
            f'fill="{PALE_OWN if own else PALE_OTHER}"/>'
            f'<text x="{left + NAMES + width + second + 5:.1f}" y="{y + 12}">{escape(text)}</text>')
    if scenario.limit and not scenario.files:
        x, bottom = left + NAMES + scale, top + len(bars) * (BAR + GAP)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top - 4}" y2="{bottom}" class="limit"/>')
    return parts, 26 + len(bars) * (BAR + GAP) + 34


def svg(title, results, clients):
    """The plot of all scenarios, two panels in a row."""
    parts, heights = [], [TOP, TOP]
    for cells in results.values():
        column = 0 if heights[0] <= heights[1] else 1
        more, height = _panel(cells, clients, 16 + column * PANEL, heights[column])
        parts += more
        heights[column] += height
    style = ("text{font:12px sans-serif;fill:#222}.title{font-weight:bold}.unit{fill:#777;font-size:11px}"
             ".name,.own{text-anchor:end}.own{font-weight:bold}.limit{stroke:#222;stroke-dasharray:3 3}"
             ".head{font-size:16px;font-weight:bold}")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{max(heights)}" '
            f'viewBox="0 0 {WIDTH} {max(heights)}"><style>{style}</style>'
            f'<rect width="100%" height="100%" fill="white"/><text x="16" y="28" class="head">{escape(title)}</text>'
            + "".join(parts) + "</svg>\n")
