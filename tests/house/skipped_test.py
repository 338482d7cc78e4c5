#!/usr/bin/python3
"""scripts/skipped names each reason once, and only tests that were skipped."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SKIPPED = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "skipped"
GOOGLE = """[ RUN      ] Stage.Mpi
/src/tests/unit/stage/mpi_test.cc:7: Skipped
needs mpirun

[  SKIPPED ] Stage.Mpi (0 ms)
[==========] 1 test from 1 test suite ran. (0 ms total)
[  PASSED  ] 0 tests.
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] Stage.Mpi
"""


def case(name, status, output, skipped=""):
    return f'<testcase name="{name}" status="{status}">{skipped}<system-out>{output}</system-out></testcase>'


def run(*cases):
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(f"<testsuite>{''.join(cases)}</testsuite>")
        file.flush()
        return subprocess.run([SKIPPED, file.name], check=True, capture_output=True, text=True).stdout


class Skipped(unittest.TestCase):
    skip = '<skipped message="SKIP_RETURN_CODE=77"/>'

    def test_none(self):
        self.assertEqual(run(case("a", "run", "SKIP: not really")), "skipped 0\n")

    def test_reasons(self):
        self.assertEqual(
            run(
                case("a", "notrun", "SKIP: needs root", self.skip),
                case("b", "notrun", "x\nSKIP: needs root\n", self.skip),
                case("c", "notrun", GOOGLE, self.skip),
                case("d", "notrun", "", self.skip),
                case("e", "run", "fine"),
            ),
            "skipped 1: d: SKIP_RETURN_CODE=77\nskipped 1: c: needs mpirun\nskipped 2: a, b: needs root\n",
        )


if __name__ == "__main__":
    unittest.main()
