#!/usr/bin/python3
"""What `report` exports, as tensorboard's and MLflow's own readers have it."""

import csv
import io
import json
import sys

from support import clients
from support.case import Case, main, place
from support.content import fragment, seeded

LOG = """{"epoch": 0, "values": {"loss": 0.1, "val_mae": 1e-300}, "time": 1700000000.5}
{"epoch": 1, "values": {"loss": 0.30000000000000004, "val_mae": NaN}, "time": 1700000001.5}
{"epoch": 2, "values": {"loss": -Infinity, "val_mae": 3}, "rank": 1, "time": 1700000002.5}
"""

READ_EVENTS = """
import sys, json, glob
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.util import tensor_util
from tensorboard.plugins.hparams import plugin_data_pb2
rows, params = [], {}
(path,) = glob.glob(sys.argv[1] + "/*/events.out.tfevents.*")
for event in EventFileLoader(path).Load():
    for value in event.summary.value:
        if value.tag == "_hparams_/session_start_info":
            data = plugin_data_pb2.HParamsPluginData.FromString(value.metadata.plugin_data.content)
            params = {k: v.number_value if v.HasField("number_value") else v.string_value
                      for k, v in data.session_start_info.hparams.items()}
        elif not value.tag.startswith("_hparams_"):
            rows.append([value.tag, event.step, event.wall_time, repr(tensor_util.make_ndarray(value.tensor).item())])
print(json.dumps([rows, params]))
"""

# TensorBoard's own server code: which runs and scalars it sees, by its plug-ins' rules.
READ_PROVIDER = """
import sys, json
from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
from tensorboard.context import RequestContext
multiplexer = plugin_event_multiplexer.EventMultiplexer().AddRunsFromDirectory(sys.argv[1])
multiplexer.Reload()
provider = data_provider.MultiplexerDataProvider(multiplexer, sys.argv[1])
scalars = provider.list_scalars(RequestContext(), experiment_id="", plugin_name="scalars")
print(json.dumps({run: sorted(tags) for run, tags in scalars.items()}))
"""

READ_MLFLOW = """
import sys, json
from mlflow.tracking import MlflowClient
client = MlflowClient(tracking_uri="file://" + sys.argv[1])
(run,) = client.search_runs(["0"])
(model,) = [client.get_logged_model(m.model_id) for m in run.inputs.model_inputs]
print(json.dumps({
    "datasets": [[d.dataset.name, d.dataset.digest, d.dataset.source_type, json.loads(d.dataset.source),
                  {t.key: t.value for t in d.tags}] for d in run.inputs.dataset_inputs],
    "model": [model.name, model.model_id, str(model.status), dict(model.tags)]}))
"""


class Exports(Case):
    def rows(self, path):
        done = self.expect(self.sabath.run("report", str(path), "--format", "csv"))
        return list(csv.DictReader(io.StringIO(done.out)))

    def model(self, program, code):
        data = seeded(100_000)
        place(self.home / "origin/f.bin", data)
        self.sabath.add("data", [fragment(f"file://{self.home}/origin/f.bin", data)])
        place(self.sabath.recipes / "models/net/train.py", code.encode())
        self.sabath.add("net", kind="model", source="net", config={"lr": 0.5, "act": "relu"},
                        run={"data": [{"argv": [program, "{source}/train.py"]}]})  # fmt: skip

    @clients.needs("tensorboard")
    def test_tensorboard(self):
        log = self.home / "train.log"
        log.write_text("".join(f":::SABATH {line}\n" for line in LOG.splitlines()))
        self.expect(self.sabath.run("report", str(log), "--format", "tensorboard", "-o", str(self.home / "tb")))
        rows, params = clients.told(READ_EVENTS, self.home / "tb")
        expected = [[row["name"] + (" rank 1" if row["rank"] == "1" else ""), int(float(row["epoch"])), float(row["time"]),
                     repr(float(row["value"]))] for row in self.rows(log)]  # fmt: skip
        self.assertEqual(rows, expected)
        self.assertEqual(params, {})
        provided = clients.told(READ_PROVIDER, self.home / "tb")
        self.assertEqual(provided, {"train.log": ["loss", "loss rank 1", "val_mae", "val_mae rank 1"]})
        # And back by our own reader.
        again = self.rows(self.home / "tb")
        self.assertEqual([[row["name"], int(row["step"]), float(row["time"]), repr(float(row["value"]))] for row in again],
                         expected)  # fmt: skip

    @clients.needs("mlflow")
    def test_mlflow_inputs(self):
        self.model("python3", code="print('epoch=1 loss=0.5')")
        self.expect(self.sabath.run("run", "net", "--run-dir", str(self.home / "record"), SABATH_PYTHON=sys.executable))
        self.expect(self.sabath.run("report", str(self.home / "record"), "--format", "mlflow", "-o", str(self.home / "ml")))
        told = clients.told(READ_MLFLOW, self.home / "ml", MLFLOW_ALLOW_FILE_STORE="true", GIT_PYTHON_REFRESH="quiet")
        assets = {a["name"]: a for a in json.loads((self.home / "record/run.json").read_text())["assets"]}
        ((name, digest, kind, source, tags),) = told["datasets"]
        self.assertEqual((name, kind, tags), ("data", "local", {"mlflow.data.context": "training"}))
        self.assertEqual(source["manifest"], assets["data"]["manifest"])
        self.assertEqual(digest, assets["data"]["manifest"].partition(":")[2][:36])
        self.assertEqual(told["model"][0], "net")
        self.assertEqual(told["model"][3]["sabath.manifest"], assets["net"]["manifest"])


if __name__ == "__main__":
    main()
