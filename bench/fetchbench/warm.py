"""Memory that a run finds as a computer's own memory is: there.

A virtual machine may hand free pages back to its host (free page reporting, a balloon); each page then costs a visit to
the hypervisor when it is next used, up to ten times what filling it costs. A process keeps nearly all free memory in use:
what no run needs as memory of its own, and the rest as the page cache of a file that is one hole. Of that it drops as much
as a run takes, when it takes it: what the run gets was in use a moment ago. Should the process be late, the kernel does
the same by itself, as on every computer that has been up for a while.
"""
import mmap
import os
import re
import select
import tempfile
import time

from .measure import Skip

LOW_BYTES, HIGH_BYTES = 384 << 20, 768 << 20  # of free memory; the kernel's own watermarks are lower
PIECE = 2 << 20
LOOK_MS = 4
FILL_S = 300
MADV_POPULATE_WRITE = 23  # Linux 5.14


def memory(field):
    with open("/proc/meminfo", encoding="ascii") as text:
        return int(re.search(rf"{field}:\s+(\d+)", text.read())[1]) * 1024


class Warm:
    """A context for a whole bench, whose runs need at most `needed` bytes; `settle` before each run. With 0 nothing happens."""

    def __init__(self, needed):
        self.needed, self.wanted, self.child = needed, needed > 0, None

    def __enter__(self):
        if self.needed:
            hole = tempfile.TemporaryFile(dir="/var/tmp")  # of a disk: a hole in memory has no page cache
            size = self.needed + HIGH_BYTES
            os.ftruncate(hole.fileno(), size)
            ended, self.end = os.pipe()
            self.child = os.fork()
            if not self.child:
                os.close(self.end)
                try:
                    keep(hole.fileno(), size, ended)
                finally:
                    os._exit(1)
            os.close(ended)
            hole.close()
        return self

    def __exit__(self, *_):
        if self.child:
            os.close(self.end)
            os.waitpid(self.child, 0)
            self.child = None

    def settle(self):
        """Returns when free memory is in use; Skip if that does not come about."""
        deadline = time.monotonic() + FILL_S
        while self.child and memory("MemFree") > HIGH_BYTES:
            if time.monotonic() > deadline or os.waitpid(self.child, os.WNOHANG)[0]:
                self.child = None
                os.close(self.end)  # it has no effect but the time that it takes from others
                raise Skip("--warm could not keep memory in use: it needs /var/tmp on a disk")
            time.sleep(0.05)


def keep(hole, size, ended):
    """The process's life, until the other end of `ended` is closed: cached is [dropped, taken) of the hole, round and round."""
    look, piece, dropped, taken = select.poll(), mmap.mmap(-1, PIECE), 0, 0
    look.register(ended)
    beside = []
    os.posix_fadvise(hole, 0, 0, os.POSIX_FADV_RANDOM)  # pages, not folios: for these the kernel would make room first
    while not look.poll(LOOK_MS):
        while memory("MemAvailable") > size and not look.poll(0):  # again, if somebody else frees some
            beside.append(mmap.mmap(-1, PIECE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
            beside[-1].madvise(MADV_POPULATE_WRITE, 0, PIECE)
        while memory("MemFree") > HIGH_BYTES and not look.poll(0):
            dropped = max(dropped, taken - size)  # the kernel may have dropped them before us
            taken += os.preadv(hole, [memoryview(piece)[:min(PIECE, size - taken % size)]], taken % size)
        if (free := memory("MemFree")) < LOW_BYTES:
            length = min((LOW_BYTES + HIGH_BYTES) // 2 - free, taken - dropped, size - dropped % size)
            os.posix_fadvise(hole, dropped % size, length, os.POSIX_FADV_DONTNEED)
            dropped += length
    os._exit(0)
