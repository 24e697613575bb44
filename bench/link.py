"""A link of a given delay, rate and loss between two network namespaces: `link.c` with addresses."""

import os
import subprocess
from dataclasses import dataclass

from isolation import Failure, run
from loopback import MIB, die_with_parent, stop

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SERVER, CLIENT = "10.77.0.1", "10.77.0.2"
DEVICE = "link0"

# What a full frame of TCP with time stamps carries: 1448 of 1514 bytes.
PAYLOAD = 1448 / 1514


@dataclass(frozen=True)
class Link:
    """What a link is like, the same in either direction."""

    round_trip: float  # seconds
    rate: float  # 10^6 bits a second, of whole frames
    loss: float = 0  # share of the frames
    congestion: str = "bbr"  # how the server controls congestion
    unsent: int = 0  # bytes that the server's sockets hold beyond what is on its way; 0: the kernel's default

    @property
    def queue(self):
        """Bytes that wait at most: what fits into a round trip."""
        return max(256 * 1024, int(self.rate * 1e6 / 8 * self.round_trip))

    def seconds(self, size, round_trips=2):
        """The least time for `size` bytes: at full rate, after connecting and asking."""
        return size * 8 / (self.rate * 1e6 * PAYLOAD) + round_trips * self.round_trip


def compiled(name):
    """The path of a C program of this folder, compiled if need be."""
    source = os.path.join(ROOT, "bench", f"{name}.c")
    program = os.path.join(ROOT, ".build", "bench", name)
    if not os.path.exists(program) or os.path.getmtime(program) < os.path.getmtime(source):
        os.makedirs(os.path.dirname(program), exist_ok=True)
        run("gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, source)
    return program


class Emulator:
    """A link that exists while it is used with `with`."""

    def __init__(self, link, server, client):
        self.link = link
        self.server = server
        self.client = client
        self.process = None

    def __enter__(self):
        ends = (self.server.descriptor, self.client.descriptor)
        self.process = subprocess.Popen(
            [compiled("link"), *map(str, ends), str(self.link.round_trip * 500), str(self.link.rate),
             str(self.link.queue), str(self.link.loss)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=ends, preexec_fn=die_with_parent)
        try:
            if self.process.stdout.readline() != b"ready\n":
                raise Failure("the emulator of links did not start", "it needs `/dev/net/tun`: `modprobe tun`")
            self._configure()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        stop(self.process)
        self.process.stdin.close()
        self.process.stdout.close()

    def send(self, line):
        """Has the link obey a line; `link.c` says which there are."""
        os.write(self.process.stdin.fileno(), f"{line}\n".encode())

    def _configure(self):
        hardware = {SERVER: "02:00:00:00:00:01", CLIENT: "02:00:00:00:00:02"}
        for network, own, other in ((self.server, SERVER, CLIENT), (self.client, CLIENT, SERVER)):
            # No connection begins with what an earlier one has learnt about the path.
            network.set("net.ipv4.tcp_no_metrics_save", 1)
            with network.entered():
                run("ip", "link", "set", DEVICE, "address", hardware[own], "txqueuelen", "10000", "up")
                run("ip", "address", "add", f"{own}/24", "dev", DEVICE)
                run("ip", "neighbour", "replace", other, "lladdr", hardware[other], "dev", DEVICE,
                    "nud", "permanent")
        with self.server.entered():
            # By route, because the sysctl refuses what is restricted outside the first namespace.
            run("ip", "route", "replace", "10.77.0.0/24", "dev", DEVICE, "src", SERVER,
                "congctl", self.link.congestion)
        self.server.set("net.ipv4.tcp_notsent_lowat", self.link.unsent or 4 * 1024 * MIB - 1)
