"""The ground of a run: memory-backed room with a cap, source files in it, and what compares results with them.

As root the room is a tmpfs in a mount namespace of our own, so that nothing stays however the run ends; without, a
directory in /dev/shm.
"""
import ctypes
import filecmp
import hashlib
import multiprocessing
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile

from .measure import Skip

CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 1 << 18
MIB = 1 << 20
SMALL_BYTES = 64 << 10
PART_BYTES = 32 * MIB  # of a large file, made by one process
COMPARED_BYTES = 256 * MIB  # at least, by one process
ELSEWHERE = 2 << 30  # memory that the tools themselves may need
_libc = ctypes.CDLL(None, use_errno=True)


def memory_available():
    with open("/proc/meminfo", encoding="ascii") as text:
        return int(re.search(r"MemAvailable:\s+(\d+)", text.read())[1]) * 1024


def own_mounts():
    """Moves this process into a mount namespace of its own; False if it may not."""
    return os.geteuid() == 0 and _libc.unshare(CLONE_NEWNS) == 0 and \
        _libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) == 0


def mount_tmpfs(path, cap):
    options = f"size={cap},mode=755".encode()
    return _libc.mount(b"tmpfs", os.fsencode(path), b"tmpfs", 0, options) == 0


class Room:
    """Where sources, servers' files and results lie; use as a context."""

    def __init__(self, cap):
        self.cap = cap
        if memory_available() < cap + ELSEWHERE:
            raise Skip(f"needs {(cap + ELSEWHERE) / MIB:.0f} MiB of free memory, there are "
                       f"{memory_available() / MIB:.0f}: choose a smaller --size")

    def __enter__(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="sabath-bench-"))  # logs, recipes: not in the cap
        self.room = self.scratch / "room"
        self.room.mkdir()
        self.mounted = own_mounts() and mount_tmpfs(self.room, self.cap)
        if not self.mounted:
            self.room.rmdir()
            if (free := shutil.disk_usage("/dev/shm").free) < self.cap:
                raise Skip(f"needs {self.cap / MIB:.0f} MiB in /dev/shm, there are {free / MIB:.0f}")
            self.room = pathlib.Path(tempfile.mkdtemp(prefix="sabath-bench-", dir="/dev/shm"))
        self.www, self.bad, self.results = self.room / "www", self.room / "bad", self.room / "results"
        for directory in (self.www, self.bad, self.results):
            directory.mkdir()
        return self

    def __exit__(self, *_):
        if self.mounted:
            _libc.umount2(os.fsencode(self.room), 2)  # MNT_DETACH
        shutil.rmtree(self.room, ignore_errors=True)
        shutil.rmtree(self.scratch, ignore_errors=True)

    def clear_results(self):
        shutil.rmtree(self.results)
        (self.results / "many").mkdir(parents=True)  # curl makes no directories


def write_part(path, begin, size, seed):
    generator = random.Random(f"{seed}/{begin}")
    with open(path, "r+b") as file:
        file.seek(begin)
        for left in range(size, 0, -MIB):
            file.write(generator.randbytes(min(MIB, left)))


def write_random(path, size, seed):
    """By a process for each core: one makes some 0.4 GB/s."""
    with open(path, "wb") as file:
        file.truncate(size)
    parts = [(path, begin, min(PART_BYTES, size - begin), seed) for begin in range(0, size, PART_BYTES)]
    with multiprocessing.Pool(min(os.cpu_count(), len(parts) or 1)) as pool:
        pool.starmap(write_part, parts)


def sha256_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def same_file(source, path):
    """Compared in parts side by side, as many as there are cores, so that large files do not take longer than the tools."""
    if not os.path.isfile(path) or os.path.getsize(path) != os.path.getsize(source):
        return False
    size = os.path.getsize(source)
    part = max(COMPARED_BYTES, -(-size // os.cpu_count()))
    compared = [subprocess.Popen(["cmp", "-s", "-i", str(begin), "-n", str(part), source, path])
                for begin in range(0, size, part)]
    return not any([process.wait() for process in compared])


class OneFile:
    """www/BUCKET/f: one file of random bytes, with its checksum and its manifest."""

    def __init__(self, room, size, make_manifest):
        self.size, self.bucket = size, f"one-{size}"
        self.path = room.www / self.bucket / "f"
        self.target = f"{self.bucket}/f"
        self.manifest_target = f"{self.bucket}.manifest"
        self.bad_root = room.bad
        self.path.parent.mkdir()
        write_random(self.path, size, seed=size)
        self.sha256 = sha256_of(self.path)
        self.root = make_manifest(self.path.parent, room.www / self.manifest_target)
        shutil.copy(room.www / self.manifest_target, room.bad)

    def make_bad(self):
        """The same file with every 100th byte wrong, below the directory `bad`."""
        bad = self.bad_root / self.target
        if bad.exists():
            return
        bad.parent.mkdir()
        with open(self.path, "rb") as good, open(bad, "wb") as file:
            while piece := bytearray(good.read(100 * SMALL_BYTES)):
                piece[::100] = bytes(byte ^ 255 for byte in piece[::100])
                file.write(piece)

    def same(self, path):
        return same_file(self.path, path)

    def pieces(self, length=MIB):
        with open(self.path, "rb") as file:
            while piece := file.read(length):
                yield hashlib.sha256(piece).hexdigest()


class ManyFiles:
    """www/many/small/fNNNNN: files of 64 KiB, their list and their manifest."""

    def __init__(self, room, count, make_manifest):
        self.count, self.size = count, count * SMALL_BYTES
        self.names = [f"f{index:05d}" for index in range(count)]
        self.directory = room.www / "many" / "small"
        self.list_target, self.manifest_target = "many/list.txt", "many.manifest"
        self.directory.mkdir(parents=True)
        generator = random.Random(count)
        for name in self.names:
            (self.directory / name).write_bytes(generator.randbytes(SMALL_BYTES))
        # The list is a part of the asset, and of its manifest.
        (room.www / self.list_target).write_text("".join(f"small/{name}\n" for name in self.names), encoding="ascii")
        self.root = make_manifest(room.www / "many", room.www / self.manifest_target)

    def same(self, directory):
        if not os.path.isdir(directory) or set(os.listdir(directory)) != set(self.names):
            return False
        return not any(filecmp.cmpfiles(self.directory, directory, self.names, shallow=False)[1:])
