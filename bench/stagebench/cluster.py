"""Emulated nodes with disks of their own and one slow filesystem that they share and that counts what is read from it.

The rig of bench/fetch, with `slowmount` (a FUSE mount in each node, one clock and one set of counters for all) and
`mpi` (mpirun over the nodes). Counters of links are those of the nodes' own interfaces.
"""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess

from support import rig
from support.ground import MIB, mount_tmpfs
from support.interrupt import deferred
from support.measure import Skip

PARTS = ("slowmount", "mpi", "rsh-agent", "slowfs.c")
PROGRAMS = ("mpirun", "mpicc", "fusermount3", "pkg-config", "rsync", "diff")
LOCAL = pathlib.Path("/tmp/nodelocal")  # each node's own disk, by the rig
SLOW = ("node_rate=0", "lat_us=300", "meta_us=500", "meta_ops=5000")  # as in the rig's baselines
COUNTERS_BYTES = 64 * MIB
IDLE = """#include <mpi.h>
int main(int count, char **words) { return MPI_Init(&count, &words) || MPI_Finalize(); }
"""


def why_not(source):
    """Why nothing can be staged here; None if it can."""
    if reason := rig.why_not(source):
        return reason
    if missing := [part for part in PARTS if not os.path.isfile(os.path.join(source, part))]:
        return f"{source} has no {missing[0]}"
    if not os.path.exists("/dev/fuse"):
        return "no /dev/fuse"
    if missing := [program for program in PROGRAMS if not shutil.which(program)]:
        return "not installed: " + " ".join(missing)
    return None


class Cluster(rig.Rig):
    """Use as a context, in a mount namespace of our own: the rig's counters lie in /dev/shm under a fixed name."""

    def __init__(self, source, scratch, local_bytes):
        super().__init__(source, scratch)
        self.mount = pathlib.Path(scratch) / "shared"
        self.environment |= {"RIG_LOCAL_SIZE": str(local_bytes), "RIG_SLOW_MNT": str(self.mount)}
        self.shape, self.exported = None, False

    def __enter__(self):
        if not mount_tmpfs("/dev/shm", COUNTERS_BYTES):
            raise Skip("cannot mount a tmpfs of its own on /dev/shm")
        super().__enter__()
        for part in PARTS:
            shutil.copy(self.source / part, self.directory)
        (self.directory / "idle.c").write_text(IDLE, encoding="ascii")
        for command in (["make", "bin/slowfs"], ["mpicc", "-o", "bin/idle", "idle.c"]):
            built = subprocess.run(command, cwd=self.directory, capture_output=True, text=True, check=False)
            if built.returncode:
                raise Skip(f"the rig does not build: {built.stderr.strip()[-300:]}")
        return self

    @property
    def nodes(self):
        return [name for name in self.pids if name != "head"]

    def form(self, nodes, link_bytes):
        """`nodes` nodes with links of `link_bytes` bytes a second; nothing happens if they are there already."""
        if self.shape == (nodes, link_bytes):
            return
        self.down()
        self.up("head", *(f"node{i + 1},rate={link_bytes / 1e6:g}MB" for i in range(nodes)))
        self.shape = (nodes, link_bytes)

    def down(self):
        self.withdraw()
        super().down()
        self.shape = None

    def export(self, directory, bytes_per_second):
        """Mounts the shared filesystem anew: caches are cold, counters zero."""
        self.withdraw()
        with deferred():
            self.exported = True
            self.call("slowmount", "up", directory, f"rate={bytes_per_second / 1e6:g}M", *SLOW)

    def withdraw(self):
        if self.exported:
            with contextlib.suppress(Skip):
                self.call("slowmount", "down")
        self.exported = False

    def read_counters(self):
        """What was asked of the shared filesystem since it was mounted."""
        return json.loads(self.call("slowmount", "stat"))

    def read_files(self):
        """Bytes read of each of its files, by path."""
        lines = (line.split(None, 3) for line in self.call("slowmount", "files").splitlines())
        return {path: int(count) for count, _, _, path in lines}

    def received(self):
        """Bytes that each node's link has brought, with all headers."""
        return {name: self.interface(name, 0) for name in self.nodes}

    def interface(self, name, column):
        with open(f"/proc/{self.pids[name]}/net/dev", encoding="ascii") as table:
            line = next(line for line in table if line.strip().startswith("eth0:"))
        return int(line.split(":")[1].split()[column])

    def inside(self, name, path):
        """A node's path as we can open it. A last component that is a symlink is followed in the node's view."""
        root = f"/proc/{self.pids[name]}/root"
        seen = root + str(path)
        if os.path.islink(seen):
            target = os.path.join(os.path.dirname(path), os.readlink(seen))
            seen = root + os.path.normpath(target)
        return pathlib.Path(seen)

    def wipe(self, *names):
        """Empties the disks of these nodes; of all, if none is named."""
        for name in names or self.nodes:
            for entry in os.scandir(self.inside(name, LOCAL)):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path)
                else:
                    os.unlink(entry.path)
