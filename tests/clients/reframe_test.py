"""ReFrame runs etc/reframe/sabath_check.py: what passes and what fails, and the figures that it keeps are those of the record."""

import json
import os
import pathlib
import shutil
import subprocess

from support import program
from support.case import Case, main, place
from support.content import fragment

TREE = pathlib.Path(__file__).resolve().parents[2]
CHECK = TREE / "etc/reframe/sabath_check.py"
TRAIN = "import sys\nfor epoch in range(3):\n    print('epoch', epoch, 'loss', 1 / (epoch + 1), flush=True)\nsys.exit(int(sys.argv[1]))\n"


def reframe():
    """The command; None: it is not here."""
    named = os.environ.get("SABATH_REFRAME") or str(TREE / "build/reframe/bin/python")
    own = pathlib.Path(named).parent / "reframe"
    return str(own) if own.is_file() else shutil.which("reframe")


class Checked(Case):
    def setUp(self):
        super().setUp()
        self.command = reframe()
        if self.command is None:
            self.skipTest("no ReFrame: scripts/setup clients reframe makes build/reframe, or SABATH_REFRAME names a Python")
        place(self.home / "origin/a", b"x")
        self.sabath.add("set", [fragment(f"file://{self.home}/origin/a")])
        self.expect(self.sabath.run("fetch", "set"))

    def model(self, name, code):
        self.sabath.add(name, kind="model", default_dataset="set", run={"set": [{"argv": ["/usr/bin/python3", "-c", TRAIN, str(code)]}]})

    def check(self, recipes, *arguments, options="--trust,once,--launcher,direct"):
        report = self.home / f"report{len(list(self.home.glob('report*')))}.json"
        command = [self.command, "-c", CHECK, "-r", "--prefix", self.home / "reframe", "--report-file", report, "-S", f"options={options}",
                   "-S", f"sabath={program.BINARY}", *arguments]  # fmt: skip
        environment = {**self.sabath.environment, "SABATH_CHECK_RECIPES": recipes, "TMPDIR": str(self.home), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([str(one) for one in command], env=environment, cwd=self.home, capture_output=True, text=True, check=False)
        self.assertTrue(report.is_file(), done.stdout + done.stderr)
        (session,) = json.loads(report.read_text())["runs"]
        return {one["check_vars"]["recipe"] if "check_vars" in one else one["recipe"]: one for one in session["testcases"]}, done

    def test_what_passes_and_what_fails(self):
        self.model("good", 0)
        self.model("bad", 3)
        cases, done = self.check("good bad,nowhere")
        results = {name: one["result"] for name, one in cases.items()}
        self.assertEqual(results, {"good": "pass", "bad": "fail", "nowhere": "fail"}, done.stdout)
        self.assertIn("sabath ended with ", cases["bad"]["fail_reason"])
        self.assertIn("nowhere", cases["nowhere"]["fail_reason"])
        figures = {name.split(":")[-1]: value[0] for name, value in cases["good"]["perfvalues"].items()}
        (run,) = (self.home / "reframe").glob("output/**/run.json")
        record = json.loads(run.read_text())
        self.assertEqual(figures["seconds"], record["finished"] - record["started"])
        self.assertEqual(figures["train_seconds"], record["times"]["train"])
        self.assertEqual((figures["epochs"], figures["loss"]), (3, 1 / 3))

    def test_the_exit_code_decides(self):
        """4 is what was not trusted."""
        fake = self.home / "sabath"
        fake.write_text('#!/bin/sh\nmkdir record\necho \'{"state": "finished", "exit": 0}\' >record/run.json\necho why >&2\nexit 4\n')
        fake.chmod(0o755)
        cases, done = self.check("x", "-S", f"sabath={fake}")
        self.assertEqual(cases["x"]["result"], "fail", done.stdout)
        self.assertIn("sabath ended with 4: why", cases["x"]["fail_reason"])

    def test_a_name_is_no_command(self):
        mark = self.home / "mark"
        for recipe in (f"$(touch${{IFS}}{mark})", f"`touch${{IFS}}{mark}`", f"x;touch${{IFS}}{mark}", "--trust=once", "'"):
            cases, _ = self.check(recipe)
            self.assertEqual(cases[recipe]["result"], "fail")
        self.assertFalse(mark.exists())

    def test_records_that_are_none(self):
        """`sabath` is a script that writes any record."""
        fake = self.home / "sabath"
        for text, metrics in (("", ""), ("{", ""), ("[]", ""), ("[" * 100_000, ""), ('{"state": "running", "exit": 0}', ""),
                              ('{"state": "finished", "exit": 1}', ""), ('{"state": {"a": 1}, "exit": [0], "times": []}', "")):  # fmt: skip
            (self.home / "r").write_text(text)
            fake.write_text(f"#!/bin/sh\nmkdir record\ncp {self.home}/r record/run.json\n")
            fake.chmod(0o755)
            cases, done = self.check("x", "-S", f"sabath={fake}")
            self.assertEqual(cases["x"]["result"], "fail", done.stdout)
        (self.home / "r").write_text('{"state": "finished", "exit": 0, "times": {"train": "x"}, "started": NaN}')
        (self.home / "m").write_text('{"name": "a/b c", "rank": 1, "value": 9}\n{"name": "a/b c", "rank": 0, "value": 2, "epoch": 1}\n'
                                     '{"name": "n", "value": "NaN"}\n{"name": 1, "value": 1}\n{"name": "l", "value": [1], "rank": "x"}\n[]\n'
                                     '5\n{\n{"name": "torn", "value": 1}')  # fmt: skip
        fake.write_text(f"#!/bin/sh\nmkdir record\ncp {self.home}/r record/run.json\ncp {self.home}/m record/metrics.jsonl\n")
        cases, done = self.check("x", "-S", f"sabath={fake}")
        self.assertEqual(cases["x"]["result"], "pass", done.stdout)
        figures = {name.split(":")[-1]: value[0] for name, value in cases["x"]["perfvalues"].items()}
        self.assertEqual(figures, {"epochs": 1, "a_b_c": 2})


if __name__ == "__main__":
    main()
