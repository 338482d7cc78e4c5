"""Memory that a run finds as a computer's own memory is: there.

A virtual machine may hand free memory back to its host (free page reporting); each page then costs a visit to the
hypervisor when it is next used, up to ten times what filling it costs. Only whole blocks of 2 MiB are handed back, and
the kernel gives out what lies in broken blocks first: a process takes as much memory as a run may need, and keeps one page
in sixty-four of it. The pages that it lets go of stay in the machine, and cost no run anything.
"""
import mmap
import os

from .ground import memory_available
from .measure import Skip

PAGE, KEPT_ONE_IN, STEP = mmap.PAGESIZE, 64, 64 << 20
SPARE_BYTES = 512 << 20  # of free memory, that stays with the kernel meanwhile
MADV_POPULATE_WRITE = 23  # Linux 5.14


class Warm:
    """A context for a whole bench, whose runs need at most `needed` bytes together. With 0 nothing happens."""

    def __init__(self, needed):
        self.needed, self.child = needed, None

    def __enter__(self):
        if not self.needed:
            return self
        ready, said = os.pipe()
        ended, self.end = os.pipe()
        self.child = os.fork()
        if not self.child:
            os.close(ready)
            os.close(self.end)
            try:
                keep(self.needed, said, ended)
            finally:
                os._exit(1)
        os.close(said)
        os.close(ended)
        with os.fdopen(ready, "rb") as answer:
            if not answer.read(1):
                self.__exit__()
                raise Skip("--warm could not take the memory that a run needs")
        return self

    def __exit__(self, *_):
        if self.child:
            os.close(self.end)
            os.waitpid(self.child, 0)
            self.child = None


def keep(needed, said, ended):
    """The process's life: breaks free memory up, says so, and waits for the other end of `ended` to be closed."""
    size = min(needed, memory_available() - SPARE_BYTES) // STEP * STEP
    held = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    held.madvise(mmap.MADV_NOHUGEPAGE)
    for at in range(0, size, STEP):
        held.madvise(MADV_POPULATE_WRITE, at, STEP)
    for at in range(0, size, KEPT_ONE_IN * PAGE):
        held.madvise(mmap.MADV_DONTNEED, at + PAGE, (KEPT_ONE_IN - 1) * PAGE)
    os.write(said, b"y")
    os.close(said)
    os.read(ended, 1)
    os._exit(0)
