"""This build of segget against an earlier one, run by run: what has become slower or larger.

The runs of a pair follow each other, so that what else the machine does hits both; the median of the
ratios of the pairs decides. Where the machine is noisy, pairs differ among themselves: speed counts as kept
when the median is within the bound, or when 1 lies within the middle half of the pairs.
"""

from dataclasses import dataclass
from statistics import median, quantiles

from loopback import MIB

BOUND = 1.03


@dataclass(frozen=True)
class Ratio:
    """New to old: the median of the pairs, and the quartiles around it."""

    low: float
    middle: float
    high: float

    @staticmethod
    def of(pairs):
        """The ratios of pairs, each old and new."""
        ratios = [new / old for old, new in pairs]
        return Ratio(*quantiles(ratios, n=4)) if len(ratios) > 1 else Ratio(*ratios * 3)

    @property
    def is_kept(self):
        """Whether nothing has become slower, as far as can be seen."""
        return self.middle <= BOUND or self.low <= 1

    def __str__(self):
        return f"{self.middle:.3f} ({self.low:.3f}–{self.high:.3f})"


@dataclass(frozen=True)
class Row:
    """A scenario: what the pairs have shown; no ratios where no pair counts."""

    scenario: str
    pairs: int
    wall: Ratio | None = None
    cpu: Ratio | None = None
    peak: float = 0  # MiB more
    served: float = 0  # of the size of the files, more
    problems: tuple = ()

    @property
    def is_kept(self):
        """Whether nothing has become slower."""
        return self.pairs > 0 and not self.problems and self.wall.is_kept and self.cpu.is_kept


def compared(results):
    """Rows of the scenarios, from their cells `before` and `segget`."""
    rows = []
    for name, cells in results.items():
        old, new = cells["before"], cells["segget"]
        both = [(a, b) for a, b in zip(old.runs, new.runs) if not a.problem and not b.problem]
        problems = tuple(new.problems + [f"before: {each}" for each in old.problems])
        if not both:
            rows.append(Row(name, 0, problems=problems))
            continue
        rows.append(Row(
            name, len(both), Ratio.of([(a.wall, b.wall) for a, b in both]), Ratio.of([(a.cpu, b.cpu) for a, b in both]),
            median(b.peak - a.peak for a, b in both) / MIB,
            median(b.served - a.served for a, b in both) / new.scenario.total, problems))
    return rows


def table(rows):
    """The rows as a Markdown table."""
    lines = ["| scenario | pairs | wall, new to old | CPU, new to old | peak MiB more | served/size more | |",
             "| --- | ---: | ---: | ---: | ---: | ---: | --- |"]
    for row in rows:
        verdict = "; ".join(row.problems) or ("kept" if row.is_kept else "slower")
        lines.append(f"| {row.scenario} | {row.pairs} | {row.wall or '–'} | {row.cpu or '–'} | {row.peak:+.1f} | "
                     f"{row.served:+.4f} | {verdict} |")
    return "\n".join(lines)
