#!/usr/bin/python3
"""The documents and the completions agree with the program. SABATH_ACCEPT=1 writes what is made of its words
anew: the manual page, the table of variables, docs/requests-and-records.md."""

import json
import os
import pathlib
import re
import shutil
import subprocess

from support.case import Case, main
from support.man_page import man_page, names_of, variables_of
from support.verb_page import verb_page

TREE = pathlib.Path(__file__).resolve().parents[2]
MAN = TREE / "etc/man/man1/sabath.1"
BASH = TREE / "etc/completions/bash/sabath"
CODES = TREE / "docs/exit-codes.md"
SETTINGS = TREE / "docs/configuration.md"
TABLES = TREE / "docs/requests-and-records.md"


class Documents(Case):
    def sabath_text(self, *arguments):
        return self.expect(self.sabath.run(*arguments)).out

    def test_the_manual_page(self):
        page = man_page(self.sabath_text, CODES.read_text())
        if os.environ.get("SABATH_ACCEPT"):
            MAN.parent.mkdir(parents=True, exist_ok=True)
            MAN.write_text(page)
        self.assertTrue(MAN.read_text() == page, "etc/man is not what the program says: SABATH_ACCEPT=1, and run again")
        if shutil.which("groff"):
            result = subprocess.run(["groff", "-man", "-ww", "-Tutf8", str(MAN)], capture_output=True, text=True, check=True)
            self.assertEqual(result.stderr, "")

    def test_the_keys_of_every_verb(self):
        page = verb_page(json.loads(self.sabath_text("help", "--json")))
        if os.environ.get("SABATH_ACCEPT"):
            TABLES.write_text(page)
        self.assertTrue(TABLES.is_file() and TABLES.read_text() == page,
                        f"{TABLES} is not what the program says: SABATH_ACCEPT=1, and run again")  # fmt: skip

    def test_the_table_of_variables(self):
        """It has all that the program and the package read, and no other."""
        said = variables_of(self.sabath_text("help", "variables"))
        table = "| variable | meaning |\n|---|---|\n" + "".join(f"| `{name}` | {meaning} |\n" for name, meaning in said)
        before, _, after = re.match(r"(.*\n## Variables\n\n)((?:\|.*\n)*)(.*)", SETTINGS.read_text(), re.S).groups()
        if os.environ.get("SABATH_ACCEPT"):
            SETTINGS.write_text(before + table + after)
        self.assertTrue(SETTINGS.read_text() == before + table + after, "docs/configuration.md: SABATH_ACCEPT=1, and run again")
        read = set()
        for top, pattern in (("src", "*.cc"), ("fetchers", "*.cc"), ("python/sabath", "*.py"), ("fetchers/command", "*.json")):
            for file in (TREE / top).rglob(pattern):
                read |= set(re.findall(r"""["']\$?(SABATH_[A-Z_]+)["']""", file.read_text()))
        self.assertEqual(read, {name for name, _ in said})

    def test_every_exit_code_has_a_line(self):
        codes = {int(code) for code in re.findall(r"^\| (\d+) \|", CODES.read_text(), re.M)}
        self.assertEqual(codes, {0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 70, 130, 143})

    def test_every_command_explains_itself(self):
        names = names_of(self.sabath_text("help", "all").split("\n"))
        self.assertGreater(len(names), 30)
        for name in names:
            text = self.sabath_text(*name.split(), "-h")
            if "--" not in name:
                self.assertEqual(text, self.sabath_text("help", *name.split()))
            self.assertEqual(text.split("\n")[2], "Examples")

    def test_words_of_the_shells(self):
        for shell, file in (("bash", BASH), ("zsh", TREE / "etc/completions/zsh/_sabath"),
                            ("fish", TREE / "etc/completions/fish/sabath.fish")):  # fmt: skip
            if shutil.which(shell):
                subprocess.run([shell, "-n", file], check=True)


if __name__ == "__main__":
    main()
