"""Real servers on loopback ports, for tests that need several kinds of them. Each is stopped by its own id."""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

from support.origin import free_port

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
PYTHON = "/usr/bin/python3"  # the system's: it has swift


def find(program):
    return shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin")


def accepts(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Server:
    """A program in a session of its own that listens on `port`."""

    def __init__(self, argv, port, log, seconds=30, env=None):
        self.port = port
        with open(log, "wb") as out:
            self.process = subprocess.Popen(list(map(str, argv)), stdout=out, stderr=out, stdin=subprocess.DEVNULL,
                                            start_new_session=True, env=env)
        deadline = time.monotonic() + seconds
        while not accepts(port):
            if time.monotonic() > deadline or self.process.poll() is not None:
                self.stop()
                raise RuntimeError(f"{argv[0]}: {pathlib.Path(log).read_text(errors='replace')}")
            time.sleep(0.01)

    def kill(self):
        """As a crash: it and all that it started."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    stop = kill


def make_certificate(directory):
    """(certificate, key) for 127.0.0.1; the certificate is its own authority."""
    cert, key = pathlib.Path(directory) / "cert.pem", pathlib.Path(directory) / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-days", "2", "-keyout", key,
                    "-out", cert], check=True, capture_output=True)
    key.chmod(0o600)
    return cert, key


NGINX = """daemon off; worker_processes 1; pid {d}/pid; error_log {d}/error.log warn; user root;
events {{ worker_connections 512; }}
http {{ log_format short '$connection $server_protocol $status $body_bytes_sent $uri';
{http} access_log {d}/access.log; client_body_temp_path {d}/b; proxy_temp_path {d}/p; fastcgi_temp_path {d}/f;
uwsgi_temp_path {d}/u; scgi_temp_path {d}/s; default_type application/octet-stream;
server {{ listen 127.0.0.1:{port} {tls}; root {root}; limit_rate {rate}; {more} }} }}
"""


def nginx(directory, root, certificate=None, rate=0, more="", http="", http2=False):
    """`more`: of the server; `http`: of all servers. There is a log format `short`."""
    directory = pathlib.Path(directory)
    directory.mkdir()
    port = free_port()
    speaks = "ssl http2" if http2 else "ssl"
    tls = f"{speaks}; ssl_certificate {certificate[0]}; ssl_certificate_key {certificate[1]}" if certificate else ""
    config = NGINX.format(d=directory, port=port, root=root, rate=rate, tls=tls, more=more, http=http)
    if os.geteuid() != 0:
        config = config.replace("user root;", "")
    (directory / "conf").write_text(config)
    return Server([find("nginx"), "-e", directory / "error.log", "-p", directory, "-c", directory / "conf"], port,
                  directory / "out.log")


def rsyncd(directory, root):
    directory = pathlib.Path(directory)
    directory.mkdir()
    port = free_port()
    owner = "uid = 0\ngid = 0\n" if os.geteuid() == 0 else ""
    (directory / "secrets").write_text("tester:secret\n")
    (directory / "secrets").chmod(0o600)
    (directory / "conf").write_text(f"use chroot = no\naddress = 127.0.0.1\nport = {port}\nlog file = {directory}/log\n"
                                    f"pid file = {directory}/pid\n[data]\npath = {root}\nread only = yes\n{owner}"
                                    f"[private]\npath = {root}\nread only = yes\nauth users = tester\n{owner}"
                                    f"secrets file = {directory}/secrets\n")
    return Server([find("rsync"), "--daemon", "--no-detach", "--config", directory / "conf"], port, directory / "out.log")


def swift_unavailable_because():
    for kind in ("proxy", "account", "container", "object"):
        if not find(f"swift-{kind}-server"):
            return f"swift-{kind}-server is not installed (scripts/setup full)"
    return ""


def swift(directory, bucket, files):
    """OpenStack Swift as an S3 server; keys test:tester and testing. Directories go with all that is below them."""
    directory = pathlib.Path(directory)
    place = directory / "objects" / bucket
    place.mkdir(parents=True)
    for file in files:
        (shutil.copytree if file.is_dir() else shutil.copy)(file, place / file.name)
    port = free_port()
    server = Server([PYTHON, "-B", SUPPORT / "swift_server.py", directory, port], port, directory / "out.log", 60)
    server.keys = {"AWS_ACCESS_KEY_ID": "test:tester", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_REGION": "us-east-1"}
    server.endpoint = f"http://127.0.0.1:{port}"
    return server


def sabath_serve(directory, store, *arguments, environment):
    directory = pathlib.Path(directory)
    directory.mkdir()
    port = free_port()
    return Server([os.environ["SABATH_BINARY"], "serve", "--store", store, "--listen", f"127.0.0.1:{port}", *arguments],
                  port, directory / "out.log", env=environment)


def version_of(*argv):
    """The first line with a number in it that a program says of itself."""
    result = subprocess.run(argv, capture_output=True, text=True, check=False)
    for line in (result.stdout + result.stderr).splitlines():
        if match := re.search(r"\d+\.\d[\w.+~-]*", line):
            return match.group(0)
    return "?"


if sys.version_info < (3, 9):
    raise RuntimeError("these tests need Python 3.9")
