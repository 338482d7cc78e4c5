#!/usr/bin/python3
"""Libraries, executables and objects in the steps of a run: {asset.NAME} is their directory, fetched and verified."""

import json
import subprocess

from runs import Runs, main, place
from support.content import fragment

FOLDERS = {"executable": "executables", "library": "libraries", "object": "objects"}
SOLVER = b'#!/bin/sh\necho "epoch=1 loss=$(cat "$1/answer.txt")"\n'


class Uses(Runs):
    def setUp(self):
        super().setUp()
        for path, data in (("solver", SOLVER), ("answer.txt", b"0.5\n"), ("grid.bin", b"grid")):
            place(self.home / "origin" / path, data)
        self.add("solver", "executable", "solver", SOLVER)
        self.add("answers", "library", "answer.txt", b"0.5\n")
        self.add("grid", "object", "grid.bin", b"grid")
        self.model(["{asset.solver}/solver", "{asset.answers}"], ["cat", "{asset.grid}/grid.bin"])

    def add(self, name, kind, path, data, url=None):
        recipe = {"schema": 1, "kind": kind, "name": name,
                  "fragments": [fragment(url or f"file://{self.home}/origin/{path}", data, path=path)]}  # fmt: skip
        place(self.sabath.recipes / FOLDERS[kind] / f"{name}.json", json.dumps(recipe).encode())

    def test_a_program_a_library_and_an_object(self):
        self.launch("model")
        self.assertEqual(self.values("loss"), [0.5])
        self.assertEqual(self.output(), "epoch=1 loss=0.5\ngrid")
        used = {asset["name"]: asset for asset in self.record()["assets"] if asset.get("role") == "used"}
        self.assertEqual({name: asset["kind"] for name, asset in used.items()},
                         {"solver": "executable", "answers": "library", "grid": "object"})  # fmt: skip
        for asset in used.values():
            self.assertTrue(asset["manifest"].startswith("sha256:"))
            self.assertEqual(asset["verified_by"], "unchanged since it was hashed")
        self.assertEqual(self.record()["assets"][-1]["name"], "data")

    def test_a_dry_run_says_what_is_missing_and_then_does_the_same(self):
        record = self.expect(self.sabath.run("run", "-n", "--json", "model")).record
        self.assertEqual(record["to_fetch"], ["solver", "answers", "grid", "data"])
        self.assertEqual(record["runs"][0]["steps"][0]["argv"], ["NOT-FETCHED:solver/solver", "NOT-FETCHED:answers"])
        for name in ("solver", "answers", "grid", "data"):
            self.expect(self.sabath.run("fetch", name))
        script = self.expect(self.sabath.run("run", "-n", "model", "--run-dir", self.home / "by hand")).out
        by_hand = subprocess.run(["sh", "-e", "-c", script], env=self.sabath.environment, capture_output=True, text=True,
                                 check=True).stdout  # fmt: skip
        self.launch("model")
        self.assertEqual(by_hand, self.output())

    def test_one_that_was_changed_is_not_started(self):
        self.launch("model")
        path = next(asset["path"] for asset in self.record()["assets"] if asset["name"] == "solver")
        file = self.home / path / "solver"
        file.chmod(0o755)
        file.write_bytes(SOLVER.replace(b"epoch=1", b"epoch=9"))
        self.run_directory = self.home / "second"
        refused = self.launch("model", code=7)
        self.assertIn("solver is not what was verified", refused.err)
        self.assertFalse(self.run_directory.exists())

    def test_code_of_others_is_asked_about(self):
        self.add("solver", "executable", "solver", SOLVER, self.serve({"solver": SOLVER}).url("solver"))
        self.expect(self.sabath.run("catalogue", "export", self.home / "public", "solver"))
        self.expect(self.sabath.run("catalogue", "subscribe", f"file://{self.home}/public/index.json", "--as", "lab"))
        (self.sabath.recipes / "executables/solver.json").unlink()
        refused = self.launch("model", code=4)
        self.assertIn("code that you have not trusted", refused.err)
        self.launch("model", "--trust", "once")
        self.assertEqual(self.values("loss"), [0.5])

    def test_names_that_lead_nowhere(self):
        self.model(["{asset.solve}/solver"], name="wrong")
        self.assertIn("solver", self.expect(self.sabath.run("run", "wrong"), 3).err)  # did you mean
        self.assertIn("{asset.solver}", self.expect(self.sabath.run("run", "solver"), 2).err)


if __name__ == "__main__":
    main()
