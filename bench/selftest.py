#!/usr/bin/env python3
"""Is the emulated link what it says it is, and are sets measured right?

    sudo python3 bench/selftest.py

Measures delay, rate, queue, loss and outages with UDP and TCP. Then each client downloads each set once, with small
files, and clients that do their work wrong are found out. segget's release build takes part if it is there. Takes a
minute, and ends with 1 when something is out of bounds.
"""

import math
import os
import select
import socket
import statistics
import struct
import sys
import time
from dataclasses import replace

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "scripts"))

import clients
import compare
import scenarios
from isolation import Network, isolate
from link import CLIENT, SERVER, Emulator, Link, compiled
from loopback import GIB, MIB, run_main
from measure import Bench, most_at_once

# A full frame: 14 bytes of Ethernet, 20 of IPv4, 8 of UDP.
FRAME, DATA = 1514, 1472
# <asm-generic/socket.h>
SO_SNDBUFFORCE, SO_RCVBUFFORCE, SO_TIMESTAMPNS = 32, 33, 35


class Ends:
    """A socket at either end of a link."""

    def __init__(self, link, networks):
        self.emulator = Emulator(link, *networks)
        self.networks = networks

    def __enter__(self):
        self.emulator.__enter__()
        self.server, self.client = (self._udp(network, address)
                                    for network, address in zip(self.networks, (SERVER, CLIENT)))
        return self

    def __exit__(self, *_):
        self.server.close()
        self.client.close()
        self.emulator.__exit__()

    def _udp(self, network, address):
        with network.entered():
            opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        opened.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 * MIB)
        opened.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 64 * MIB)
        opened.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        opened.bind((address, 9))
        return opened

    def round_trip(self):
        """Seconds until a small datagram has come back; `None` when it does not within a second."""
        begun = time.monotonic()
        self.client.sendto(b"?", (SERVER, 9))
        for receiving, sending, other in ((self.server, self.server, CLIENT), (self.client, None, None)):
            if not select.select([receiving], [], [], 1)[0]:
                return None
            receiving.recv(9)
            if sending:
                sending.sendto(b"!", (other, 9))
        return time.monotonic() - begun

    def send(self, count):
        """Sends full frames to the client, all at once. Returns their numbers, when each arrived, and how long it took.

        The kernel notes when a frame arrives, so that it does not matter when this program is scheduled.
        """
        begun = time.monotonic()
        for number in range(count):
            self.server.sendto(number.to_bytes(4, "big") + bytes(DATA - 4), (CLIENT, 9))
        taken = time.monotonic() - begun
        numbers, times = [], []
        while select.select([self.client], [], [], 0.3 if times else 2)[0]:
            data, ancillary, _, _ = self.client.recvmsg(DATA, 64)
            seconds, nanoseconds = struct.unpack("qq", ancillary[0][2])
            numbers.append(int.from_bytes(data[:4], "big"))
            times.append(seconds + nanoseconds / 1e9)
        return numbers, times, taken


def check(what, measured, low, high, unit):
    """Prints a measurement with its bounds; returns whether it keeps to them."""
    good = measured is not None and low <= measured <= high
    shown = "nothing" if measured is None else f"{measured:.5g}"
    print(f"{'ok  ' if good else 'FAIL'}  {what:58} {shown} {unit}, {low:.5g} to {high:.5g}", flush=True)
    return good


def delays(networks):
    """The round trip."""
    with Ends(Link(round_trip=0.080, rate=200), networks) as ends:
        trips = [ends.round_trip() * 1000 for _ in range(25)]
    return [check("round trip of 80 ms, median", statistics.median(trips), 80, 82, "ms")]


def rates(networks):
    """The rate, by bursts of 0.4 s on a link slower than this program on a busy machine."""
    link, found = Link(round_trip=0.4, rate=50), []
    with Ends(link, networks) as ends:
        for _ in range(7):
            # Nearly what the queue holds.
            _, times, _ = ends.send(link.queue // FRAME - 10)
            found.append((len(times) - 1) * FRAME / (times[-1] - times[0]) * 8 / 1e6)
    return [check("rate of 50 Mbit/s, median", statistics.median(found), 49.5, 50.5, "Mbit/s")]


def queues(networks):
    """What a queue holds, of a link that is slow against this program."""
    link = Link(round_trip=0.8, rate=20)
    with Ends(link, networks) as ends:
        numbers, _, taken = ends.send(3 * link.queue // FRAME)
    # What fits in, and at most what has left it until all was sent.
    size = link.queue / 1e6
    return [check(f"burst of {3 * size:.3g} MB, queue of {size:.3g} MB", len(numbers) * FRAME / 1e6,
                  size * 0.99, (size + taken * link.rate / 8) * 1.03, "MB")]


def losses(networks):
    """The share of frames lost, and that the same are lost again."""
    bursts, each, share = 25, 2000, 0.005
    results, lost = [], []
    # Its queue holds more than a burst.
    with Ends(Link(round_trip=0.100, rate=400, loss=share), networks) as ends:
        for _ in range(2):
            ends.emulator.send("seed 7")
            time.sleep(0.05)
            arrived = [ends.send(each)[0] for _ in range(bursts)]
            lost.append([(burst, number) for burst, numbers in enumerate(arrived)
                         for number in sorted(set(range(each)) - set(numbers))])
    # Four standard deviations: once in 16,000 by chance.
    slack = 4 * math.sqrt(share * (1 - share) / (bursts * each)) * 100
    results.append(check("loss of 0.5 %", len(lost[0]) / (bursts * each) * 100, 0.5 - slack, 0.5 + slack, "%"))
    results.append(check("the same seed again: others are lost", len(set(lost[0]) ^ set(lost[1])), 0, 0, "frames"))
    return results


def outages(networks):
    """How long the link is down, and what becomes of connections."""
    server, client = networks
    results = []
    with Ends(Link(round_trip=0.020, rate=100), networks) as ends:
        with server.entered():
            listening = socket.create_server((SERVER, 8080))

        def connect():
            with client.entered():
                opened = socket.create_connection((SERVER, 8080), timeout=5)
            opened.settimeout(5)
            return opened, listening.accept()[0]

        def passes(pair):
            pair[1].send(b"x")
            try:
                return pair[0].recv(1) == b"x"
            except TimeoutError:
                return False

        for word, survives in (("down", 1), ("forget", 0)):
            old = connect()
            begun = time.monotonic()
            ends.emulator.send(f"{word} 2")
            while ends.client.sendto(b"?", (SERVER, 9)) and not select.select([ends.server], [], [], 0.01)[0]:
                if time.monotonic() - begun > 10:
                    break
            results.append(check(f"`{word} 2`: time until something passes", time.monotonic() - begun, 2, 2.06, "s"))
            while select.select([ends.server], [], [], 0.1)[0]:
                ends.server.recv(9)
            results.append(check(f"`{word}`: the connection from before passes data", passes(old),
                                 survives, survives, ""))
            new = connect()
            results.append(check(f"`{word}`: a new connection passes data", passes(new), 1, 1, ""))
            for opened in old + new:
                opened.close()
        listening.close()
    return results


def sizes():
    """The sets are what their rows say, and connections are counted right."""
    known = {each.name: each for each in scenarios.ALL}
    model = [size for size in known["M4"].sizes if size == GIB]
    log = [("2.0", "2.0", "1"), ("3.0", "1.0", "1"), ("2.5", "1.5", "2"), ("5.0", "1.0", "3")]
    return [
        check("M2: bytes", known["M2"].total / MIB, 344.5, 345.9, "MiB"),
        check("M2: files", known["M2"].count, 120, 120, ""),
        check("M2: smallest file", min(known["M2"].sizes) / 1024, 64, 64, "KiB"),
        check("M2: largest file", max(known["M2"].sizes) / MIB, 64, 64, "MiB"),
        check("M2: least time, its bytes and 2 round trips", known["M2"].limit, 10.21, 10.23, "s"),
        check("M3: files", len(known["M3"].contents), 20_000, 20_000, ""),
        check("M4: files of 1 GiB", len(model), 6, 6, ""),
        check("M4: small files", known["M4"].count - len(model), 20, 20, ""),
        check("connections at a time, of a log with three", most_at_once(log), 2, 2, ""),
    ]


def sets():
    """The sets `(scenario, names of clients)`, with small files, and all clients."""
    known = clients.all_clients(os.path.join(compare.ROOT, ".build/release/segget"))
    rows = [scenarios.quickly(each) for each in scenarios.ALL if each.mode == "set"]
    # Few are enough to show whether it works.
    return [(replace(row, files=min(row.files, 300)), [name for name in row.clients if known[name].program])
            for row in rows], known


def rows(planned, known):
    """Each client downloads each set; two that do it wrong."""
    results = []
    with Bench() as bench:
        for row, names in planned:
            bench.make_files(row)
            with bench.ready(row):
                for name in names:
                    run = bench.measure(row, name, known[name], 0)
                    if run.problem:
                        print(f"      {run.problem}")
                    results += [
                        check(f"{row.name}: problems of {name}", bool(run.problem), 0, 0, ""),
                        check(f"{row.name}: requests of {name}", run.requests, row.count, 8 * row.count, ""),
                        check(f"{row.name}: connections of {name}", run.opened, run.connections, run.requests, ""),
                        check(f"{row.name}: bytes to {name}, of the size", run.served / row.total, 1,
                              1.5 + 600 * run.requests / row.total, ""),
                    ]
                    if row.limit:
                        results.append(check(f"{row.name}: time of {name}, of the least", run.wall / row.limit,
                                             0.99, math.inf, ""))
                for text, wrong in (("alters", "printf x >> 0007.bin"), ("leaves out", "rm 0007.bin")):
                    line = f"{known['curl'].template('set')} && {wrong}"
                    run = bench.measure(row, "curl", replace(known["curl"], set=line), 0)
                    results.append(check(f"{row.name}: a client that {text} a file is found out",
                                         "0007.bin" in run.problem, 1, 1, ""))
    return results


def main():
    """Measures everything."""
    for name in ("launch", "link"):
        compiled(name)
    planned, known = sets()
    isolate(compare.memory_for(planned))
    networks = Network(new=False), Network(new=True)
    results = delays(networks) + rates(networks) + queues(networks) + losses(networks) + outages(networks)
    results += sizes() + rows(planned, known)
    return 0 if all(results) else 1


if __name__ == "__main__":
    run_main(main)
