"""`sabath convert --merge`: a chain of models that Debian's torch exports becomes one graph, judged against the chain itself."""

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


def export(module, shape, path, taken, given, opset=13):
    torch.onnx.export(module.eval(), torch.zeros(shape), str(path), input_names=[taken], output_names=[given],
                      dynamic_axes={taken: {0: "n"}, given: {0: "n"}}, opset_version=opset)  # fmt: skip


@unittest.skipUnless(torch, "torch is not installed: scripts/setup full")
@clients.needs("onnxruntime", "onnx")
class Chain(Case):
    def setUp(self):
        super().setUp()
        self.sabath.environment["SABATH_ORT"] = clients.run(FIND).stdout.strip()
        self.sabath.environment["SABATH_PYTHON"] = str(clients.PYTHON)
        torch.manual_seed(7)
        self.encoder = torch.nn.Sequential(torch.nn.Linear(12, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
        self.decoder = torch.nn.Sequential(torch.nn.Linear(4, 32), torch.nn.Tanh(), torch.nn.Linear(32, 12))
        export(self.encoder, (1, 12), self.home / "encoder.onnx", "x", "code")
        export(self.decoder, (1, 4), self.home / "decoder.onnx", "z", "y", opset=11)
        self.x = np.random.default_rng(3).normal(size=(203, 12)).astype("float32")
        np.save(self.home / "x.npy", self.x)

    def convert(self, *arguments, code=0):
        return self.expect(self.sabath.run("convert", *arguments, "--json"), code).record

    def test_one_graph_of_two_models(self):
        wanted = ("encoder.onnx,decoder.onnx", "--merge", "--data", "x.npy:40", "-o", "both")
        made = self.convert(*wanted)
        self.assertEqual((made["verdict"], [each["file"] for each in made["models"]]), ("equal", ["encoder+decoder.onnx"]), made)
        tree = pathlib.Path(made["path"])
        proof = json.loads((tree / "proof.json").read_text())["models"][0]
        digests = ["sha256:" + hashlib.sha256((self.home / name).read_bytes()).hexdigest() for name in ("encoder.onnx", "decoder.onnx")]
        self.assertEqual([each["sha256"] for each in proof["source"]["chain"]], digests)
        self.assertEqual([[value["name"] for value in proof["graph"][end]] for end in ("inputs", "outputs")], [["x"], ["y"]])
        self.assertEqual((proof["graph"]["operators"]["Gemm"], proof["graph"]["opsets"]), (4, {"": 13}))
        self.assertEqual({each["batch"] for each in proof["comparison"]}, {1, 3, 40})
        # It gives what the chain gives, and what PyTorch gives.
        self.expect(self.sabath.run("infer", "both", "-i", "x.npy", "-o", "one.npy"))
        self.expect(self.sabath.run("infer", "encoder.onnx,decoder.onnx", "-i", "x.npy", "-o", "two.npy"))
        one = np.load(self.home / "one.npy")
        np.testing.assert_allclose(one, np.load(self.home / "two.npy"), atol=1e-6)
        with torch.no_grad():
            np.testing.assert_allclose(one, self.decoder(self.encoder(torch.from_numpy(self.x))).numpy(), atol=1e-5)
        self.assertEqual(self.convert("--check", "both")["touched"], [])
        self.assertTrue(self.convert(*wanted)["was_there"])
        # Of two assets: both are named, with their roots. Other models, another graph.
        np.save(self.home / "code.npy", self.x[:9, :4])
        second = self.convert("decoder.onnx", "--from", "onnx", "--data", "code.npy", "-o", "second")
        encoder = self.convert("encoder.onnx", "--from", "onnx", "--data", "x.npy", "-o", "code")
        merged = self.convert("code,second", "--merge", "--data", "x.npy", "--input-names", "in", "--output-names", "out", "-o", "merged")
        chain = json.loads((pathlib.Path(merged["path"]) / "proof.json").read_text())["models"][0]
        self.assertEqual([each["root"] for each in chain["source"]["chain"]], [encoder["manifest"], second["manifest"]])
        self.assertEqual([chain["graph"][end][0]["name"] for end in ("inputs", "outputs")], ["in", "out"])
        told = self.expect(self.sabath.run("info", "merged", "--lineage", "--json")).record["assets"][0]
        self.assertIn("code", json.dumps(told))
        self.assertEqual(told["lineage"][0]["arguments"]["parents"], f"code {encoder['manifest']}, second {second['manifest']}")

    def test_what_cannot_be_merged(self):
        for arguments, code, words in (
            (["encoder.onnx,encoder.onnx", "--merge", "--data", "x.npy"], 2, "encoder.onnx after encoder.onnx"),
            (["encoder.onnx", "--merge", "--data", "x.npy"], 2, "one model is no chain"),
            (["encoder.onnx,decoder.onnx", "--merge", "--data", "x.npy", "--from", "onnx"], 2, "--merge is of ONNX models"),
            (["encoder.onnx,decoder.onnx", "--merge", "--data", "x.npy", "--data", "x.npy"], 2, "--data is given 2 times"),
            (["encoder.onnx,nothing.onnx", "--merge", "--data", "x.npy"], 3, "no recipe named \"nothing.onnx\""),
        ):
            with self.subTest(arguments):
                error = self.convert(*arguments, code=code)["error"]
                self.assertIn(words, error["message"])


if __name__ == "__main__":
    main()
