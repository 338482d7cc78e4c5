"""The reads of a program from files, as the kernel sees them: strace(1) around it."""

import re
import shutil

READS = "read,pread64,readv,preadv,preadv2,mmap,copy_file_range"


def have_strace():
    return shutil.which("strace") is not None


def traced(log, calls=READS):
    """A prefix: logs beside `log`, one for each thread, so that no line of one is cut by another's."""
    return ("strace", "-ff", "-y", "-qq", "-o", str(log), "-e", f"trace={calls}")


def opened(log, path):
    """How often a file was opened, by a log of openat."""
    return sum(file.read_text().count(f'"{path}"') for file in log.parent.glob(f"{log.name}.*"))


def bytes_read(log, *rooms):
    """Of files below these directories of the store; none may be mapped, for that is not seen."""
    seen = 0
    for line in "".join(file.read_text() for file in log.parent.glob(f"{log.name}.*")).splitlines():
        if match := re.search(r"\b(\w+)\(\d+<([^>]*)>.*= (\d+)$", line):
            below = any(f"/{room}/" in match[2] for room in rooms)
            assert not (match[1] == "mmap" and below), line
            seen += int(match[3]) if below else 0
    return seen
