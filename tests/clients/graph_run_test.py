"""`sabath run --engine ort`: an ONNX graph of an asset run with a record, its latencies reported."""

import hashlib
import json
import pathlib
import unittest

from support import clients
from support.case import Case, main

try:
    import numpy as np
    import torch
except ImportError:
    torch = None

FIND = "import onnxruntime, pathlib; print(next((pathlib.Path(onnxruntime.__file__).parent / 'capi').glob('libonnxruntime.so*')))"


@unittest.skipUnless(torch, "torch is not installed: scripts/setup full")
@clients.needs("onnxruntime")
class GraphRun(Case):
    def setUp(self):
        super().setUp()
        self.sabath.environment["SABATH_ORT"] = clients.run(FIND).stdout.strip()
        torch.manual_seed(7)
        self.net = torch.nn.Sequential(torch.nn.Linear(12, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4)).eval()
        (self.home / "net").mkdir()
        torch.onnx.export(self.net, torch.zeros(1, 12), str(self.home / "net/net.onnx"), input_names=["x"], output_names=["y"],
                          dynamic_axes={"x": {0: "n"}, "y": {0: "n"}}, opset_version=13)  # fmt: skip
        self.x = np.random.default_rng(3).normal(size=(203, 12)).astype("float32")
        (self.home / "samples/test").mkdir(parents=True)
        np.save(self.home / "samples/test/x.npy", self.x)
        for name in ("net", "samples"):
            self.expect(self.sabath.run("adopt", name, "--name", name))

    def go(self, *arguments, code=0):
        return self.expect(self.sabath.run("run", *arguments, "--json"), code).record

    def test_a_graph_on_a_dataset(self):
        made = self.go("net", "samples", "--engine", "ort", "--input", "x=test/x.npy", "--set", "batch=50", "--run-dir", "one")
        directory = pathlib.Path(made["path"])
        record = json.loads((directory / "run.json").read_text())
        with torch.no_grad():
            np.testing.assert_allclose(np.load(directory / "work/result.npy"), self.net(torch.from_numpy(self.x)).numpy(), atol=1e-5)
        digest = "sha256:" + hashlib.sha256((directory / "work/result.npy").read_bytes()).hexdigest()
        self.assertEqual([each["sha256"] for each in record["results"]], [digest])
        samples = "sha256:" + hashlib.sha256((self.home / "samples/test/x.npy").read_bytes()).hexdigest()
        self.assertEqual([(each["name"], each["sha256"]) for each in record["inputs"]], [("x", samples)])
        self.assertEqual((record["state"], record["mode"], record["trust"]["by"], record["config"]), ("finished", "infer", "no code", {"batch": "50"}))
        self.assertEqual([asset["name"] for asset in record["assets"]], ["net", "samples"])
        lines = [json.loads(line) for line in (directory / "metrics.jsonl").read_text().splitlines()]
        self.assertEqual([line["step"] for line in lines if line["name"] == "latency_seconds"], [0, 1, 2, 3, 4])
        self.assertGreater(next(line["value"] for line in lines if line["name"] == "samples_per_second"), 0)
        self.expect(self.sabath.run("report", "one", "--format", "ro-crate", "-o", "one/ro-crate-metadata.json"))
        graph = {each["@id"]: each for each in json.loads((directory / "ro-crate-metadata.json").read_text())["@graph"]}
        self.assertEqual((graph["work/result.npy"]["identifier"], graph["#input-1"]["identifier"]), (digest, samples))
        self.assertIn({"@id": "work/result.npy"}, graph["#run"]["result"])
        rows = self.expect(self.sabath.run("report", "one", "--format", "latency", "--json")).record["latency"]["rows"]
        self.assertEqual([(row["model"], row["batch"], row["runtime"], row["calls"]) for row in rows], [("net", 50, "onnxruntime optimised", 3)])

    def test_a_sweep_and_a_file(self):
        made = self.go("net:net.onnx", "--engine", "ort", "--input", str(self.home / "samples/test/x.npy"), "--set", "batch=1,64",
                       "--set", "optimise=no", "--run-dir", "sweep")  # fmt: skip
        runs = [str(pathlib.Path(each["path"])) for each in made["runs"]]
        self.assertEqual(len(runs), 2)
        rows = self.expect(self.sabath.run("report", *runs, "--format", "latency", "--json")).record["latency"]["rows"]
        self.assertEqual({(row["batch"], row["runtime"]) for row in rows}, {(1, "onnxruntime"), (64, "onnxruntime")})
        shown = self.expect(self.sabath.run("run", "net", "--engine", "ort", "--input", "samples/test/x.npy", "-n")).out
        self.assertIn("infer", shown)

    def test_what_cannot_begin(self):
        for arguments, code, words in (
            (["net", "--engine", "ort"], 2, "no samples for net are named"),
            (["net", "samples", "--engine", "ort", "--input", "x.npy"], 3, "samples has no file x.npy"),
            (["net", "samples", "--engine", "ort", "--input", "../x.npy"], 2, "is no path in samples"),
            (["samples", "--engine", "ort", "--input", "samples/test/x.npy"], 2, "samples has no .onnx file"),
            (["net:other.onnx", "--engine", "ort", "--input", "samples/test/x.npy"], 3, "net has no file other.onnx"),
            (["net", "--engine", "ort", "--input", "samples/test/x.npy", "--set", "batch=0"], 2, "batch cannot be '0'"),
            (["net", "--engine", "ort", "--input", "samples/test/x.npy", "--set", "bach=1"], 2, "bach"),
            (["net", "--engine", "ort", "--input", "samples/test/x.npy", "--from", "net"], 2, "--from is of a recipe's steps"),
            (["net", "--input", "samples/test/x.npy"], 2, "--input is of a model that --engine ort runs"),
        ):
            with self.subTest(arguments):
                self.assertIn(words, self.go(*arguments, code=code)["error"]["message"])
        self.sabath.environment["SABATH_ORT"] = "/nowhere"
        made = self.go("net", "--engine", "ort", "--input", "samples/test/x.npy", "--run-dir", "none", code=11)
        self.assertEqual(made["runs"][0]["exit"], 6)


if __name__ == "__main__":
    main()
