"""How a rule of the house is run: its findings, a line each, or its own test. Exit status 1: there are some."""

import pathlib
import sys


def run(name, check, self_test):
    """`check(TREE)` gives findings, `self_test()` how many of its samples failed."""
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(1 if self_test() else 0)
    findings = check(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    print("\n".join(findings) if findings else f"{name}: no findings")
    sys.exit(1 if findings else 0)
