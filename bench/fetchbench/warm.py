"""Memory that a run finds as a computer's own memory is: there.

A virtual machine may hand free pages back to its host (free page reporting, a balloon); each page then costs a visit to
the hypervisor when it is next used, up to ten times what filling it costs. A process holds so many pages, touched, and
frees as many as a run takes, when it takes them: the kernel gives out first what was freed last.
"""
import mmap
import os
import re
import select

from .ground import ELSEWHERE, memory_available

LEAD_BYTES = 128 << 20  # freed in advance: more than a run takes between two looks
LOOK_MS = 4


def free_bytes():
    with open("/proc/meminfo", encoding="ascii") as text:
        return int(re.search(r"MemFree:\s+(\d+)", text.read())[1]) * 1024


class Warm:
    """A context: `size` bytes of touched memory, or what there is, given away as they are needed. With 0 nothing happens."""

    def __init__(self, size):
        self.size, self.child = max(0, min(size, memory_available() - ELSEWHERE)), None

    def __enter__(self):
        if not self.size:
            return self
        ready, told = os.pipe()
        ended, self.end = os.pipe()
        self.child = os.fork()
        if not self.child:
            os.close(self.end)
            try:
                hold(self.size, told, ended)
            finally:
                os._exit(1)
        os.close(told)
        os.close(ended)
        os.read(ready, 1)
        os.close(ready)
        return self

    def __exit__(self, *_):
        if self.child:
            os.close(self.end)
            os.waitpid(self.child, 0)
            self.child = None


def hold(size, told, ended):
    """The process's life: touch, say so, free what is asked for, until the other end of `ended` is closed."""
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE)
    look, floor, given = select.poll(), free_bytes(), 0
    look.register(ended)
    os.write(told, b"1")
    while not look.poll(LOOK_MS):
        wanted = (floor + LEAD_BYTES - free_bytes()) // mmap.PAGESIZE * mmap.PAGESIZE
        if wanted > 0 and given < size:
            length = min(wanted, size - given)
            pages.madvise(mmap.MADV_DONTNEED, given, length)
            given += length
    os._exit(0)
