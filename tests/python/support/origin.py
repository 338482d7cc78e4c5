"""A real nginx on a free loopback port, with an access log that can be read as data."""

import contextlib
import pathlib
import random
import shutil
import socket
import subprocess
import time
import urllib.request
from dataclasses import dataclass

CONFIG = """daemon off; master_process off; pid {dir}/pid; error_log {dir}/error.log warn;
events {{ worker_connections 512; }}
http {{
  {http}
  log_format test '$request_method\\t$request_uri\\t$status\\t$body_bytes_sent\\t$http_range';
  access_log {dir}/access.log test;
  client_body_temp_path {dir}/body; proxy_temp_path {dir}/proxy; fastcgi_temp_path {dir}/fastcgi;
  uwsgi_temp_path {dir}/uwsgi; scgi_temp_path {dir}/scgi;
  limit_conn_zone $server_port zone=all:1m;
  keepalive_requests 1000000; default_type application/octet-stream; types {{ text/html html; }}
  server {{
    listen 127.0.0.1:{port}{tls}; root {root};
    location = /.status {{ stub_status; access_log off; }}
    {extra}
  }}
}}
"""


@dataclass(frozen=True)
class Request:
    method: str
    uri: str
    status: int
    body_bytes: int
    range: str


def free_port():
    """One below those that the kernel gives to processes that ask for any: it is still free when its server has started."""
    while True:
        port = random.randrange(12_000, 32_768)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def poll(condition, seconds=300):
    """Waits for something that has no event to wait for."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(0.005)


class Nginx:
    """`extra` is of the server, `http` of all servers; with a certificate it speaks TLS."""

    def __init__(self, directory, root=None, extra="", http="", certificate=None, http2=False):
        self.directory = pathlib.Path(directory)
        self.root = pathlib.Path(root) if root else self.directory / "root"
        self.root.mkdir(parents=True, exist_ok=True)
        self.directory.mkdir(exist_ok=True)
        speaks = " ssl http2" if http2 else " ssl"
        tls = f"{speaks}; ssl_certificate {certificate.file}; ssl_certificate_key {certificate.key}" if certificate else ""
        self.words = {"dir": self.directory, "root": self.root, "extra": extra, "http": http, "tls": tls}
        self.port = 0
        self.process = None
        self.start()

    def start(self):
        """Another process may take the free port first: then the next one is tried. A restart keeps the port."""
        for _ in range(5):
            port = self.port or free_port()
            config = self.directory / "nginx.conf"
            config.write_text(CONFIG.format(port=port, **self.words))
            self.process = subprocess.Popen(
                [find("nginx") or "nginx", "-e", self.directory / "error.log", "-p", self.directory, "-c", config],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            if poll(lambda: self.process.poll() is not None or answers(port)) and self.process.poll() is None:
                self.port = port
                return
        raise AssertionError(f"nginx does not start: {(self.directory / 'error.log').read_text()}")

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(timeout=300)
            self.process = None

    def kill(self):
        """As a crash."""
        self.process.kill()
        self.stop()

    def url(self, path=""):
        return f"http://127.0.0.1:{self.port}/{path}"

    def log(self):
        """All requests so far. A line is written when its answer has ended, so that is waited for."""
        if self.process:
            assert poll(lambda: is_idle(self.port)), "nginx is still writing answers"
        requests = []
        file = self.directory / "access.log"
        for line in file.read_text().splitlines() if file.exists() else []:
            method, uri, status, size, byte_range = line.split("\t")
            requests.append(Request(method, uri, int(status), int(size), "" if byte_range == "-" else byte_range))
        return requests

    def new_requests(self, seen):
        return self.log()[len(seen) :]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def find(program):
    return shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")


def answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def is_idle(port):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://127.0.0.1:{port}/.status", timeout=300) as answer:
        words = answer.read().split()
    reading, writing = (int(words[words.index(name) + 1]) for name in (b"Reading:", b"Writing:"))
    return reading == 0 and writing == 1  # the one that asks


def body_bytes(requests):
    return sum(request.body_bytes for request in requests)
