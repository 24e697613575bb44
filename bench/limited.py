#!/usr/bin/env python3
"""Measures how soon segget finds the number of connections where the server limits each one.

    make build
    sudo python3 bench/limited.py [--runs 3] [--cells 200k:16:50m,…] [--segget .build/release/segget]

nginx sends each reply at a fixed rate (`limit_rate`: a second's worth at once, then a pause). A cell is the rate
of a connection, the most connections, and the size of the file. Each is fetched by aria2c with as many connections
(it has at most 16), and by segget with a fixed number, with that number as an upper bound, by itself, and as the
drop-in for aria2c. Everything runs in namespaces of its own. Exit code 1 when a download fails.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from isolation import WORK, isolate
from loopback import GIB, Failure, parse_size, run_main
from servers import BEGIN, Nginx

PORT = 8080
# More connections than this aria2c does not have.
ARIA2_MOST = 16
CELLS = ("100k:4:4m,100k:16:4m,100k:64:4m,200k:5:16m,200k:16:50m,200k:17:50m,200k:32:50m,200k:64:50m,1m:4:64m,"
         "1m:16:256m,1m:64:256m,4m:4:256m,4m:16:1g,4m:64:1g")
SERVER = """
    http {
        client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi;
        scgi_temp_path scgi;
        log_format brief '$status $bytes_sent';
        access_log access.log brief;
        sendfile on; default_type application/octet-stream; root 'PUBLIC';
        limit_conn_zone $server_addr zone=all:1m; limit_conn_log_level info;
        server {
            listen 127.0.0.1:PORT backlog=1024; LIMIT
            location ~ ^/([0-9]+[km])/(.*)$ { set $limit_rate $1; try_files /$2 =404; }
        }
    }
    """


def programs(segget, cap):
    """The command lines of a cell by name; each fetches `URL` to `out`."""
    drop_in = os.path.join(WORK, "segget-aria2c")
    if not os.path.lexists(drop_in):
        os.symlink(segget, drop_in)
    lines = {}
    if cap <= ARIA2_MOST:
        many = [f"-x{cap}", f"-s{cap}", "-k1M", "-q", "--no-conf"]
        lines["aria2c"] = ["aria2c", *many, "--file-allocation=none", "-o", "out"]
        lines["drop-in"] = [drop_in, *many, "-o", "out"]
    lines["fixed"] = [segget, "-x", str(cap), "-q", "-o", "out"]
    lines["bound"] = [segget, "-x", f"auto:{cap}", "-q", "-o", "out"]
    if cap == 64:
        lines["auto"] = [segget, "-q", "-o", "out"]
    return lines


def fetch(line, url, origin, server):
    """Seconds, requests, and how many of these were refused."""
    folder = pathlib.Path(WORK, "down")
    folder.mkdir()
    start = server.log_size()
    begun = time.monotonic()
    done = subprocess.run(
        [*line, url], cwd=folder, capture_output=True, text=True, check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "XDG_CACHE_HOME": str(folder), "SEGGET_NO_CONFIG": "1"})
    seconds = time.monotonic() - begun
    if done.returncode or subprocess.run(["cmp", "-s", folder / "out", origin], check=False).returncode:
        raise Failure(f"{' '.join(line)}: exit code {done.returncode}: {done.stdout}{done.stderr}")
    subprocess.run(["rm", "-r", folder], check=True)
    log = server.log(start)
    return seconds, len(log), sum(int(words[0]) >= 400 for words in log)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cells", default=CELLS, help="RATE:CONNECTIONS:SIZE, separated by commas")
    parser.add_argument("--served", type=int, default=0, help="requests that the server serves at a time; 0: all")
    parser.add_argument("--only", default="", help="programs, separated by commas")
    parser.add_argument("--segget", default=str(ROOT / ".build/release/segget"))
    options = parser.parse_args()
    isolate(3 * GIB)
    public = pathlib.Path(WORK, "public")
    public.mkdir()
    server = Nginx("limited")
    limit = f"limit_conn all {options.served};" if options.served else ""
    server.start(BEGIN + SERVER.replace("PUBLIC", str(public)).replace("PORT", str(PORT)).replace("LIMIT", limit))
    print("| rate of each | most | size | least | program | seconds | to aria2c | requests | refused |")
    print("| ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: |")
    for cell in options.cells.split(","):
        rate, cap, size = cell.split(":")
        origin = public / size
        if not origin.exists():
            block = os.urandom(1 << 20)
            origin.write_bytes(b"".join(
                block[index % 97:] + block[:index % 97] for index in range(parse_size(size) >> 20)))
        url = f"http://127.0.0.1:{PORT}/{rate}/{size}"
        results = {}
        for _ in range(options.runs):
            for name, line in programs(options.segget, int(cap)).items():
                if not options.only or name in options.only.split(","):
                    results.setdefault(name, []).append(fetch(line, url, origin, server))
        least = parse_size(size) / parse_size(rate) / int(cap)
        aria2 = statistics.median(run[0] for run in results["aria2c"]) if "aria2c" in results else None
        for name, runs in results.items():
            seconds, requests, refused = (statistics.median(column) for column in zip(*runs))
            spread = "" if len(runs) == 1 else f" ({min(run[0] for run in runs):.1f}–{max(run[0] for run in runs):.1f})"
            ratio = f"{seconds / aria2:.2f}" if aria2 else "–"
            print(f"| {rate} | {cap} | {size} | {least:.1f} | {name} | {seconds:.2f}{spread} | {ratio} | "
                  f"{requests:.0f} | {refused:.0f} |", flush=True)
    server.stop()


if __name__ == "__main__":
    run_main(main)
