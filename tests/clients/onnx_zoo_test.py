"""AlexNet, SqueezeNet and ResNet-50 of ONNX's own tests (SABATH_TEST_DATA): the graph's facts beside Debian's onnx, and a table
of latencies."""

import csv
import io
import json
import os
import pathlib
import subprocess
import unittest

from support import clients
from support.case import Case, main

try:
    import numpy as np
except ImportError:
    np = None

MODELS = pathlib.Path(os.environ.get("SABATH_TEST_DATA", "/nowhere")) / "onnx"
NAMES = ("light_bvlc_alexnet", "light_squeezenet", "light_resnet50")
FIND = "import onnxruntime, pathlib; print(next((pathlib.Path(onnxruntime.__file__).parent / 'capi').glob('libonnxruntime.so*')))"
FACTS = '''
import collections, json, sys, onnx
model = onnx.load(sys.argv[1])
weights = {each.name for each in model.graph.initializer}
kinds = {1: "float32", 7: "int64"}
def values(all):
    return [{"name": v.name, "type": kinds[v.type.tensor_type.elem_type],
             "shape": [str(d.dim_value) for d in v.type.tensor_type.shape.dim]} for v in all if v.name not in weights]
print(json.dumps({
    "ir_version": model.ir_version, "producer": model.producer_name, "name": model.graph.name,
    "opsets": {each.domain: each.version for each in model.opset_import}, "inputs": values(model.graph.input),
    "outputs": values(model.graph.output), "operators": collections.Counter(each.op_type for each in model.graph.node),
    "nodes": len(model.graph.node), "initializers": len(weights)}))
'''


@unittest.skipUnless(np, "numpy is not installed: scripts/setup full")
@unittest.skipUnless(MODELS.is_dir(), "SABATH_TEST_DATA has no directory onnx")
class Zoo(Case):
    def facts(self, name):
        return self.expect(self.sabath.run("inspect", MODELS / f"{name}.onnx", "--json")).record["graph"]

    def test_facts_are_those_of_debians_onnx(self):
        if subprocess.run(["/usr/bin/python3", "-c", "import onnx"], capture_output=True, check=False).returncode:
            self.skipTest("python3-onnx is not installed: scripts/setup test")
        for name in NAMES:
            with self.subTest(name):
                done = subprocess.run(["/usr/bin/python3", "-c", FACTS, MODELS / f"{name}.onnx"], capture_output=True, text=True, check=True)
                wanted, found = json.loads(done.stdout), self.facts(name)
                self.assertEqual({key: found[key] for key in wanted}, wanted)

    @clients.needs("onnxruntime")
    def test_a_table_of_latencies(self):
        """Each model as it is and optimised; what is slower is told, by the figures themselves."""
        self.sabath.environment["SABATH_ORT"] = clients.run(FIND).stdout.strip()
        files = []
        for name in NAMES:
            shape = [int(length) for length in self.facts(name)["inputs"][0]["shape"]]
            np.save(self.home / "x.npy", np.random.default_rng(1).normal(size=[4 * shape[0], *shape[1:]]).astype("float32"))
            for how in ([], ["--as-it-is"]):
                files.append(f"{name}{len(how)}.json")
                self.expect(self.sabath.run("infer", MODELS / f"{name}.onnx", "-i", "x.npy", "-o", "y.npy", "--latency", files[-1], *how))
                self.assertEqual(np.load(self.home / "y.npy").reshape(4, -1).shape, (4, 1000))
        shown = self.expect(self.sabath.run("report", *files, "--format", "latency")).out
        self.expect(self.sabath.run("report", *files, "--format", "latency", "-o", "table.csv"))
        rows = list(csv.DictReader(io.StringIO((self.home / "table.csv").read_text())))
        self.assertEqual([(row["model"], row["runtime"], row["calls"]) for row in rows],
                         [(name, runtime, "3") for name in NAMES for runtime in ("onnxruntime", "onnxruntime optimised")])  # fmt: skip
        medians = {(row["model"], row["runtime"]): float(row["median_seconds"]) for row in rows}
        for name in NAMES:
            slower = medians[name, "onnxruntime optimised"] > 1.05 * medians[name, "onnxruntime"]
            self.assertEqual(f"{name}, batch 1, on " in shown, slower, shown)


if __name__ == "__main__":
    main()
