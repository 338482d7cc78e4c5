"""The link rig: network namespaces joined by emulated links, from a directory with the programs `net` and `origin`.

The rig is used by path and never changed: what it needs is copied to a scratch directory and built there, and its
state lies there too, so that two runs do not meet.
"""
import contextlib
import os
import pathlib
import shutil
import subprocess
import time

from .interrupt import deferred
from .measure import LISTENING, Skip, count_sockets

PARTS = ("net", "origin", "delayline.c", "Makefile")
PROGRAMS = ("ip", "tc", "ethtool", "nsenter", "unshare", "ping", "pgrep", "make", "cc", "nginx", "openssl")
ALLOWED = pathlib.Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
AVAILABLE = pathlib.Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
HTTP_PORT, TLS2_PORT, IPERF_PORT = 8080, 8444, 5201
# What the rig's links charge for an Ethernet frame, with preamble, checksum and gap; what TCP with timestamps carries in it.
FRAME_BYTES, SEGMENT_BYTES = 1538, 1448


def payload_rate(mbit):
    """Bytes a second that TCP can carry over a link whose rate counts whole frames."""
    return mbit * 1e6 / 8 * SEGMENT_BYTES / FRAME_BYTES


def why_not(source):
    """Why the rig cannot be used here; None if it can."""
    if not source:
        return "no rig: --rig DIR or SABATH_RIG names one"
    if missing := [part for part in PARTS if not os.path.isfile(os.path.join(source, part))]:
        return f"{source} is not a rig: it has no {missing[0]}"
    if os.geteuid() != 0:
        return "the rig makes network namespaces: needs root"
    if not os.path.exists("/dev/net/tun"):
        return "no /dev/net/tun"
    if missing := [program for program in PROGRAMS if not shutil.which(program)]:
        return "not installed: " + " ".join(missing)
    return None


class Rig:
    """Use as a context: what it has set up is taken down."""

    def __init__(self, source, scratch):
        self.directory = pathlib.Path(scratch) / "rig"
        self.state = self.directory / "state"
        self.source = pathlib.Path(source)
        self.environment = os.environ | {"RIG_STATE": str(self.state), "RIG_BIN": str(self.directory / "bin"),
                                         "RIG_LOCAL_SIZE": "1m"}
        self.pids = {}

    def __enter__(self):
        self.directory.mkdir()
        for part in PARTS:
            shutil.copy(self.source / part, self.directory)
        built = subprocess.run(["make", "-C", self.directory, "bin/delayline"], capture_output=True, text=True,
                               check=False)
        if built.returncode:
            raise Skip(f"the rig does not build: {built.stderr.strip()[-300:]}")
        self.allowed = ALLOWED.read_text()
        return self

    def __exit__(self, *_):
        self.down()
        ALLOWED.write_text(self.allowed)

    def call(self, program, *arguments):
        done = subprocess.run([self.directory / program, *arguments], env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, check=False, start_new_session=True)
        if done.returncode:
            raise Skip(f"the rig failed: {program} {' '.join(map(str, arguments))}: {done.stderr.strip()[-300:]}")
        return done.stdout

    def up(self, *links):
        with deferred():
            self.call("net", "up", *links)
        self.pids = {name: int(self.call("net", "pid", name)) for name in (link.split(",")[0] for link in links)}

    def down(self):
        with contextlib.suppress(Skip):  # it ends with a failure if there is nothing to take down
            self.call("net", "down")
        self.pids = {}

    def set_link(self, name, setting):
        self.call("net", "set", name, setting)

    def serve(self, name, root):
        """Starts the server of a namespace anew."""
        self.call("origin", "down", name)
        with deferred():
            self.call("origin", "up", name, root)

    def kill_server(self, name):
        self.call("origin", "kill", name)

    def enter(self, name):
        """What stands before a command that is to run in a namespace."""
        return ["nsenter", "-t", str(self.pids[name]), "-n", "-u", "-m", f"--wd={self.directory}", "--"]

    def ping(self, client, *servers):
        """Lets both ends learn each other's addresses."""
        for server in servers:
            subprocess.run([*self.enter(client), "ping", "-q", "-c", "2", "-i", "0.2", server],
                           stdout=subprocess.DEVNULL, check=False)

    def congestion(self, name, algorithm):
        subprocess.run([*self.enter(name), "sysctl", "-qw", f"net.ipv4.tcp_congestion_control={algorithm}"], check=True)

    def ca(self):
        return self.call("origin", "ca").strip()

    @contextlib.contextmanager
    def iperf_server(self, name):
        server = subprocess.Popen([*self.enter(name), "iperf3", "-s", "-1", "-p", str(IPERF_PORT)],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 5
            while not any(listens(server.pid, family) for family in ("tcp", "tcp6")) and time.monotonic() < deadline:
                time.sleep(0.02)
            yield IPERF_PORT
        finally:
            server.kill()
            server.wait()


def listens(pid, family):
    return count_sockets(pid, LISTENING, local_port=IPERF_PORT, family=family)
