#!/usr/bin/python3
"""docs/habits.md against the program: each `sabath` command in its last column is run, each option there exists."""

import pathlib
import re
import subprocess

from support import program
from support.case import Case, main
from support.content import fragment, seeded

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/habits.md"
DATA = seeded(1000, "habits")

# What a command's capitals stand for here, and what it ends with if that is not 0.
WORDS = {"sabath init --shared": "sabath init --shared --store shared", "URL": "file://{home}/data.bin",
         "hf://OWNER/NAME": "hf://OWNER/NAME --offline", "NAME": "set", "VERB": "fetch"}
ENDS = {"sabath fetch hf://OWNER/NAME": 9}  # it is understood, and no socket is opened
NOT_RUN = {"sabath serve": "it serves until it is ended: tests/cli/serve_test.py", "sabath demo": "tests/cli/demo_test.py"}
SSH = '#!/bin/sh\nshift\nSABATH_CACHE=$HOME/cluster exec "$@"\n'


def cells(page):
    """Of each row of the table: its last column's pieces of code."""
    for line in page.splitlines():
        columns = re.split(r"(?<!\\)\|", line)
        if line.startswith("|") and not re.match(r"\| (to \.\.\.|---)", line):
            yield [code.replace("\\|", "|") for code in re.findall(r"`([^`]+)`", columns[-2])]


class Habits(Case):
    def setUp(self):
        super().setUp()
        (self.home / "data.bin").write_bytes(DATA)
        (self.home / "bin").mkdir()
        (self.home / "bin/ssh").write_text(SSH)
        (self.home / "bin/ssh").chmod(0o755)
        (self.home / "bin/sabath").symlink_to(program.BINARY)
        self.sabath.environment["PATH"] = f"{self.home}/bin:{self.sabath.environment['PATH']}"
        self.sabath.add("set", [fragment(f"file://{self.home}/data.bin", DATA, path="data.bin")])

    def run_line(self, line):
        for word, value in WORDS.items():
            line = re.sub(rf"(?<![\w/]){re.escape(word)}(?![\w/])", value.format(home=self.home), line)
        result = subprocess.run(["bash", "-o", "pipefail", "-c", line], env=self.sabath.environment, cwd=self.home,
                                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False)  # fmt: skip
        return result.returncode, f"$ {line}\n{result.stdout}{result.stderr}"

    def test_each_command_does_what_is_said(self):
        ran = 0
        for codes in cells(PAGE.read_text()):
            for line in (code for code in codes if code.startswith("sabath ") and code not in NOT_RUN):
                self.expect(self.sabath.run("fetch", "set"))
                code, said = self.run_line(line)
                self.assertEqual(code, ENDS.get(line, 0), said)
                ran += 1
        self.assertGreater(ran, 12)

    def test_each_option_exists(self):
        everywhere = self.expect(self.sabath.run("--help")).out
        checked = 0
        for codes in cells(PAGE.read_text()):
            verbs = [code.split()[-1 if code.startswith("sabath help") else 1] for code in codes if code.startswith("sabath ")]
            verbs += [code for code in codes if re.fullmatch("fetch|run|gc", code)]
            texts = {verb: self.expect(self.sabath.run("help", verb)).out for verb in verbs if verb.islower()}
            for option in (code for code in codes if code.startswith("-")):
                named = [verb for verb, text in texts.items() if option in text] or option in everywhere
                self.assertTrue(named, f"{option}: {list(texts)}")
                checked += 1
            for verb in (code for code in codes if re.fullmatch("fetch|run|gc", code)):
                self.assertIn("--dry-run", texts[verb])
        self.assertGreater(checked, 2)


if __name__ == "__main__":
    main()
