"""A case with a dataset in the store, models whose steps are small Python programs, and a reader of run directories."""

import json
import os
import pathlib
import sys

from support.case import Case, main, place  # noqa: F401
from support.content import fragment, seeded
from support.origin import poll  # noqa: F401

# Prints epochs as Keras does; waits for a file "go" before epoch 3, so that a test can act in the middle of a run.
TRAINER = """
import os, pathlib, sys, time
epochs, gate = int(sys.argv[1]), sys.argv[2:] == ["gate"]
for epoch in range(1, epochs + 1):
    if gate and epoch == 3:
        print("waiting", flush=True)
        while not pathlib.Path("go").exists():
            time.sleep(0.01)
    print(f"Epoch {epoch}/{epochs}")
    print(f"8/8 - 1s - loss: {1 / epoch:.4f} - val_loss: {2 / epoch:.4f}", flush=True)
"""


class Runs(Case):
    def setUp(self):
        super().setUp()
        self.sabath.environment.update(
            SABATH_PYTHON=sys.executable, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
            OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none",
        )  # fmt: skip
        self.data = seeded(200_000)
        place(self.home / "origin/f.bin", self.data)
        self.sabath.add("data", [fragment(f"file://{self.home}/origin/f.bin", self.data)])
        self.run_directory = self.home / "record"

    def model(self, *steps, name="model", code=None, run_set="data", **more):
        """A model with its code beside its recipe; steps are argv lists, or whole steps."""
        for path, text in (code or {"train.py": TRAINER}).items():
            place(self.sabath.recipes / "models" / name / path, text.encode())
        steps = [step if isinstance(step, dict) else {"argv": step} for step in steps]
        return self.sabath.add(name, kind="model", source=name, run={run_set: steps}, **more)

    def start(self, *arguments, **options):
        return self.sabath.start("run", "--run-dir", self.run_directory, *arguments, **options)

    def launch(self, *arguments, code=0, **options):
        """`sabath run` to its end, with this exit code."""
        return self.expect(self.sabath.run("run", "--run-dir", self.run_directory, *arguments, **options), code)

    def record(self, directory=None):
        return json.loads(((directory or self.run_directory) / "run.json").read_text())

    def metrics(self, directory=None):
        text = ((directory or self.run_directory) / "metrics.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    def values(self, name, **which):
        return [metric["value"] for metric in self.metrics(**which) if metric["name"] == name]

    def output(self, name="stdout"):
        file = self.run_directory / "output" / name
        return file.read_text() if file.exists() else ""

    def wait_for_output(self, text, process):
        self.assertTrue(poll(lambda: text in self.output() or process.poll() is not None), self.output())
        self.assertIsNone(process.poll(), process.communicate() if process.poll() is not None else "")


def is_gone(pid):
    """No such process, or one that only waits to be counted."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def alive_with(word):
    """Processes whose environment has this word: what a test's run has started, anywhere."""
    found = []
    for directory in pathlib.Path("/proc").iterdir():
        if not directory.name.isdigit() or int(directory.name) == os.getpid():
            continue
        try:
            if word.encode() in (directory / "environ").read_bytes() and not is_gone(int(directory.name)):
                found.append(int(directory.name))
        except OSError:
            continue
    return found
