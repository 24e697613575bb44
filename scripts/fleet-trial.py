#!/usr/bin/env python3
"""Tries `segget fleet` on a Slurm cluster of this machine, whose nodes have addresses of their own. As root.

    make fleet-trial
    make fleet-trial FLEET='--quick'
    make fleet-trial FLEET='--only kills,aria2 --kills 2 --seed 7'
    scripts/fleet-trial.py --check              says by exit code 77 and a line why it cannot be tried here

Each node receives at most 20 MiB/s, and nginx serves each address 8 requests at a time.

    speed       all nodes download one large file, and a set of 400 files, in at most 1/(0.9 N) of one node's time
                (1/3.6 for four nodes, less in a quick run); at most 1.02 of the size is served
    kills       a node dies at a random moment, five times: all files are right, at most 1.05 is served
    requeue     SIGTERM ends a worker with 75, and Slurm or segget has the element started again, with and without
                RequeueExit
    limit       the same by the time limit of Slurm
    drain       a node is drained: its element ends there, and the other node works the rest
    overlap     a slurmd dies, its step goes on, and Slurm starts the element again elsewhere
    twice       two nodes work on the same shard
    licenses    four elements on four nodes, and two licenses: each element takes one, and two run at a time
    parallel    GNU parallel runs what `fleet submit --parallel` prints, with nodes of the cluster as its hosts
    kubernetes  kubernetes-validate accepts what `fleet submit --kubernetes` prints; the first time it needs the network
    aria2       `aria2c -i chunk_$SLURM_ARRAY_TASK_ID` while a node dies, beside the same with segget

Each check is printed as `ok:` or `FAILED:`. Exit code 1 if one has failed. Processes, network and node daemons are in
namespaces that end with this program.
"""

import argparse
import hashlib
import json
import os
import pathlib
import random
import shlex
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))

from isolation import isolate, leave_orphans_to_parent
from loopback import MIB, Failure, Nginx, parse_size, run_main, size_text, work_folder

VENV = ROOT / ".build" / "fleet-trial" / "venv"
CLUSTER = str(ROOT / "scripts" / "cluster.sh")
ADDRESS = "10.83.0.1"
RATE = 20 * MIB
REQUESTS = 8
# Seconds after which something hangs.
LONGEST = 900
# Seconds. Shorter downloads end while this program looks at the queue.
SHORTEST = 5
CANNOT = 77
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "nginx", "ip", "tc", "unshare", "nsenter")
# What isolation.py and cluster.sh do.
NAMESPACES = """
echo trial >/proc/sys/kernel/hostname
ip link set lo up
ip link add trial type bridge
unshare --net --uts --pid --mount --fork --kill-child=KILL --mount-proc true
ip link add trial0 type veth peer name trial1
ip link set trial0 master trial up
tc qdisc add dev trial0 root tbf rate 1mbit burst 256k latency 20ms
"""


def hindrance():
    """Why it cannot be tried here; `None` if it can."""
    if os.geteuid() != 0:
        return "it needs root"
    path = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"
    for program in PROGRAMS:
        if not shutil.which(program, path=path):
            return f"it needs {program}"
    done = subprocess.run(["unshare", "--net", "--uts", "--pid", "--mount", "--fork", "--kill-child=KILL",
                           "--mount-proc", "sh", "-ec", NAMESPACES], env={**os.environ, "PATH": path},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return f"no machines can be emulated: {done.stderr.strip()}" if done.returncode else None


class Server(Nginx):
    """nginx that serves each address a number of requests at a time; the cluster limits the rate."""

    def __init__(self, trial, name):
        work = trial.work / name
        work.mkdir()
        super().__init__(str(work), str(trial.data), address=ADDRESS)

    def _configuration(self):
        # What is in the socket's buffer counts as served; a node that dies, or a request that ends early, loses it.
        limits = (f"limit_conn_zone $binary_remote_addr zone=each:1m; limit_conn each {REQUESTS}; "
                  "limit_conn_log_level info; send_timeout 10s; reset_timedout_connection on; ")
        return (super()._configuration()
                .replace("$http_range'", "$http_range $remote_addr'")
                .replace("access_log '", limits + "access_log '", 1)
                .replace(f":{self.port};", f":{self.port} sndbuf=32k;"))

    def figures(self, size):
        """Ends nginx; returns what it has served: share of `size`, seconds, refusals, bytes by address."""
        self.finish()
        # Plans are made on this machine.
        lines = [line for line in self._requests() if line[6] != ADDRESS]
        good = [line for line in lines if line[0] in ("200", "206")]
        each = {}
        for line in good:
            each[line[6]] = each.get(line[6], 0) + int(line[2])
        begin = min((float(line[3]) - float(line[4]) for line in good), default=0)
        end = max((float(line[3]) for line in good), default=0)
        return Served(sum(int(line[2]) for line in good) / size, end - begin, len(lines),
                      sum(int(line[0]) in (429, 503) for line in lines), each)


class Served:
    """What a server has served."""

    def __init__(self, share, seconds, requests, refused, each):
        self.share, self.seconds, self.requests, self.refused, self.each = share, seconds, requests, refused, each

    def __str__(self):
        each = ", ".join(size_text(self.each[address]) for address in sorted(self.each))
        return (f"served {self.share:.4f} in {self.seconds:.1f} s, {self.requests} requests, {self.refused} refused; "
                f"by address: {each}")


class Cluster:
    """A cluster that scripts/cluster.sh starts. Use it with `with`."""

    def __init__(self, trial, nodes, requeues=True, rate=RATE):
        self.folder = trial.work / f"cluster{Cluster.number}"
        Cluster.number += 1
        self.nodes = [f"n{number}" for number in range(nodes)]
        self.options = [str(nodes), "--rate", f"{rate * 8 // 1000}kbit", *([] if requeues else ["--no-requeue-exit"])]
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(trial.home), "SEGGET_NO_CONFIG": "1", "LC_ALL": "C.UTF-8",
            "SLURM_CONF": str(self.folder / "slurm.conf")}

    number = 0

    def __enter__(self):
        self._act("start", *self.options)
        return self

    def __exit__(self, kind, *_):
        if kind or Trial.failures:
            for path in (pathlib.Path(f"{self.folder}.log"), self.folder / "log" / "slurmctld.log"):
                if path.exists():
                    text = path.read_text(encoding="utf-8", errors="replace")
                    print(f"--- {path.name}\n{text[-20000:]}", flush=True)
        self._act("stop")

    def _act(self, action, *arguments):
        # The daemons keep the descriptors that they get.
        with open(f"{self.folder}.log", "ab") as log:
            done = subprocess.run([CLUSTER, action, self.folder, *arguments], stdin=subprocess.DEVNULL, stdout=log,
                                  stderr=log, check=False)
        if done.returncode:
            text = pathlib.Path(f"{self.folder}.log").read_text(encoding="utf-8", errors="replace")
            raise Failure(f"cluster.sh {action}: {text[-2000:]}")

    def kill(self, node):
        """A node dies."""
        self._act("kill", node)

    def hold(self, node, holds=True):
        """Stops a node and its network, or lets it continue."""
        def link(state):
            subprocess.run(["ip", "link", "set", f"{self.bridge()}{node}", state], check=True)

        def signal(name):
            subprocess.run(self.on(node, "sh", "-c", f"kill -{name} -1"), stdin=subprocess.DEVNULL, check=True)
        # Buffers of a stopped node would still fill, and a kill would lose them.
        if holds:
            link("down")
            signal("STOP")
        else:
            signal("CONT")
            link("up")

    def boot(self, node):
        """A node that has died comes back."""
        self._act("boot", node)

    def kill_daemon(self, node):
        """The slurmd of a node dies, and its steps go on."""
        code = f"kill -KILL $(cat {self.folder}/slurmd.{node}.pid)"
        subprocess.run(self.on(node, "sh", "-c", code), stdin=subprocess.DEVNULL, check=True)

    def is_working(self, node):
        """Whether a worker of a fleet, or aria2c, runs on a node."""
        done = subprocess.run(self.on(node, "sh", "-c", "cat /proc/[0-9]*/cmdline"), stdin=subprocess.DEVNULL,
                              capture_output=True, check=False)
        return b"\0fleet\0work\0" in done.stdout or b"aria2c\0-q\0" in done.stdout

    def on(self, node, *command):
        """The command line that runs a command on a node."""
        return [CLUSTER, "run", str(self.folder), node, *command]

    def slurm(self, *command):
        """Runs one of Slurm's commands; returns what it prints."""
        done = subprocess.run(command, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60, check=False)
        return done.stdout if done.returncode == 0 else ""

    def bridge(self):
        """The name of the bridge; those of its ports begin with it."""
        return (self.folder / "bridge").read_text(encoding="ascii").strip()

    def sent(self):
        """The bytes that were sent to all nodes that are running, as the kernel counts them."""
        bridge = self.bridge()
        with open("/proc/net/dev", encoding="ascii") as file:
            lines = [line.split(":") for line in file if line.strip().startswith(f"{bridge}n")]
        return sum(int(counts.split()[8]) for _, counts in lines)

    def queue(self):
        """The elements that have not ended: state, reason and node by `JOB_INDEX`."""
        # No answer is not an empty queue, whose answer has the line of titles.
        text = wait_for(lambda: self.slurm("squeue", "-r", "-o", "%i|%T|%r|%N"), 120)
        if not text:
            raise Failure("squeue does not answer")
        return {line.split("|")[0]: line.split("|")[1:] for line in text.splitlines()[1:] if "|" in line}

    def end_waits(self):
        """Ends the waits of elements that are to be started again; returns their names."""
        waiting = [name for name, (state, reason, _) in self.queue().items()
                   if state == "PENDING" and reason == "BeginTime"]
        for name in waiting:
            self.slurm("scontrol", "update", f"jobid={name}", "StartTime=now")
        return waiting

    def facts(self, job):
        """What `scontrol show job` says about a job or an element."""
        words = (wait_for(lambda: self.slurm("scontrol", "show", "job", job), 20) or "").split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def exit_code(self, job):
        """The exit code of a job that has ended."""
        return self.facts(job).get("ExitCode", "?")

    def licenses(self, name):
        """How many licenses of a name are in use."""
        words = self.slurm("scontrol", "show", "licenses", name).split()
        return int(dict(word.split("=", 1) for word in words if "=" in word).get("Used", 0))

    def run_out(self, requeued=None, seconds=LONGEST):
        """Waits until no job is left; ends the waits of requeued elements, and notes their names."""
        def is_empty():
            for name in self.end_waits():
                if requeued is not None and name not in requeued:
                    requeued.append(name)
            return not self.queue()
        return wait_for(is_empty, seconds)


def wait_for(found, seconds=LONGEST, pause=0.2):
    """Waits until `found` returns something true; returns it, or `None` if that takes too long."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := found():
            return value
        time.sleep(pause)
    return None


def slowed(size, nodes):
    """The bytes a second for each node, so that all together need some seconds for the bytes."""
    return min(RATE, size // nodes // SHORTEST)


def digest(path):
    """The SHA-256 of a file; `None` if there is none."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


class Trial:
    """Files to download, and how they are downloaded."""

    def __init__(self, options, work):
        self.options, self.work = options, pathlib.Path(work)
        self.chance = random.Random(options.seed)
        (self.data, self.home) = (self.work / "data", self.work / "home")
        self.data.mkdir()
        self.home.mkdir()
        self.files = {}
        self._write("large.bin", parse_size(options.large))
        weights = [self.chance.uniform(0.02, 1) for _ in range(options.files)]
        scale = parse_size(options.set) / sum(weights)
        for number, weight in enumerate(weights):
            self._write(f"set/{number:03}.bin", max(1, int(weight * scale)))
        self.number = 0

    failures = []

    @staticmethod
    def check(what, holds, details=""):
        """Prints whether something holds, with numbers; remembers what does not."""
        if not holds:
            Trial.failures.append(what)
        print(f"{'ok' if holds else 'FAILED'}: {what}{f': {details}' if details else ''}", flush=True)
        return holds

    @staticmethod
    def note(text):
        """Prints figures."""
        print(f"    {text}", flush=True)

    def _write(self, name, size):
        path = self.data / name
        path.parent.mkdir(exist_ok=True)
        digest_of_all = hashlib.sha256()
        with open(path, "wb") as file:
            for begin in range(0, size, MIB):
                block = os.urandom(min(MIB, size - begin))
                digest_of_all.update(block)
                file.write(block)
        self.files[name] = (size, digest_of_all.hexdigest())

    def names(self, prefix):
        """The names of files that begin with one of these."""
        return [name for name in self.files if name.startswith(prefix)]

    def size(self, names):
        """The bytes of files."""
        return sum(self.files[name][0] for name in names)

    def is_right(self, what, folder, names):
        """Checks the SHA-256 of all files."""
        wrong = [name for name in names if digest(folder / name) != self.files[name][1]]
        return self.check(f"{what}: all files are right", not wrong,
                          f"{len(wrong)} of {len(names)} are not: {', '.join(wrong[:3])}" if wrong else "")

    # segget

    def segget(self, cluster, *arguments, **others):
        """Runs segget on this machine; returns its exit code and what it prints."""
        done = subprocess.run([self.options.segget, *map(str, arguments)], env={**cluster.environment, **others},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONGEST, check=False)
        return done.returncode, done.stdout, done.stderr

    def must(self, cluster, *arguments):
        """Runs segget, which has to succeed; returns what it prints."""
        code, output, errors = self.segget(cluster, *arguments)
        if code:
            raise Failure(f"segget {' '.join(map(str, arguments))}: exit code {code}: {output}{errors}")
        return output

    def plan(self, cluster, server, names):
        """Plans files; every second one is pinned by its digest, too."""
        self.number += 1
        place = self.work / f"plan{self.number}"
        place.mkdir()
        with open(place / "list", "w", encoding="ascii") as file:
            for number, name in enumerate(names):
                file.write(f"{server.url(name)}\n  out={name}\n")
                if number % 2 == 0:
                    file.write(f"  checksum=sha-256={self.files[name][1]}\n")
        self.must(cluster, "plan", "-i", place / "list", "-o", place / "set.plan")
        return place

    def fleet(self, cluster, server, names, shards):
        """Creates a fleet."""
        place = self.plan(cluster, server, names)
        begun = time.monotonic()
        self.must(cluster, "fleet", "create", place / "set.plan", place / "fleet", "--shards", shards,
                  *shlex.split(self.options.create))
        return Fleet(self, cluster, place, time.monotonic() - begun)


class Fleet:
    """A fleet on a cluster."""

    def __init__(self, trial, cluster, place, seconds):
        self.trial, self.cluster, self.place = trial, cluster, place
        (self.path, self.target) = (place / "fleet", place / "out")
        self.seconds = seconds
        self.sent = cluster.sent()
        self.array = self.finish = None

    def submit(self, *options):
        """Submits the array and the finishing."""
        line = self.trial.must(self.cluster, "fleet", "submit", self.path, "-d", self.target, "--slurm", *options)
        words = line.replace(":", " ").split()
        (self.array, self.finish) = (words[1], words[-1])
        return self

    def complete(self):
        """Downloads and finishes; returns the seconds of that, and the elements that were requeued."""
        begun = time.monotonic()
        requeued = []
        if not self.cluster.run_out(requeued):
            Trial.check("all jobs end", False, str(self.cluster.queue()) + self.logs())
        return time.monotonic() - begun, requeued

    def received(self):
        """The bytes that all nodes have received; less after one has died."""
        return self.cluster.sent() - self.sent

    def states(self):
        """The states of the shards."""
        code, output, _ = self.trial.segget(self.cluster, "fleet", "status", self.path, "--json")
        return json.loads(output) if code == 0 else {}

    def marks(self, kind):
        """The marks of a kind."""
        return sorted(path.name for path in self.path.glob(f"marks/*.{kind}"))

    def logs(self):
        """The ends of the logs."""
        text = ""
        for path in sorted(self.path.glob("log/*")):
            text += f"\n--- {path.name}\n" + path.read_text(encoding="utf-8", errors="replace")[-1500:]
        return text

    def ended(self, what):
        """Checks that the finishing has succeeded."""
        code = self.cluster.exit_code(self.finish)
        return Trial.check(f"{what}: finish ends with 0", code == "0:0", "" if code == "0:0" else code + self.logs())

    def remove(self):
        """Removes all files."""
        if not self.trial.options.keep:
            shutil.rmtree(self.place)


# Speed


def try_speed(trial, options):
    """All nodes together against one."""
    # The start of the elements counts for much in a short download.
    goal = 1 / ((0.6 if options.quick else 0.9) * options.nodes)
    with Cluster(trial, options.nodes) as cluster:
        for what, prefix in (("large file", "large"), ("set", "set/")):
            names = trial.names(prefix)
            size = trial.size(names)
            with Server(trial, f"one-{what}") as server:
                place = trial.plan(cluster, server, names)
                begun = time.monotonic()
                command = cluster.on("n0", options.segget, "get", "-q", "--plan", str(place / "set.plan"), "-d",
                                     str(place / "out"))
                done = subprocess.run(command, env=cluster.environment, stdin=subprocess.DEVNULL, capture_output=True,
                                      text=True, timeout=LONGEST, check=False)
                seconds = time.monotonic() - begun
                one = server.figures(size)
                trial.check(f"{what}: one node downloads {size_text(size)} with `segget get`", done.returncode == 0,
                            f"{seconds:.1f} s; {one} {done.stderr[-500:]}")
                if not options.keep:
                    shutil.rmtree(place)
            with Server(trial, f"all-{what}") as server:
                fleet = trial.fleet(cluster, server, names, options.nodes)
                begun = time.monotonic()
                fleet.submit().complete()
                whole = time.monotonic() - begun
                served = server.figures(size)
                fleet.ended(what)
                trial.is_right(what, fleet.target, names)
                trial.note(f"{len(fleet.marks('done')) - len(list(fleet.path.glob('marks/finish.*.done')))} shards; "
                           f"create {fleet.seconds:.1f} s, from submit to the end of finish {whole:.1f} s")
                trial.check(f"{what}: {options.nodes} nodes take at most {goal:.3f} of the time of one",
                            served.seconds <= goal * one.seconds,
                            f"{served.seconds:.1f} s of {one.seconds:.1f} s, {served.seconds / one.seconds:.3f}")
                trial.check(f"{what}: at most 1.02 is served", served.share <= 1.02, str(served))
                fleet.remove()


# Kills


def kill_one(trial, cluster, received, size, elements):
    """Kills a random node at a random moment, and boots it when Slurm has noticed; returns the element."""
    share = trial.chance.uniform(0.05, 0.9)
    running = {}

    def is_due():
        due = received() >= share * size
        # There is no time to ask when it is due.
        if due and running:
            return True
        queue = cluster.queue()
        running.update({name: node for name, (state, _, node) in queue.items()
                        if state == "RUNNING" and name.startswith(elements)})
        return due or not queue
    wait_for(is_due, pause=0.05)
    candidates = sorted(running.items())
    trial.chance.shuffle(candidates)
    for name, node in candidates:
        # Slurm would not miss a node whose element has ended. The node is held while this is found out.
        cluster.hold(node)
        if cluster.is_working(node) and cluster.queue().get(name, ["-"])[0] == "RUNNING":
            break
        cluster.hold(node, False)
    else:
        return None
    share = received() / size
    begun = time.monotonic()
    cluster.kill(node)

    def is_noticed():
        state = cluster.queue().get(name)
        return state is None or state[0] != "RUNNING"
    wait_for(is_noticed, 120)
    trial.note(f"killed {node} with element {name} at {share:.2f} of the bytes; Slurm noticed "
               f"after {time.monotonic() - begun:.0f} s")
    cluster.boot(node)
    return name


def try_kills(trial, options):
    """A node dies at a random moment."""
    names = list(trial.files)
    size = trial.size(names)
    with Cluster(trial, options.nodes, rate=slowed(size, options.nodes)) as cluster:
        for number in range(options.kills):
            what = f"kill {number + 1}"
            with Server(trial, f"kill{number}") as server:
                begun = time.monotonic()
                fleet = trial.fleet(cluster, server, names, options.nodes).submit()
                killed = kill_one(trial, cluster, fleet.received, size, f"{fleet.array}_")
                _, requeued = fleet.complete()
                seconds = time.monotonic() - begun
                served = server.figures(size)
                trial.check(f"{what}: the element is started again", killed is not None and (
                    killed in requeued or cluster.facts(killed).get("Restarts") == "1"), f"{killed}; {requeued}")
                fleet.ended(what)
                trial.is_right(what, fleet.target, names)
                trial.check(f"{what}: at most 1.05 is served", served.share <= 1.05, f"{served}; {seconds:.0f} s")
                if trial.failures:
                    trial.note(fleet.logs())
                fleet.remove()


# Requeue


def try_requeue(trial, options):
    """SIGTERM: exit code 75, and another start of the element."""
    names = trial.names("large")
    size = trial.size(names)
    for requeues in (True, False):
        what = f"requeue {'with' if requeues else 'without'} RequeueExit"
        with Cluster(trial, options.nodes, requeues) as cluster, Server(trial, f"requeue{requeues}") as server:
            fleet = trial.fleet(cluster, server, names, options.nodes).submit()
            script = (fleet.path / "slurm-work.sh").read_text(encoding="utf-8")
            trial.check(f"{what}: the script {'has no' if requeues else 'has'} --requeue for segget",
                        script.rstrip().endswith(" --requeue") != requeues, script.splitlines()[-1])
            wait_for(lambda: fleet.received() >= 0.3 * size)
            name = f"{fleet.array}_0"
            begun = time.monotonic()
            cluster.slurm("scancel", "--signal=TERM", "--batch", name)
            left = wait_for(lambda: fleet.marks("left") or not cluster.queue(), 60, 0.05)
            seconds = time.monotonic() - begun
            trial.check(f"{what}: the worker leaves its shard within 5 s", left and seconds <= 5,
                        f"{seconds:.1f} s, {left}")
            wait_for(lambda: cluster.queue().get(name, ["-"])[0] != "RUNNING", 60)
            trial.note(f"{name}: {cluster.queue().get(name)}")
            _, requeued = fleet.complete()
            served = server.figures(size)
            trial.check(f"{what}: the element is started again", cluster.facts(name).get("Restarts") == "1",
                        f"{requeued}, restarts: {cluster.facts(name).get('Restarts')}")
            if not fleet.ended(what) or trial.failures:
                trial.note(fleet.logs())
            trial.is_right(what, fleet.target, names)
            trial.check(f"{what}: at most 1.02 is served", served.share <= 1.02, str(served))
            fleet.remove()


def try_limit(trial, options):
    """The time limit: SIGTERM before it, exit code 75, and another start."""
    names = trial.names("large")
    size = trial.size(names)
    # Each shard takes 100 s.
    rate = size // options.nodes // 100
    with Cluster(trial, options.nodes, rate=rate) as cluster, Server(trial, "limit") as server:
        fleet = trial.fleet(cluster, server, names, options.nodes)
        fleet.submit("--", "--time=1", "--signal=B:TERM@20")
        seconds, requeued = fleet.complete()
        served = server.figures(size)
        trial.check("limit: elements are started again after SIGTERM", fleet.marks("left") and requeued,
                    f"{requeued}, {seconds:.0f} s")
        fleet.ended("limit")
        trial.is_right("limit", fleet.target, names)
        # Each stop of a slow node costs what was in flight.
        trial.check("limit: at most 1.05 is served", served.share <= 1.05, str(served))
        if trial.failures:
            trial.note(fleet.logs())
        fleet.remove()


def try_drain(trial, options):
    """A node is drained: its element ends there, and another node takes the next one."""
    names = trial.names("large")
    size = trial.size(names)
    (nodes, shards) = (2, 4)
    with Cluster(trial, nodes, rate=slowed(size, nodes)) as cluster, Server(trial, "drain") as server:
        fleet = trial.fleet(cluster, server, names, shards).submit()
        wait_for(lambda: fleet.received() >= 0.1 * size)
        node = cluster.queue()[f"{fleet.array}_0"][2]
        cluster.slurm("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=trial")
        fleet.complete()
        hosts = [cluster.facts(f"{fleet.array}_{number}").get("NodeList") for number in range(shards)]
        trial.check("drain: the drained node ends its element, and gets no other", hosts.count(node) == 1, str(hosts))
        served = server.figures(size)
        fleet.ended("drain")
        trial.is_right("drain", fleet.target, names)
        trial.check("drain: at most 1.02 is served", served.share <= 1.02, str(served))
        trial.check("drain: each shard has one attempt", len(fleet.marks("claim")) == shards + 1,
                    ", ".join(fleet.marks("claim")))
        if trial.failures:
            trial.note(fleet.logs())
        fleet.remove()


# The same shard twice


def try_twice(trial, options):
    """Two nodes work on the same shards, one after the other."""
    names = trial.names("large")
    size = trial.size(names)
    with Cluster(trial, options.nodes) as cluster, Server(trial, "twice") as server:
        fleet = trial.fleet(cluster, server, names, 2)

        def start(node, index):
            log = open(fleet.place / f"{node}.log", "wb")
            command = cluster.on(node, options.segget, "fleet", "work", str(fleet.path), "--index", str(index))
            with log:
                return subprocess.Popen(command, env=cluster.environment, stdin=subprocess.DEVNULL, stdout=log,
                                        stderr=log)
        workers = [start("n0", 0)]
        wait_for(lambda: fleet.received() >= 0.2 * size)
        workers.append(start("n1", 0))
        codes = [worker.wait(LONGEST) for worker in workers]
        trial.check("twice: both workers end with 0", codes == [0, 0], str(codes))
        trial.check("twice: both have claimed the shard", fleet.marks("claim")[:2] == ["0.1.claim", "0.2.claim"],
                    str(fleet.marks("claim")))
        codes = [start("n0", 1).wait(LONGEST)]
        code, _, errors = trial.segget(cluster, "fleet", "finish", fleet.path, "-d", fleet.target)
        trial.check("twice: finish ends with 0", [*codes, code] == [0, 0], errors[-500:])
        trial.is_right("twice", fleet.target, names)
        trial.note(str(server.figures(size)))
        if trial.failures:
            for node in ("n0", "n1"):
                trial.note((fleet.place / f"{node}.log").read_text(encoding="utf-8", errors="replace")[-1500:])
        fleet.remove()


# A step without its slurmd


def try_overlap(trial, options):
    """A slurmd dies, its step goes on, and Slurm starts the element on another node."""
    names = trial.names("large")
    size = trial.size(names)
    # Each shard takes longer than Slurm needs to notice, and the older worker after that.
    rate = size // options.nodes // 150
    with Cluster(trial, options.nodes + 1, rate=rate) as cluster, Server(trial, "overlap") as server:
        fleet = trial.fleet(cluster, server, names, options.nodes).submit()
        wait_for(lambda: fleet.received() >= 0.2 * size)
        name = f"{fleet.array}_0"
        node = cluster.queue()[name][2]
        cluster.kill_daemon(node)
        begun = time.monotonic()
        second = wait_for(lambda: cluster.end_waits() or "0.2.claim" in fleet.marks("claim"), 120)
        trial.check("overlap: Slurm starts the element again while its step runs", second and cluster.is_working(node),
                    f"after {time.monotonic() - begun:.0f} s")
        wait_for(lambda: "0.2.claim" in fleet.marks("claim"), 120)
        begun = time.monotonic()
        log = fleet.path / "log" / f"{name}.log"
        wait_for(lambda: "is left to a later attempt" in log.read_text(encoding="utf-8", errors="replace"), 120)
        seconds = time.monotonic() - begun
        trial.check("overlap: the older worker stops within 25 s of the new claim", seconds <= 25, f"{seconds:.0f} s")
        fleet.complete()
        served = server.figures(size)
        fleet.ended("overlap")
        trial.is_right("overlap", fleet.target, names)
        trial.note(f"{served}; {', '.join(fleet.marks('claim'))}")
        if trial.failures:
            trial.note(fleet.logs())
        fleet.remove()


# Licenses


def try_licenses(trial, options):
    """Each element takes a license, of which the site has fewer than nodes."""
    names = trial.names("set/")
    size = trial.size(names)
    (workers, licenses) = (4, 2)
    with Cluster(trial, workers, rate=slowed(size, workers)) as cluster, Server(trial, "licenses") as server:
        fleet = trial.fleet(cluster, server, names, workers)
        code, output, errors = trial.segget(cluster, "fleet", "submit", fleet.path, "-d", fleet.target, "--slurm",
                                            "--slurm-licenses", "none-such:1")
        trial.check("licenses: a license that the site does not have is refused",
                    code == 69 and "Invalid license" in errors, f"{code}: {output}{errors}".strip())
        fleet.submit("--slurm-licenses", "hub:1")
        elements = [f"{fleet.array}_{number}" for number in range(workers)]
        running, used, reasons = [], [], set()

        def is_over():
            queue = cluster.queue()
            running.append(sum(queue.get(name, ["-"])[0] == "RUNNING" for name in elements))
            used.append(cluster.licenses("hub"))
            reasons.update(reason for state, reason, _ in queue.values() if state == "PENDING")
            return not queue
        trial.check("licenses: all jobs end", wait_for(is_over))
        stated = [cluster.facts(name).get("Licenses") for name in elements]
        trial.check("licenses: Slurm states the license of each element", stated == workers * ["hub:1"], str(stated))
        trial.check(f"licenses: {licenses} elements run at a time, and others wait for a license",
                    max(running) == max(used) == licenses and "Licenses" in reasons,
                    f"at most {max(running)}, {max(used)} in use; reasons to wait: {', '.join(sorted(reasons))}")
        served = server.figures(size)
        fleet.ended("licenses")
        trial.is_right("licenses", fleet.target, names)
        trial.note(f"{served}; licenses of the finishing job: {cluster.facts(fleet.finish).get('Licenses')}")
        if trial.failures:
            trial.note(fleet.logs())
        fleet.remove()


# GNU parallel


def try_parallel(trial, options):
    """GNU parallel runs the printed command line."""
    names = list(trial.files)
    size = trial.size(names)
    with Cluster(trial, options.nodes) as cluster, Server(trial, "parallel") as server:
        fleet = trial.fleet(cluster, server, names, options.nodes)
        line = trial.must(cluster, "fleet", "submit", fleet.path, "-d", fleet.target, "--parallel")
        ssh = fleet.place / "ssh"
        # sshd(8) sets SHELL, without which GNU parallel runs nothing, and reports success.
        ssh.write_text("#!/bin/bash\n"
                       "while [[ $1 == -* ]]; do shift; done\n"
                       "node=$1; shift; [ \"$1\" != -- ] || shift\n"
                       f"SHELL=/bin/bash exec {CLUSTER} run {cluster.folder} \"$node\" bash -c \"$*\"\n",
                       encoding="ascii")
        ssh.chmod(0o755)
        (trial.home / ".parallel").mkdir(exist_ok=True)
        (trial.home / ".parallel" / "will-cite").touch()
        hosts = ",".join(f"1/{node}" for node in cluster.nodes)
        trial.note(line.strip().replace("\n", " ⏎ "))
        done = subprocess.run(["bash", "-e", "-c", line], cwd=fleet.place, stdin=subprocess.DEVNULL, text=True,
                              env={**cluster.environment, "PARALLEL": f"-S {hosts} --ssh {ssh}"},
                              capture_output=True, timeout=LONGEST, check=False)
        served = server.figures(size)
        trial.check("parallel: the printed lines end with 0", done.returncode == 0,
                    f"{done.returncode}: {(done.stdout + done.stderr)[-800:]}" if done.returncode else "")
        if done.returncode:
            trial.note(done.stderr[:3000])
        trial.is_right("parallel", fleet.target, names)
        log = fleet.path / "joblog"
        text = log.read_text(encoding="utf-8") if log.exists() else ""
        hosts = {row.split("\t")[1] for row in text.splitlines()[1:]}
        trial.check("parallel: all nodes have worked", len(hosts) == options.nodes, str(sorted(hosts)))
        trial.check("parallel: at most 1.02 is served", served.share <= 1.02, str(served))
        fleet.remove()


# Kubernetes


def install_validator():
    """Installs kubernetes-validate, unless it is there."""
    if (VENV / "bin" / "kubernetes-validate").exists():
        return
    VENV.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    subprocess.run([VENV / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-input",
                    "--disable-pip-version-check", "kubernetes-validate"], check=True)


def try_kubernetes(trial, options):
    """kubernetes-validate accepts the manifest."""
    with Cluster(trial, 1) as cluster, Server(trial, "kubernetes") as server:
        fleet = trial.fleet(cluster, server, trial.names("set/"), 2)
        text = trial.must(cluster, "fleet", "submit", fleet.path, "-d", fleet.target, "--kubernetes")
        path = fleet.place / "fleet.yaml"
        path.write_text(text, encoding="utf-8")
        done = subprocess.run([VENV / "bin" / "kubernetes-validate", "--strict", path], capture_output=True, text=True,
                              check=False)
        words = (done.stdout + done.stderr).strip()
        trial.check("kubernetes: kubernetes-validate --strict accepts the manifest",
                    done.returncode == 0 and "ERROR" not in words, words[-800:])
        fleet.remove()


# aria2


def try_aria2(trial, options):
    """What people do today, with a node that dies; and segget, in the same way."""
    names = list(trial.files)
    size = trial.size(names)
    with Cluster(trial, options.nodes) as cluster:
        with Server(trial, "aria2") as server:
            place = trial.work / "aria2"
            (place / "out").mkdir(parents=True)
            for number in range(options.nodes):
                with open(place / f"chunk_{number}", "w", encoding="ascii") as file:
                    for name in names[number::options.nodes]:
                        file.write(f"{server.url(name)}\n  out={name}\n")
            script = place / "job.sh"
            script.write_text(
                f"#!/bin/bash\n#SBATCH --array=0-{options.nodes - 1} --requeue --open-mode=append\n"
                f"#SBATCH --output={place}/%a.log\n"
                f"exec aria2c -q -i {place}/chunk_$SLURM_ARRAY_TASK_ID -d {place}/out -j 4 -x 2\n", encoding="ascii")
            (begun, sent) = (time.monotonic(), cluster.sent())
            array = cluster.slurm("sbatch", "--parsable", str(script)).strip()
            kill_one(trial, cluster, lambda: cluster.sent() - sent, size, f"{array}_")
            cluster.run_out()
            seconds = time.monotonic() - begun
            served = server.figures(size)
            found = {str(path.relative_to(place / "out")) for path in (place / "out").rglob("*") if path.is_file()}
            right = sum(digest(place / "out" / name) == trial.files[name][1] for name in names)
            codes = [cluster.exit_code(f"{array}_{number}") for number in range(options.nodes)]
            trial.note(f"aria2c: {right} of {len(names)} files are right, {len(found - set(names))} others are there, "
                       f"exit codes {', '.join(codes)}; {seconds:.0f} s; {served}")
            shutil.rmtree(place)
        with Server(trial, "beside") as server:
            begun = time.monotonic()
            fleet = trial.fleet(cluster, server, names, options.nodes).submit()
            kill_one(trial, cluster, fleet.received, size, f"{fleet.array}_")
            fleet.complete()
            seconds = time.monotonic() - begun
            served = server.figures(size)
            right = sum(digest(fleet.target / name) == trial.files[name][1] for name in names)
            trial.check("aria2: segget in the same way: all files are right", right == len(names),
                        f"{right} of {len(names)}, exit code {cluster.exit_code(fleet.finish)}; {seconds:.0f} s; "
                        f"{served}")
            fleet.remove()


TRIALS = {"speed": try_speed, "kills": try_kills, "requeue": try_requeue, "limit": try_limit, "drain": try_drain,
          "overlap": try_overlap, "twice": try_twice, "licenses": try_licenses, "parallel": try_parallel,
          "kubernetes": try_kubernetes, "aria2": try_aria2}
QUICK = {"large": "256m", "set": "64m", "files": 40, "nodes": 2, "kills": 1}
FULL = {"large": "2g", "set": "512m", "files": 400, "nodes": 4, "kills": 5}


def main():
    """Tries all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--segget", default=str(ROOT / ".build/release/segget"), metavar="FILE")
    parser.add_argument("--only", default=",".join(TRIALS), metavar="NAMES", help=f"default: {','.join(TRIALS)}")
    parser.add_argument("--quick", action="store_true", help="two nodes, 256 MiB and 64 MiB, one kill")
    parser.add_argument("--large", metavar="SIZE", help="bytes of the large file (default: 2g)")
    parser.add_argument("--set", metavar="SIZE", help="bytes of the set (default: 512m)")
    parser.add_argument("--files", type=int, metavar="N", help="files of the set (default: 400)")
    parser.add_argument("--nodes", type=int, metavar="N", help="default: 4")
    parser.add_argument("--kills", type=int, metavar="N", help="default: 5")
    parser.add_argument("--check", action="store_true", help="say whether it can be tried here")
    parser.add_argument("--create", default="", metavar="OPTIONS", help="more options of `fleet create`")
    parser.add_argument("--keep", action="store_true", help="keep all files, and print where they are")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31), metavar="N")
    options = parser.parse_args()
    if reason := hindrance():
        print(reason)
        return CANNOT
    if options.check:
        return 0
    for name, value in (QUICK if options.quick else FULL).items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    options.segget = os.path.abspath(options.segget)
    if "kubernetes" in options.only.split(","):
        install_validator()
    isolate(0)
    leave_orphans_to_parent()
    print(f"seed {options.seed}", flush=True)
    work = work_folder("segget-fleet-trial", 4 * (parse_size(options.large) + parse_size(options.set)))
    try:
        trial = Trial(options, work)
        for name in options.only.split(","):
            TRIALS[name](trial, options)
    finally:
        if options.keep:
            print(f"kept: {work}", flush=True)
        else:
            shutil.rmtree(work, ignore_errors=True)
    print(f"{len(Trial.failures)} checks failed" if Trial.failures else "all is well", flush=True)
    return 1 if Trial.failures else 0


if __name__ == "__main__":
    run_main(main)
