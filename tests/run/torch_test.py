#!/usr/bin/python3
"""cosmoflow-torch, where there is a torch: its loss falls, the same seed gives the same run, its weights are only numbers."""

import pathlib
import subprocess
import sys

from runs import Runs, main

TREE = pathlib.Path(__file__).resolve().parents[2]
NAME = "cosmouniverse_quickstart"

for package in ("h5py", "numpy", "torch"):
    if subprocess.run([sys.executable, "-c", f"import {package}"], capture_output=True, check=False).returncode:
        print(f"SKIP: this Python has no {package} (Debian: python3-{package})")
        sys.exit(77)


class Torch(Runs):
    def setUp(self):
        super().setUp()
        origin = self.home / "universes"
        make = [TREE / "scripts/make-cosmouniverse", "-n", "32", "--universes", "8", "--out", origin]
        subprocess.run(make, check=True, capture_output=True)
        recipe = [TREE / "scripts/make-recipe", NAME, "--out", self.sabath.recipes / f"datasets/{NAME}.json"]
        subprocess.run([*recipe, "--mirror", f"file://{origin}", *sorted(origin.iterdir())], check=True)
        self.sabath.environment["SABATH_RECIPES"] += f":{TREE / 'recipes'}"

    def test_it_learns(self):
        self.launch("cosmoflow-torch", "--set", "cube=16", "--env", "check")
        losses = self.values("loss")
        self.assertEqual(len(losses), 10)
        self.assertLess(losses[-1], 0.5 * losses[0], losses)
        self.assertTrue(all(0 < error < 2 for error in self.values("val_mae")))
        self.assertIn("torch", self.record()["environment"]["packages"])
        model = self.run_directory / "work/model.pt"
        self.run_directory = self.home / "infer"
        self.launch("cosmoflow-torch", "--mode", "infer", "--set", f"model={model}")
        self.assertEqual(self.output().count("unitPar"), 8)
        self.assertLess(self.values("mae")[-1], 0.5)

    def test_settings_and_files_that_are_none(self):
        self.launch("cosmoflow-torch", "--set", "cube=12", code=11)
        evil = self.home / "evil.pt"
        evil.write_bytes(b"cos\nsystem\n(S'touch pwned'\ntR.")
        self.run_directory = self.home / "infer"
        self.launch("cosmoflow-torch", "--mode", "infer", "--set", f"model={evil}", code=11)
        self.assertEqual(list(self.home.rglob("pwned")), [])


if __name__ == "__main__":
    main()
