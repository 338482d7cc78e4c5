#!/usr/bin/python3
"""A real run's exports, read by the programs that they are for: MLflow, an RO-Crate validator, MLPerf's own checker.

None of them is a Debian package: SABATH_TEST_VENV names a Python environment that has some of mlflow (or
mlflow-skinny), roc-validator with rocrate, and mlperf-logging. What is not there is skipped.
"""

import json
import os
import pathlib
import re
import subprocess
import unittest

from runs import Runs, main, place

PYTHON = pathlib.Path(os.environ.get("SABATH_TEST_VENV", "/none"), "bin/python")

MLFLOW = """
import json, sys
from mlflow.tracking import MlflowClient
client = MlflowClient(tracking_uri="file://" + sys.argv[1])
(run,) = client.search_runs(["0"])
history = {name: [[m.step, m.value] for m in client.get_metric_history(run.info.run_id, name)] for name in run.data.metrics}
print(json.dumps({"status": run.info.status, "params": run.data.params, "metrics": history}))
"""

# The validator asks the network for JSON-LD contexts; here it gets RO-Crate's from the rocrate package, and
# Workflow Run's terms by their rule.
CRATE = """
import io, json, pathlib, sys
import rocrate, requests, rdflib.plugins.shared.jsonld.context as context
from rocrate_validator import models, services
from rocrate_validator.utils import http

known = json.loads(pathlib.Path(rocrate.__file__).with_name("data").joinpath("ro-crate.jsonld").read_text())
terms = "https://w3id.org/ro/terms/workflow-run"
names = ["ParameterConnection", "connection", "sourceParameter", "targetParameter", "sha1", "md5", "sha256", "sha512",
         "environment", "resourceUsage", "ContainerImage", "DockerImage", "SIFImage", "containerImage", "registry", "tag"]
contexts = {"https://w3id.org/ro/crate/1.1/context": known,
            terms + "/context": {"@context": {name: f"{terms}#{name}" for name in names}}}

def get(self, url, **_):
    answer = requests.Response()
    answer.status_code, answer.headers = 200, {"Content-Type": "application/ld+json"}
    answer._content = json.dumps(contexts[url]).encode()
    return answer

http.HttpRequester.get = get
http.HttpRequester.__getattr__ = lambda self, name: get.__get__(self) if name == "get" else getattr(requests, name)
load = context.source_to_json
context.source_to_json = lambda source, *a, **k: (contexts[source], None) if source in contexts else load(source, *a, **k)
settings = services.ValidationSettings(rocrate_uri=sys.argv[1], profile_identifier="process-run-crate-0.5",
                                       requirement_severity=models.Severity.REQUIRED)
result = services.validate(settings)
print(json.dumps({"issues": [f"{issue.check.identifier}: {issue.message}" for issue in result.get_issues()],
                  "passed": len(result.passed_checks) if hasattr(result, "passed_checks") else None}, default=str))
"""

MLPERF = """
import json, sys
from mlperf_logging.compliance_checker.mlp_parser import parse_file
lines, errors = parse_file(sys.argv[1], ruleset="3.0.0")
print(json.dumps({"errors": errors, "lines": [[line.key, line.value["value"], line.value["metadata"]] for line in lines]}))
"""


# As the reference implementation prints with --mlperf, as far as the rules ask for it.
COSMOFLOW = """
import json, time
def log(key, value=None, **metadata):
    line = {"namespace": "", "time_ms": int(time.time() * 1000), "event_type": "POINT_IN_TIME", "key": key, "value": value}
    print(":::MLLOG", json.dumps({**line, "metadata": {"file": "train.py", "lineno": 1, **metadata}}), flush=True)
log("global_batch_size", 64)
log("train_samples", 1024)
log("eval_samples", 512)
for epoch, error in enumerate((0.4, 0.12)):
    log("epoch_start", epoch_num=epoch)
    log("eval_start", epoch_num=epoch)
    log("val_mae", error, epoch_num=epoch)
    log("eval_stop", epoch_num=epoch)
    log("epoch_stop", epoch_num=epoch)
"""

SUBMISSION = {
    "submission_org": "Somebody", "submission_division": "closed", "submission_status": "research", "cache_clear": "true",
    "accelerators_per_node": "0", "opt_name": "sgd", "opt_base_learning_rate": "0.001",
    "opt_learning_rate_warmup_epochs": "4", "opt_learning_rate_warmup_factor": "1",
    "opt_learning_rate_decay_boundary_epochs": "[16, 32]", "opt_learning_rate_decay_factor": "[0.25, 0.125]",
}  # fmt: skip


def why_not(*modules):
    if not PYTHON.exists():
        return "SABATH_TEST_VENV names no Python environment"
    done = subprocess.run([PYTHON, "-c", "import " + ", ".join(modules)], capture_output=True, check=False)
    return "" if done.returncode == 0 else f"{PYTHON} has no {' or no '.join(modules)}"


class Exports(Runs):
    def setUp(self):
        super().setUp()
        self.model(["python3", "{source}/train.py", "{config.epochs}"], config={"epochs": 5})
        self.launch("model")

    def ask(self, code, *arguments):
        environment = {**os.environ, "MLFLOW_ALLOW_FILE_STORE": "true", "HOME": str(self.home)}
        done = subprocess.run([PYTHON, "-c", code, *map(str, arguments)], capture_output=True, text=True, env=environment,
                              check=False, timeout=200, cwd=self.home)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        return json.loads(done.stdout.splitlines()[-1])

    def told(self, name):
        return [[metric["epoch"], metric["value"]] for metric in self.metrics() if metric["name"] == name]

    @unittest.skipIf(why_not("mlflow"), why_not("mlflow"))
    def test_mlflow_lists_the_metrics(self):
        self.expect(self.sabath.run("report", self.run_directory, "--format", "mlflow", "-o", self.home / "mlruns"))
        found = self.ask(MLFLOW, self.home / "mlruns")
        self.assertEqual((found["status"], found["params"]["epochs"]), ("FINISHED", "5"))
        self.assertEqual(set(found["metrics"]), {metric["name"] for metric in self.metrics()})
        for name, history in found["metrics"].items():
            self.assertEqual(history, self.told(name))

    @unittest.skipIf(why_not("rocrate_validator", "rocrate"), why_not("rocrate_validator", "rocrate"))
    def test_the_crate_is_valid(self):
        crate = self.run_directory / "ro-crate-metadata.json"
        self.expect(self.sabath.run("report", self.run_directory, "--format", "ro-crate", "-o", crate))
        self.assertEqual(self.ask(CRATE, self.run_directory)["issues"], [])
        # And the validator sees what is wrong: an action without what it ran.
        graph = json.loads(crate.read_text())
        for entity in graph["@graph"]:
            if entity["@type"] == "CreateAction":
                del entity["instrument"]
        crate.write_text(json.dumps(graph))
        self.assertNotEqual(self.ask(CRATE, self.run_directory)["issues"], [])

    @unittest.skipIf(why_not("mlperf_logging"), why_not("mlperf_logging"))
    def test_mlperf_reads_the_log(self):
        log = self.home / "mlperf.log"
        self.expect(self.sabath.run("report", self.run_directory, "--format", "mlperf", "-o", log))
        found = self.ask(MLPERF, log)
        self.assertEqual(found["errors"], [])
        self.assertEqual(len(found["lines"]), log.read_text().count(":::MLLOG"))
        keys = [key for key, _, _ in found["lines"]]
        for key in ("init_start", "init_stop", "run_start", "run_stop"):
            self.assertEqual(keys.count(key), 1)
        losses = [[metadata["epoch_num"], value] for key, value, metadata in found["lines"] if key == "loss"]
        self.assertEqual(losses, self.told("loss"))

    def submission(self, *fields):
        """What is written, what the program says is missing, and what MLPerf's compliance checker says of it."""
        log = self.home / "result_0.txt"
        done = self.expect(self.sabath.run("report", self.run_directory, "--format", "mlperf", "-o", log, *fields))
        missing = re.findall(r"[a-z_]{4,}", done.err.partition("besides:")[2].partition("(")[0])
        command = [PYTHON, "-m", "mlperf_logging.compliance_checker", "--usage", "hpc", "--ruleset", "3.0.0",
                   "--log_output", self.home / "checker.log", log]  # fmt: skip
        checked = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        said = checked.stdout + checked.stderr
        return log.read_text(), missing, "INFO - SUCCESS" in said, said

    @unittest.skipIf(why_not("mlperf_logging"), why_not("mlperf_logging"))
    def test_mlperfs_compliance_checker(self):
        self.run_directory = self.home / "cosmoflow"
        self.model(["python3", "{source}/train.py"], name="cosmoflow", code={"train.py": COSMOFLOW}, config={"seed": 3})
        self.launch("cosmoflow")
        text, missing, good, said = self.submission()
        self.assertEqual(sorted(missing), sorted([*SUBMISSION, "eval_error"]))
        self.assertFalse(good)
        for key in missing:
            self.assertNotIn(f'"{key}"', text)
            if key != "submission_division":  # without which it looks at nothing that a division wants
                self.assertTrue(key in said or not key.startswith(("submission", "cache")), (key, said))
        fields = [word for key, value in SUBMISSION.items() for word in ("--set", f"{key}={value}")]
        text, missing, good, said = self.submission(*fields, "--set", "eval_error=@val_mae")
        self.assertEqual((missing, good), ([], True), said)
        place(self.home / "us.json", json.dumps(SUBMISSION).encode())
        more = ("--set-from", self.home / "us.json", "--set", "eval_error=@val_mae")
        self.assertEqual(self.submission(*more)[0], text)
        self.assertFalse(self.submission(*more, "--set", "opt_name=adam")[2])


if __name__ == "__main__":
    main()
