#!/usr/bin/python3
"""CosmoFlow's pipeline by `apply`: universes -> blocks -> TFRecord, judged by a reader that shares no code with it."""

import json
import pathlib
import struct

from support.case import Case, main
from support.content import fragment
from support.tfrecord_reference import example, records
from support.universe import universe

SIDE, BLOCK, UNIVERSES = 32, 16, 2
BLOCKS = (SIDE // BLOCK) ** 3
LABELS = (-0.5, -0.375, 0, 3 / 7)


class Pipeline(Case):
    def apply(self, *arguments, code=0):
        return self.expect(self.sabath.run("apply", "--json", *arguments), code).record

    def setUp(self):
        super().setUp()
        (self.home / "origin").mkdir()
        self.full, fragments = {}, []
        for number in range(UNIVERSES):
            name = f"u{number}.hdf5"
            self.full[name] = universe(self.home / "origin" / name, SIDE)
            path = f"{number}/{name}"
            fragments.append(fragment(f"file://{self.home}/origin/{name}", name=f"u{number}", path=path))
        self.sabath.add("universes", fragments)

    def test_universes_to_records(self):
        blocks = self.apply("universes", "hdf5-blocks", f"blocks={BLOCK},{BLOCK},{BLOCK},4", "--as", "blocks")
        self.assertEqual((blocks["inputs"], blocks["files"]), (UNIVERSES, UNIVERSES * BLOCKS))
        made = self.apply("blocks", "hdf5-to-tfrecord", "num_threads=2")
        files = sorted(pathlib.Path(made["path"]).rglob("*.tfrecord"))
        self.assertEqual((made["processed"], len(files)), (UNIVERSES * BLOCKS, UNIVERSES * BLOCKS))
        per_side = SIDE // BLOCK
        for file in files:
            (record,) = records(file)  # checks each masked CRC
            values = example(record)
            number = int(file.stem.rsplit("_", 1)[1])
            i, j, k = (BLOCK * n for n in (number // per_side**2, number // per_side % per_side, number % per_side))
            full = self.full[f"u{file.parent.name}.hdf5"]
            self.assertEqual(values["x"], full[i : i + BLOCK, j : j + BLOCK, k : k + BLOCK].tobytes())
            self.assertEqual(values["y"], struct.unpack("<4f", struct.pack("<4f", *LABELS)))
        again = self.apply("blocks", "hdf5-to-tfrecord")
        self.assertEqual((again["was_there"], again["processed"], again["manifest"]), (True, 0, made["manifest"]))
        info = self.expect(self.sabath.run("info", "--json", "--lineage", made["name"])).asset
        self.assertEqual([step["script"] for step in info["lineage"]], ["hdf5-to-tfrecord", "hdf5-blocks"])
        self.assertEqual(info["lineage"][1]["from"], "universes")
        note = self.expect(self.sabath.run("manifest", "show", "--json", made["name"])).record["note"]
        self.assertEqual(note, {"derived": info["lineage"][0]})
        self.assertIn("by hdf5-to-tfrecord", self.expect(self.sabath.run("manifest", "show", made["name"])).out)
        (self.sabath.store / "recipes/datasets/blocks.json").unlink()  # its manifest still says it
        after = self.expect(self.sabath.run("info", "--json", "--lineage", made["name"])).asset
        self.assertEqual(after["lineage"], info["lineage"])

    def test_the_lineage_is_in_the_record_and_the_crate_of_a_run(self):
        made = self.apply("universes", "hdf5-to-npy", "--as", "arrays")
        step = {"argv": ["sh", "-c", "ls -R {dataset}; echo epoch=1 loss=2"]}
        self.sabath.add("model", kind="model", run={"universes": [step]})  # what runs on the origin runs on it
        run = self.home / "run"
        self.expect(self.sabath.run("run", "model", "arrays", "--run-dir", run))
        (asset,) = json.loads((run / "run.json").read_text())["assets"]
        self.assertEqual((asset["manifest"], asset["lineage"][0]["key"]), (made["manifest"], made["derived"]["key"]))
        crate = run / "ro-crate-metadata.json"
        self.expect(self.sabath.run("report", run, "--format", "ro-crate", "-o", crate))
        graph = {entity["@id"]: entity for entity in json.loads(crate.read_text())["@graph"]}
        (action,) = [e for e in graph.values() if e["@type"] == "CreateAction" and e["@id"] != "#run"]
        self.assertEqual(graph[action["instrument"]["@id"]]["name"], "hdf5-to-npy")
        self.assertEqual(graph[action["object"][0]["@id"]]["identifier"], made["derived"]["input"])
        self.assertEqual(graph[action["result"]["@id"]]["identifier"], made["manifest"])
        self.assertIn({"@id": action["@id"]}, graph["./"]["mentions"])

    def test_a_file_that_is_none_of_the_format_is_named(self):
        (self.home / "origin/u1.hdf5").write_bytes(b"no such file")
        record = self.apply("universes", "hdf5-to-tfrecord", code=11)
        (failed,) = record["failures"]
        self.assertEqual((failed["path"], record["processed"]), ("1/u1.hdf5", 1))

    def test_a_name_that_a_file_does_not_have(self):
        record = self.apply("universes", "hdf5-to-npy", "label=nowhere", code=11)
        hints = {failed["hint"] for failed in record["failures"]}
        self.assertEqual(hints, {"name an object that it has: `sabath hdf5 inspect` lists them"}, "the files are sound")


if __name__ == "__main__":
    main()
