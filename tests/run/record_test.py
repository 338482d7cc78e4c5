#!/usr/bin/python3
"""The record of a run: the program, its data, and its output."""

import csv
import hashlib
import json
import os
import pathlib
import re
import sys

from runs import TRAINER, Runs, main, place
from support.mounts import enter_own_namespace, mount_memory, need_own_namespace

CONTENT = "import pathlib, sys; print(len(pathlib.Path(sys.argv[1]).read_bytes()))"


class Record(Runs):
    def test_all_that_a_record_has(self):
        file = self.model(["python3", "{source}/train.py", "{config.epochs}"], config={"epochs": 4}, version="7")
        done = self.launch("model")
        self.assertEqual(done.lines, [str(self.run_directory)])
        record = self.record()
        self.assertEqual(record["schema"], 1)
        self.assertEqual((record["state"], record["exit"], record["signal"]), ("finished", 0, None))
        self.assertEqual(record["recipe"]["version"], "7")
        self.assertEqual(record["recipe"]["digest"], "sha256:" + hashlib.sha256(file.read_bytes()).hexdigest())
        self.assertEqual(record["config"], {"epochs": "4"})
        self.assertEqual(record["command"][1:], [f"{self.run_directory}/source/train.py", "4"])
        self.assertEqual([asset["name"] for asset in record["assets"]], ["model", "data"])
        self.assertEqual(record["assets"][1]["verified_by"], "unchanged since it was hashed")
        self.assertFalse(record["assets"][1]["warm"])
        self.assertRegex(record["assets"][1]["manifest"], r"^sha256:[0-9a-f]{64}$")
        self.assertEqual(record["source"]["manifest"], record["assets"][0]["manifest"])
        self.assertEqual(record["environment"]["python"]["program"], sys.executable)
        self.assertEqual(record["machine"]["node"], os.uname().nodename)
        self.assertGreater(record["machine"]["memory_bytes"], 1 << 20)
        self.assertEqual(set(record["times"]), {"fetch", "stage", "verify", "launch", "train"})
        self.assertGreater(record["times"]["fetch"], 0)
        self.assertIsNone(record["times"]["stage"])
        self.assertLess(record["started"], record["finished"])
        self.assertEqual(self.values("loss"), [1, 0.5, 0.3333, 0.25])
        self.assertEqual([m["epoch"] for m in self.metrics() if m["name"] == "loss"], [1, 2, 3, 4])
        self.assertEqual(self.output().count("Epoch"), 4)
        rows = list(csv.DictReader((self.run_directory / "metrics.csv").read_text().splitlines()))
        self.assertEqual([float(row["value"]) for row in rows], [metric["value"] for metric in self.metrics()])
        samples = [json.loads(line) for line in (self.run_directory / "resources.jsonl").read_text().splitlines()]
        self.assertGreaterEqual(len(samples), 1)
        self.assertIn("cpu_percent", samples[0])

    def test_the_second_run_is_warm(self):
        self.model(["true"])
        self.launch("model")
        self.run_directory = self.home / "again"
        self.launch("model")
        self.assertTrue(self.record()["assets"][1]["warm"])
        self.assertIsNone(self.record()["times"]["fetch"])

    def test_a_record_is_never_written_over(self):
        self.model(["true"])
        self.launch("model")
        before = self.record()
        self.launch("model", code=2)
        self.assertEqual(self.record(), before)

    def test_the_usual_place_is_here(self):
        self.model(["true"])
        done = self.expect(self.sabath.run("run", "model"))
        self.assertRegex(pathlib.Path(done.lines[0]).name, r"^run_model_data_\d{8}T\d{6}-[0-9a-f]{6}$")
        self.assertEqual(self.record(pathlib.Path(done.lines[0]))["state"], "finished")

    def test_a_failure_is_told_with_its_last_words(self):
        self.model(
            ["true"],
            ["python3", "-c", "import sys; print('Epoch 1/2'); print('1/1 - 1s - loss: 0.5'); sys.exit('no GPU here')"],
            ["touch", "never"],
        )
        done = self.launch("model", code=11)
        self.assertIn("no GPU here", done.err)
        record = self.record()
        self.assertEqual((record["state"], record["exit"]), ("failed", 1))
        self.assertIn("no GPU here", record["last_lines"])
        self.assertEqual([step["exit"] for step in record["steps"]], [0, 1, None])
        self.assertFalse((self.run_directory / "work/never").exists())
        self.assertEqual(self.values("loss"), [0.5])

    def test_a_program_that_is_not_there(self):
        self.model(["no-such-program"])
        done = self.launch("model", code=11)
        self.assertIn("no-such-program", done.err)
        self.assertEqual(self.record()["state"], "failed")

    def test_a_crash_is_told_with_its_signal(self):
        self.model(["python3", "-c", "import os; os.kill(os.getpid(), 11)"])
        self.launch("model", code=11)
        self.assertEqual((self.record()["exit"], self.record()["signal"]), (139, 11))

    def test_json_is_one_object(self):
        self.model(["true"])
        record = self.launch("model", "--json").record
        self.assertEqual((record["exit"], record["path"]), (0, str(self.run_directory)))
        self.assertEqual([run["state"] for run in record["runs"]], ["finished"])

    def test_programs_can_log_by_themselves(self):
        step = "import os; open(os.environ['SABATH_METRICS'], 'a').write(':::SABATH {\"epoch\":3,\"loss\":0.125}\\n')"
        self.model(["python3", "-c", step])
        self.launch("model")
        self.assertEqual([(m["epoch"], m["value"]) for m in self.metrics() if m["name"] == "loss"], [(3, 0.125)])

    def test_a_full_disk_ends_no_training(self):
        need_own_namespace(self)
        mount_memory(self, self.home / "small", 1)
        self.run_directory = self.home / "small/record"
        noise = "import pathlib, sys\nfor i in range(40000): print('x' * 60)\n" + TRAINER
        noise += "pathlib.Path(sys.argv[3]).write_text('trained')\n"
        self.model(["python3", "{source}/train.py", "4", "no", str(self.home / "end")], code={"train.py": noise})
        done = self.launch("model")
        self.assertEqual((self.home / "end").read_text(), "trained")
        record = self.record()
        self.assertEqual((record["state"], record["exit"]), ("finished", 0))
        self.assertGreater(record["unwritten_lines"], 1000)
        self.assertRegex(done.err, rf"warning: {record['unwritten_lines']} lines of the run could not be written "
                                   r"\(cannot write \S+/stdout: No space left on device\): free space there")  # fmt: skip
        for file in ("metrics.jsonl", "resources.jsonl"):  # no torn line
            for line in (self.run_directory / file).read_text().splitlines():
                json.loads(line)
        self.assertEqual(sorted(path.name for path in self.run_directory.iterdir() if path.name.startswith(".")), [])

    def test_patterns_of_the_recipe(self):
        self.model(["echo", "it 12 cost=0.5"], metrics=[r"it (?P<step>\d+) cost=(?P<cost>\S+)"])
        self.launch("model")
        self.assertEqual([(m["step"], m["name"], m["value"]) for m in self.metrics()], [(12, "cost", 0.5)])

    def test_the_cached_source_is_never_changed(self):
        steps = "import pathlib, sys; p = pathlib.Path(sys.argv[1]); p.write_text('x'); (p.parent / 'new').mkdir()"
        self.model(["python3", "-c", steps, "{source}/train.py"])
        self.launch("model")
        self.assertEqual((self.run_directory / "source/train.py").read_text(), "x")
        self.assertEqual((self.sabath.recipes / "models/model/train.py").read_text(), TRAINER)
        self.run_directory = self.home / "again"
        self.launch("model")

    def test_data_are_where_placeholders_say(self):
        self.model(["python3", "-c", CONTENT, "{dataset.main}"], ["ls", "{dataset}", "{dataset.main.dir}"])
        self.launch("model")
        self.assertEqual(self.output().splitlines()[0], "200000")
        self.assertEqual(self.output().count("f.bin"), 2)

    def test_run_sets_are_found_by_name(self):
        place(self.home / "origin/g.bin", b"g")
        self.sabath.add("other", [{"id": "main", "type": "file", "urls": [f"file://{self.home}/origin/g.bin"]}])
        self.sabath.add("model", kind="model", run={"data": [{"argv": ["echo", "on data"]}],
                                                    "other": [{"argv": ["echo", "on other"]}]})  # fmt: skip
        self.launch("model", "other")
        self.assertEqual(self.output(), "on other\n")
        self.run_directory = self.home / "second"
        self.launch("model")
        self.assertEqual(self.output(), "on data\n")
        self.sabath.add("third", [{"id": "main", "type": "file", "urls": [f"file://{self.home}/origin/g.bin"]}])
        done = self.expect(self.sabath.run("run", "model", "third"), 3)
        self.assertIn("data, other", done.err)

    def test_modes(self):
        self.sabath.add("model", kind="model", run={"data": [{"argv": ["echo", "train"]}]},
                        infer={"data": [{"argv": ["echo", "infer"]}]})  # fmt: skip
        self.launch("model", "--mode", "infer")
        self.assertEqual((self.output(), self.record()["mode"]), ("infer\n", "infer"))

    def test_lines_on_no_terminal(self):
        self.model(["python3", "{source}/train.py", "{config.epochs}"], config={"epochs": 3})
        lines = re.findall(r"^epoch.*$", self.launch("model").err, re.M)
        self.assertEqual(len(lines), 3, lines)
        self.assertRegex(lines[1], r"^epoch 2/3  loss 0.5  val_loss 1  .* ETA ")
        self.assertNotIn("\x1b", "".join(lines))
        self.run_directory = self.home / "quiet"
        self.assertEqual(self.launch("model", "-q").err, "")


if __name__ == "__main__":
    enter_own_namespace()
    main()
