#!/usr/bin/python3
"""docs/apply.md, typed as it stands; and its vector."""

import hashlib
import os
import pathlib
import re
import signal
import sys

from support import program
from support.case import Case, main, place
from support.page import Shell, blocks, commands, fits

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/apply.md"
DATA = "/data/tables"  # on the page
SECONDS = 600


class ApplyPage(Case):
    def test_the_page(self):
        here, data = self.home / "reader", self.home / "tables"
        here.mkdir()
        data.mkdir()
        path = f"{pathlib.Path(program.BINARY).parent}:{os.environ['PATH']}"
        own = {"PATH": path, "HOME": str(self.home), "COLUMNS": "200", "SABATH_PYTHON": sys.executable}
        shell = Shell(["bash", "--norc"], cwd=here, env={**os.environ, **own})
        self.addCleanup(shell.stop)
        signal.alarm(SECONDS)
        done = 0
        text = re.sub(r"```vector\n.*?```\n", "", PAGE.read_text(), flags=re.DOTALL)
        for name, body in blocks(text.replace(DATA, str(data))):
            if name != "console":
                place(here / name, body.encode())
                continue
            for command, expected in commands(body):
                code, lines = shell.run(command)
                said = f"$ {command}\n" + "\n".join(lines)
                self.assertEqual(code, 0, said)
                self.assertTrue(not expected or fits(expected, lines), f"{said}\n--- the page says:\n" + "\n".join(expected))
                done += 1
        signal.alarm(0)
        self.assertGreater(done, 12)

    def test_the_vector(self):
        key, expected = re.search(r"```vector\n(.*)\n(.*)\n```", PAGE.read_text()).groups()
        self.assertEqual(hashlib.sha256(key.encode()).hexdigest(), expected)


if __name__ == "__main__":
    main()
