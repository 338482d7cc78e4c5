#!/usr/bin/python3
"""docs/python.md, cell by cell: each prints what the page says."""

import doctest
import os
import pathlib
import re

from support.case import main
from support.package import PackageCase

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/python.md"
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


if __name__ == "__main__":
    main()
