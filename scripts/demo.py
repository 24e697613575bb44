#!/usr/bin/env python3
"""Shows what segget is for: download in segments, be killed half-way, resume, verify.

    make demo
    scripts/demo.py [--segget FILE] [--size 1g] [--seconds 10] [--connections 8]

Everything happens on loopback and in one temporary folder, which is removed at the end.
"""

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from loopback import MIB, Failure, Nginx, die_with_parent, parse_size, run_main, size_text, stop, work_folder

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def generate(path, size):
    """Writes `size` random bytes and returns their SHA-256."""
    digest = hashlib.sha256()
    with open(path, "wb") as file:
        for start in range(0, size, MIB):
            block = os.urandom(min(MIB, size - start))
            digest.update(block)
            file.write(block)
    return digest.hexdigest()


def sha256(path):
    """SHA-256 of a file."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(MIB):
            digest.update(block)
    return digest.hexdigest()


def recorded(manifest):
    """Offsets and lengths that the manifest says have arrived; the line that is being written does not count."""
    try:
        with open(manifest, "rb") as file:
            lines = file.read().split(b"\n")[1:-1]
    except FileNotFoundError:
        return []
    return [tuple(extent[:2]) for line in lines for extent in json.loads(line).get("extents") or []]


def total(extents):
    """Bytes of extents."""
    return sum(length for _, length in extents)


def start(command, folder):
    """Starts segget on this terminal, and says so."""
    print(f"$ {' '.join([os.path.basename(command[0])] + command[1:])}", flush=True)
    return subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)


def kill_half_way(command, output, size):
    """Runs segget until half of the file is recorded, then kills it. Returns extents and seconds."""
    manifest = output + ".segget"
    begun = time.monotonic()
    process = start(command, os.path.dirname(output))
    try:
        most, since = 0, begun
        while most < size // 2:
            if process.poll() is not None:
                raise Failure(f"segget ended with {process.returncode} before half of the file had arrived")
            now = total(recorded(manifest))
            if now > most:
                most, since = now, time.monotonic()
            elif time.monotonic() > since + 60:
                raise Failure("segget has recorded nothing new for a minute")
            time.sleep(0.02)
        process.kill()
        process.wait()
    finally:
        stop(process)
    if sys.stderr.isatty():
        print("\r\x1b[J", end="", flush=True)
    return recorded(manifest), time.monotonic() - begun


def resume(command, output):
    """Runs the same command again, to its end. Returns seconds."""
    begun = time.monotonic()
    process = start(command, os.path.dirname(output))
    try:
        status = process.wait()
    finally:
        stop(process)
    if status != 0:
        raise Failure(f"segget ended with {status}")
    return time.monotonic() - begun


def main():
    """Runs the demonstration."""
    parser = argparse.ArgumentParser(description="Download, kill, resume, verify, all on loopback.")
    parser.add_argument("--segget", default=os.path.join(ROOT, ".build/release/segget"), help="the program")
    parser.add_argument("--size", default="1g", help="size of the file, such as 64m (default: 1g)")
    parser.add_argument("--seconds", type=float, default=10, help="time a whole download takes (default: 10)")
    parser.add_argument("--connections", type=int, default=8, help="1 to 64 (default: 8)")
    arguments = parser.parse_args()
    size = parse_size(arguments.size)
    if size < 16 * MIB:
        raise Failure("the file is too small to be killed half-way", "16m is the least")
    if not os.access(arguments.segget, os.X_OK):
        raise Failure(f"`{arguments.segget}` is not there", "build it with `make build`")

    work = work_folder("segget-demo", size * 5 // 2)
    try:
        return demonstrate(arguments, size, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def demonstrate(arguments, size, work):
    """The demonstration itself, in the folder `work`."""
    public = os.path.join(work, "public")
    os.mkdir(public)
    print(f"generating {size_text(size)} of random bytes in {work}", flush=True)
    expected = generate(os.path.join(public, "demo.bin"), size)

    rate = int(size / arguments.connections / arguments.seconds)
    with Nginx(work, public, rate=rate) as nginx:
        print(f"nginx serves it on loopback, {size_text(rate)} a second for each connection\n", flush=True)
        output = os.path.join(work, "demo.bin")
        command = [
            os.path.abspath(arguments.segget), nginx.url("demo.bin"),
            "-x", str(arguments.connections), "--checksum", f"sha-256:{expected}"]
        kept, first = kill_half_way(command, output, size)
        killed = time.time()
        print(f"-- killed with SIGKILL when {size_text(total(kept))} had been recorded; the same again:\n", flush=True)
        second = resume(command, output)
        nginx.finish()
        requests, served = nginx.served()

    is_right = os.path.getsize(output) == size and sha256(output) == expected
    leftovers = sorted(set(os.listdir(work)) & {"demo.bin.part", "demo.bin.segget", "demo.bin.segget~"})
    excess = served - size
    asked = list(nginx.ranges(since=killed))
    if not asked:
        raise Failure("nginx has seen no ranged request after the kill")
    again = sum(
        max(0, min(end, offset + length) - max(begin, offset))
        for begin, end in asked for offset, length in kept)
    print(f"""
size              {size:,} bytes
time              {first:.1f} s until the kill, {second:.1f} s after it
kept              {total(kept):,} bytes ({100 * total(kept) / size:.1f} %) at the kill
nginx sent        {served:,} bytes in {requests} requests
of these twice    {max(0, excess):,} bytes ({max(0, excess) / size:.2%}): in flight, or not yet recorded, at the kill
SHA-256           {expected}
                  {'as expected' if is_right else 'THE FILE IS WRONG'}""")
    if not is_right:
        raise Failure("the downloaded file differs from the one that was served")
    if leftovers:
        raise Failure(f"left behind: {', '.join(leftovers)}")
    if again:
        raise Failure(f"{again:,} recorded bytes were requested again")
    print("\nOK: killed, resumed, verified; no recorded byte was requested again")
    return 0


if __name__ == "__main__":
    run_main(main)
