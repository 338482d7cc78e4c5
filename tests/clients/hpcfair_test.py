#!/usr/bin/python3
"""What the papers' names do where the engines are: conversion, inference and collaboration, judged against PyTorch."""

import contextlib
import io
import json
import os
import pathlib
import sys
import unittest

from support import clients
from support.case import SKIPPED, main, place
from support.content import fragment
from support.package import PackageCase

try:
    import numpy as np
    import sabath
    import torch
    from hpcfair import hpcfair_dataset as dataset
    from hpcfair import hpcfair_model as model
    from hpcfair import modelAPI
except ImportError:
    torch = None

FIND = "import onnxruntime, pathlib; print(next((pathlib.Path(onnxruntime.__file__).parent / 'capi').glob('libonnxruntime.so*')))"
DONE = "Model successfully run. Check logs directory for more details.\n"
NETS = """
import torch

class Encoder(torch.nn.Sequential):
    def __init__(self):
        super().__init__(torch.nn.Linear(12, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))

class Decoder(torch.nn.Sequential):
    def __init__(self):
        super().__init__(torch.nn.Linear(4, 32), torch.nn.Tanh(), torch.nn.Linear(32, 12))
"""
CONVERSION = """
general_args:
  task: "conversion"
  tag: "collaboration"
  backend: ["pt", "pt"]
model_args:
  model_name: ["encoder", "decoder"]
  model_file: ["encoder.pth", "decoder.pth"]
  code: ["nets.py:Encoder", "nets.py:Decoder"]
  data: ["x.npy", "z.npy"]
  onnx_version: 13
out_args:
  export_file: ["encoder.onnx", "decoder.onnx"]
"""
INFERENCE = """
general_args:
  task: "inference"
  tag: "collaboration"
  backend: "onnx"
task_args:
  model_name: ["encoder", "decoder"]
  model_file: ["encoder.onnx", "decoder.onnx"]
  input: "x.npy"
out_args:
  export_file: "out.npy"
"""


@unittest.skipUnless(torch, "torch is not installed: scripts/setup full")
class Papers(PackageCase):
    def setUp(self):
        super().setUp()
        os.environ["SABATH_ORT"] = clients.run(FIND).stdout.strip()
        os.environ["SABATH_PYTHON"] = sys.executable
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.home)
        torch.manual_seed(7)
        place(self.home / "nets.py", NETS.encode())
        names = {}
        exec(compile(NETS, "nets.py", "exec"), names)
        self.encoder, self.decoder = names["Encoder"]().eval(), names["Decoder"]().eval()
        torch.save(self.encoder.state_dict(), "encoder.pth")
        torch.save(self.decoder.state_dict(), "decoder.pth")
        generator = np.random.default_rng(3)
        self.x = generator.normal(size=(40, 12)).astype("float32")
        np.save("x.npy", self.x)
        np.save("z.npy", generator.normal(size=(40, 4)).astype("float32"))

    def close(self, file, *nets):
        with torch.no_grad():
            wanted = torch.nn.Sequential(*nets)(torch.from_numpy(self.x)).numpy()
        np.testing.assert_allclose(np.load(file), wanted, atol=1e-5)

    def run_quietly(self, *arguments, **options):
        """The result file of an inference, which says what the paper prints."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            record = model.run("inference", *arguments, **options)
        self.assertEqual(said.getvalue(), DONE)
        return pathlib.Path(record["path"]) / "work/result.npy"

    def test_a_model_is_converted_and_used(self):
        record = model.convert("pt", "onnx", "encoder.pth", "encoder.onnx", code="nets.py:Encoder", data="x.npy", as_name="net")
        self.assertEqual(record["verdict"], "equal")
        self.assertEqual(pathlib.Path("encoder.onnx").read_bytes(), (pathlib.Path(record["path"]) / record["models"][0]["file"]).read_bytes())
        net = model.load("net")
        # A file of one's own, as listing 6 has it.
        own = dataset.load_dataset("x.npy", fromPath=str(self.home))
        for options in ({}, {"config": "onnx"}, {"config": "onnx", "batch": 7}):
            self.close(self.run_quietly(net, own, log_dir="logs", **options), self.encoder)
        # A data set of one file, and one of several, where a file is chosen.
        place(self.home / "origin/x.npy", pathlib.Path("x.npy").read_bytes())
        place(self.home / "origin/y.npy", b"other")
        self.sabath.add("single", [fragment(f"file://{self.home}/origin/x.npy", name="x", path="d/x.npy")])
        self.sabath.add("several", [fragment(f"file://{self.home}/origin/{name}.npy", name=name, path=f"{name}.npy") for name in "xy"])
        self.close(self.run_quietly("net", dataset.load_dataset("single"), log_dir="logs"), self.encoder)
        several = dataset.load_dataset("several", dest_path="mine")
        result = self.run_quietly(net, several, input="x.npy", log_dir="logs")
        self.close(result, self.encoder)
        told = json.loads((result.parents[1] / "run.json").read_text())
        self.assertEqual([asset["name"] for asset in told["assets"]], ["net", "several"])
        with self.assertRaisesRegex(sabath.UsageError, "no samples are named"):
            model.run("inference", net, several)
        with self.assertRaisesRegex(sabath.UsageError, "a file of your own"):
            model.run("train", net, own)
        with self.assertRaisesRegex(sabath.UsageError, "a file of your own"):
            dataset.apply("single", own, "gzip")
        with self.assertRaisesRegex(sabath.UsageError, "not of training"):
            model.run("train", net, several, config="onnx")

    def test_models_collaborate(self):
        place(self.home / "conversion.yaml", CONVERSION.encode())
        place(self.home / "inference.yaml", INFERENCE.encode())
        api = modelAPI()
        with self.assertRaisesRegex(sabath.UsageError, "is a task of conversion"):
            api.collaborate("conversion.yaml")
        self.assertEqual(api.conversion("conversion.yaml", trust="once")["exit"], 0)
        self.assertEqual(api.collaborate("inference.yaml")["exit"], 0)
        self.close("out.npy", self.encoder, self.decoder)
        with self.assertRaises(sabath.NotYet):
            api.container("inference.yaml")


if __name__ == "__main__":
    if why := clients.missing("onnxruntime") or clients.no_library():
        print(f"SKIP: {why}")
        sys.exit(SKIPPED)
    main()
