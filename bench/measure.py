"""One run of one client: what it took, what the server sent, and whether the files are right."""

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import time
from dataclasses import asdict, dataclass

import isolation
import servers
from isolation import WORK, Network
from link import DEVICE, Emulator, compiled
from loopback import MIB, Failure, die_with_parent, stop

# Other programs' share of one core, over a run on loopback, with which it is repeated once.
DISTURBED = 0.3


@dataclass
class Run:
    """What one run has shown. Seconds and bytes; of two commands, both together."""

    client: str
    turn: int
    wall: float = 0
    cpu: float = 0  # of the client, user and system
    server_cpu: float = 0  # of the origin's nginx
    other_cpu: float = 0  # of everything else on this machine, the emulator of links included
    peak: int = 0  # resident memory of the client
    served: int = 0  # by the server's log, with headers
    requests: int = 0
    connections: int = 0  # open at a time
    opened: int = 0  # connections in all
    killed: bool = False
    late: bool = False  # given up after the scenario's longest time
    problem: str = ""  # why the run does not count; empty when all is right

    def record(self):
        """It as a dictionary for JSON."""
        return {name: round(value, 3) if isinstance(value, float) else value for name, value in asdict(self).items()}


def most_at_once(rows):
    """How many connections were open at a time, by rows of a log: first request to last reply."""
    spans = {}
    for end, duration, connection, *_ in rows:
        end, begin = float(end), float(end) - float(duration)
        known = spans.get(connection, (begin, end))
        spans[connection] = min(known[0], begin), max(known[1], end)
    # A connection that ends when another one begins gives it its place.
    steps = sorted(step for begin, end in spans.values() for step in ((begin, 1), (end, -1)))
    now = most = 0
    for _, step in steps:
        now += step
        most = max(most, now)
    return most


def busy():
    """CPU seconds that all programs of this machine have used so far."""
    with open("/proc/stat", encoding="ascii") as file:
        numbers = [int(word) for word in file.readline().split()[1:9]]
    return (sum(numbers) - numbers[3] - numbers[4]) / os.sysconf("SC_CLK_TCK")


def wait_for_quiet(seconds):
    """Waits until others leave the machine alone, but not for longer."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        before = busy()
        time.sleep(0.3)
        if busy() - before < 0.05:
            return


def touch_memory(size):
    """Takes as much memory as the output will, and gives it back: in a virtual machine the first use is slow."""
    path = os.path.join(WORK, "touched")
    block = bytes(4 * MIB)
    with open(path, "wb", buffering=0) as file:
        for _ in range(size // len(block)):
            file.write(block)
    os.remove(path)


def sha256(path):
    """The SHA-256 of a file."""
    with open(path, "rb", buffering=0) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Bench:
    """The servers, the files and the networks, used with `with`."""

    def __init__(self):
        self.public = os.path.join(WORK, "public")
        self.output = os.path.join(WORK, "out")
        self.sums = {}  # by path below `public`
        self.prepared = set()  # programs that have made the plan of the scenario
        self.server = Network(new=False)
        self.client = Network(new=True)
        self.origin = servers.Origin(self.public)
        self.shaper = servers.Shaper(self.origin)
        self.link = None
        self.launcher = None

    def __enter__(self):
        os.makedirs(self.public)
        self.origin.begin()
        return self

    def __exit__(self, *_):
        for process in (self.launcher, self.shaper.process, self.origin.process):
            stop(process)

    def make_files(self, scenario):
        """Writes what the scenario serves, as far as it is not there: random bytes."""
        for name, size in scenario.contents.items():
            if name in self.sums:
                continue
            digest = hashlib.sha256()
            path = os.path.join(self.public, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb", buffering=0) as file:
                for start in range(0, size, MIB):
                    block = os.urandom(min(MIB, size - start))
                    digest.update(block)
                    file.write(block)
            self.sums[name] = digest.hexdigest()

    def keep_files(self, scenarios):
        """Removes all files but those of the scenarios."""
        for name in self.sums.keys() - {name for scenario in scenarios for name in scenario.contents}:
            path = os.path.join(self.public, name)
            # nginx has it open for a while, and with it the memory.
            os.truncate(path, 0)
            os.remove(path)
            del self.sums[name]

    @contextlib.contextmanager
    def ready(self, scenario):
        """Has the link of a scenario, if it has one."""
        self.prepared.clear()
        if not scenario.link:
            yield
            return
        with Emulator(scenario.link, self.server, self.client) as self.link:
            yield
        self.link = None

    def measure(self, scenario, name, client, turn):
        """A run; on loopback one that other programs disturbed is repeated once."""
        attempts = 1 if scenario.link or scenario.shared else 2
        for attempt in range(attempts):
            if attempts > 1:
                wait_for_quiet(5)
            run = self._measure(scenario, name, client, turn)
            if run.other_cpu < DISTURBED * run.wall or attempt + 1 == attempts:
                return run

    def _measure(self, scenario, name, client, turn):
        shutil.rmtree(self.output, ignore_errors=True)
        os.mkdir(self.output)
        if not scenario.link and not scenario.shared and not scenario.files:
            touch_memory(scenario.total)
        if scenario.shared:
            self.shaper.begin(turn)
        if self.link:
            # The same losses for each client of a turn, as far as they send the same.
            self.link.send(f"seed {turn + 1}")
        values = self._values(scenario)
        self._prepare(scenario, client, values)
        command = client.command(scenario.mode, **values)
        run = Run(name, turn)
        origin = self.origin
        start, cpu, all_cpu = origin.log_size(), origin.cpu(), busy()
        if scenario.kill:
            watched = ["-i", DEVICE, "-b", str(int(scenario.kill * scenario.size))]
            first = self._launch(run, scenario, command, watched)
            run.killed = first["reached"]
            origin.settle()
            last = self._launch(run, scenario, command, [])
        elif scenario.event:
            descriptor = self.link.process.stdin.fileno()
            watched = ["-i", DEVICE, "-b", str(int(0.3 * scenario.size)),
                       "-t", str(descriptor), f"{scenario.event} {scenario.outage}"]
            last = self._launch(run, scenario, command, watched)
        else:
            last = self._launch(run, scenario, command, [])
        all_cpu = busy() - all_cpu
        if scenario.shared:
            self.shaper.stop(gently=True)
        origin.settle()
        run.server_cpu = origin.cpu() - cpu
        run.other_cpu = max(0.0, all_cpu - run.cpu - run.server_cpu)
        rows = self.shaper.log() if scenario.shared else origin.log(start)
        run.requests = len(rows)
        run.connections = most_at_once(rows)
        run.opened = len({row[2] for row in rows})
        run.served = sum(int(row[4]) for row in rows)
        run.late = last["late"]
        run.problem = self._problem(scenario, run, last)
        shutil.rmtree(self.output, ignore_errors=True)
        return run

    def _prepare(self, scenario, client, values):
        """Has the client make what it needs once, before it is measured."""
        if not client.prepare or client.program in self.prepared:
            return
        with contextlib.suppress(FileNotFoundError):
            os.remove(values["plan"])
        with self._network(scenario).entered():
            isolation.run(*client.command("prepare", **values))
        self.origin.settle()
        self.prepared.add(client.program)

    def _values(self, scenario):
        """What command lines name; writes the lists that they name."""
        base, names = scenario.base, list(scenario.contents)
        values = {"base": base, "url": base + names[0], "out": os.path.basename(names[0]),
                  "folder": scenario.folder, "sha256": self.sums[names[0]], "certificate": self.origin.certificate,
                  "list": os.path.join(WORK, "list"), "config": os.path.join(WORK, "config"),
                  "plan": os.path.join(WORK, "plan")}
        with open(values["list"], "w", encoding="ascii") as file:
            file.writelines(f"{base}{name}\n" for name in names)
        with open(values["config"], "w", encoding="ascii") as file:
            file.writelines(f'url = "{base}{name}"\noutput = "{os.path.basename(name)}"\n' for name in names)
        return values

    def _network(self, scenario):
        """Where the client runs."""
        return self.client if scenario.link else self.server

    def _launch(self, run, scenario, command, watched):
        """Runs the client once, and adds what it took to `run`. Returns what the launcher reports."""
        network = self._network(scenario)
        home = os.path.join(WORK, "home")
        os.makedirs(home, exist_ok=True)
        reading, writing = os.pipe()
        inherited = [network.descriptor, writing] + ([self.link.process.stdin.fileno()] if self.link else [])
        with open(os.path.join(WORK, "client.log"), "wb") as log:
            self.launcher = subprocess.Popen(
                [compiled("launch"), str(network.descriptor), str(writing), str(scenario.longest), *watched,
                 "--", *command],
                cwd=self.output, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=inherited,
                env={"PATH": servers.PATH, "HOME": home, "LC_ALL": "C.UTF-8"}, preexec_fn=die_with_parent)
        os.close(writing)
        with open(reading, encoding="ascii") as report:
            text = report.read()
        self.launcher.wait()
        if not text:
            raise Failure(f"`{command[0]}` could not be launched: {self._said()}")
        result = json.loads(text)
        run.wall += result["wall"]
        run.cpu += result["cpu"]
        run.peak = max(run.peak, result["peak"])
        return result

    def _said(self):
        """The end of what the client has printed."""
        with open(os.path.join(WORK, "client.log"), encoding="utf-8", errors="replace") as file:
            return " ".join(file.read()[-300:].split())

    def _problem(self, scenario, run, last):
        """Why a run does not count; empty when it does."""
        if last["late"]:
            return f"not done after {scenario.longest:.0f} s"
        if last["status"] != 0:
            return f"exit status {last['status']}: {self._said()}"
        if scenario.kill and not run.killed:
            return "done before it was to be killed"
        if scenario.event and not last["reached"]:
            return "done before the link was to fail"
        for name in scenario.contents:
            path = os.path.join(self.output, os.path.basename(name))
            if not os.path.exists(path):
                return f"success, but there is no `{os.path.basename(path)}`"
            if sha256(path) != self.sums[name]:
                return f"success, but `{os.path.basename(path)}` is not what was served"
        return ""
