#!/usr/bin/env python3
"""Measures how soon the tasks of a queue go on when a network is back, as root.

    make build && sudo python3 bench/back.py [--rounds 3] [--segget .build/release/segget]

Five tasks run over a wire between two namespaces, with timeouts of a second. It is unplugged for 2, 3 and 12
seconds, and each time the seconds are counted from its return until every task has got bytes again.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from isolation import WORK, Network, isolate, run
from loopback import MIB, die_with_parent, run_main, stop
from manager import serve

TASKS, PORT = 5, 8080
SERVER, CLIENT = "10.79.0.1", "10.79.0.2"
OUTAGES = (2, 3, 12)


def plug(server, client):
    """A wire between the two namespaces; returns what pulls it out and puts it in."""
    with client.entered():
        run("ip", "link", "add", "wire0", "type", "veth", "peer", "name", "wire1", "netns",
            f"/proc/{os.getpid()}/fd/{server.descriptor}")
    for network, name, address in ((server, "wire1", SERVER), (client, "wire0", CLIENT)):
        with network.entered():
            run("ip", "address", "add", f"{address}/24", "dev", name)
            run("ip", "link", "set", name, "up")

    def wire(state):
        with client.entered():
            run("ip", "link", "set", "wire0", state)

    return wire


def measure(segget, folder, wire, client):
    """The seconds after each outage until all tasks have got bytes again."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SEGGET_")}
    environment |= {"SEGGET_NO_CONFIG": "1", "XDG_STATE_HOME": str(folder / "state")}
    queue = ["--queue", str(folder / "queue.sqlite")]

    def tell(*arguments):
        with client.entered():
            return subprocess.run(
                [segget, arguments[0], *queue, *arguments[1:]], cwd=folder, env=environment,
                capture_output=True, text=True, check=True).stdout

    def done():
        return {task["id"]: task["bytes_done"] for task in json.loads(tell("list", "--json"))}

    def wait_for_more(before):
        began = time.monotonic()
        while not all(count > before[task] for task, count in done().items()):
            time.sleep(0.02)
        return time.monotonic() - began

    tell("settings", "--max-running", str(TASKS))
    for number in range(TASKS):
        tell("add", "-d", str(folder / "files"), "--connect-timeout", "1", "--stall-timeout", "1", "-x", "2",
             f"http://{SERVER}:{PORT}/{number}")
    with client.entered():
        worker = subprocess.Popen([segget, "run", "-q", *queue], cwd=folder, env=environment,
                                  preexec_fn=die_with_parent)
    try:
        back = []
        wait_for_more({task: 0 for task in done()})
        for seconds in OUTAGES:
            wire("down")
            time.sleep(seconds)
            before = done()
            wire("up")
            back.append(wait_for_more(before))
            wait_for_more(done())
        return back
    finally:
        stop(worker)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--segget", default=str(ROOT / ".build/release/segget"))
    options = parser.parse_args()
    isolate(4096 * MIB)
    server, client = Network(new=True), Network(new=True)
    wire = plug(server, client)
    place = pathlib.Path(WORK)
    (place / "server").mkdir()
    with server.entered():
        nginx = serve(place / "server", PORT, SERVER, size=128 * MIB)
    try:
        rounds = []
        for number in range(options.rounds):
            folder = place / str(number)
            folder.mkdir()
            rounds.append(measure(options.segget, folder, wire, client))
        for outage, seconds in zip(OUTAGES, zip(*rounds)):
            print(f"{outage} s away: all {TASKS} tasks get bytes again after "
                  f"{statistics.median(seconds):.2f} s, {max(seconds):.2f} s at the most")
    finally:
        stop(nginx)
    return 0


if __name__ == "__main__":
    run_main(main)
