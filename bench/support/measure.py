"""Runs one command and says what it took.

The command is made by a small shell, which ends at once: the command then becomes our own child, and wait4 tells its
processor time and peak memory without the memory of the Python process that a direct fork would have begun with.
"""
import contextlib
import ctypes
import dataclasses
import itertools
import os
import signal
import subprocess
import threading
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LAUNCHER = 'out=$1 err=$2; shift 2; "$@" >"$out" 2>"$err" </dev/null & echo $!'
ESTABLISHED, LISTENING = "01", "0A"
FIRST_LOOKS_S, LOOK_S = (0.1, 0.15), 0.5
_libc = ctypes.CDLL(None, use_errno=True)


class Skip(Exception):
    """What was asked for cannot be measured here; the text says why."""


@dataclasses.dataclass
class Usage:
    wall_s: float
    user_s: float  # of the command and of the children it waited for
    system_s: float
    rss_bytes: int  # of the largest process among them
    exit: int  # 128 + the signal that ended it; 124: over its time
    connections: int  # at most at once, as far as samples show; 0 if not counted

    @property
    def cpu_s(self):
        return self.user_s + self.system_s

    def told(self):
        return dataclasses.asdict(self) | {"cpu_s": self.cpu_s}


# Where programs and their libraries lie; the last three are for an Open MPI that was moved to another place.
KEPT = ("PATH", "TMPDIR", "LD_LIBRARY_PATH", "OPAL_PREFIX", "PMIX_MCA_mca_base_component_path",
        "OMPI_MCA_mca_base_component_path")
# What tools are told so that their libraries do not use the CPU's SHA extensions: OpenSSL, Nettle.
NO_SHA_EXTENSIONS = {"OPENSSL_ia32cap": ":~0x20000000", "NETTLE_FAT_OVERRIDE": "vendor:intel"}


def clean_environment(home):
    """The environment of every tool: no user's configuration, no proxy."""
    kept = {key: value for key, value in os.environ.items() if key in KEPT or key in NO_SHA_EXTENSIONS}
    return kept | {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "LC_ALL": "C.UTF-8"}


def die_with_parent():
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def count_sockets(pid, state, *, local_port=None, remote_port=None, family="tcp"):
    """TCP sockets in the network namespace of process pid."""
    count = 0
    with contextlib.suppress(OSError), open(f"/proc/{pid}/net/{family}", encoding="ascii") as table:
        for line in list(table)[1:]:
            fields = line.split()
            local, remote = (int(end.split(":")[1], 16) for end in fields[1:3])
            count += fields[3] == state and (local_port in (None, local)) and (remote_port in (None, remote))
    return count


class ConnectionCount(threading.Thread):
    """Samples how many connections a process's namespace has to one port: seldom, as the table is long to read."""

    def __init__(self, pid, port):
        super().__init__(daemon=True)
        self.pid, self.port, self.most, self.ended = pid, port, 0, threading.Event()

    def run(self):
        waits = itertools.chain(FIRST_LOOKS_S, itertools.repeat(LOOK_S))
        while not self.ended.wait(next(waits)):
            self.most = max(self.most, count_sockets(self.pid, ESTABLISHED, remote_port=self.port))


def launch(argv, environment, out, err):
    """Starts argv as our child; its process group's id and its own."""
    _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        shell = subprocess.Popen(["sh", "-c", LAUNCHER, "sh", str(out), str(err), *map(str, argv)], env=environment,
                                 stdout=subprocess.PIPE, text=True, start_new_session=True)
        pid = int(shell.communicate()[0])
    finally:
        _libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
    return shell.pid, pid


def kill_group(group):
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def attempt(action, failures):
    try:
        action()
    except Exception as failure:  # raised again in the thread that waits
        failures.append(failure)


def run(argv, *, environment, out, err, timeout_s, count_port=None, event=None):
    """Runs argv to its end. `event` is (seconds, function): what happens to the servers meanwhile."""
    start = time.monotonic()
    group, pid = launch(argv, environment, out, err)
    timed_out, failures = threading.Event(), []
    timers = [threading.Timer(timeout_s, lambda: (timed_out.set(), kill_group(group)))]
    if event:
        timers.append(threading.Timer(max(0, event[0] - (time.monotonic() - start)), attempt, (event[1], failures)))
    counter = ConnectionCount(pid, count_port) if count_port else None
    for thread in [*timers, *filter(None, [counter])]:
        thread.start()
    try:
        _, status, usage = os.wait4(pid, 0)
        wall = time.monotonic() - start
    finally:
        kill_group(group)
        for timer in timers:
            timer.cancel()
        if counter:
            counter.ended.set()
        for timer in timers:  # an event that has begun ends before the next run
            timer.join()
    if failures:
        raise failures[0]
    code = os.waitstatus_to_exitcode(status)
    return Usage(wall, usage.ru_utime, usage.ru_stime, usage.ru_maxrss * 1024,
                 124 if timed_out.is_set() else code if code >= 0 else 128 - code, counter.most if counter else 0)
