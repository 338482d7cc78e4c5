#!/usr/bin/python3
"""What real writers of TensorBoard, W&B and MLflow have on disk while they write, and after kill -9."""

import csv
import io
import os
import pathlib
import signal
import subprocess
import sys

from support import clients
from support.case import SKIPPED, Case, main, place
from support.content import fragment, seeded
from support.origin import poll

# Logs the same values by one writer. It waits at half of them, and is killed somewhere in the other half.
WRITE = """
import os, pathlib, sys, time, warnings
warnings.simplefilter("ignore")
kind, steps, home = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
if kind == "tensorboard":
    from tensorboardX import SummaryWriter
    writer = SummaryWriter(str(home / "tb"), flush_secs=1)
    log = lambda step: writer.add_scalar("loss", 1 / (step + 2), step)
elif kind == "wandb":
    import wandb
    run = wandb.init(project="p", mode="offline", dir=str(home), settings=wandb.Settings(x_disable_stats=True))
    log = lambda step: run.log({"loss": 1 / (step + 2)}, step=step)
else:
    import mlflow
    mlflow.set_tracking_uri(f"file://{home}/mlruns" if kind == "mlruns" else f"sqlite:///{home}/mlflow.db")
    mlflow.start_run()
    log = lambda step: mlflow.log_metric("loss", 1 / (step + 2), step=step)
for step in range(steps):
    if step == steps // 2:
        (home / "half").touch()
        while not (home / "go").exists():
            time.sleep(0.01)
    log(step)
(home / "done").touch()
time.sleep(600)
"""

# What a program of a run logs to all four, in its own directory.
ALL = """
import os, pathlib, warnings
warnings.simplefilter("ignore")
import mlflow, wandb
from tensorboardX import SummaryWriter
writer = SummaryWriter("tb")
run = wandb.init(project="p", mode="offline", dir=".", settings=wandb.Settings(x_disable_stats=True))
mlflow.set_tracking_uri("file://" + os.path.abspath("mlruns"))
mlflow.start_run()
for step in range(50):
    writer.add_scalar("tb_loss", 1 / (step + 2), step)
    run.log({"wandb_loss": 1 / (step + 2)}, step=step)
    mlflow.log_metric("mlflow_loss", 1 / (step + 2), step=step)
mlflow.end_run()
run.finish()
writer.close()
"""
OWN = {"PYTHONDONTWRITEBYTECODE": "1", "WANDB_MODE": "offline", "WANDB_SILENT": "true", "MLFLOW_DISABLE_TELEMETRY": "true",
       "DO_NOT_TRACK": "1", "MLFLOW_ALLOW_FILE_STORE": "true", "GIT_PYTHON_REFRESH": "quiet"}  # fmt: skip


class Growing(Case):
    def steps(self, path):
        """The steps that `report` reads; their values are those that were logged."""
        done = self.sabath.run("report", path, "--format", "csv")
        if done.exit in (3, 12):  # nothing is there yet, or a change is being made
            return []
        self.expect(done)
        rows = [(int(row["step"]), float(row["value"])) for row in csv.DictReader(io.StringIO(done.out)) if row["name"] == "loss"]
        for step, value in rows:
            self.assertLess(abs(value - 1 / (step + 2)), 1e-7, step)
        return [step for step, _ in rows]

    def check(self, kind, where, steps, all_when_waiting):
        home = self.home / kind
        home.mkdir()
        environment = {**os.environ, **OWN}
        environment.pop("PYTHONPATH", None)
        with open(home / "said", "wb") as said:
            process = subprocess.Popen([clients.PYTHON, "-c", WRITE, kind, str(steps), str(home)], cwd=home, stdout=said,
                                       stderr=said, env=environment, start_new_session=True)  # fmt: skip
        self.addCleanup(self.end, process)
        self.assertTrue(poll(lambda: (home / "half").exists() or process.poll() is not None, 300), kind)
        self.assertIsNone(process.poll(), (home / "said").read_text())
        half = list(range(steps // 2))
        if all_when_waiting:
            self.assertTrue(poll(lambda: self.steps(home / where) == half, 120), kind)
        else:  # its writer keeps the newest in memory
            self.assertEqual(self.steps(home / where), half[: len(self.steps(home / where))])
        (home / "go").touch()
        seen = []
        while not (home / "done").exists() and len(seen) < 5:
            read = self.steps(home / where)
            self.assertEqual(read, list(range(len(read))), f"{kind}: in order, and none twice")
            seen.append(len(read))
        self.assertEqual(seen, sorted(seen), kind)
        self.end(process)
        read = self.steps(home / where)
        self.assertEqual(read, list(range(len(read))), kind)
        self.assertGreaterEqual(len(read), max([0, *seen]), kind)

    @staticmethod
    def end(process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    @clients.needs("tensorboardX")
    def test_tensorboard(self):
        self.check("tensorboard", "tb", 2000, True)

    @clients.needs("wandb")
    def test_wandb(self):
        self.check("wandb", "wandb", 2000, False)

    @clients.needs("mlflow")
    def test_mlflow_files(self):
        self.check("mlruns", "mlruns", 400, True)

    @clients.needs("mlflow", "sqlalchemy", "alembic")
    def test_mlflow_sqlite(self):
        self.check("sqlite", "mlflow.db", 200, True)

    @clients.needs("tensorboardX", "wandb", "mlflow")
    def test_a_run_that_logs_to_all(self):
        place(self.home / "origin/f.bin", seeded(1000))
        self.sabath.add("data", [fragment(f"file://{self.home}/origin/f.bin")])
        place(self.sabath.recipes / "models/net/train.py", ALL.encode())
        self.sabath.add("net", kind="model", source="net", run={"data": [{"argv": ["python3", "{source}/train.py"]}]})
        self.expect(self.sabath.run("run", "net", "--run-dir", self.home / "record", SABATH_PYTHON=str(clients.PYTHON), **OWN))
        done = self.expect(self.sabath.run("report", self.home / "record", "--format", "csv"))
        found = {}
        for row in csv.DictReader(io.StringIO(done.out)):
            found.setdefault(row["name"].rpartition("/")[2], []).append((int(row["step"]), float(row["value"])))
        self.assertEqual(set(found), {"tb_loss", "wandb_loss", "mlflow_loss"})
        for name, rows in found.items():
            self.assertEqual([step for step, _ in sorted(rows)], list(range(50)), name)
            self.assertTrue(all(abs(value - 1 / (step + 2)) < 1e-7 for step, value in rows), name)


if __name__ == "__main__":
    if not pathlib.Path(clients.PYTHON).exists():
        print(f"SKIP: {clients.missing()}")
        sys.exit(SKIPPED)
    main()
