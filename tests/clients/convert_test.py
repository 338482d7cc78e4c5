"""`sabath convert`: models of Debian's PyTorch, and of the clients' scikit-learn, judged by the clients' ONNX Runtime."""

import hashlib
import json
import os
import pathlib
import pickle
import socket
import stat
import subprocess
import threading
import unittest

from support import clients
from support.case import Case, main

try:
    import numpy as np
    import torch
except ImportError:
    torch = None

FIND = "import onnxruntime, pathlib; print(next((pathlib.Path(onnxruntime.__file__).parent / 'capi').glob('libonnxruntime.so*')))"

NETS = '''
import torch

class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = torch.nn.Linear(12, 32), torch.nn.Linear(32, 4)

    def forward(self, x):
        return self.two(torch.relu(self.one(x)))

class Branch(torch.nn.Module):
    def forward(self, x):
        return x * 2 if x.sum() > 0 else x - 1

class Random(torch.nn.Module):
    def forward(self, x):
        return x + torch.randn_like(x)

class Dropout(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.dropout(x, 0.5, training=True)

class Frozen(torch.nn.Module):
    def forward(self, x):
        return x.reshape(int(x.shape[0]), 3, 4).sum(2)
'''

# An engine of the user's own, which does as its request's factory says.
ENGINE = '''
import json, os, pathlib, shutil, socket, subprocess, sys
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

request = json.loads(pathlib.Path(sys.argv[1]).read_text())
how, output = os.environ["HOW"], pathlib.Path(request["output"])

def write(model):
    (output / request["file"]).write_bytes(model.SerializeToString())

def model_of(kind, factor):
    weight = numpy_helper.from_array(np.full(1, factor, "float64" if kind == TensorProto.DOUBLE else "float32"), "w")
    graph = helper.make_graph([helper.make_node("Mul", ["x", "w"], ["y"])], "g",
                              [helper.make_tensor_value_info("x", kind, ["n", 12])],
                              [helper.make_tensor_value_info("y", kind, ["n", 12])], [weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", request["opset"])], ir_version=8)

kind = "float64" if how == "demoted" else "float32"
(output / "native").mkdir()
for each in request["sets"]:
    x = np.load(each["inputs"][0])
    for run in ("first", "again", "threads"):
        np.save(output / "native" / f"{each['name']}.{run}.0.npy", (x * 2).astype(kind))
model = model_of(TensorProto.FLOAT, 3 if how == "liar" else 2)
if how == "external":
    onnx.external_data_helper.set_external_data(model.graph.initializer[0], "weights.bin")
    model.graph.initializer[0].ClearField("raw_data")
write(model)
if how == "liar":
    (output / "proof.json").write_text(json.dumps({"verdict": "equal"}))
    print("equal: all outputs are the same")
if how == "network":
    seen = []
    for family, place in ((socket.AF_INET, ("127.0.0.1", int(os.environ["PORT"]))), (socket.AF_INET, ("192.0.2.1", 80))):
        try:
            with socket.socket(family) as one:
                one.settimeout(5)
                one.connect(place)
                seen.append(str(place))
        except OSError:
            pass
    pid = subprocess.Popen(["sleep", "300"], start_new_session=True).pid
    (output / "seen.json").write_text(json.dumps({"seen": seen, "pid": pid}))
'''


def onnx_of_debian():
    try:
        import onnx
    except ImportError:
        return None
    return onnx


@unittest.skipUnless(torch, "torch is not installed: scripts/setup full")
@clients.needs("onnxruntime")
class Convert(Case):
    def setUp(self):
        super().setUp()
        self.sabath.environment["SABATH_ORT"] = clients.run(FIND).stdout.strip()
        self.sabath.environment["SABATH_PYTHON"] = str(clients.PYTHON)
        (self.home / "nets.py").write_text(NETS)
        rng = np.random.default_rng(3)
        self.x = rng.normal(size=(200, 12)).astype("float32")
        self.save("x.npy", self.x)
        self.save("z.npy", rng.normal(size=(150, 4)).astype("float32"))
        self.save("ones.npy", np.ones((1, 12), "float32"))
        torch.manual_seed(5)

    def save(self, name, array):
        np.save(self.home / name, array)

    def convert(self, *arguments, code=0):
        return self.expect(self.sabath.run("convert", *arguments, "--json"), code).record

    def encoder(self):
        """A trained encoder's weights: what is asked for in most cases."""
        scope = {}
        exec(NETS, scope)  # the same text that the engine imports
        model = scope["Encoder"]()
        wanted = torch.from_numpy(self.x[:, :4] * 2)
        optimiser = torch.optim.SGD(model.parameters(), lr=0.05)
        for _ in range(40):
            optimiser.zero_grad()
            torch.nn.functional.mse_loss(model(torch.from_numpy(self.x)), wanted).backward()
            optimiser.step()
        torch.save({"state_dict": model.state_dict()}, self.home / "encoder.pth")
        return model.eval()

    def net(self, name, *options, code=0):
        torch.save({}, self.home / f"{name}.pth")
        return self.convert(f"{name}.pth", "--from", "pytorch", "--code", f"nets.py:{name.capitalize()}", *options, code=code)

    def own_engine(self, how, *options, code=7, **environment):
        directory = self.home / ".config/sabath/engines"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "own.py").write_text(ENGINE)
        (directory / "own.json").write_text(json.dumps({
            "schema": 1, "name": "own", "argv": ["/usr/bin/python3", "{engine}/own.py", "{request}"], "opset": 13}))  # fmt: skip
        self.sabath.environment.update(HOW=how, **environment)
        (self.home / "own.bin").write_text(how)
        return self.convert("own.bin", "--from", "own", "--data", "x.npy", *options, code=code)

    @clients.needs("onnxruntime", "skl2onnx", "sklearn")
    def test_an_ensemble_with_its_proof(self):
        """A trained encoder and a forest: one asset, found again, checked, run; what is touched is named."""
        model = self.encoder()
        clients.run("import numpy as np, pickle, sys; from sklearn.ensemble import RandomForestRegressor as Forest; "
                    "z = np.load('z.npy'); pickle.dump(Forest(8, max_depth=5, random_state=1).fit(z, z[:, 0] * z[:, 1]), "
                    "open('forest.pkl', 'wb'))", cwd=self.home)  # fmt: skip
        wanted = ["encoder.pth,forest.pkl", "--from", "pytorch", "--from", "sklearn", "--code", "nets.py:Encoder", "--code", "",
                  "--data", "x.npy:40", "--data", "z.npy", "--input-names", "x", "--input-names", "code",
                  "--output-names", "code", "--output-names", "y"]  # fmt: skip
        refused = self.convert(*wanted, code=4)["error"]
        self.assertIn("code that you have not trusted", refused["message"])
        self.assertIn("sklearn.ensemble", refused["hint"])
        made = self.convert(*wanted, "--trust", "once", "-o", "pair")
        self.assertEqual((made["verdict"], made["was_there"], made["name"]), ("equal", False, "pair"), made)
        self.assertEqual([each["file"] for each in made["models"]], ["encoder.onnx", "forest.onnx"])
        self.assertIn(made["network"], ("network namespace", "seccomp"))
        tree = pathlib.Path(made["path"])
        text = (tree / "proof.json").read_text()
        proof = json.loads(text)
        self.assertEqual(json.dumps(proof, sort_keys=True, separators=(",", ":"), ensure_ascii=False), text)
        encoder, forest = proof["models"]
        for path, digest in encoder["files"].items():
            self.assertEqual(digest, "sha256:" + hashlib.sha256((tree / path).read_bytes()).hexdigest(), path)
        self.assertEqual([each["name"] for each in encoder["comparison"]], ["dummy", "data", "random", "zeros", "one"])
        self.assertEqual((len(encoder["inputs"]["rows"]), encoder["comparison"][1]["batch"]), (40, 40))
        self.assertTrue(encoder["converter"]["tools"]["torch"].startswith(torch.__version__))
        self.assertEqual(forest["comparison"][1]["outputs"][0]["type_converted"], "float32")
        np.testing.assert_array_equal(np.load(tree / "evidence/encoder/data.input.0.npy"), self.x[encoder["inputs"]["rows"]])
        latency = json.loads((tree / "latency.json").read_text())
        self.assertEqual({row["what"] for row in latency["rows"]}, {"native", "onnxruntime", "onnxruntime optimised"})
        shown = self.expect(self.sabath.run("report", "pair", "--format", "latency", "--json")).record["latency"]
        self.assertEqual({(row["model"], row["batch"]) for row in shown["rows"]}, {("encoder", 1), ("encoder", 40), ("forest", 1), ("forest", 32)})
        self.assertEqual(len(shown["machines"]), 1)
        # Found again, without an engine; another opset is another asset.
        self.sabath.environment["SABATH_ORT"] = "/nowhere"
        again = self.convert(*wanted, "-o", "pair")
        self.assertEqual((again["was_there"], again["key"], again["manifest"]), (True, made["key"], made["manifest"]))
        self.assertIn("pair", self.expect(self.sabath.run("list", "--kind", "model")).out)
        self.assertEqual(self.expect(self.sabath.run("info", "pair", "--json")).record["assets"][0]["kind"], "model")
        other = self.convert(*wanted, "--opset", "12", "-n")
        self.assertNotEqual(other["key"], made["key"])
        self.sabath.environment["SABATH_ORT"] = clients.run(FIND).stdout.strip()
        # It runs, and gives what PyTorch gives.
        self.expect(self.sabath.run("infer", "pair:encoder.onnx", "-i", "x.npy", "-o", "y.npy"))
        with torch.no_grad():
            np.testing.assert_allclose(np.load(self.home / "y.npy"), model(torch.from_numpy(self.x)).numpy(), atol=1e-4)
        self.check_touched(tree)

    def check_touched(self, tree):
        record = self.convert("--check", "pair")
        self.assertEqual((record["verdict"], record["touched"], record["unchecked"]), ("equal", [], []))
        self.assertEqual(record["compared"], 10)
        for path, words in (("encoder.onnx", "encoder.onnx has another SHA-256"), ("proof.json", "proof.json is not what"),
                            ("evidence/forest/data.input.0.npy", "data.input.0.npy has another SHA-256")):  # fmt: skip
            with self.subTest(path):
                file = tree / path
                data = file.read_bytes()
                changed = data.replace(b'"relative":0.001', b'"relative":0.901') if path == "proof.json" else \
                    data[:-40] + bytes([data[-40] ^ 1]) + data[-39:]  # fmt: skip
                self.assertNotEqual(changed, data)
                rewrite(file, changed)
                touched = self.convert("--check", "pair", code=7)["touched"]
                self.assertTrue(any(words in each for each in touched), touched)
                rewrite(file, data)
        self.assertEqual(self.convert("--check", "pair")["touched"], [])

    def test_a_pickle_is_never_opened_without_trust(self):
        class Evil:
            def __reduce__(self):
                return os.system, (f"touch {self.marker}",)

        evil = Evil()
        Evil.marker = str(self.home / "opened")
        (self.home / "evil.pt").write_bytes(pickle.dumps(evil))
        error = self.convert("evil.pt", "--from", "pytorch", "--dummy", "ones.npy", code=4)["error"]
        self.assertIn("system", error["hint"])
        (self.home / "weights.pth").write_bytes(pickle.dumps(evil))  # of what is said to be weights, nothing runs, either
        self.convert("weights.pth", "--from", "pytorch", "--code", "nets.py:Encoder", "--dummy", "ones.npy", code=7)
        self.assertFalse((self.home / "opened").exists())

    def test_a_branch_that_the_dummy_does_not_take(self):
        self.save("below.npy", -self.x.__abs__())
        made = self.net("branch", "--dummy", "ones.npy", "--data", "below.npy", "-o", "branch", code=7)
        findings = " ".join(made["models"][0]["findings"])
        self.assertIn("tracing keeps the branch that the dummy input takes", findings)
        self.assertEqual(made["verdict"], "failed")
        files = [path.name for path in pathlib.Path(made["path"]).iterdir()]
        self.assertIn("branch.onnx.failed", files)
        self.assertNotIn("branch.onnx", files)
        error = self.expect(self.sabath.run("infer", "branch", "-i", "x.npy", "-o", "y.npy", "--json"), 2).record["error"]
        self.assertIn("branch has no .onnx file", error["message"])
        again = self.net("branch", "--dummy", "ones.npy", "--data", "below.npy", code=7)
        self.assertTrue(again["was_there"])
        self.assertEqual(self.convert("--check", "branch")["verdict"], "failed")

    def test_a_stochastic_model_needs_its_reason(self):
        findings = self.net("random", "--data", "x.npy", code=7)["models"][0]["findings"]
        self.assertIn("the original gives other values when it is run again", findings[0])
        made = self.net("random", "--data", "x.npy", "--stochastic", "noise is what it is for")
        self.assertEqual(made["verdict"], "stochastic")
        self.assertIn("RandomNormalLike", " ".join(made["models"][0]["notes"]))
        proof = json.loads((pathlib.Path(made["path"]) / "proof.json").read_text())
        self.assertEqual(proof["models"][0]["stated"]["stochastic"], "noise is what it is for")

    def test_known_traps_are_named(self):
        findings = self.net("dropout", "--data", "x.npy", code=7)["models"][0]["findings"]
        self.assertIn("the original gives other values", findings[0])
        findings = self.net("frozen", "--data", "x.npy", "--dummy", "ones.npy", code=7)["models"][0]["findings"]
        self.assertIn("the number of samples was frozen at the dummy input's 1: with 32 it fails", findings[0])
        if not onnx_of_debian():
            self.skipTest("python3-onnx is not installed: scripts/setup test")
        for how, words in (
            ("demoted", "y is float64 in the original and float32 in the converted model: precision was lost"),
            ("external", "weights were left behind: the graph names weights.bin"),
            ("liar", "y on dummy differs: 12 of 12 elements are outside"),
        ):
            with self.subTest(how):
                made = self.own_engine(how)
                self.assertEqual(made["verdict"], "failed")
                self.assertIn(words, " ".join(made["models"][0]["findings"]))
        self.assertEqual(self.own_engine("demoted", "--precision", "float32", code=0)["verdict"], "equal")

    @unittest.skipUnless(onnx_of_debian(), "python3-onnx is not installed: scripts/setup test")
    def test_an_engine_sees_no_network_and_ends_with_its_tree(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(0.2)
            met = []
            ended = threading.Event()

            def accept():
                while not ended.is_set():
                    try:
                        met.append(server.accept()[1])
                    except TimeoutError:
                        pass

            thread = threading.Thread(target=accept)
            thread.start()
            made = self.own_engine("network", code=0, PORT=str(server.getsockname()[1]))
            ended.set()
            thread.join()
        self.assertEqual(met, [])
        self.assertIn(made["network"], ("network namespace", "seccomp"))
        told = json.loads(next(pathlib.Path(made["path"]).rglob("seen.json")).read_text())
        self.assertEqual(told["seen"], [])
        self.assertFalse(pathlib.Path(f"/proc/{told['pid']}").exists())

    def test_the_papers_task_files(self):
        """Listing 1 converts an encoder and a decoder, listing 2 runs them one after the other: as the native chain."""
        encoder = self.encoder()
        decoder = torch.nn.Sequential(torch.nn.Linear(4, 12), torch.nn.Tanh()).eval()
        torch.jit.script(encoder_of(encoder)).save(str(self.home / "encoder.pt"))
        torch.jit.trace(decoder, torch.zeros(1, 4)).save(str(self.home / "decoder.pt"))
        (self.home / "conversion.yaml").write_text('''general_args:
  task: "conversion"
  tag: "collaboration"
  backend: ["pt","pt"]
device_args:
  worker_num: 4
  device: "cpu"
  gpu_mapping_file: ''
model_args:
  model_name: ["encoder","decoder"]
  model_file: ["encoder.pt","decoder.pt"]
  onnx_version: 10
  data: ["x.npy","z.npy"]
  input_names: ["x","code"]
  output_names: ["code","y"]
out_args:
  export_file: ["encoder.onnx","decoder.onnx"]
''')
        (self.home / "inference.yaml").write_text('''general_args:
  task: "inference"
  backend: "onnx"
task_args:
  model_name: ["encoder","decoder"]
  model_file: ["encoder.onnx","decoder.onnx"]
  input: "input.txt"
out_args:
  export_file: "out.txt"
''')
        np.savetxt(self.home / "input.txt", self.x, fmt="%.9g")
        planned = self.expect(self.sabath.run("task", "conversion.yaml", "-n", "--json")).record
        self.assertEqual((planned["verb"], planned["written"]), ("convert", []))
        made = self.expect(self.sabath.run("task", "conversion.yaml", "--json")).record
        self.assertEqual(made["converted"]["verdict"], "equal", made)
        self.assertEqual(made["written"], ["encoder.onnx", "decoder.onnx"])
        self.expect(self.sabath.run("task", "inference.yaml"))
        with torch.no_grad():
            wanted = decoder(encoder(torch.from_numpy(self.x))).numpy()
        np.testing.assert_allclose(np.loadtxt(self.home / "out.txt"), wanted, atol=1e-4)
        text = (self.home / "conversion.yaml").read_text().replace("onnx_version", "onnx_versoin")
        (self.home / "wrong.yaml").write_text(text)
        error = self.expect(self.sabath.run("task", "wrong.yaml", "--json"), 12).record["error"]
        self.assertIn("wrong.yaml:12: unknown key \"model_args.onnx_versoin\"", error["message"])

    def test_the_tutorial(self):
        """The commands of docs/convert.md, "In five minutes", as they stand."""
        page = (pathlib.Path(__file__).parents[2] / "docs/convert.md").read_text(encoding="utf-8")
        section = page.split("## In five minutes")[1].split("\n## ")[0]
        lines = [line.removeprefix("    ") for line in section.splitlines() if line.startswith("    ") or not line]
        script = "set -e\nsabath() { \"$SABATH_BINARY\" \"$@\"; }\n" + "\n".join(lines)
        done = subprocess.run(["bash", "-c", script], cwd=self.home, env={**os.environ, **self.sabath.environment},
                              capture_output=True, text=True, timeout=600, check=False)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("net: equal", done.stderr)
        self.assertIn("nothing was touched", done.stderr)
        self.assertEqual(np.load(self.home / "y.npy").shape, (200, 4))

    def test_what_cannot_begin(self):
        self.encoder()
        base = ["encoder.pth", "--from", "pytorch", "--code", "nets.py:Encoder"]
        for arguments, code, words in (
            ([*base], 2, "a model's inputs are not said"),
            ([*base, "--data", "nothing.npy"], 3, "there is no file nothing.npy"),
            ([*base, "--data", "x.npy:999"], 2, "999 samples are wanted, and x.npy has 200"),
            (["encoder.pth", "--from", "pytoch", "--data", "x.npy"], 3, "did you mean pytorch?"),
            (["encoder.pth,b.pth", "--from", "pytorch", "--data", "x.npy"], 2, "--data is given 1 time, and there are 2 models"),
            ([*base, "--data", "x.npy", "--atol", "-1"], 2, "-1 is no tolerance"),
            ([*base, "--data", "x.npy", "--code", "nets.py"], 2, "--code is given 2 times"),
        ):  # fmt: skip
            with self.subTest(arguments):
                self.assertIn(words, self.convert(*arguments, code=code)["error"]["message"])
        failed = self.convert(*base, "--data", "x.npy", "--opset", "99", code=7)
        self.assertIn("could not convert encoder", failed["models"][0]["findings"][0])


def encoder_of(model):
    """The same layers in a module that TorchScript finds the source of."""
    return torch.nn.Sequential(model.one, torch.nn.ReLU(), model.two).eval()


def rewrite(file, data):
    """The bytes of a file of a view, which is read-only; it stays one."""
    file.chmod(stat.S_IRUSR | stat.S_IWUSR)
    file.write_bytes(data)
    file.chmod(stat.S_IRUSR)


if __name__ == "__main__":
    main()
