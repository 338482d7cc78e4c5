"""Servers of several kinds on free loopback ports: each is a program in a session of its own, stopped by its own id."""

import os
import pathlib
import shutil
import signal
import subprocess

from support.origin import answers, find, free_port, poll

SERVICES = pathlib.Path(__file__).resolve().parents[1]
PYTHON = "/usr/bin/python3"  # the system's: it has swift


class Server:
    """`command(port)` is a program that listens on `port`. A free port that another process takes first is given up."""

    def __init__(self, command, log, env=None):
        for _ in range(5):
            self.port = free_port()
            with open(log, "wb") as out:
                self.process = subprocess.Popen(list(map(str, command(self.port))), stdout=out, stderr=out, env=env,
                                                stdin=subprocess.DEVNULL, start_new_session=True)  # fmt: skip
            poll(lambda: self.process.poll() is not None or answers(self.port))
            if self.process.poll() is None and answers(self.port):
                return
            self.stop()
        raise AssertionError(f"it does not start: {self.process.args}\n{pathlib.Path(log).read_text(errors='replace')}")

    def kill(self):
        """As a crash: it and all that it started."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    stop = kill


def rsyncd(directory, root):
    directory = pathlib.Path(directory)
    directory.mkdir()
    owner = "uid = 0\ngid = 0\n" if os.geteuid() == 0 else ""
    (directory / "secrets").write_text("tester:secret\n")
    (directory / "secrets").chmod(0o600)

    def command(port):
        (directory / "conf").write_text(
            f"use chroot = no\naddress = 127.0.0.1\nport = {port}\nlog file = {directory}/log\npid file = {directory}/pid\n"
            f"[data]\npath = {root}\nread only = yes\n{owner}"
            f"[private]\npath = {root}\nread only = yes\nauth users = tester\n{owner}secrets file = {directory}/secrets\n"
        )
        return find("rsync"), "--daemon", "--no-detach", "--config", directory / "conf"

    return Server(command, directory / "out.log")


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
    program = SERVICES / "swift_server.py"
    server = Server(lambda port: (PYTHON, "-B", program, directory, port), directory / "out.log")
    server.keys = {"AWS_ACCESS_KEY_ID": "test:tester", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_REGION": "us-east-1"}
    server.endpoint = f"http://127.0.0.1:{server.port}"
    return server


def sabath_serve(directory, store, *arguments, environment):
    directory = pathlib.Path(directory)
    directory.mkdir()
    serve = (os.environ["SABATH_BINARY"], "serve", "--store", store, *arguments, "--listen")
    return Server(lambda port: (*serve, f"127.0.0.1:{port}"), directory / "out.log", env=environment)
