#!/usr/bin/python3
"""What a run's program logs to a tracker's files is in the run's record, while the program goes on."""

import json
import sys

from runs import Runs, main, place, poll
from support.trackers import event, mlflow_database

# Copies files that the test has made, in two parts: in the middle of a record it waits until it has been seen.
PROGRAM = """
import pathlib, sys, time
here = pathlib.Path(__file__).parent
logs = pathlib.Path("logs/train")
logs.mkdir(parents=True)
with open(logs / "events.out.tfevents.1.node", "wb", buffering=0) as file:
    file.write((here / "events.1").read_bytes())
    while not pathlib.Path("go").exists():
        time.sleep(0.01)
    file.write((here / "events.2").read_bytes())
pathlib.Path("mlflow.db").write_bytes((here / "mlflow.bin").read_bytes())
print("epoch=1 printed=0.5")
"""


class RunTrackers(Runs):
    def test_followed(self):
        records = b"".join(event(1e9 + step, step, "loss", 0.5 + step) for step in range(4))
        cut = len(records) * 5 // 8
        database = mlflow_database(self.home / "m.db", [("r", "n")], [("r", "acc", 0.25, 1000, 7, 0)])
        database.close()
        code = self.sabath.recipes / "models/model"
        place(code / "events.1", records[:cut])
        place(code / "events.2", records[cut:])
        place(code / "mlflow.bin", (self.home / "m.db").read_bytes())
        place(code / "other/events.out.tfevents.9.node", event(1, 1, "old", 9))  # of the code: not of this run
        self.model(["python3", "{source}/train.py"], code={"train.py": PROGRAM})
        process = self.start("model", SABATH_PYTHON=sys.executable)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        file = self.run_directory / "metrics.jsonl"
        self.assertTrue(poll(lambda: file.exists() and file.read_text().count("\n") == 2 or process.poll() is not None))
        self.assertIsNone(process.poll())
        (self.run_directory / "work/go").touch()
        self.assertEqual(process.wait(), 0)
        told = [(metric["name"], metric["step"], metric["value"], metric["time"]) for metric in self.metrics()]
        self.assertEqual(sorted(entry[:3] for entry in told if entry[0] != "printed"),
                         sorted([("train/loss", step, 0.5 + step) for step in range(4)] + [("mlflow.db/r/acc", 7, 0.25)]))  # fmt: skip
        self.assertEqual([time for name, _, _, time in told if name == "train/loss"], [1e9 + step for step in range(4)])
        self.assertEqual(self.values("printed"), [0.5])
        runs = json.loads(self.expect(self.sabath.run("report", self.run_directory, "--json")).out)["runs"]
        self.assertEqual(runs[0]["values"], 6)


if __name__ == "__main__":
    main()
