#!/usr/bin/python3
"""What TensorBoard's writers, W&B and MLflow keep on disk, as the reader of `report` has it: all values equal."""

import csv
import io
import json
import math
import shutil
import sqlite3

from support import clients
from support.case import Case, main

# Scalars as tensorboardX and PyTorch write them (simple_value), with hparams, images' neighbours and several directories.
TENSORBOARDX = """
import sys, math
from tensorboardX import SummaryWriter
with SummaryWriter(sys.argv[1]) as writer:
    for step in range(300):
        writer.add_scalar("loss/train", 1 / (step + 1), step, walltime=1.7e9 + step)
        writer.add_scalar("acc", math.sin(step), step * 10)
    writer.add_histogram("weights", __import__("numpy").arange(1000.0), 3)
    writer.add_text("note", "a text", 1)
    writer.add_scalar("odd", float("nan"), 1)
    writer.add_scalar("odd", float("inf"), 2)
    writer.add_scalar("odd", float("-inf"), 2**40)
    writer.add_scalars("both", {"a": 1.5, "b": 2.5}, 7)
"""

# Scalars as TensorFlow 2 and Keras 3 write them: tensors of the plug-in `scalars`, whose metadata comes once.
TENSORS = """
import sys, numpy
from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.plugins.scalar import metadata as scalar
from tensorboard.plugins.histogram import metadata as histogram
from tensorboard.summary.writer.event_file_writer import EventFileWriter
from tensorboard.util import tensor_util
for part in ("train", "validation"):
    writer = EventFileWriter(sys.argv[1] + "/" + part)
    def add(tag, array, step, metadata, first):
        value = summary_pb2.Summary.Value(tag=tag, tensor=tensor_util.make_tensor_proto(array))
        if first: value.metadata.CopyFrom(metadata)
        writer.add_event(event_pb2.Event(wall_time=1.6e9 + step + 0.25, step=step, summary=summary_pb2.Summary(value=[value])))
    for step in range(20):
        add("epoch_loss", numpy.float32(step / 3), step, scalar.create_summary_metadata("", ""), step == 0)
        add("half", numpy.float16(step / 3), step, scalar.create_summary_metadata("", ""), step == 0)
        add("double", numpy.float64(step / 3), step, scalar.create_summary_metadata("", ""), step == 0)
        add("zero", numpy.float32(0), step, scalar.create_summary_metadata("", ""), step == 0)
        add("shape", numpy.ones((3, 3), numpy.float32), step, histogram.create_summary_metadata("", ""), step == 0)
    writer.close()
"""

# tensorboard's own reader, with its own conversion of older forms.
LOADER = """
import sys, json, glob, os
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.util import tensor_util
rows = []
for directory, _, names in sorted(os.walk(sys.argv[1])):
    for name in sorted(names):
        plugin = {}
        for event in EventFileLoader(os.path.join(directory, name)).Load():
            for value in event.summary.value:
                plugin.setdefault(value.tag, value.metadata.plugin_data.plugin_name)
                if plugin[value.tag] == "scalars":
                    number = tensor_util.make_ndarray(value.tensor).item()
                    rows.append([os.path.relpath(directory, sys.argv[1]), value.tag, event.step, event.wall_time, repr(float(number))])
print(json.dumps(rows))
"""

HPARAMS = """
import sys, os
from tensorboardX import SummaryWriter
from tensorboardX.summary import hparams
with SummaryWriter(sys.argv[1]) as writer:
    writer.add_hparams({"lr": 0.25, "act": "relu", "flag": True}, {"accuracy": 0.75}, name="run1")
"""

WANDB = """
import sys, json, wandb
run = wandb.init(project="p", mode="offline", dir=sys.argv[1], name="first",
                 config={"lr": 0.1, "net": {"depth": 3}, "act": "relu"}, settings=wandb.Settings(x_disable_stats=True))
for i in range(400):
    wandb.log({"loss": 1 / (i + 3), "nested": {"acc": i * 0.1}, "text": "hi", "flag": True, "huge": 1e300, "list": [1, 2],
               "nan": float("nan"), "inf": float("-inf")})
wandb.log({"epoch": 3, "eval": 2.5}, step=1000)
run.summary["best"] = 0.125
run.finish()
"""

MLFLOW = """
import sys, json, mlflow
mlflow.set_tracking_uri(sys.argv[1])
mlflow.set_experiment("e")
out = {}
from mlflow.tracking import MlflowClient
client = MlflowClient()
for name in ("one", "two"):
    with mlflow.start_run(run_name=name) as run:
        mlflow.log_params({"lr": 0.1, "act": name})
        for step in range(int(sys.argv[2])):
            mlflow.log_metric("loss", 1 / (step + 2), step=step)
            mlflow.log_metric("val/acc", step * 0.3, step=step)
        mlflow.log_metric("odd", float("nan"), step=1)
        mlflow.log_metric("odd", float("inf"), step=2)
        mlflow.log_metric("odd", -1e-300, step=-3)
    out[run.info.run_id] = [[m.key, m.step, m.timestamp, repr(m.value)] for key in ("loss", "val/acc", "odd")
                            for m in client.get_metric_history(run.info.run_id, key)]
print(json.dumps(out))
"""


def python_text(text):
    """A number of our CSV as Python writes it."""
    return repr(float(text))


class Trackers(Case):
    def rows(self, *paths, **options):
        done = self.expect(self.sabath.run("report", *map(str, paths), "--format", "csv", **options))
        return list(csv.DictReader(io.StringIO(done.out)))

    def report(self, *paths):
        return json.loads(self.expect(self.sabath.run("report", *map(str, paths), "--json")).out)["runs"]

    @clients.needs("tensorboardX", "tensorboard")
    def test_tensorboardx(self):
        clients.run(TENSORBOARDX, self.home / "tb")
        expected = clients.told(LOADER, self.home / "tb")
        self.assertGreater(len(expected), 600)
        found = self.rows(self.home / "tb")
        # add_scalars makes directories below: their metrics have its name in front.
        names = [(tag if directory == "." else f"{directory}/{tag}") for directory, tag, *_ in expected]
        self.assertEqual(
            sorted((name, step, wall, value) for name, (_, _, step, wall, value) in zip(names, expected)),
            sorted((row["name"], int(row["step"]), float(row["time"]), python_text(row["value"])) for row in found))  # fmt: skip

    @clients.needs("tensorboard")
    def test_tensors(self):
        clients.run(TENSORS, self.home / "logs")
        expected = clients.told(LOADER, self.home / "logs")
        self.assertEqual(len(expected), 160)
        found = self.rows(self.home / "logs")
        self.assertEqual(
            sorted((f"{part}/{tag}", step, wall, value) for part, tag, step, wall, value in expected),
            sorted((row["name"], int(row["step"]), float(row["time"]), python_text(row["value"])) for row in found))  # fmt: skip

    @clients.needs("tensorboardX", "tensorboard")
    def test_hparams(self):
        clients.run(HPARAMS, self.home / "tb")
        (run,) = self.report(self.home / "tb")
        self.sabath.run("report", str(self.home / "tb"), "--format", "mlflow", "-o", str(self.home / "ml"))
        params = {path.name: path.read_text() for path in (self.home / "ml").glob("0/*/params/*")}
        self.assertEqual(params, {"lr": "0.25", "act": "relu", "flag": "true"}, run)

    @clients.needs("wandb")
    def test_wandb(self):
        clients.run(WANDB, self.home)
        (path,) = self.home.glob("wandb/offline-run-*/run-*.wandb")
        for place in (path, path.parent, self.home / "wandb"):
            rows = self.rows(place)
            series = {}
            for row in rows:
                series.setdefault(row["name"], []).append((row["step"], row["value"]))
            self.assertEqual(set(series), {"loss", "nested.acc", "huge", "nan", "inf", "eval", "best"})
            self.assertEqual([(int(step), float(value)) for step, value in series["loss"]],
                             [(i, 1 / (i + 3)) for i in range(400)])  # fmt: skip
            self.assertEqual([float(value) for _, value in series["nested.acc"]], [i * 0.1 for i in range(400)])
            self.assertTrue(all(math.isnan(float(value)) for _, value in series["nan"]))
            self.assertEqual({value for _, value in series["inf"]}, {"-Infinity"})
            self.assertEqual(series["best"], [("", "0.125")])
            (last,) = [row for row in rows if row["name"] == "eval"]
            self.assertEqual((last["epoch"], last["step"], last["value"]), ("3", "1000", "2.5"))
        (run,) = self.report(path)
        self.assertEqual((run["run"], run["state"], run["exit"]), ("first", "finished", 0))

    def mlflow(self, uri, steps):
        told = clients.told(MLFLOW, uri, steps, MLFLOW_ALLOW_FILE_STORE="true", GIT_PYTHON_REFRESH="quiet", cwd=self.home)
        self.assertEqual(len(told), 2)
        return told

    def compare_mlflow(self, path, told):
        """`path` as several runs, and each by itself."""
        runs = self.report(path)
        self.assertEqual(sorted(run["run"] for run in runs), ["one", "two"])
        for run in runs:
            identity = run["path"].rpartition("/")[2]
            found = [(row["name"], int(row["step"]), round(float(row["time"]) * 1000), python_text(row["value"]))
                     for row in self.rows(run["path"])]  # fmt: skip
            self.assertEqual(sorted(map(tuple, told[identity])), sorted(found))
            self.assertEqual(run["state"], "finished")

    @clients.needs("mlflow", "sqlalchemy", "alembic")
    def test_mlflow_sqlite(self):
        path = self.home / "mlflow.db"
        told = self.mlflow(f"sqlite:///{path}", 40)
        self.compare_mlflow(path, told)
        # With many rows the tables have inner pages; in the mode of a write-ahead log the newest rows are not in the file.
        database = sqlite3.connect(path)
        self.addCleanup(database.close)
        database.execute("pragma journal_mode=wal")
        database.execute("pragma wal_autocheckpoint=0")
        identity = next(iter(told))
        more = [("many", i / 7, 1_700_000_000_000 + i, identity, i, 0) for i in range(20_000)]
        database.executemany("insert into metrics (key, value, timestamp, run_uuid, step, is_nan) values (?,?,?,?,?,?)", more)
        database.commit()
        self.assertGreater((self.home / "mlflow.db-wal").stat().st_size, 100_000)
        told[identity] += [[key, step, time, repr(value)] for key, value, time, _, step, _ in more]
        self.compare_mlflow(path, told)
        database.execute("insert into metrics (key, value, timestamp, run_uuid, step, is_nan) values ('x',1,1,?,1,0)", (identity,))
        self.compare_mlflow(path, told)  # not committed
        database.commit()
        told[identity] += [["x", 1, 1, "1.0"]]
        self.compare_mlflow(path, told)

    @clients.needs("mlflow")
    def test_mlflow_files(self):
        told = self.mlflow(f"file://{self.home}/mlruns", 40)
        self.compare_mlflow(self.home / "mlruns", told)

    def test_wrong_database(self):
        path = self.home / "other.db"
        database = sqlite3.connect(path)
        database.execute("create table t (a)")
        database.close()
        done = self.sabath.run("report", str(path))
        self.assertEqual(done.exit, 12, done)
        self.assertIn("not MLflow's", done.err)
        shutil.copy(path, self.home / "torn.db")
        with open(self.home / "torn.db", "r+b") as file:
            file.truncate(3000)
        self.assertEqual(self.sabath.run("report", str(self.home / "torn.db")).exit, 12)


if __name__ == "__main__":
    main()
