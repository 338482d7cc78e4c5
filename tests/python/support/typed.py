"""A real shell at a terminal of its own, typed at as a user does."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

SECONDS = 60  # for an answer: far above what a slow machine takes
ESCAPES = re.compile(r"\x1b\[[0-9;?>=]*[A-Za-z]|\x1b[=>()][0-9A-B]?|\x1b\][^\x07]*\x07|[\x00\x07\x08\x0f]")
HOME, TAB = "\x01", "\t"


class Shell:
    def __init__(self, arguments, environment, cwd, columns=200):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execve(arguments[0], arguments, environment)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        self.marks = 0

    def send(self, text):
        os.write(self.fd, text.encode())

    def read_to(self, pattern):
        """What comes until the pattern, without what moves the cursor."""
        end, text = time.monotonic() + SECONDS, b""
        while not re.search(pattern, ESCAPES.sub("", text.decode(errors="replace"))):
            ready, _, _ = select.select([self.fd], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise AssertionError(f"the shell does not answer: {text!r}")
            text += os.read(self.fd, 65536)
        return ESCAPES.sub("", text.decode(errors="replace"))

    def run(self, command):
        """What a command prints."""
        self.marks += 1
        self.send(f"{command}; echo mark''{self.marks}-\n")
        return self.read_to(f"mark{self.marks}-\r?\n")

    def completed(self, line):
        """The line as it stands after TAB: the cursor is moved home, and `echo` prints what was made of it."""
        self.marks += 1
        self.send(line + TAB + HOME + f"echo mark''{self.marks}- ; echo '<'; echo " + "\n")
        text = self.read_to(f"mark{self.marks}-\r?\n<\r?\n[^\r\n]*\r?\n")
        return re.search(f"mark{self.marks}-\r?\n<\r?\n([^\r\n]*)", text).group(1).strip()

    def offered(self, line):
        """What TABs show, as words: the first may only add what is sure."""
        self.marks += 1
        self.send(line + 3 * TAB + HOME + "true " + f"\necho mark''{self.marks}-\n")
        return self.read_to(f"mark{self.marks}-\r?\n").split()

    def stop(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)
