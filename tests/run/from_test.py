#!/usr/bin/python3
"""run --from: a program that starts from another asset, by variable and placeholder; the record and its crate name it."""

import json
import os
import pickle

from runs import Runs, main, place
from support.content import fragment

TUNER = """
import os, pathlib, sys
start = pathlib.Path(os.environ["SABATH_FROM"], "weights.txt").read_text()
assert len(sys.argv) < 2 or pathlib.Path(sys.argv[1], "weights.txt").read_text() == start
print(f"epoch=1 loss={float(start) / 2}")
"""


class From(Runs):
    def setUp(self):
        super().setUp()
        place(self.home / "old/weights.txt", b"0.5")
        self.expect(self.sabath.run("adopt", "old", "--name", "old"))

    def test_it_is_given_and_recorded(self):
        self.model(["python3", "{source}/train.py", "{from.path}"], code={"train.py": TUNER})
        self.launch("model", "--from", "old")
        self.assertEqual(self.values("loss"), [0.25])
        record = self.record()
        started = [asset for asset in record["assets"] if asset.get("role") == "from"]
        self.assertEqual([(asset["name"], asset["verified_by"]) for asset in started], [("old", "unchanged since it was hashed")])
        self.assertTrue(started[0]["manifest"].startswith("sha256:"))
        self.assertEqual([asset["name"] for asset in record["assets"]], ["model", "old", "data"])
        self.assertEqual(record["environment"]["variables"]["SABATH_FROM"], started[0]["path"])
        crate = self.run_directory / "ro-crate-metadata.json"
        self.expect(self.sabath.run("report", self.run_directory, "--format", "ro-crate", "-o", crate))
        graph = json.loads(crate.read_text())["@graph"]
        named = {each["@id"]: each.get("name") for each in graph}
        read = [{named[part["@id"]] for part in each["object"]} for each in graph if each["@type"] == "CreateAction"]
        self.assertEqual(read, [{"model", "old", "data"}])
        shown = self.expect(self.sabath.run("run", "model", "--from", "old", "-n")).out
        self.assertIn(f"export SABATH_FROM={started[0]['path']}", shown)

    def test_a_derived_asset_brings_its_lineage(self):
        copy = {"id": "copy", "description": "Copies.", "argv": ["cp", "{input}", "{output}/{name}"], "per": "file",
                "inputs": ["*.txt"], "outputs": ["*.txt"]}  # fmt: skip
        self.sabath.add("base", [fragment(f"file://{self.home}/old/weights.txt", b"0.5")], supporting=[copy])
        self.expect(self.sabath.run("apply", "base", "copy", "--as", "halved", "--trust", "once"))
        self.model(["python3", "{source}/train.py"], code={"train.py": TUNER})
        self.launch("model", "--from", "halved")
        asset = next(asset for asset in self.record()["assets"] if asset.get("role") == "from")
        self.assertEqual([step["from"] for step in asset["lineage"]], ["base"])

    def test_the_models_own_files(self):
        """Weights that are fetched, beside code that stands with its recipe."""
        place(self.home / "old/weights.txt", b"0.5")
        weights = fragment(f"file://{self.home}/old/weights.txt", b"0.5", id="weights")
        code = {"train.py": TUNER.replace('os.environ["SABATH_FROM"]', "sys.argv[2]")}
        argv = ["python3", "{source}/train.py", "{model.weights.dir}", "{model.weights.dir}"]
        self.model(argv, code=code, fragments=[weights])
        shown = self.expect(self.sabath.run("run", "model", "-n", "--json")).record
        self.assertIn("model", shown["to_fetch"])
        self.launch("model")
        self.assertEqual(self.values("loss"), [0.25])
        assets = self.record()["assets"]
        self.assertEqual([(asset["name"], asset.get("role")) for asset in assets], [("model", None), ("model", "model"), ("data", None)])
        self.assertEqual(self.record()["source"]["manifest"], assets[0]["manifest"])
        self.model(["python3", "{source}/train.py", "{model.none}"], code=code, fragments=[weights], name="other")
        self.assertIn("the model has no such fragment", self.launch("other", code=3).err)

    def test_what_is_refused(self):
        self.model(["python3", "{source}/train.py", "{from.path}"], code={"train.py": TUNER})
        self.assertIn("name an asset by --from", self.launch("model", code=3).err)
        self.launch("model", "--from", "nowhere", code=3)
        self.assertFalse(self.run_directory.exists())
        # Where a file of it was changed, nothing is launched.
        path = self.home / "old/weights.txt"
        os.utime(path)
        path.write_bytes(b"0.7")
        self.launch("model", "--from", "old", "--no-fetch", code=9)
        self.assertFalse((self.run_directory / "metrics.jsonl").exists())

    def test_pickles_in_it_are_asked_about(self):
        class Evil:
            def __reduce__(self):
                return os.system, ("true",)

        place(self.home / "bad/weights.pkl", pickle.dumps(Evil()))
        self.expect(self.sabath.run("adopt", "bad", "--name", "bad"))
        self.model(["true"])
        self.assertIn("weights.pkl", self.launch("model", "--from", "bad", code=4).err)
        self.launch("model", "--from", "bad", "--trust", "once")
        loads = next(asset for asset in self.record()["assets"] if asset.get("role") == "from")["loads"]
        self.assertEqual(loads["by"], "once")


if __name__ == "__main__":
    main()
