#!/usr/bin/python3
"""What is without effect, or cannot be what was meant, is refused as usage, with the next step."""

import json

from support.case import Case, main, place
from support.content import fragment, seeded

LOG = b'{"epoch": 0, "loss": 0.5}\n{"epoch": 1, "loss": 0.25}\n'


class Refusals(Case):
    def setUp(self):
        super().setUp()
        self.directory = self.home / "directory"
        place(self.directory / "train.jsonl", LOG)
        self.data = seeded(1000)
        place(self.home / "f", self.data)
        self.sabath.add("one", [fragment(f"file://{self.home}/f", self.data)])

    def refused(self, *arguments, says, hint="", code=2):
        error = self.expect(self.sabath.run(*arguments), code).err
        self.assertIn(says, error)
        self.assertIn(hint, error.partition("hint:")[2])

    def test_a_report_by_an_ending_that_no_exporter_has(self):
        log = self.directory / "train.jsonl"
        file = self.home / "figure.pdf"
        self.refused("report", log, "-o", file, says="no report is written as .pdf", hint="text, svg, png, html")
        self.assertFalse(file.exists())
        for name in ("plain", "plain.txt"):
            self.expect(self.sabath.run("report", log, "-o", self.home / name))
            self.assertIn("loss", (self.home / name).read_text())
        self.expect(self.sabath.run("report", log, "--format", "text", "-o", file))
        self.assertIn("loss", file.read_text())

    def test_options_of_another_mode(self):
        to = ("stage", "one", "--to", self.home / "disk")
        for more in (("--seed", "3"), ("--overlap", "2"), ("--per-rank",)):
            self.refused(*to, *more, says="are of the mode shard", hint="--mode shard")
            self.refused(*to, "--mode", "replicate", *more, says="are of the mode shard")
        self.refused(*to, "--filter", "gzip", says="--filter is of what --select writes", hint="--select")
        self.assertFalse((self.home / "disk").exists())
        self.expect(self.sabath.run(*to, "--mode", "shard", "--seed", "3"))
        self.refused("catalogue", "export", self.home / "out", "one", "--all", says="--all is of every recipe")
        self.assertFalse((self.home / "out").exists())

    def test_a_directory_where_a_file_is_wanted(self):
        place = self.directory
        for arguments in (("import", place), ("task", place), ("export", "--want", place, "-o", "x"),
                          ("config", "--config", place), ("report", place / "train.jsonl", "-o", place),
                          ("fetch", "one", "--manifest", place),
                          ("report", place / "train.jsonl", "--format", "mlperf", "--set-from", place)):  # fmt: skip
            self.refused(*arguments, says=f"{place} is a directory", hint="name a file")

    def test_names_that_no_file_can_have(self):
        long = 6000 * "a"
        for code, arguments in ((3, ("report", long)), (3, ("manifest", "show", long)), (3, ("inspect", long)),
                                (3, ("import", long)), (3, ("task", long)), (3, ("info", long)), (9, ("gc", "--store", long)),
                                (3, ("hdf5", "inspect", long)), (3, ("hdf5", "hash", long)), (2, ("config", "--config", long)),
                                (2, ("fetch", "one", "--manifest", long))):  # fmt: skip
            with self.subTest(arguments[:-1]):
                self.expect(self.sabath.run(*arguments), code)
        self.refused("report", self.directory / "train.jsonl", "-o", long, says="File name too long", hint="shorter path")

    def test_a_dry_run_ends_as_a_plan_does(self):
        self.sabath.add("manual", [], access={"kind": "login", "steps": ["ask its owner"]})
        self.sabath.add("odd", [fragment("gopher://data.example/f")])
        for name, code in (("manual", 4), ("odd", 6), ("one", 0)):
            self.expect(self.sabath.run("plan", name), code)
            record = json.loads(self.expect(self.sabath.run("fetch", "--dry-run", "--json", name), code).out)
            self.assertEqual(record["exit"], code)
            self.assertEqual(len(record["assets"][0]["failures"]), 1 if code else 0)

    def test_help_of_a_command_that_an_option_makes_another(self):
        for line in (("apply", "--list"), ("info", "--where"), ("export", "--missing")):
            self.assertEqual(self.expect(self.sabath.run("help", *line)).out,
                             self.expect(self.sabath.run(*line, "--help")).out)  # fmt: skip
        self.refused("help", "apply", "--lst", says="no such option: '--lst'")

    def test_who_pins_is_said(self):
        text = self.expect(self.sabath.run("fetch", "one", "--json")).record["assets"][0]["manifest"]
        self.sabath.add("two", [fragment(f"file://{self.home}/f", self.data)], manifest={"digest": text})
        elsewhere = ("--store", self.home / "empty")
        where = ("info", "--where", "two", *elsewhere)
        self.assertIn("trusted by pinned by the recipe", self.expect(self.sabath.run(*where), 9).out)
        self.assertIn("pinned by the recipe", self.expect(self.sabath.run("info", "two", *elsewhere)).out)
        self.assertEqual(self.expect(self.sabath.run(*where, "--json"), 9).record["trusted_by"], "pinned")


if __name__ == "__main__":
    main()
