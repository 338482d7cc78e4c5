"""The commands that a page tells its reader to type, and a shell for them: one for the whole page, as a reader has it."""

import fcntl
import os
import re
import signal
import struct
import subprocess
import termios

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"`([^`\n]+)`:\n\n$")
INDENTED = re.compile(r"(?:^    .*\n|^\n(?=    ))+", re.MULTILINE)
PROGRAMS = ("sabath", "mpirun", "srun", "scripts/", "cd ", "p=", "export ", "source ", "cmake ")
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def blocks(text):
    """What the page says to type and to write: ("console", text) and (file's name, text)."""
    for match in BLOCK.finditer(text):
        kind, body = match.groups()
        name = FILE.search(text, 0, match.start())
        yield ("console" if kind == "console" else name.group(1)), body


def commands(body):
    """(command, lines expected of it)."""
    found = []
    for line in body.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def indented_commands(text):
    """The lines of blocks that begin with a command, of a page without prompts."""
    for match in INDENTED.finditer(text):
        lines = [line[4:] for line in match.group().splitlines() if line.strip()]
        if lines[0].startswith(PROGRAMS):
            yield from lines


def fits(expected, lines):
    """`...` stands for any text; alone on its line, for any lines."""
    parts = [".*" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + "\n" for line in expected]
    pattern = "".join("(?:.*\n)*?" if part == ".*" else part for part in parts)
    return re.fullmatch(pattern, "".join(line + "\n" for line in lines)) is not None


class Shell:
    """`columns`: of the terminal that its programs print on; None: they print into a pipe."""

    END = "--end of a command--"

    def __init__(self, arguments, columns=None, **options):
        terminal, out = os.openpty() if columns else (None, subprocess.PIPE)
        if columns:
            fcntl.ioctl(out, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        self.process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=out, stderr=subprocess.STDOUT, text=True, start_new_session=True,
            **options,
        )  # fmt: skip
        if columns:
            os.close(out)
        self.out = os.fdopen(terminal, errors="replace") if columns else self.process.stdout

    def run(self, command):
        """(exit code, lines): of a terminal, the lines as they stand in the end."""
        # mpirun would read the commands that follow.
        self.process.stdin.write(f"{{ {command}\n}} </dev/null\necho '{self.END}' $?\n")
        self.process.stdin.flush()
        lines = []
        try:
            for line in self.out:
                if line.startswith(self.END):
                    return int(line.split()[-1]), lines
                lines.append(ESCAPES.sub("", line.rstrip("\n")).split("\r")[-1])
        except OSError:  # a terminal whose last program has ended
            pass
        raise AssertionError(f"the shell ended in: {command}\n" + "\n".join(lines))

    def stop(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self.out.close()
