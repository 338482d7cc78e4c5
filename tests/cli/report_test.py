#!/usr/bin/python3
"""report, compare and log: what they print agrees with what went in, in every format."""

import csv
import io
import json
import math
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

from support.case import Case, main, place

SVG = "{http://www.w3.org/2000/svg}"
BEGIN = 1_795_252_000.0


def run_json(**changes):
    return {
        "schema": 1, "id": "ab12", "started": BEGIN, "finished": BEGIN + 40, "state": "finished", "mode": "train",
        "command": ["python3", "train.py", "--lr", "0.1"],
        "recipe": {"name": "nano", "version": "1", "digest": "sha256:" + "a" * 64},
        "assets": [{"name": "universe", "kind": "dataset", "manifest": "sha256:" + "b" * 64,
                    "verified_by": "hashed before launch", "path": "/x", "warm": True}],
        "source": {"commit": "c" * 40}, "environment": {"packages": {"numpy": "1.24"}},
        "machine": {"cpu": "<script>alert(1)</script>"},
        "times": {"fetch": 0.5, "stage": 2.0, "verify": 0.25, "launch": 0.25, "train": 30},
        "config": {"lr": 0.1}, "exit": 0, "signal": None, **changes,
    }  # fmt: skip


class Reports(Case):
    def make_run(self, name="run_a", epochs=20, first=1, scale=1.0, nan_at=None, **changes):
        """A run's directory as `sabath run` leaves it, its last line torn; returns {name: {epoch: value}}."""
        place = self.home / name
        (place / "output").mkdir(parents=True)
        (place / "output/stdout").write_text("hello\n")
        (place / "run.json").write_text(json.dumps(run_json(**changes)))
        values = {"loss": {}, "val_mae": {}, "epoch_time": {}}
        with open(place / "metrics.jsonl", "w", encoding="utf-8") as file:
            for i in range(epochs):
                epoch = first + i
                values["loss"][epoch] = math.nan if i == nan_at else scale / (i + 1) ** 2
                values["val_mae"][epoch] = scale * (0.05 + 0.5 / (i + 1))
                values["epoch_time"][epoch] = 1.5 + 0.1 * (i % 3)
                for metric, of in values.items():
                    value = "NaN" if math.isnan(of[epoch]) else of[epoch]
                    line = {"time": BEGIN + 4 + 1.75 * i, "epoch": epoch, "step": None, "rank": 0, "name": metric,
                            "value": value}  # fmt: skip
                    file.write(json.dumps(line) + "\n")
            file.write('{"time":17952520')
        return values

    def report(self, *arguments, code=0):
        return self.expect(self.sabath.run("report", *arguments), code)

    def rows(self, *arguments):
        return list(csv.DictReader(io.StringIO(self.report(*arguments, "--format", "csv").out)))

    def test_text(self):
        self.make_run()
        text = self.report("run_a").out
        self.assertRegex(text, r"(?m)^epoch +loss +val_mae +epoch_time$")
        self.assertRegex(text, r"(?m)^ +1 +1 +0.55 +1.5$")
        self.assertRegex(text, r"(?m)^loss .* 1 -> 0.0025  best 0.0025 at epoch 20$")
        self.assertIn("hashed before launch  warm", text)
        self.make_run("run_b", epochs=60)
        both = self.report("run_a", "run_b").out
        self.assertRegex(both, r"(?m)^run_b +60 +0.00027778 +0.058333 +1.6$")
        self.assertNotRegex(both, r"(?m)^ +30 +")  # the middle of a long table is left out
        self.assertRegex(self.report("run_b", "--all").out, r"(?m)^ +30 +")

    def test_csv_says_what_the_record_says(self):
        values = self.make_run(nan_at=3)
        rows = self.rows("run_a")
        self.assertEqual(len(rows), 60)
        for row in rows:
            expected = values[row["name"]][int(row["epoch"])]
            found = float(row["value"])
            self.assertTrue(found == expected or (math.isnan(found) and math.isnan(expected)), row)
        self.assertEqual({row["run"] for row in self.rows("run_a", "run_a")}, {"run_a", "run_a (2)"})

    def test_logs_of_one_name_are_known_by_their_folders(self):
        for folder in ("a", "b"):
            place(self.home / folder / "train.log", b"epoch: 1 loss: 0.5\n")
        place(self.home / "other.log", b"epoch: 1 loss: 0.4\n")
        names = {row["run"] for row in self.rows("a/train.log", "b/train.log", "b/train.log", "other.log")}
        self.assertEqual(names, {"a/train.log", "b/train.log", "b/train.log (2)", "other.log"})

    def points(self, svg):
        """{(run, metric): [(epoch, value)]} from the coordinates of an SVG and the ranges of its axes."""
        root = ET.fromstring(svg)
        axes = root.find(f"{SVG}g[@class='axes']").attrib

        def value(share, axis):
            low, high = float(axes[f"data-{axis}-low"]), float(axes[f"data-{axis}-high"])
            if axes[f"data-{axis}-scale"] == "log":
                return low * (high / low) ** share
            return low + share * (high - low)

        found = {}
        for curve in root.iter(f"{SVG}g"):
            if curve.get("class") != "curve":
                continue
            path = curve.find(f"{SVG}path").get("d")
            found[curve.get("data-run"), curve.get("data-metric")] = [
                (
                    value((float(x) - float(axes["data-x"])) / float(axes["data-width"]), "position"),
                    value(1 - (float(y) - float(axes["data-y"])) / float(axes["data-height"]), curve.get("data-axis")),
                )
                for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", path)
            ]
        return found

    def test_no_cell_of_csv_is_a_formula(self):
        """A spreadsheet runs a text that begins so, also in quotes (CWE-1236)."""
        names = ("=HYPERLINK(1)", "+x", "-x", "@x", "=a,b", "plain", "\tx")
        run = self.home / "hostile"
        (run / "output").mkdir(parents=True)
        (run / "output/stdout").write_text("")
        (run / "run.json").write_text(json.dumps(run_json()))
        lines = [{"time": BEGIN, "epoch": 1, "step": None, "rank": None, "name": name, "value": 1} for name in names]
        (run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        out = self.report(run, "--format", "csv").out
        cells = [row[4] for row in list(csv.reader(io.StringIO(out)))[1:]]
        self.assertEqual(cells, ["'" + name if name != "plain" else name for name in names])

    def test_the_figure_shows_what_the_csv_says(self):
        self.make_run(nan_at=5)
        self.make_run("run_b", epochs=30, scale=2)
        points = self.points(self.report("run_a", "run_b", "--format", "svg").out)
        rows = self.rows("run_a", "run_b")
        self.assertEqual(set(points), {(run, name) for run in ("run_a", "run_b") for name in ("loss", "val_mae", "epoch_time")})
        for (run, name), drawn in points.items():
            of = [row for row in rows if (row["run"], row["name"]) == (run, name)]
            told = [(float(row["epoch"]), float(row["value"])) for row in of if row["value"] != "NaN"]
            self.assertEqual(len(drawn), len(told), (run, name))
            for (x, y), (epoch, value) in zip(drawn, told):
                self.assertAlmostEqual(x, epoch, delta=0.01)
                self.assertAlmostEqual(y, value, delta=0.01 * abs(value) + 0.001)

    def test_files_by_their_names(self):
        self.make_run()
        for name, begin in (("a.svg", "<svg"), ("a.html", "<!DOCTYPE html>"), ("a.json", "{"), ("a.csv", "time,epoch"),
                            ("a.txt", "run_a: finished")):  # fmt: skip
            self.assertEqual(self.report("run_a", "-o", name).out, "")
            self.assertTrue((self.home / name).read_text().startswith(begin), name)
        self.assertEqual([p.name for p in self.home.glob("*.part*")], [])
        if shutil.which("rsvg-convert"):
            self.report("run_a", "-o", "a.png")
            self.assertEqual((self.home / "a.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        else:
            self.assertIn("librsvg2-bin", self.report("run_a", "-o", "a.png", code=11).err)
        self.assertFalse((self.home / "absent").exists())
        self.report("run_a", "-o", "absent/a.svg", code=70)

    def test_html_needs_nothing_else(self):
        self.make_run()
        page = self.report("run_a", "run_a", "--format", "html").out

        class Links(HTMLParser):
            found = []

            def handle_starttag(self, tag, attrs):
                self.found += [(tag, name, value) for name, value in attrs if name in ("src", "href", "srcset", "data")]
                self.found += [(tag,)] if tag in ("script", "link", "iframe", "object") else []

        parser = Links()
        parser.feed(page)
        self.assertEqual(parser.found, [])
        self.assertNotIn("url(", page)
        self.assertNotIn("<script>alert", page)
        self.assertIn("&lt;script&gt;alert(1)", page)
        self.assertIn("prefers-color-scheme:dark", page)

    def test_expectations_set_the_exit_code(self):
        self.make_run(nan_at=19)
        for condition, code in (("val_mae<=0.0751", 0), ("val_mae<0.075", 7), ("min(val_mae)>=0.07", 0), ("first(loss)=1", 0),
                                ("max(val_mae)=0.54+-0.02", 0), ("val_mae=0.1+-0.01", 7), ("loss<=1", 7), ("min(loss)<1", 0),
                                ("mean(epoch_time)<1.7", 0), ("absent<1", 3), ("val_mae", 2), ("<1", 2), ("a<b", 2)):  # fmt: skip
            self.report("run_a", "--expect", condition, code=code)
        record = self.expect(self.sabath.run("report", "run_a", "--expect", "val_mae<1", "--expect", "val_mae<0", "--json"), 7).record
        self.assertEqual([one["met"] for one in record["expectations"]], [True, False])
        self.assertEqual(record["exit"], 7)

    def test_json(self):
        values = self.make_run(nan_at=0)
        (run,) = self.report("run_a", "--json").record["runs"]
        loss = next(metric for metric in run["metrics"] if metric["name"] == "loss")
        self.assertEqual(loss["x"], list(range(1, 21)))
        self.assertEqual(loss["y"][0], "NaN")
        self.assertEqual(loss["y"][1:], list(values["loss"].values())[1:])
        self.assertEqual(run["assets"][0]["manifest"], "sha256:" + "b" * 64)

    def test_compare(self):
        self.make_run()
        self.make_run("run_b", scale=1.005, environment={"packages": {"numpy": "1.26"}})
        text = self.expect(self.sabath.run("compare", "run_a", "run_b", "--exit-code")).out
        self.assertTrue(text.startswith("same data, same code, environment differs in packages.numpy\n"), text)
        record = self.expect(self.sabath.run("compare", "run_a", "run_b", "--tolerance", "0.001", "--exit-code", "--json"), 7).record
        self.assertEqual((record["data"], record["code"], record["within"]), ("same", "same", False))
        self.assertAlmostEqual(record["metrics"][0]["greatest"], 0.005 / 1.005)
        self.make_run("run_c", source={"commit": "d" * 40}, assets=[])
        text = self.expect(self.sabath.run("compare", "run_a", "run_c")).out
        self.assertTrue(text.startswith("different data, different code\n"), text)
        (self.home / "zero.log").write_text("".join(f"epoch={i} loss={1 / (i + 1) ** 2!r}\n" for i in range(20)))
        record = self.expect(self.sabath.run("compare", "run_a", "zero.log", "--json", "--exit-code")).record
        self.assertEqual((record["data"], record["code"], record["config"]), ("unknown", "unknown", []))
        self.assertEqual([(m["name"], m["epochs"], m["greatest"]) for m in record["metrics"]], [("loss", 20, 0)])

    def test_mlperf_log_is_read_back(self):
        self.make_run(nan_at=2)
        log = self.report("run_a", "--format", "mlperf").out
        events = [json.loads(line.removeprefix(":::MLLOG ")) for line in log.splitlines()]
        self.assertEqual([e["time_ms"] for e in events], sorted(e["time_ms"] for e in events))
        keys = [e["key"] for e in events]
        marks = ["init_start", "staging_start", "staging_stop", "init_stop", "run_start", "epoch_start", "epoch_stop", "run_stop"]
        self.assertEqual(sorted(keys.index(key) for key in marks), [keys.index(key) for key in marks])
        self.assertEqual((keys.count("epoch_start"), keys.count("epoch_stop"), keys[-1]), (20, 20, "run_stop"))
        self.assertEqual(events[-1]["metadata"]["status"], "success")
        (self.home / "ml.log").write_text(log)
        told = {(row["name"], row["epoch"], row["value"]) for row in self.rows("ml.log")}
        for row in self.rows("run_a"):
            if row["name"] != "epoch_time":
                self.assertIn((row["name"], row["epoch"], row["value"]), told)

    def exported(self, *arguments):
        """{key: [(seconds, value, metadata)]} of an export, and what was said beside it."""
        done = self.report(*arguments, "--format", "mlperf")
        events = {}
        for line in done.lines:
            event = json.loads(line.removeprefix(":::MLLOG "))
            events.setdefault(event["key"], []).append((event["time_ms"] / 1000 - BEGIN, event["value"], event["metadata"]))
        return events, done.err

    def test_times_that_the_program_printed_are_exported(self):
        """Not those of the record, nor of the log's first and last line; steps and lists as they were."""

        def line(at, key, value=None, **metadata):
            event = {"time_ms": int((BEGIN + at) * 1000), "key": key, "value": value, "metadata": metadata}
            return f":::MLLOG {json.dumps(event)}\n"

        text = (line(0.25, "seed", 7) + line(1, "init_start") + line(2.5, "staging_start") + line(3.75, "staging_stop")
                + line(4, "init_stop") + line(4.125, "run_start") + line(5, "epoch_start", epoch_num=3)
                + line(6, "lr", [0.5, 0.25], epoch_num=3, step_num=10) + line(7, "lr", [0.25, 0.125], epoch_num=3, step_num=20)
                + line(9, "epoch_stop", epoch_num=3) + line(9.5, "run_stop", status="aborted")
                + line(60, "eval_error", 0.5, epoch_num=4) + line(61, "betas", [0.9, 0.99]))  # fmt: skip
        (self.home / "ml.log").write_text(text)
        self.make_run(name="run_m", epochs=0)
        metrics = self.report("ml.log", "--format", "csv").out
        (self.home / "run_m/metrics.jsonl").write_text(
            "".join(json.dumps({"time": float(r["time"]), "epoch": float(r["epoch"]) if r["epoch"] else None,
                                "step": int(r["step"]) if r["step"] else None, "rank": 0, "name": r["name"],
                                "value": float(r["value"])}) + "\n" for r in csv.DictReader(io.StringIO(metrics))))  # fmt: skip
        for run in ("ml.log", "run_m"):
            events, said = self.exported(run)
            self.assertNotIn("printed no times", said)
            times = {key: [at for at, _, _ in told] for key, told in events.items()}
            for key, at in (("init_start", 1), ("staging_start", 2.5), ("staging_stop", 3.75), ("init_stop", 4), ("run_start", 4.125),
                            ("epoch_start", 5), ("epoch_stop", 9), ("run_stop", 9.5), ("seed", 0.25), ("eval_error", 60)):  # fmt: skip
                self.assertEqual(times[key], [at], (run, key))
            self.assertEqual(events["run_stop"][0][2], {"status": "aborted"})
            self.assertEqual([(value, place) for _, value, place in events["lr"]],
                             [([0.5, 0.25], {"epoch_num": 3, "step_num": 10}), ([0.25, 0.125], {"epoch_num": 3, "step_num": 20})])  # fmt: skip
            self.assertEqual(events["betas"][0][1], [0.9, 0.99])
            self.assertEqual([key for key in events if key.endswith("_time") and key != "epoch_time" or "[" in key], [])
        # Of a run that printed none they are the record's, and said to be.
        self.make_run()
        events, said = self.exported("run_a")
        self.assertIn("printed no times of init, staging, run: they are those of the run's record", said)
        self.assertEqual((events["init_start"][0][0], events["run_stop"][0][0]), (0, 40))
        (self.home / "loss.log").write_text(line(3, "loss", 0.5, epoch_num=1) + line(8, "loss", 0.25, epoch_num=2))
        events, said = self.exported("loss.log")
        self.assertIn("no times of init, run: they are those of its first and last value", said)
        self.assertEqual((events["run_start"][0][0], events["run_stop"][0][0]), (3, 8))

    def test_what_a_submission_wants_besides(self):
        """It is named, written where a user says it, and never made up."""
        self.make_run(nodes=2, config={"lr": 0.1, "seed": 7})
        export = ("run_a", "--format", "mlperf")
        (self.home / "us.yaml").write_text("submission_org: Us\nopt_name: sgd\n")
        done = self.report(*export, "--set-from", "us.yaml", "--set", "submission_org=Inf", "--set", "eval_error=@val_mae",
                           "--set", "steps=[1, 2.5]", "--set", "lr=0.5", "--set", "cache_clear=true")  # fmt: skip
        events = {}
        for line in done.lines:
            event = json.loads(line.removeprefix(":::MLLOG "))
            events.setdefault(event["key"], []).append(event)
        self.assertEqual(
            {key: [event["value"] for event in events[key]] for key in
             ("submission_org", "opt_name", "steps", "lr", "cache_clear", "seed", "number_of_nodes")},
            {"submission_org": ["Inf"], "opt_name": ["sgd"], "steps": [[1, 2.5]], "lr": [0.5], "cache_clear": [True],
             "seed": [7], "number_of_nodes": [2]})  # fmt: skip
        self.assertEqual([(e["value"], e["metadata"]["epoch_num"]) for e in events["eval_error"]],
                         [(e["value"], e["metadata"]["epoch_num"]) for e in events["val_mae"]])  # fmt: skip
        for key in ("submission_division", "eval_start", "train_samples", "accelerators_per_node"):
            self.assertNotIn(key, events)
            self.assertIn(key, done.err)
        self.assertNotIn("opt_name", done.err)
        self.assertIn("has no metric no such", self.report(*export, "--set", "eval_error=@no such", code=3).err)
        for wrong in (("--set", "x"), ("--set", "=1"), ("--set-from", "none.json")):
            self.report(*export, *wrong, code=2)
        self.report("run_a", "--set", "a=b", code=2)

    def test_a_crate(self):
        self.make_run()
        self.report("run_a", "--format", "ro-crate", "-o", "run_a/ro-crate-metadata.json")
        graph = json.loads((self.home / "run_a/ro-crate-metadata.json").read_text())["@graph"]
        entities = {entity["@id"]: entity for entity in graph}
        self.assertEqual(len(entities), len(graph))

        def references(value):
            if isinstance(value, dict):
                yield from [value["@id"]] if set(value) == {"@id"} else (r for v in value.values() for r in references(v))
            if isinstance(value, list):
                yield from (r for v in value for r in references(v))

        for entity in graph:
            for reference in references({k: v for k, v in entity.items() if k != "@id"}):
                self.assertTrue(reference in entities or reference.startswith("https://w3id.org/ro/crate/"), reference)
        action = entities["#run"]
        self.assertEqual(action["@type"], "CreateAction")
        inputs = [entities[one["@id"]] for one in action["object"]]
        self.assertIn("sha256:" + "b" * 64, [one.get("identifier") for one in inputs])
        for part in entities["./"]["hasPart"]:
            self.assertTrue((self.home / "run_a" / part["@id"]).is_file())
        (self.home / "a.log").write_text("epoch=1 loss=2\n")
        self.report("a.log", "--format", "ro-crate", code=2)

    def test_mlflow(self):
        values = self.make_run(nan_at=4)
        self.report("run_a", "--format", "mlflow", "-o", "mlruns")
        self.report("run_a", "--format", "mlflow", "-o", "mlruns")  # again: replaced
        (run,) = [p for p in (self.home / "mlruns/0").iterdir() if p.is_dir() and p.name not in ("datasets", "models")]
        lines = (run / "metrics/loss").read_text().splitlines()
        self.assertEqual(len(lines), 20)
        self.assertEqual(lines[0].split()[1:], ["1", "1"])
        self.assertEqual(lines[4].split()[1:], ["nan", "5"])
        self.assertEqual((run / "params/lr").read_text(), "0.1")
        try:
            from mlflow.tracking import MlflowClient
        except ImportError:
            self.skipTest("mlflow is not installed: the files alone were checked")
        # MLflow 3 wants to be told that a file store is meant; `mlflow migrate-filestore` reads it, too.
        self.addCleanup(os.environ.pop, "MLFLOW_ALLOW_FILE_STORE", None)
        os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
        client = MlflowClient(tracking_uri=f"file://{self.home}/mlruns")
        (found,) = client.search_runs(["0"])
        history = client.get_metric_history(found.info.run_id, "val_mae")
        self.assertEqual({m.step: m.value for m in history}, values["val_mae"])

    def test_log_is_read_without_loss(self):
        line = self.expect(self.sabath.run("log", "epoch=3", "step=7", "rank=2", "loss=0.1", 'a "b", ä=1=-inf', "c=nan")).out
        self.assertTrue(line.startswith(":::SABATH {") and line.count("\n") == 1, line)
        (self.home / "train.log").write_text("noise\n1: some words" + line)
        rows = [(r["epoch"], r["step"], r["rank"], r["name"], r["value"]) for r in self.rows("train.log")]
        self.assertEqual(rows, [("3", "7", "2", "loss", "0.1"), ("3", "7", "2", 'a "b", ä=1', "-Infinity"),
                                ("3", "7", "2", "c", "NaN")])  # fmt: skip
        file = self.home / "metrics.log"
        for i in range(3):
            self.assertEqual(self.expect(self.sabath.run("log", f"epoch={i}", "loss=1", SABATH_METRICS=str(file))).out, "")
        self.assertEqual([r["epoch"] for r in self.rows(file)], ["0", "1", "2"])
        for wrong in (["loss"], ["=1"], ["loss=x"], ["epoch=1"], ["step=1.5", "a=1"], []):
            self.expect(self.sabath.run("log", *wrong), 2)

    def test_many_writers_of_one_file(self):
        file = self.home / "metrics.log"
        writers = [self.sabath.start("log", f"rank={i}", "epoch=1", f"loss={i}", SABATH_METRICS=str(file)) for i in range(16)]
        for writer in writers:
            writer.communicate()
            self.assertEqual(writer.returncode, 0)
        self.assertEqual(sorted(int(r["rank"]) for r in self.rows(file)), list(range(16)))

    def test_the_line_that_other_programs_print(self):
        """docs/metrics.md gives one line of Python: what it prints is read."""
        code = 'import json; print(":::SABATH", json.dumps({"epoch": 3, "values": {"loss": float("nan"), "ä": 1e-7}}), flush=True)'
        out = subprocess.run(["python3", "-c", code], capture_output=True, check=True).stdout
        (self.home / "train.log").write_bytes(out)
        self.assertEqual([(r["name"], r["value"]) for r in self.rows("train.log")], [("loss", "NaN"), ("ä", "1e-07")])

    def test_what_cannot_be_read(self):
        self.report("absent", code=3)
        (self.home / "empty").mkdir()
        self.report("empty", code=3)
        self.make_run()
        (self.home / "run_a/run.json").write_text("{")
        self.report("run_a", code=12)
        self.report("run_a/metrics.jsonl", "--metric", "los", code=3)
        self.report("run_a/metrics.jsonl", "--pattern", "(", code=12)
        (self.home / "nothing.log").write_bytes(bytes(range(256)) * 100)
        self.assertIn("no metric of any epoch or step", self.report("nothing.log").out)
        ET.fromstring(self.report("nothing.log", "--format", "svg").out)


if __name__ == "__main__":
    main()
