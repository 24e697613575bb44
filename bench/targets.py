"""What segget promises, and whether a measurement keeps it. Medians decide, unless a target says otherwise."""

from dataclasses import dataclass
from statistics import median

from clients import STARTS
from loopback import GIB, MIB

# Peak memory by the number of connections that were open at a time.
PEAK_16, PEAK_64 = 28 * MIB, 40 * MIB
# That of a set.
PEAK_SET = 36 * MIB
# What may be fetched twice when nothing is killed: the larger of these.
TWICE_SHARE, TWICE_BYTES = 0.01, 2 * MIB


@dataclass
class Cell:
    """The runs of one client in one scenario."""

    scenario: object
    runs: list

    @property
    def good(self):
        """The runs that count."""
        return [run for run in self.runs if not run.problem]

    @property
    def problems(self):
        """Why the others do not."""
        return [run.problem for run in self.runs if run.problem]

    def median(self, value):
        """The median of an attribute, or of a function of a run; `None` without a good run."""
        read = value if callable(value) else lambda run: getattr(run, value)
        return median(map(read, self.good)) if self.good else None

    @property
    def ratio(self):
        """The median time as a multiple of the limit; `None` where there is no limit."""
        wall = self.median("wall")
        return wall / self.scenario.limit if wall and self.scenario.limit else None

    def per_gib(self, value):
        """A median of CPU seconds for each GiB."""
        seconds = self.median(value)
        return None if seconds is None else seconds * GIB / self.scenario.total


def both_cpu(run):
    """CPU seconds of client and server: the kernel does a part of the one's work at the other's expense."""
    return run.cpu + run.server_cpu


@dataclass(frozen=True)
class Verdict:
    """A target, and what was measured."""

    scenario: str
    text: str
    measured: float
    bound: float
    at_least: bool = False
    unit: str = ""

    @property
    def passed(self):
        """Whether the target is met."""
        return self.measured >= self.bound if self.at_least else self.measured <= self.bound

    def __str__(self):
        word = "at least" if self.at_least else "at most"
        number = "{:,.0f}" if self.measured >= 1000 else "{:.1f}" if self.unit else "{:.3f}"
        return (f"{'PASS' if self.passed else 'FAIL'}: {self.scenario}, {self.text}: "
                f"{number.format(self.measured)}{self.unit}; {word} {self.bound:,g}{self.unit}")


# Time as a multiple of the limit: scenario, client, bound.
RATIOS = (
    ("C1s", "segget16", 1.03), ("C1s", "segget", 0.5), ("W1", "segget", 1.08), ("W2", "segget", 1.12),
    ("W2c", "segget", 1.35), ("W2c", "segget64", 1.22), ("S1", "segget16", 1.2), ("R1", "segget", 1.05),
    ("R2", "segget", 1.05), ("R2b", "segget", 1.08), ("M2", "segget", 1.08), ("M2s", "segget", 1.08),
    ("M3", "segget", 1.08),
)
# CPU as a multiple of curl's.
CPU = (("L1", 1.1), ("L2", 1.1))
# Time and CPU of the program by its other name, as multiples of its own; and how much later it may have begun.
DROP_IN, DROP_IN_START = 1.1, 2
FILES_A_SECOND = (("M1", 10_000), ("M1w", 1_100))


def judge(results, labels):
    """Verdicts on `results`: cells by scenario's name and client's short name."""
    found = []

    def add(*arguments, **more):
        found.append(Verdict(*arguments, **more))

    def cell(scenario, client):
        there = results.get(scenario, {}).get(client)
        return there if there and there.good else None

    for name, bound in CPU:
        own, curl = cell(name, "segget"), cell(name, "curl")
        if own and curl:
            add(name, "CPU, to curl's", own.median("cpu") / curl.median("cpu"), bound)
            add(name, "CPU with nginx's, to curl's", own.median(both_cpu) / curl.median(both_cpu), bound)
            add(name, "time, to curl's", own.median("wall") / curl.median("wall"), 1)
        if own:
            add(name, "slowest run, to the median", max(run.wall for run in own.good) / own.median("wall"), 1.2)
    own, curl, other = cell("L3", "segget"), cell("L3", "curl"), cell("L3", "aria2-next")
    if own and curl:
        add("L3", "time, to that of curl and then openssl", own.median("wall") / curl.median("wall"), 0.8)
    if own and other:
        add("L3", "time, to the best of aria2-next", own.median("wall") / min(run.wall for run in other.good), 1)
    own, other = cell("L1", "segget"), cell("L1", "segget-aria2c")
    if own and other:
        add("L1", "time of `segget-aria2c`, to segget's", other.median("wall") / own.median("wall"), DROP_IN)
        add("L1", "CPU of `segget-aria2c`, to segget's", other.median("cpu") / own.median("cpu"), DROP_IN)
    own, other = cell("T1", "segget"), cell("T1", "segget-aria2c")
    if own and other:
        later = (other.median("wall") - own.median("wall")) / STARTS
        add("T1", "each start of `segget-aria2c`, to segget's", later * 1000, DROP_IN_START, unit=" ms more")
    for name, client, bound in RATIOS:
        if own := cell(name, client):
            add(name, f"time of `{labels[client]}`, to the limit", own.ratio, bound)
    if own := cell("R1", "segget"):
        add("R1", "bytes served, to the size", own.median("served") / own.scenario.total, 1.02)
    for name, bound in FILES_A_SECOND:
        if own := cell(name, "segget"):
            add(name, "files a second", own.scenario.files / own.median("wall"), bound, at_least=True)
    for name, cells in results.items():
        own, others = cell(name, "segget"), [other for other in cells if not other.startswith("segget")]
        walls = [there.median("wall") for other in others if (there := cell(name, other))]
        if own and own.scenario.mode == "set" and walls:
            add(name, "time, to that of the fastest other client", own.median("wall") / min(walls), 1)
        if own and own.scenario.mode == "set" and (other := cell(name, "aria2c-tuned")):
            add(name, f"CPU, to that of `{labels['aria2c-tuned']}`", own.median("cpu") / other.median("cpu"), 1)
        for client, own in cells.items():
            if client.startswith("segget"):
                found += _common(name, labels[client], own)
    return found


def _common(name, label, own):
    """What holds everywhere: every run is right, within the memory, and fetches nothing twice."""
    verdicts = []
    if own.problems:
        verdicts.append(Verdict(name, f"failed runs of `{label}` ({own.problems[0]})", len(own.problems), 0))
    if not own.good:
        return verdicts
    most = max(run.connections for run in own.good)
    bound = PEAK_SET if own.scenario.mode == "set" else PEAK_16 if most <= 16 else PEAK_64
    verdicts.append(Verdict(name, f"peak memory of `{label}`, {most} connections", own.median("peak") / MIB,
                            bound / MIB, unit=" MiB"))
    if not own.scenario.kill:
        size, link = own.scenario.total, own.scenario.link
        # What was on its way when the link failed, or still in the server's sockets, is in the log as
        # sent, but it has not been fetched.
        lost = 0
        if own.scenario.event:
            lost = link.rate * 1e6 / 8 * link.round_trip + link.queue + link.unsent * own.median("connections")
        verdicts.append(Verdict(name, f"fetched twice by `{label}`", max(0, own.median("served") - size - lost) / MIB,
                                max(TWICE_SHARE * size, TWICE_BYTES) / MIB, unit=" MiB"))
    return verdicts
