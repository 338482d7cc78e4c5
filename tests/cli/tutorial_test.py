#!/usr/bin/python3
"""docs/tutorial.md, typed as it stands: every command ends well, and prints what the page says."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import unittest

from support import program
from support.case import Case, main
from support.origin import answers, free_port, poll

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/tutorial.md"
PORT = "8765"  # on the page
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"`([^`\n]+)`:\n\n$")
SECONDS = 120  # of one command


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


def fits(expected, lines):
    """`...` stands for any text; alone on its line, for any lines."""
    parts = [".*" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + "\n" for line in expected]
    pattern = "".join("(?:.*\n)*?" if part == ".*" else part for part in parts)
    return re.fullmatch(pattern, "".join(line + "\n" for line in lines)) is not None


class Shell:
    """One bash for the whole page, as a reader has it."""

    END = "--end of a command--"

    def __init__(self, directory, environment):
        self.process = subprocess.Popen(
            ["bash", "--norc"], cwd=directory, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True)  # fmt: skip

    def run(self, command):
        # mpirun would read the commands that follow.
        self.process.stdin.write(f"{{ {command}\n}} </dev/null\necho '{self.END}' $?\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.startswith(self.END):
                return int(line.split()[-1]), lines
            lines.append(line.rstrip("\n"))
        raise AssertionError(f"the shell ended in: {command}\n" + "\n".join(lines))

    def stop(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
class Tutorial(Case):
    def setUp(self):
        super().setUp()
        self.port = str(free_port())
        here = self.home / "reader"
        here.mkdir()
        path = f"{pathlib.Path(program.BINARY).parent}:{os.environ['PATH']}"
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if os.geteuid() == 0 else {}
        own = {"PATH": path, "HOME": str(self.home), "COLUMNS": "200"}
        self.shell = Shell(here, {**os.environ, **program.WITHOUT_LEAKS, **root, **own})
        self.addCleanup(self.shell.stop)
        self.here = here

    def test_the_page(self):
        signal.alarm(SECONDS * 5)
        done = 0
        for name, body in blocks(PAGE.read_text().replace(PORT, self.port)):
            if name != "console":
                (self.here / name).write_text(body)
                continue
            for command, expected in commands(body):
                code, lines = self.shell.run(command)
                said = f"$ {command}\n" + "\n".join(lines)
                self.assertEqual(code, 0, said)
                if expected:
                    self.assertTrue(fits(expected, lines), f"{said}\n--- the page says:\n" + "\n".join(expected))
                if command.endswith("&"):
                    self.assertTrue(poll(lambda: answers(int(self.port))), "no server")
                done += 1
        signal.alarm(0)
        self.assertGreater(done, 20)
        self.assertIn("<svg", (self.here / "figure.svg").read_text())


if __name__ == "__main__":
    main()
