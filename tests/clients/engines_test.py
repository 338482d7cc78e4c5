"""Engines whose libraries are heavy: Keras and XGBoost, of the Python that `scripts/setup clients engines` makes."""

import json
import os
import pathlib
import subprocess
import unittest

from support.case import Case, main

try:
    import numpy as np
except ImportError:
    np = None

PYTHON = pathlib.Path(os.environ.get("SABATH_ENGINES") or pathlib.Path(__file__).parents[2] / "build/engines/bin/python")
FIND = "import onnxruntime, pathlib; print(next((pathlib.Path(onnxruntime.__file__).parent / 'capi').glob('libonnxruntime.so*')))"


def why_not(*modules):
    if np is None:
        return "numpy is not installed: scripts/setup full"
    if not PYTHON.exists():
        return "no engines are here: scripts/setup clients engines makes build/engines, or SABATH_ENGINES names a Python"
    code = "import importlib.util as u, sys; print([m for m in sys.argv[1:] if not u.find_spec(m)])"
    absent = subprocess.run([PYTHON, "-c", code, *modules], capture_output=True, text=True, check=True).stdout.strip()
    return "" if absent == "[]" else f"the Python of SABATH_ENGINES has no {absent}"


def needs(*modules):
    why = why_not(*modules)
    return unittest.skipIf(why, why)


class Engines(Case):
    def setUp(self):
        super().setUp()
        if why := why_not("onnxruntime"):
            self.skipTest(why)
        self.sabath.environment["SABATH_ORT"] = self.python(FIND).strip()
        self.sabath.environment["SABATH_PYTHON"] = str(PYTHON)
        rng = np.random.default_rng(5)
        self.z = rng.normal(size=(150, 4)).astype("float32")
        np.save(self.home / "z.npy", self.z)
        np.save(self.home / "wanted.npy", (self.z[:, 0] * self.z[:, 1]).astype("float32"))

    def python(self, code):
        done = subprocess.run([PYTHON, "-c", code], cwd=self.home, capture_output=True, text=True, timeout=600, check=False,
                              env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONDONTWRITEBYTECODE": "1", "CUDA_VISIBLE_DEVICES": ""})  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        return done.stdout

    def convert(self, *arguments, code=0):
        return self.expect(self.sabath.run("convert", *arguments, "--json"), code).record

    @needs("tensorflow", "tf2onnx")
    def test_a_decoder_of_keras(self):
        """A trained decoder, found equal; alone and behind an encoder it gives what Keras gives."""
        self.python("import keras, numpy as np; z = np.load('z.npy'); keras.utils.set_random_seed(3); "
                    "net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation='tanh'), keras.layers.Dense(12)]); "
                    "net.compile('sgd', 'mse'); net.fit(z, np.repeat(z, 3, axis=1), epochs=5, verbose=0); "
                    "net.save('decoder.keras'); np.save('native.npy', net.predict(z, verbose=0))")  # fmt: skip
        made = self.convert("decoder.keras", "--from", "keras", "--data", "z.npy", "--input-names", "code", "--output-names", "y", "-o", "decoder")
        self.assertEqual(made["verdict"], "equal", made)
        proof = json.loads((pathlib.Path(made["path"]) / "proof.json").read_text())["models"][0]
        self.assertEqual([[value["name"] for value in proof["graph"][end]] for end in ("inputs", "outputs")], [["code"], ["y"]])
        self.expect(self.sabath.run("infer", "decoder", "-i", "z.npy", "-o", "y.npy"))
        np.testing.assert_allclose(np.load(self.home / "y.npy"), np.load(self.home / "native.npy"), atol=1e-4)
        self.assertEqual(self.convert("--check", "decoder")["touched"], [])

    @needs("xgboost", "onnxmltools")
    def test_trees_of_xgboost(self):
        self.python("import numpy as np, xgboost as x; z, y = np.load('z.npy'), np.load('wanted.npy'); "
                    "x.train({'objective': 'reg:squarederror', 'max_depth': 4}, x.DMatrix(z, y), 12).save_model('trees.ubj'); "
                    "c = x.train({'objective': 'binary:logistic'}, x.DMatrix(z, y > 0), 6); c.save_model('signs.json'); "
                    "np.save('native.npy', c.predict(x.DMatrix(z)))")  # fmt: skip
        made = self.convert("trees.ubj,signs.json", "--from", "xgboost", "--data", "z.npy", "--data", "z.npy", "--output-names", "y",
                            "--output-names", "label,scores", "-o", "both")  # fmt: skip
        self.assertEqual((made["verdict"], [each["verdict"] for each in made["models"]]), ("equal", ["equal", "equal"]), made)
        self.expect(self.sabath.run("infer", "both:signs.onnx", "-i", "z.npy", "-o", "s.npy", "--result", "scores"))
        np.testing.assert_allclose(np.load(self.home / "s.npy")[:, 1], np.load(self.home / "native.npy"), atol=1e-5)
        refused = self.convert("signs.json", "--from", "xgboost", "--data", "z.npy", "--output-names", "y", code=7)
        self.assertIn("2", refused["models"][0]["findings"][0])


if __name__ == "__main__":
    main()
