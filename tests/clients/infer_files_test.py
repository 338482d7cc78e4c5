"""`sabath infer` on what stands in several files: samples in archives of NumPy, weights of more than 2 GiB beside the graph."""

import hashlib
import os
import shutil
import subprocess
import unittest

from support import clients
from support.case import Case, main

try:
    import numpy as np
except ImportError:
    np = None

FIND = "import onnxruntime, pathlib; print(next((pathlib.Path(onnxruntime.__file__).parent / 'capi').glob('libonnxruntime.so*')))"
# A table of ROWS rows whose weights lie in weights.bin; and the sum of two inputs.
MODELS = '''
import sys, onnx
from onnx import TensorProto as T, helper as h
rows, place = int(sys.argv[1]), sys.argv[2]
def entry(key, value):
    return onnx.StringStringEntryProto(key=key, value=value)
table = onnx.TensorProto(name="table", data_type=T.FLOAT, dims=[rows, 16], data_location=T.EXTERNAL)
table.external_data.extend([entry("location", place), entry("offset", "0"), entry("length", str(rows * 64))])
look = h.make_graph([h.make_node("Gather", ["table", "ids"], ["y"])], "g", [h.make_tensor_value_info("ids", T.INT64, ["n"])],
                    [h.make_tensor_value_info("y", T.FLOAT, ["n", 16])], [table])
add = h.make_graph([h.make_node("Add", ["a", "b"], ["c"])], "g", [h.make_tensor_value_info(n, T.FLOAT, ["n", 3]) for n in "ab"],
                   [h.make_tensor_value_info("c", T.FLOAT, ["n", 3])])
for name, graph in (("look", look), ("add", add)):
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 13)], ir_version=8)
    open(name + ".onnx", "wb").write(model.SerializeToString())
'''


def free_bytes():
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))


@unittest.skipUnless(np, "numpy is not installed: scripts/setup full")
@clients.needs("onnxruntime", "onnx")
class InferFiles(Case):
    def setUp(self):
        super().setUp()
        self.sabath.environment["SABATH_ORT"] = clients.run(FIND).stdout.strip()

    def models(self, rows=1000, place="weights.bin"):
        clients.run(MODELS, rows, place, cwd=self.home)

    def infer(self, *arguments, code=0):
        return self.expect(self.sabath.run("infer", *arguments, "--json"), code).record

    def test_archives_of_arrays(self):
        self.models()
        a, b = np.arange(600, dtype="float32").reshape(200, 3), np.ones((200, 3), "float32")
        for save in (np.savez, np.savez_compressed):
            save(self.home / "both.npz", a=a, b=b, other=np.zeros(3))
            record = self.infer("add.onnx", "-i", "both.npz", "-o", "c.npy", "--batch", "64")
            self.assertEqual((record["samples"], record["batches"]), (200, 4))
            np.testing.assert_array_equal(np.load(self.home / "c.npy"), a + b)
        np.savez(self.home / "one.npz", x=b)
        self.infer("add.onnx", "-i", "a=both.npz", "-i", "b=one.npz", "-o", "c.npy")
        np.savez(self.home / "wrong.npz", a=a.astype("float64"), b=b)
        np.savez(self.home / "less.npz", a=a, d=b)
        np.savez(self.home / "objects.npz", a=np.array([{}] * 3), b=b)
        (self.home / "none.npz").write_bytes(b"PK")
        for name, code, words in (("wrong", 2, "float64"), ("less", 2, "less.npz has no array b"), ("objects", 12, "objects"), ("none", 12, "")):
            error = self.infer("add.onnx", "-i", f"{name}.npz", "-o", "d.npy", code=code)["error"]
            self.assertIn(words, error["message"])
        self.infer("add.onnx", "-i", "both.npz", "-o", "d.npz", code=2)
        self.assertFalse((self.home / "d.npy").exists())

    def test_weights_beside_the_graph(self):
        self.models()
        np.save(self.home / "ids.npy", np.array([0, 999, 5]))
        table = np.random.default_rng(1).normal(size=(1000, 16)).astype("float32")
        error = self.infer("look.onnx", "-i", "ids.npy", "-o", "y.npy", code=3)["error"]
        self.assertIn("weights.bin, which is not there", error["message"])
        (self.home / "weights.bin").write_bytes(table.tobytes())
        record = self.infer("look.onnx", "-i", "ids.npy", "-o", "y.npy")
        np.testing.assert_array_equal(np.load(self.home / "y.npy"), table[[0, 999, 5]])
        self.assertEqual(record["models"][0]["weights"], [{"file": "weights.bin", "sha256": hashlib.sha256(table.tobytes()).hexdigest()}])
        (self.home / "net").mkdir()
        for name in ("look.onnx", "weights.bin"):
            shutil.copy(self.home / name, self.home / "net" / name)
        self.expect(self.sabath.run("adopt", "net", "--name", "net"))
        self.infer("net", "-i", "ids.npy", "-o", "z.npy")
        np.testing.assert_array_equal(np.load(self.home / "z.npy"), table[[0, 999, 5]])
        self.models(place="../weights.bin")
        self.assertIn("outside its directory", self.infer("look.onnx", "-i", "ids.npy", "-o", "y.npy", code=12)["error"]["message"])

    def test_more_than_two_gibibytes(self):
        """A sparse file: nothing but its last row is there."""
        rows = (2 << 30) // 64 + 1000
        if free_bytes() < 3 * rows * 64:
            self.skipTest("less than 7 GiB of memory are free")
        self.models(rows)
        last = np.arange(16, dtype="float32")
        with open(self.home / "weights.bin", "wb") as file:
            os.truncate(file.fileno(), rows * 64)
            os.pwrite(file.fileno(), last.tobytes(), (rows - 1) * 64)
        self.assertLess(int(subprocess.run(["du", "-k", self.home / "weights.bin"], capture_output=True, text=True, check=True).stdout.split()[0]), 100)
        np.save(self.home / "ids.npy", np.array([0, rows - 1]))
        self.infer("look.onnx", "-i", "ids.npy", "-o", "y.npy")
        np.testing.assert_array_equal(np.load(self.home / "y.npy"), [np.zeros(16), last])


if __name__ == "__main__":
    main()
