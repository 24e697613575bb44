"""The servers of the benchmark: nginx with the files, and another one in front of it that shapes."""

import os
import re
import shutil
import signal
import socket
import subprocess
import time

from isolation import WORK, run
from loopback import Failure, die_with_parent, stop

PATH = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"

# In a namespace of its own no port is taken.
PORTS = {"http": 8080, "https": 8443, "h2": 8444}
CAPPED, STRAGGLING = 8181, 8182

BEGIN = """
    user root; daemon off; worker_processes 1; worker_rlimit_nofile 8192; pid pid; error_log error.log warn;
    events { worker_connections 4096; }
    """

ORIGIN = """
    http {
        client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi;
        scgi_temp_path scgi;
        log_format brief '$msec $request_time $connection $status $bytes_sent $request_method';
        access_log access.log brief;
        sendfile on; tcp_nopush on; keepalive_requests 100000; send_timeout 60s; reset_timedout_connection on;
        open_file_cache max=4096 inactive=60s; default_type application/octet-stream; autoindex on;
        ssl_certificate certificate.pem; ssl_certificate_key key.pem; ssl_protocols TLSv1.3;
        ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256; ssl_session_cache shared:sessions:1m;
        root 'PUBLIC';
        server { listen HTTP backlog=1024; listen unix:origin; }
        server { listen HTTPS ssl backlog=1024; }
        server { listen H2 ssl http2 backlog=1024; }
        server { listen unix:status; access_log off; stub_status; }
    }
    """

# Each fifth connection of a client is slow, another one each turn. nginx numbers them together with
# its own to the origin: those of clients are 1, 3, 5 and so on, and of five of these one ends in 5.
SHAPER = """
    load_module MODULES/ngx_stream_module.so;
    stream {
        log_format brief '$msec $session_time $connection 200 $bytes_sent GET';
        access_log access.log brief;
        map $connection $rate { default 8m; ~DIGIT$ 64k; }
        server {
            listen CAPPED backlog=1024; proxy_download_rate 2m; proxy_buffer_size 32k; proxy_pass unix:ORIGIN;
        }
        server {
            listen STRAGGLING backlog=1024; proxy_download_rate $rate; proxy_buffer_size 64k; proxy_pass unix:ORIGIN;
        }
    }
    """


class Nginx:
    """An nginx in its own folder of `WORK`, in the namespace that is entered when it starts."""

    def __init__(self, name):
        self.folder = os.path.join(WORK, name)
        self.process = None
        self.program = shutil.which("nginx", path=PATH)
        if not self.program:
            raise Failure("nginx is not installed", "`scripts/packages.sh bench` installs what is missing")

    def start(self, configuration):
        """Starts it; returns when it listens."""
        os.makedirs(self.folder, exist_ok=True)
        path = os.path.join(self.folder, "nginx.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(configuration)
        errors = os.path.join(self.folder, "stderr")
        with open(errors, "wb") as output:
            self.process = subprocess.Popen(
                [self.program, "-p", self.folder, "-c", path, "-e", "error.log"], cwd=self.folder,
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, preexec_fn=die_with_parent)
        deadline = time.monotonic() + 10
        # It writes the file after it has bound its sockets. A connection to try would count as one.
        while not os.path.exists(os.path.join(self.folder, "pid")):
            if self.process.poll() is not None or time.monotonic() > deadline:
                with open(errors, encoding="utf-8", errors="replace") as file:
                    raise Failure(f"nginx did not start: {file.read().strip() or 'no answer'}")
            time.sleep(0.01)

    def stop(self, gently=False):
        """Ends it; gently: after all that runs has been logged, within 5 seconds."""
        if self.process and gently:
            self.process.send_signal(signal.SIGQUIT)
            try:
                self.process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                pass
        stop(self.process)
        self.process = None

    def cpu(self):
        """Seconds of CPU time of its worker so far."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
            workers = file.read().split()
        ticks = 0
        for worker in workers:
            with open(f"/proc/{worker}/stat", encoding="ascii") as file:
                ticks += sum(int(word) for word in file.read().rsplit(")", 1)[1].split()[11:13])
        return ticks / os.sysconf("SC_CLK_TCK")

    def log(self, start=0):
        """The lines of the log from byte `start`, each one a list of words."""
        path = os.path.join(self.folder, "access.log")
        if not os.path.exists(path):
            return []
        with open(path, "rb") as file:
            file.seek(start)
            return [line.split() for line in file.read().decode().splitlines()]

    def log_size(self):
        """Bytes of the log."""
        path = os.path.join(self.folder, "access.log")
        return os.path.getsize(path) if os.path.exists(path) else 0


class Origin(Nginx):
    """Serves a folder over HTTP and HTTPS, with HTTP/1.1 and HTTP/2, at every address."""

    def __init__(self, public):
        super().__init__("origin")
        self.public = public
        self.certificate = os.path.join(self.folder, "certificate.pem")

    def begin(self):
        """Makes the certificate, and starts it."""
        os.makedirs(self.folder)
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-days", "2", "-subj", "/CN=bench", "-addext", "subjectAltName=IP:127.0.0.1,IP:10.77.0.1",
            "-keyout", os.path.join(self.folder, "key.pem"), "-out", self.certificate)
        text = ORIGIN.replace("PUBLIC", self.public).replace("unix:", f"unix:{self.folder}/")
        for word, scheme in (("HTTPS", "https"), ("HTTP", "http"), ("H2", "h2")):
            text = re.sub(rf"\blisten {word}\b", f"listen {PORTS[scheme]}", text)
        self.start(BEGIN + text)

    def settle(self):
        """Waits until each request has ended and is in the log; ends what hangs after 3 seconds."""
        deadline = time.monotonic() + 3
        while self._writing() > 1:
            if time.monotonic() > deadline:
                # Connections whose other end is silent. The server would wait for long.
                run("ss", "--kill", "--tcp", "state", "connected")
                deadline += 3
            time.sleep(0.02)

    def _writing(self):
        """How many requests are being answered, this one included."""
        with socket.socket(socket.AF_UNIX) as asking:
            asking.settimeout(10)
            asking.connect(os.path.join(self.folder, "status"))
            asking.sendall(b"GET / HTTP/1.0\r\n\r\n")
            answer = b"".join(iter(lambda: asking.recv(4096), b""))
        return int(re.search(rb"Writing: (\d+)", answer).group(1))


class Shaper(Nginx):
    """In front of the origin: limits the rate of each connection, strictly."""

    def __init__(self, origin):
        super().__init__("shaper")
        self.origin = origin

    def begin(self, turn):
        """Starts it anew, for another slow fifth each turn."""
        shutil.rmtree(self.folder, ignore_errors=True)
        version = subprocess.run([self.program, "-V"], capture_output=True, text=True, check=True).stderr
        found = re.search(r"--modules-path=(\S+)", version)
        text = SHAPER.replace("MODULES", found.group(1) if found else "modules").replace("DIGIT", "51937"[turn % 5])
        text = text.replace("ORIGIN", os.path.join(self.origin.folder, "origin"))
        text = text.replace("CAPPED", str(CAPPED)).replace("STRAGGLING", str(STRAGGLING))
        load, rest = text.split("stream {", 1)
        self.start(load + BEGIN + "stream {" + rest)
