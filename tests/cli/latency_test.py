#!/usr/bin/python3
"""report --format latency: files of several machines side by side."""

import csv
import io
import json
import re

from support.case import Case, main


class Latencies(Case):
    def report(self, *arguments, code=0):
        return self.expect(self.sabath.run("report", *arguments), code)

    def latency(self, place, node, factor, models=("encoder",), **changes):
        """A latency.json as a conversion writes it; milliseconds: 4, 2 and 1 by `factor`, or as `changes` say."""
        medians = {"native": 4, "onnxruntime": 2, "onnxruntime optimised": 1, **changes}
        rows = [{"model": model, "what": what, "provider": "cpu", "set": f"set{batch}", "batch": batch, "threads": 2, "warm_up": 3,
                 "calls": 50, "median_seconds": value * factor * batch / 1000, "p95_seconds": value * factor * batch / 500}
                for model in models for what, value in medians.items() for batch in (1, 32)]  # fmt: skip
        file = self.home / place / "latency.json"
        file.parent.mkdir()
        machine = {"node": node, "cpu": "Some | Processor", "cpus": 2}
        file.write_text(json.dumps({"schema": 1, "rows": rows, "machine": machine}))
        return file

    def test_latencies_of_several_machines(self):
        """A row for each model, batch and runtime, a column for each machine; what is slower is told as such."""
        self.latency("here", "xeon", 1.0)
        other = self.latency("there", "epyc", 0.5, ("encoder", "forest"), **{"onnxruntime optimised": 3})
        shown = self.report("here", str(other), "--format", "latency").out
        lines = {tuple(re.split("  +", line)[:3]): re.split("  +", line)[3:] for line in shown.splitlines() if line.startswith(("encoder ", "forest "))}
        self.assertEqual(lines["encoder", "1", "native"], ["4", "2"])
        self.assertEqual(lines["encoder", "32", "onnxruntime"], ["64", "32"])
        self.assertEqual(lines["encoder", "32", "onnxruntime optimised"], ["32", "48 slower"])
        self.assertEqual(lines["forest", "1", "native"], ["-", "2"])
        self.assertIn("encoder, batch 32, on epyc: the optimised graph is slower, 1.50 times", shown)
        self.assertNotIn("on xeon: the optimised", shown)
        self.report("here", "there", "--format", "latency", "-o", "table.csv")
        rows = list(csv.DictReader(io.StringIO((self.home / "table.csv").read_text())))
        self.assertEqual(len(rows), 18)
        slower = [row for row in rows if row["slowdown"] and float(row["slowdown"]) > 1]
        self.assertEqual({row["machine"] for row in slower}, {"epyc"})
        self.report("here", "there", "--format", "latency", "-o", "table.md")
        table = [line for line in (self.home / "table.md").read_text().splitlines() if line.startswith("|")]
        self.assertEqual((len(table), table[0]), (2 + 12, "| model | batch | runtime | xeon | epyc |"))
        self.assertIn("Some \\| Processor", (self.home / "table.md").read_text())
        record = self.report("here", "there", "--format", "latency", "--json").record["latency"]
        self.assertEqual([machine["name"] for machine in record["machines"]], ["xeon", "epyc"])
        self.assertEqual(record["rows"][0] | {"slowdown": 0}, {
            "model": "encoder", "batch": 1, "runtime": "native", "provider": "cpu", "set": "set1", "threads": 2, "machine": 0,
            "calls": 50, "median_seconds": 0.004, "p95_seconds": 0.008, "slowdown": 0})  # fmt: skip
        # The same model twice on one machine: each file's own rows.
        self.latency("again", "xeon", 2.0)
        shown = self.report("here", "again", "--format", "latency").out
        self.assertIn("encoder (here)", shown)
        self.assertIn("encoder (again)", shown)

    def test_latencies_that_cannot_be_shown(self):
        good = self.latency("here", "xeon", 1.0)
        text = good.read_text()
        for wrong, words in (("{", "latency.json"), ('{"schema": 2}', "another version wrote it"), (text.replace("0.004", "-1"), "a time that is none"),
                             (text.replace('"batch": 1', '"batch": "x"'), "has no latencies")):  # fmt: skip
            good.write_text(wrong)
            self.assertIn(words, self.report("here", "--format", "latency", code=12).err)
        self.assertIn("there is no file nowhere.json", self.report("nowhere.json", "--format", "latency", code=3).err)
        self.report("nowhere", "--format", "latency", code=3)
        self.assertIn("--metric is of runs", self.report("here", "--format", "latency", "--metric", "loss", code=2).err)


if __name__ == "__main__":
    main()
