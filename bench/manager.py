#!/usr/bin/env python3
"""Measures the queue with many tasks: what adding, listing and a worker take.

    make build && swift build -c release --static-swift-stdlib --product queue-subscribers
    python3 bench/manager.py [--tasks 10000] [--rounds 5] [--segget .build/release/segget]

On loopback, in a temporary folder. Prints medians; nothing is kept. nginx serves what runs. With hyperfine, whose
results come in files, the timing of commands would take more lines than here.
"""
import argparse
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def serve(folder, port, address="127.0.0.1", size=1 << 30, rate="512k"):
    """nginx, with one large file at every path, so fast for each connection."""
    (folder / "www").mkdir()
    with open(folder / "www/file", "wb") as file:
        file.truncate(size)
    (folder / "nginx.conf").write_text(f"""
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{}}
http {{
    access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    server {{
        listen {address}:{port}; limit_rate {rate};
        location / {{ root {folder}/www; rewrite ^ /file break; }}
    }}
}}
""")
    nginx = shutil.which("nginx") or "/usr/sbin/nginx"
    return subprocess.Popen([nginx, "-c", str(folder / "nginx.conf")])


def rss(pid):
    """Resident memory of a process and the most it ever had, in MiB."""
    fields = dict(
        line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(fields["VmRSS"].split()[0]) / 1024, int(fields["VmHWM"].split()[0]) / 1024


def cpu(pid):
    """Processor time of a process, in seconds."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tasks", type=int, default=10000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--segget", default=str(ROOT / ".build/release/segget"))
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="segget-queue-bench-"))
    # nginx's workers are another user when it is started as root.
    folder.chmod(0o755)
    port = free_port()
    nginx = serve(folder, port)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SEGGET_")}
    environment |= {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")}
    worker = None

    def run(*arguments, **more):
        began = time.monotonic()
        result = subprocess.run(
            [options.segget, arguments[0], "--queue", str(folder / "queue.sqlite"), *arguments[1:]],
            cwd=folder, env=environment, capture_output=True, text=True, check=True, **more)
        return time.monotonic() - began, result.stdout

    def median(*arguments):
        return statistics.median(run(*arguments)[0] for _ in range(options.rounds))

    try:
        (folder / "list").write_text(
            "".join(f"http://127.0.0.1:{port}/{n}/file-{n}.bin\n" for n in range(options.tasks)))
        added, text = run("add", "-d", "downloads", "-i", "list")
        assert len(text.split()) == options.tasks
        print(f"add -i, {options.tasks} tasks: {added:.2f} s")
        print(f"list, a table: {median('list') * 1000:.0f} ms")
        print(f"list --json: {median('list', '--json') * 1000:.0f} ms")
        print(f"add of one more: {median('add', f'http://127.0.0.1:{port}/more') * 1000:.0f} ms")
        worker = subprocess.Popen(
            [options.segget, "run", "-q", "--keep-running", "--queue", str(folder / "queue.sqlite")],
            cwd=folder, env=environment)
        while True:
            tasks = json.loads(run("list", "--json", "--state", "running")[1])
            if len(tasks) == 3 and all(task["bytes_done"] > 0 for task in tasks):
                break
            time.sleep(0.2)
        time.sleep(5)
        now, most = rss(worker.pid)
        before, began = cpu(worker.pid), time.monotonic()
        time.sleep(10)
        share = (cpu(worker.pid) - before) / (time.monotonic() - began)
        print(f"worker, 3 running: {now:.1f} MiB resident, {most:.1f} MiB at the most, {share:.1%} of a core")
        print(f"with a worker: list {median('list') * 1000:.0f} ms, list --json {median('list', '--json') * 1000:.0f} ms")
        worker.terminate()
        worker.wait()
        worker = None
        subscribers = pathlib.Path(options.segget).parent / "queue-subscribers"
        shares = subprocess.run(
            [subscribers, folder / "queue.sqlite", "100", "10"], cwd=folder, env=environment,
            capture_output=True, text=True, check=True).stdout.split()
        alone, shared, each = (float(share) for share in shares)
        print(f"100 subscribers: {shared - alone:.1%} of a core, {each:.1f} snapshots a second each")
    finally:
        if worker:
            worker.terminate()
            worker.wait()
        nginx.terminate()
        nginx.wait()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
