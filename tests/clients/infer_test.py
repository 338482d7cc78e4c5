"""`sabath infer` beside PyTorch: models that Debian's torch exports, run by the ONNX Runtime of the clients' environment."""

import json
import sys
import unittest

from support import clients, program
from support.case import Case, main

try:
    import numpy as np
    import torch
except ImportError:
    torch = None

FIND = "import onnxruntime, pathlib; print(next((pathlib.Path(onnxruntime.__file__).parent / 'capi').glob('libonnxruntime.so*')))"
TOLERANCE = 1e-5  # of float32, over sums of some ten products


def export(module, shape, path, taken, given, any_number=True):
    axes = {taken: {0: "n"}, given: {0: "n"}} if any_number else None
    torch.onnx.export(module.eval(), torch.zeros(shape), str(path), input_names=[taken], output_names=[given],
                      dynamic_axes=axes, opset_version=13)  # fmt: skip


@unittest.skipUnless(torch, "torch is not installed: scripts/setup full")
@clients.needs("onnxruntime")
class Infer(Case):
    def setUp(self):
        super().setUp()
        library = clients.run(FIND).stdout.strip()
        self.sabath.environment["SABATH_ORT"] = library
        torch.manual_seed(7)
        self.encoder = torch.nn.Sequential(torch.nn.Linear(12, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
        self.decoder = torch.nn.Sequential(torch.nn.Linear(4, 32), torch.nn.Tanh(), torch.nn.Linear(32, 12))
        export(self.encoder, (1, 12), self.home / "encoder.onnx", "x", "code")
        export(self.decoder, (1, 4), self.home / "decoder.onnx", "z", "y")
        self.x = np.random.default_rng(3).normal(size=(1003, 12)).astype("float32")
        np.save(self.home / "x.npy", self.x)

    def infer(self, *arguments, code=0):
        return self.expect(self.sabath.run("infer", *arguments, "--json"), code).record

    def native(self, *modules):
        with torch.no_grad():
            return torch.nn.Sequential(*modules)(torch.from_numpy(self.x)).numpy()

    def close(self, found, wanted):
        self.assertEqual(found.shape, wanted.shape)
        self.assertLess(np.abs(found - wanted).max(), TOLERANCE)

    def test_a_chain_equals_the_native_one(self):
        wanted = self.native(self.encoder, self.decoder)
        record = self.infer("encoder.onnx,decoder.onnx", "-i", "x.npy", "-o", "y.npy", "--batch", "100")
        self.close(np.load(self.home / "y.npy"), wanted)
        self.assertEqual((record["samples"], record["batches"], record["batch"]), (1003, 11, 100))
        self.assertEqual(record["bytes_read"], self.x.nbytes)
        self.assertEqual(record["bytes_written"], wanted.nbytes)
        self.assertEqual(record["models"][1]["inputs"], ["z[n,4] float32"])
        np.savetxt(self.home / "x.csv", self.x, delimiter=",", header="a,b", comments="", fmt="%.9g")
        self.infer("encoder.onnx,decoder.onnx", "-i", "x.csv", "-o", "y.csv")
        self.close(np.loadtxt(self.home / "y.csv", delimiter=",", dtype="float32"), wanted)
        (self.home / "x.json").write_text(json.dumps(self.x.tolist()))
        self.infer("encoder.onnx,decoder.onnx", "-i", "x=x.json", "-o", "y.json", "--as-it-is")
        self.close(np.array(json.loads((self.home / "y.json").read_text()), "float32"), wanted)

    def test_what_does_not_fit_is_told_before_anything_runs(self):
        np.save(self.home / "double.npy", self.x.astype("float64"))
        np.save(self.home / "none.npy", self.x[:0])
        np.save(self.home / "turned.npy", np.asfortranarray(self.x))
        export(self.encoder, (2, 12), self.home / "two.onnx", "x", "code", any_number=False)
        for arguments, words in (
            (("decoder.onnx,encoder.onnx", "-i", "x.npy"), "it wants z[n,4] float32, and gets x.npy[1003,12] float32"),
            (("encoder.onnx,encoder.onnx", "-i", "x.npy"), "it wants x[n,12] float32, and gets code[n,4] float32"),
            (("encoder.onnx", "-i", "double.npy"), "gets double.npy[1003,12] float64"),
            (("encoder.onnx", "-i", "none.npy"), "none.npy has no samples"),
            (("encoder.onnx", "-i", "turned.npy"), "turned.npy"),
            (("encoder.onnx", "-i", "u=x.npy"), "has no input u"),
            (("encoder.onnx", "-i", "x.npy", "--result", "z"), "has no output z: it gives code"),
            (("two.onnx", "-i", "x.npy"), "takes 2 samples at once, and there are 1003"),
        ):
            with self.subTest(arguments):
                error = self.infer(*arguments, "-o", "out.npy", code=2)["error"]
                self.assertIn(words, error["message"])
                self.assertEqual(sorted(self.home.glob("out.npy*")), [])

    def test_a_large_input_streams(self):
        large = np.lib.format.open_memmap(self.home / "large.npy", "w+", "float32", (6_000_000, 12))  # 288 MB
        large[:] = np.arange(12, dtype="float32")
        del large
        code = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); " \
               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"  # fmt: skip
        done = clients.run(code, program.BINARY, "infer", "encoder.onnx", "-i", "large.npy", "-o", "y.npy", cwd=self.home,
                           SABATH_ORT=self.sabath.environment["SABATH_ORT"], HOME=str(self.home))  # fmt: skip
        self.assertLess(int(done.stdout.split()[-1]) << 10, 200 << 20)
        found = np.load(self.home / "y.npy", mmap_mode="r")
        self.assertEqual(found.shape, (6_000_000, 4))
        self.assertTrue((found[-1] == found[0]).all())

    def test_no_model(self):
        (self.home / "torn.onnx").write_bytes((self.home / "encoder.onnx").read_bytes()[:-20])
        error = self.infer("torn.onnx", "-i", "x.npy", "-o", "y.npy", code=12)["error"]
        self.assertIn("cannot read torn.onnx", error["message"])
        self.sabath.environment["SABATH_ORT"] = sys.executable
        error = self.infer("encoder.onnx", "-i", "x.npy", "-o", "y.npy", code=6)["error"]
        self.assertIn("there is no ONNX Runtime that can be used", error["message"])


if __name__ == "__main__":
    main()
