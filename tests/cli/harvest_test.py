#!/usr/bin/python3
"""What files in the store say of themselves is found by search, also where their recipes say nothing."""

import io
import json
import struct
import zipfile

import h5py
import numpy

from support.case import Case, main, place
from support.content import fragment, seeded


def universe(seed, shape=(8, 8, 8, 4)):
    """HDF5 as CosmoFlow's files are made, small."""
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file.attrs["seed9"] = seed
        file.attrs["universe_tag"] = f"2019-03_a{seed}"
        file.create_dataset("full", data=numpy.zeros(shape, "int16")).attrs["units"] = "cells"
        file.create_dataset("physPar", data=numpy.zeros(4, "f4"))
    return buffer.getvalue()


def parameters(values):
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file["physPar"] = numpy.array(values, "f4")
        file["redshift"] = numpy.int16(3)
        file["name"] = "text"
        file["big"] = numpy.zeros(33)
    return buffer.getvalue()


def keras(layers):
    """An archive as Keras 3 saves it, without weights."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        text = layers if isinstance(layers, str) else json.dumps({"class_name": "Functional", "config": {"name": "net", "layers": layers}})
        archive.writestr("config.json", text)
        archive.writestr("metadata.json", json.dumps({"keras_version": "3.6.0", "date_saved": "2026-01-01@00:00:00"}))
    return buffer.getvalue()


def npy(array):
    buffer = io.BytesIO()
    numpy.save(buffer, array)
    return buffer.getvalue()


def safetensors():
    head = json.dumps({"layer.weight": {"dtype": "F32", "shape": [3, 2], "data_offsets": [0, 24]}, "__metadata__": {"format": "pt"}}).encode()
    return struct.pack("<Q", len(head)) + head + bytes(24)


class Harvest(Case):
    def find(self, *arguments, code=0):
        return self.expect(self.sabath.run("search", "--names", *arguments), code).lines

    def facts(self):
        return [json.loads(file.read_text()) for file in sorted((self.sabath.store / "facts").glob("*"))]

    def add(self, name, files):
        for path, data in files.items():
            place(self.home / name / path, data)
        self.sabath.add(name, [fragment(f"file://{self.home}/{name}/{path}", name=f"f{i}", path=path) for i, path in enumerate(files)])
        return self.fetch(name)

    def test_a_fetch(self):
        self.add("qquni", {"a.hdf5": universe(7), "b.hdf5": universe(12109763), "notes.txt": b"none"})
        self.add("qqother", {"x.npy": npy(numpy.zeros((5, 6))), "t.csv": b'id,"wind, speed",rain\n1,2,3\n', "n.csv": b"1,2\n3,4\n",
                             "m.safetensors": safetensors(), "fake.h5": seeded(1000), "cut.npy": npy(numpy.zeros(9))[:90]})  # fmt: skip
        self.assertEqual(self.find("seed9=12109763"), ["qquni"])
        self.assertEqual(self.find("seed9.range=7..12109763"), ["qquni"])
        self.assertEqual(self.find("universe_tag=2019-03_a7"), ["qquni"])
        self.assertEqual(self.find("--shape", "8,8,8,4"), ["qquni"])
        self.assertEqual(self.find("--shape", "(5, 6)")[0], "qqother", "those whose axes are open follow")
        self.assertEqual(self.find("--shape", "8,?,8,4"), ["qquni"])
        self.assertIn("is no shape", self.expect(self.sabath.run("search", "--shape", "a cube"), 2).err)
        self.assertEqual(self.find("full@units=cells", "--format", "hdf5"), ["qquni"])
        self.assertEqual(self.find("column=wind, speed"), ["qqother"])
        self.assertEqual(self.find("layer.weight.dtype=F32"), ["qqother"])
        self.find("seed9=8", code=3)
        self.find("--shape", "8,8,8", code=3)
        self.assertNotIn("column=1", str(self.facts()))

    def test_parameters_and_models(self):
        """The values of small datasets, their ranges, and the layers of a Keras archive; info marks them as harvested."""
        self.add("qqpar", {"a.h5": parameters((0.25, -1.5)), "b.h5": parameters((0.5, -1.5))})
        self.assertEqual(self.find(r"physPar\[0\].range=0.25..0.5"), ["qqpar"])
        self.assertEqual(self.find("physPar=0.5, -1.5"), ["qqpar"])
        self.assertEqual(self.find("redshift=3"), ["qqpar"])
        self.assertNotIn("big=", str(self.facts()))
        layers = [{"class_name": "InputLayer", "config": {"name": "cube", "batch_shape": [None, 128, None, 4]}},
                  {"class_name": "Conv3D", "config": {}}, {"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense"}]}}]  # fmt: skip
        self.add("qqnet", {"m.keras": keras(layers), "cut.keras": keras(layers)[:90], "deep.keras": keras("[" * 5000), "odd.keras": keras({"a": 1})})
        for words in (["layer=Conv3D"], ["layer=Dense"], ["cube.shape=128,.,4"], ["keras_version=3.6.0"], ["--format", "keras"]):
            self.assertEqual(self.find(*words), ["qqnet"], words)
        for shape in ("128,5,4", "128,?,4"):
            self.assertIn("qqnet", self.find("--shape", shape), "an open axis has any length")
        self.assertNotIn("qqnet", self.find("--shape", "127,5,4"))
        said = self.expect(self.sabath.run("info", "--json", "qqnet")).record["assets"][0]["harvested"]
        self.assertIn("layer=Conv3D", said["facts"])
        self.assertEqual(said["files"], ["m.keras"])
        self.assertIn("files say", self.expect(self.sabath.run("info", "qqpar")).out)
        self.sabath.add("qqnone", [fragment(f"file://{self.home}/f.bin", b"x")])
        self.assertIsNone(self.expect(self.sabath.run("info", "--json", "qqnone")).record["assets"][0]["harvested"])

    def test_shapes_of_recipes(self):
        """Without a store, too: the shipped recipe says it."""
        self.sabath.add("qqsaid", [fragment(f"file://{self.home}/f.bin", b"x")], format={"variables": [{"name": "full", "shape": [77, 66]}]})
        self.assertIn("qqsaid", self.find("--shape", "77,66"))
        self.assertNotIn("qqsaid", self.find("--shape", "77,67"))

    def test_an_adoption(self):
        place(self.home / "old/a.h5", universe(99))
        self.expect(self.sabath.run("adopt", self.home / "old", "--name", "qqold"))
        self.assertEqual(self.find("seed9=99"), ["qqold"])

    def test_what_is_kept_is_a_hint(self):
        """Damaged or absent it changes nothing; a collection removes it with its asset."""
        asset = self.add("qquni", {"a.hdf5": universe(7)})
        (file,) = (self.sabath.store / "facts").iterdir()
        self.assertEqual(file.name, asset["manifest"].removeprefix("sha256:"))
        for text in (b"", b"\xff", b"[" * 100_000, b'{"schema":1,"name":"../x","kind":"dataset","facts":["a=b"]}', b'{"facts":' + b'"a",' * 9):
            file.write_bytes(text)
            self.find("seed9=7", code=3)
            self.assertEqual(self.find("qquni"), ["qquni"])
        self.expect(self.sabath.run("verify", "qquni"))
        self.assertEqual(self.fetch("qquni")["fetched_bytes"], 0)

    def test_hostile_files(self):
        """Damaged HDF5 is read by another process; names with control characters are shown as such."""
        good = bytearray(universe(7))
        for at in range(40, 400, 8):
            good[at] ^= 0xFF
        self.add("qqbad", {"a.h5": bytes(good), "b.h5": universe(5), "c.csv": b"a\x1b[31m,b\n", "d.tfrecord": b"\xff" * 100})
        self.assertEqual(self.find("seed9=5"), ["qqbad"])
        self.assertNotIn("\x1b", str(self.facts()[0]["facts"]))


if __name__ == "__main__":
    main()
