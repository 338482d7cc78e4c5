#!/usr/bin/python3
"""docs/tutorial.md, typed as it stands: every command ends well, and prints what the page says."""

import os
import pathlib
import shutil
import signal
import unittest

from support import program
from support.case import Case, main
from support.origin import answers, free_port, poll
from support.page import Shell, blocks, commands, fits

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/tutorial.md"
PORT = "8765"  # on the page
SECONDS = 120  # of one command


@unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
class Tutorial(Case):
    def setUp(self):
        super().setUp()
        self.port = str(free_port())
        here = self.home / "reader"
        here.mkdir()
        path = f"{pathlib.Path(program.BINARY).parent}:{os.environ['PATH']}"
        own = {"PATH": path, "HOME": str(self.home), "COLUMNS": "200"}
        self.shell = Shell(["bash", "--norc"], cwd=here, env={**os.environ, **program.WITHOUT_LEAKS, **own})
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
