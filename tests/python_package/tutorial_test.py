#!/usr/bin/python3
"""docs/python.md, cell by cell: each prints what the page says; and the Python of README.md."""

import contextlib
import doctest
import io
import os
import pathlib
import re
import textwrap

import sabath
from support.case import main, place
from support.content import fragment
from support.package import PackageCase
from support.page import INDENTED

TREE = pathlib.Path(__file__).resolve().parents[2]
PAGE = TREE / "docs/python.md"
CELL = re.compile(r"^```pycon\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Tutorial(PackageCase):
    def test_the_page(self):
        try:
            import fsspec  # noqa: F401
        except ImportError as missing:
            self.skipTest(f"this Python has no {missing.name}")
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.home)
        (self.home / "recipes").rename(self.home / "unused")  # the page makes its own
        text = PAGE.read_text(encoding="utf-8")
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        names = {}
        for number, cell in enumerate(CELL.finditer(text), 1):
            line = text.count("\n", 0, cell.start())
            test = doctest.DocTestParser().get_doctest(cell[1], names, f"cell {number}", str(PAGE), line)
            runner.run(test, clear_globs=False)
            names = test.globs
        self.assertEqual(runner.summarize(verbose=False).failed, 0)
        self.assertGreater(runner.tries, 40)

    def test_the_python_of_the_readme(self):
        place(self.home / "x.csv", b"1,2\n")
        self.sabath.add("nanoconfinement_4050", [fragment(f"file://{self.home}/x.csv")])
        blocks = INDENTED.findall((TREE / "README.md").read_text())
        (block,) = [textwrap.dedent(each) for each in blocks if "import sabath" in each]
        names = {}
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(block, "README.md", "exec"), names)
        self.assertEqual(names["data"], b"1,2\n")
        self.assertEqual(said.getvalue().split(), [sabath.path("nanoconfinement_4050"), names["asset"].root])


if __name__ == "__main__":
    main()
