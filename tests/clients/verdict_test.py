"""The verdict of `sabath convert`, and of its check: wrong graphs by an engine of the user's own, which lies on purpose."""

import hashlib
import json
import pathlib
import shutil
import unittest

from support import clients
from support.case import Case, main

try:
    import numpy as np
    import onnx
except ImportError:
    onnx = None

FIND = "import onnxruntime, pathlib; print(next((pathlib.Path(onnxruntime.__file__).parent / 'capi').glob('libonnxruntime.so*')))"

# The original and the graph are what the environment says: NumPy, and nodes of ONNX with constants.
ENGINE = '''
import json, os, pathlib, sys
import numpy as np
from onnx import TensorProto, helper, numpy_helper

request = json.loads(pathlib.Path(sys.argv[1]).read_text())
output, rng = pathlib.Path(request["output"]), np.random.default_rng()
(output / "native").mkdir()
for each in request["sets"]:
    x = np.load(each["inputs"][0])
    for run in ("first", "again", "threads"):
        for k, y in enumerate(eval(os.environ["ORIGINAL"], {"x": x, "np": np, "rng": rng})):
            np.save(output / "native" / f"{each['name']}.{run}.{k}.npy", y.astype("float32"))
nodes = [helper.make_node(*node) for node in json.loads(os.environ["NODES"])]
weights = [numpy_helper.from_array(np.array(value, "float32"), name) for name, value in json.loads(os.environ["WEIGHTS"]).items()]
value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 4])
outputs = [value(f"y{k}") for k in range(int(os.environ["OUTPUTS"]))]
graph = helper.make_graph(nodes, "g", [value("x")], outputs, weights)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
(output / request["file"]).write_bytes(model.SerializeToString())
'''
TIMES, MINUS = [["Mul", ["x", "w"], ["y0"]]], [["Sub", ["w", "x"], ["y0"]]]


@unittest.skipUnless(onnx, "python3-onnx is not installed: scripts/setup test")
@clients.needs("onnxruntime")
class Verdict(Case):
    def setUp(self):
        super().setUp()
        self.sabath.environment["SABATH_ORT"] = clients.run(FIND).stdout.strip()
        directory = self.home / ".config/sabath/engines"
        directory.mkdir(parents=True)
        (directory / "own.py").write_text(ENGINE)
        (directory / "own.json").write_text(json.dumps({
            "schema": 1, "name": "own", "argv": ["/usr/bin/python3", "{engine}/own.py", "{request}"], "opset": 13}))  # fmt: skip
        (self.home / "m.own").write_text("a model")
        np.save(self.home / "x.npy", np.random.default_rng(3).normal(size=(64, 4)).astype("float32"))

    def convert(self, original, nodes, weights, *options, code, outputs=1):
        self.sabath.environment.update(ORIGINAL=f"[{original}]", NODES=json.dumps(nodes), WEIGHTS=json.dumps(weights),
                                       OUTPUTS=str(outputs))  # fmt: skip
        self.sabath.run("rm", "--forget", "m", "--yes")
        (self.home / "m.own").write_text(f"{original} {nodes} {weights}")  # each is a model of its own
        done = self.expect(self.sabath.run("convert", "m.own", "--from", "own", "--data", "x.npy", *options, "--json"), code)
        return done.record

    def test_wrong_graphs_never_pass(self):
        for what, original, nodes, weights in (
            ("small outputs, every sign flipped", "x * 1e-6", TIMES, {"w": [-1e-6]}),
            ("a constant part", "1e5 + x", MINUS, {"w": [1e5]}),
            ("columns of other units", "x * [1e5, 1, 1, 1e-3]", TIMES, {"w": [1e5, 1, 1, -1e-3]}),
            ("a small constant", "x * 0 + 1e-6", [["Mul", ["x", "z"], ["a"]], ["Add", ["a", "w"], ["y0"]]], {"z": [0], "w": [-1e-6]}),
        ):  # fmt: skip
            with self.subTest(what):
                record = self.convert(original, nodes, weights, code=7)
                self.assertEqual(record["verdict"], "failed")
                self.assertNotIn("ONNX Runtime", " ".join(record["models"][0]["latency"]))  # it was never timed
                output = json.loads((pathlib.Path(record["path"]) / "proof.json").read_text())["models"][0]["comparison"][1]["outputs"][0]
                self.assertGreater(output["difference"]["of_allowed"], 1)

    def test_honest_ones_pass(self):
        for original, nodes, weights in (
            ("x * 1e-6", TIMES, {"w": [1e-6]}),
            ("1e5 - x", MINUS, {"w": [1e5]}),
            ("x * [1e5, 1, 1, -1e-3]", TIMES, {"w": [1e5, 1, 1, -1e-3]}),
        ):
            with self.subTest(original):
                record = self.convert(original, nodes, weights, code=0)
                self.assertEqual((record["verdict"], record["models"][0]["notes"]), ("equal", []))

    def test_what_cannot_be_judged_is_said(self):
        for original, nodes, weights, options, words in (
            ("1e6 + x * 0.1", [["Mul", ["x", "v"], ["a"]], ["Sub", ["w", "a"], ["y0"]]], {"w": [1e6], "v": [0.1]}, [], "varies by"),
            ("x * np.nan", TIMES, {"w": [float("nan")]}, [], "gives no number"),
            ("x", TIMES, {"w": [-1]}, ["--atol", "1e9"], "the tolerance leave"),
            ("x", TIMES, {"w": [-1]}, ["--rtol", "3"], "is more than 0.1"),
        ):  # fmt: skip
            with self.subTest(original, options=options):
                record = self.convert(original, nodes, weights, *options, code=13)
                self.assertEqual(record["verdict"], "cannot be judged")
                self.assertIn(words.removeprefix("varies "), record["models"][0]["findings"][0])
                self.assertTrue((pathlib.Path(record["path"]) / "m.onnx.unjudged").exists())

    def test_noise_excuses_its_own_output_only(self):
        nodes = [["Identity", ["x"], ["y0"]], ["Neg", ["x"], ["y1"]]]
        original = "x + rng.uniform(size=x.shape) * 0.1, x"
        record = self.convert(original, nodes, {}, "--stochastic", "noise", code=7, outputs=2)
        self.assertEqual({each.split()[0] for each in record["models"][0]["findings"]}, {"y1"})
        nodes[1][0] = "Identity"
        self.assertEqual(self.convert(original, nodes, {}, "--stochastic", "noise", code=0, outputs=2)["verdict"], "stochastic")
        far = self.convert("x * 100 + rng.normal(size=x.shape)", TIMES, {"w": [-100]}, "--stochastic", "noise", code=7)
        self.assertIn("y0 on data differs", " ".join(far["models"][0]["findings"]))

    def test_a_constant_is_told(self):
        record = self.convert("x * [1, 1, 0, 1]", TIMES, {"w": [1, 1, 0, 1]}, code=0)
        self.assertIn("y0: 1 of 4 features did not vary over the samples", record["models"][0]["notes"][0])

    def forged(self, tree, change):
        target = self.home / "forged"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(tree, target, copy_function=shutil.copyfile)
        for place in (target, *target.rglob("*")):
            place.chmod(0o755 if place.is_dir() else 0o644)
        proof = json.loads((target / "proof.json").read_text())
        change(proof, target)
        (target / "proof.json").write_text(json.dumps(proof, sort_keys=True, separators=(",", ":")))
        return self.sabath.run("convert", "--check", "./forged")

    def test_a_directory_that_is_handed_on(self):
        tree = self.convert("x * 2", TIMES, {"w": [2]}, code=0)["path"]

        def nothing(proof, target):
            proof["models"][0]["comparison"] = []

        def wide(proof, target):
            model = proof["models"][0]
            file = target / model["file"]
            file.write_bytes(file.read_bytes().replace(np.float32(2).tobytes(), np.float32(-7).tobytes()))
            model["files"][model["file"]] = "sha256:" + hashlib.sha256(file.read_bytes()).hexdigest()
            model["stated"]["absolute"] = model["stated"]["relative"] = 1e9

        def key(proof, target):
            proof["key"] = "sha256:" + "0" * 64

        def verdict(proof, target):
            proof["models"][0]["verdict"] = "failed"

        for change in (nothing, wide, key, verdict):
            with self.subTest(change.__name__):
                done = self.expect(self.forged(tree, change), 7)
                self.assertEqual(done.out, "touched\n")
                self.assertNotIn("nothing was touched", done.err)
        done = self.expect(self.forged(tree, lambda proof, target: None), 0)
        self.assertEqual(done.out, "equal\n")
        self.assertIn("they agree with each other", done.err)
        self.sabath.environment["SABATH_ORT"] = "/nowhere"
        done = self.expect(self.forged(tree, lambda proof, target: None), 13)
        self.assertEqual(done.out, "cannot be judged\n")

    def test_a_proof_of_the_first_schema(self):
        def older(proof, target):
            proof["schema"] = 1
            del proof["request"]
            for model in proof["models"]:
                del model["judged_by"]
                for output in (each for one in model["comparison"] for each in one["outputs"]):
                    output["tolerance"] = {"absolute": 1e-4, "relative": 1e-3}

        def small(proof, target):
            older(proof, target)
            model = proof["models"][0]
            file = target / model["file"]
            file.write_bytes(file.read_bytes().replace(np.float32(1e-6).tobytes(), np.float32(-1e-6).tobytes()))
            model["files"][model["file"]] = "sha256:" + hashlib.sha256(file.read_bytes()).hexdigest()

        tree = self.convert("x * 1e-6", TIMES, {"w": [1e-6]}, code=0)["path"]
        self.assertEqual(self.expect(self.forged(tree, older), 0).out, "equal\n")
        done = self.expect(self.forged(tree, small), 13)
        self.assertEqual(done.out, "cannot be judged\n")
        self.assertIn("which judged by |x|", done.err)


if __name__ == "__main__":
    main()
