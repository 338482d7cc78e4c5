#!/usr/bin/python3
"""`sabath inspect`: what it says of data files, compared with the libraries that others read them with."""

import bz2
import collections
import datetime
import decimal
import glob
import gzip
import io
import json
import lzma
import os
import pathlib
import pickle
import struct
import subprocess
import warnings
import zipfile
import zlib

import numpy

from support.case import Case, main
from support.tfrecord_reference import masked_crc

DATA = os.environ.get("SABATH_TEST_DATA")


class Recorder(pickle._Unpickler):
    """Python's own machine, which records what it is asked to import and imports nothing."""

    def __init__(self, file):
        super().__init__(file)
        self.names = set()

    def find_class(self, module, name):
        self.names.add(f"{module}.{name}")

        class Fake(dict):
            def __new__(cls, *_, **__):
                return super().__new__(cls)

            def __init__(self, *_, **__):
                super().__init__()

            def __setstate__(self, state):
                pass

            def append(self, item):
                pass

            def extend(self, items):
                pass

        return Fake

    def persistent_load(self, pid):
        return None


class Evil:
    def __init__(self, call, *arguments):
        self.reduced = (call, arguments)

    def __reduce__(self):
        return self.reduced


class Slotted:
    __slots__ = ("a",)

    def __getnewargs_ex__(self):
        return (), {}


class Inspect(Case):
    def inspect(self, path, code=0):
        result = self.expect(self.sabath.run("inspect", str(path), "--json"), code)
        return json.loads(result.out) if code == 0 else result.err

    def put(self, name, data):
        path = self.home / name
        path.write_bytes(data)
        return path

    def code(self, name, data):
        (code,) = self.inspect(self.put(name, data))["code"]
        return code

    def test_arrays(self):
        """Types, shapes and orders as NumPy has them, of every kind that NumPy writes."""
        arrays = [
            numpy.arange(6).reshape(2, 3).astype(dtype)
            for dtype in ("i1", "<i2", ">i4", "<u8", "<f2", ">f8", "<c8", "?")
        ]
        arrays += [numpy.array(7.5), numpy.zeros((0, 4)), numpy.array(["a", "bcd"]), numpy.array([b"x", b"yz"])]
        arrays += [numpy.asfortranarray(numpy.zeros((2, 3))), numpy.zeros(2, [("x", "<f4"), ("é", "<i2", (2, 2))])]
        arrays += [numpy.array(["2026-11-28"], "M8[D]"), numpy.zeros(3, "V5"), numpy.zeros(1, [("s", [("a", "u1")])])]
        path = self.home / "a.npy"
        for array in arrays:
            numpy.save(path, array)
            (found,) = self.inspect(path)["arrays"]
            self.assertEqual(found["shape"], list(array.shape))
            self.assertEqual(found["bytes"], array.nbytes)
            self.assertEqual(found["fortran_order"], array.flags.fnc)
            if array.dtype.names is None:
                self.assertEqual(numpy.dtype(found["type"]), array.dtype)
        numpy.savez_compressed(self.home / "a.npz", **{f"a{i}": array for i, array in enumerate(arrays)})
        record = self.inspect(self.home / "a.npz")
        self.assertEqual(record["format"], "npz")
        self.assertEqual([found["shape"] for found in record["arrays"]], [list(array.shape) for array in arrays])
        numpy.savez(self.home / "b.npz", x=arrays[0])
        self.assertEqual(self.inspect(self.home / "b.npz")["arrays"][0]["name"], "x")

    def test_lying_arrays(self):
        whole = numpy.lib.format
        good = io.BytesIO()
        whole.write_array(good, numpy.arange(10))
        good = good.getvalue()
        for data, code, said in (
            (good[:-1], 7, "promises 80 bytes"),
            (good + b"x", 12, "promises 80 bytes"),
            (good[:50], 12, "ends early"),
            (good.replace(b"(10,)", b"(99999999999999999999,)"), 12, "dictionary"),
            (good.replace(b"'<i8'", b"'<q8'"), 12, "none that NumPy has"),
            (good.replace(b"False", b"None "), 12, "neither True nor False"),
            (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{", 12, "claims 4294967295"),
            (b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535, 12, "no dictionary"),
            (b"\x93NUMPY\x09\x00", 12, "version 9"),
        ):
            self.assertIn(said, self.inspect(self.put("a.npy", data), code))

    def test_objects(self):
        """Named, never loaded."""
        flag = self.home / "written"
        array = numpy.array([Evil(os.system, f"touch {flag}")], dtype=object)
        numpy.save(self.home / "o.npy", array)
        numpy.savez(self.home / "o.npz", good=numpy.arange(2), bad=array)
        for path, form in (("o.npy", "npy"), ("o.npz", "npz")):
            record = self.inspect(self.home / path)
            (code,) = record["code"]
            self.assertTrue(record["arrays"][-1]["objects"])
            self.assertEqual(code["form"], form)
            self.assertIn("posix.system", code["imports"])
            self.assertTrue(code["executes"] and code["trouble"] is None)
        self.assertEqual(code["where"], "bad.npy")
        self.assertFalse(flag.exists())
        text = self.expect(self.sabath.run("inspect", str(self.home / "o.npy"))).out
        self.assertIn("OBJECTS", text)

    def test_pickles(self):
        """The names that Python's own machine asks for, of each protocol."""
        values = [
            {"a": [1, -2, 3.5, 10**40, "text", b"bytes", None, True, (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), {5}, frozenset({6})]},
            collections.OrderedDict(a=1), decimal.Decimal("1.5"), datetime.datetime(2026, 11, 28), numpy.arange(3),
            [collections.Counter("abc")] * 3, Evil(os.system, "true"), Evil(eval, "1"), Slotted(), bytearray(300), "x" * 70000,
            [["é" * 200] * 4, range(3), slice(1), complex(1, 2)], [Evil(os.system, str(i)) for i in range(300)],
        ]  # fmt: skip
        for value in values:
            for protocol in range(6):
                if isinstance(value, Slotted) and protocol < 2:
                    continue
                data = pickle.dumps(value, protocol)
                recorder = Recorder(io.BytesIO(data))
                recorder.load()
                code = self.code("v.pkl", data)
                self.assertEqual(code["imports"], sorted(recorder.names), (value, protocol))
                self.assertEqual(code["executes"], bool(recorder.names))
                self.assertEqual(code["trouble"], None)
                self.assertEqual(code["protocol"], protocol if protocol > 1 else 0)

    def test_hand_made_pickles(self):
        """Opcodes that pickle.dumps does not write, and tricks to hide a name."""
        for data, imports in (
            (b"(S'true'\nios\nsystem\n.", ["os.system"]),
            (b"(cos\nsystem\nS'true'\no.", ["os.system"]),
            (b"(dS'k'\nS'v'\ns(lp0\nI1\naN0.", []),
            (b"\x80\x04\x8c\x02os\x94\x8c\x06system\x94h\x00h\x01\x93.", ["os.system"]),
            (b"\x80\x04\x8c\x06system\x8c\x02os\x942\x940h\x00\x8c\x06popen2\x93.", ["os.popen2"]),
            (b"Vos\np7\n0Vsystem\np123456789\n0g7\ng123456789\n\x93.", ["os.system"]),
            (b"\x80\x04Vo\\u0073\nVsystem\n\x93.", ["?"]),
            (b"\x80\x04\x8c\x01oN\x93.", ["?"]),
            (b"\x80\x02\x82\x05.", ["?"]),
            (b"Pid\n.", []),
            (b"N.cos\nsystem\n.", ["os.system"]),
        ):
            code = self.code("h.pkl", data)
            self.assertEqual((code["imports"], code["trouble"]), (imports, None), data)
            self.assertEqual(code["executes"], bool(imports))

    def test_damaged_pickles(self):
        """What was found up to there is told, and that it was not all."""
        whole = pickle.dumps(Evil(os.system, "true"), 4)
        for length in range(1, len(whole)):
            code = self.code("d.pkl", whole[:length])
            self.assertTrue(code["trouble"], length)
            self.assertEqual(bool(code["imports"]), b"\x93" in whole[:length])
        for data, said in ((b"\x80\x09.", "protocol 9"), (b"\xff", "no opcode"), (b"0.", "stack"), (b"h\x05.", "memo")):
            self.assertIn(said, self.code("d.pkl", data)["trouble"])
        code = self.code("d.pkl", pickle.dumps(1) + b"\x00\x01rest")
        self.assertIn("behind the last whole pickle", code["trouble"])

    def test_pickle_bombs(self):
        """Lengths that lie, and a long stack: bounded, and told."""
        self.assertIn("early", self.code("b.pkl", b"\x80\x04\x8e" + b"\xff" * 8)["trouble"])
        self.assertIn("too high", self.code("b.pkl", b"(" * 5_000_000 + b".")["trouble"])
        self.assertIn("early", self.code("b.pkl", b"V" + b"a" * (2 << 20))["trouble"])
        packed = self.put("b.pkl.gz", gzip.compress(b"\x80\x04\x8e" + struct.pack("<Q", 64 << 20) + bytes(64 << 20) + b"."))
        self.assertEqual(self.inspect(packed)["code"][0]["trouble"], None)

    def test_packed_pickles(self):
        data = pickle.dumps(Evil(os.system, "true"))
        for name, packed in (("a.pkl.gz", gzip.compress(data)), ("a.joblib", zlib.compress(data)), ("a.joblib.z", zlib.compress(data, 9))):
            self.assertEqual(self.code(name, packed)["imports"], ["posix.system"])
        for name, packed in (("a.joblib", bz2.compress(data)), ("a.pkl.xz", lzma.compress(data)), ("model", lzma.compress(data, lzma.FORMAT_ALONE))):
            code = self.code(name, packed)
            self.assertEqual((code["imports"], code["trouble"]), (["posix.system"], None))

    def test_torch(self):
        """As torch.save makes them, in both forms; made by torch itself where it is installed."""
        state = pickle.dumps(collections.OrderedDict(a=1), 2)
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("m/data.pkl", state)
            file.writestr("m/data/0", b"\x80\x02cos\nsystem\n.")
        code, storage = self.inspect(self.put("m.pth", archive.getvalue()))["code"]
        self.assertEqual((code["form"], code["where"], code["imports"]), ("torch", "m/data.pkl", ["collections.OrderedDict"]))
        self.assertEqual((storage["where"], storage["imports"]), ("m/data/0", ["os.system"]))  # pandas reads any member
        legacy = b"".join(pickle.dumps(part, 2) for part in (0x1950A86A20F9469CFC6C, 1001, {}, Evil(os.system, "x"), ["0"]))
        code = self.code("old.pt", legacy + bytes(range(64)))
        self.assertEqual(code["imports"], ["posix.system"])
        self.assertIn("behind the last whole pickle", code["trouble"])
        code = f"import torch; torch.save({{'w': torch.zeros(3)}}, {str(self.home / 't.pt')!r})"
        if subprocess.run(["/usr/bin/python3", "-c", code], capture_output=True, check=False).returncode:
            return
        (code,) = self.inspect(self.home / "t.pt")["code"]
        self.assertEqual(code["imports"], ["collections.OrderedDict", "torch.FloatStorage", "torch._utils._rebuild_tensor_v2"])
        self.assertTrue(code["persistent_ids"])

    def test_keras(self):
        for layer, found in (("Dense", []), ("Lambda", ["keras.layers.Lambda"])):
            archive = io.BytesIO()
            with zipfile.ZipFile(archive, "w") as file:
                file.writestr("config.json", json.dumps({"config": {"layers": [{"class_name": layer}]}}, indent=1))
            code = self.inspect(self.put("m.keras", archive.getvalue()))["code"]
            self.assertEqual([name for one in code for name in one["imports"]], found)

    def test_archives_that_lie(self):
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("x.npy", b"\x93NUMPY" + bytes(200))
        data = archive.getvalue()
        self.inspect(self.put("a.npz", data), 12)
        self.inspect(self.put("a.npz", data[:-1]), 12)
        self.inspect(self.put("a.npz", data[:40] + data[60:]), 12)
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("m/data.pkl", pickle.dumps(list(range(100))))
        for claimed, said in ((50, "more bytes than"), (5000, "fewer bytes than")):
            lying = bytearray(archive.getvalue())
            struct.pack_into("<I", lying, lying.index(b"PK\x01\x02") + 24, claimed)
            self.assertIn(said, self.inspect(self.put("m.pt", bytes(lying)), 12))

    def test_tfrecords(self):
        def record(data):
            length = struct.pack("<Q", len(data))
            return length + struct.pack("<I", masked_crc(length)) + data + struct.pack("<I", masked_crc(data))

        example = b"\n\x1a\n\x0c\n\x01x\x12\x07\n\x05\n\x03abc\n\n\n\x01n\x12\x05\x1a\x03\n\x01\x07"
        data = record(example) + record(b"") + record(b"\xff" * 1000)
        for name, stored in (("a.tfrecord", data), ("a.tfrecord.gz", gzip.compress(data))):
            found = self.inspect(self.put(name, stored))
            self.assertEqual(found["packed"], "gzip" if name.endswith("gz") else None)
            records = found["records"]
            self.assertEqual([records[key] for key in ("count", "smallest", "largest", "examples")], [3, 0, 1000, 1])
            self.assertEqual([(f["name"], f["kind"], f["values"]) for f in records["features"]], [("n", "int64", 1), ("x", "bytes", 1)])
        for length in (12, 13, 20, len(data) - 1):
            self.inspect(self.put("a.tfrecord", data[:length]), 7)
        for place in (14, len(example) + 13, len(data) - 1):
            flipped = bytearray(data)
            flipped[place] ^= 1
            self.assertIn("wrong checksum", self.inspect(self.put("a.tfrecord", bytes(flipped)), 12))
        self.inspect(self.put("a.gz", gzip.compress(data)[:-9]), 7)
        bomb = record(b"x")[:12]
        huge = struct.pack("<Q", 1 << 60)
        self.assertIn("early", self.inspect(self.put("a.tfrecord", huge + struct.pack("<I", masked_crc(huge)) + bomb), 7))

    def safetensors(self, head, data=b""):
        head = json.dumps(head).encode() if not isinstance(head, bytes) else head
        return self.put("w.safetensors", struct.pack("<Q", len(head)) + head + data)

    def test_safetensors(self):
        one = {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]}
        record = self.inspect(self.safetensors({"__metadata__": {"format": "pt"}, "w": one}, bytes(12)))
        self.assertEqual(record["metadata"], {"format": "pt"})
        self.assertEqual([(a["name"], a["type"], a["shape"], a["bytes"]) for a in record["arrays"]], [("w", "BF16", [2, 3], 12)])
        for head, data, code, said in (
            ({"w": one}, bytes(11), 7, "promises 12"),
            ({"w": one}, bytes(13), 12, "follow the last tensor"),
            ({"w": {**one, "data_offsets": [1, 13]}}, bytes(13), 12, "begins at byte 1"),
            ({"w": {**one, "shape": [2, 4]}}, bytes(12), 12, "takes 128 bits"),
            ({"w": {**one, "shape": [1 << 62, 1 << 62]}}, bytes(12), 12, "absurdly"),
            ({"w": one, "v": one}, bytes(12), 12, "begins at byte 0"),
            (b'{"w":1', bytes(12), 12, ""),
            (b"{" + b'"a":{' * 1000, b"", 12, ""),
        ):
            self.assertIn(said, self.inspect(self.safetensors(head, data), code))
        python = os.environ.get("SABATH_CLIENTS", "/usr/bin/python3")
        code = f"import numpy, safetensors.numpy as s; s.save_file({{'a': numpy.zeros((3, 2), 'f2')}}, {str(self.home / 's')!r}, {{'k': 'v'}})"
        if subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0:
            record = self.inspect(self.home / "s")
            self.assertEqual((record["arrays"][0]["shape"], record["metadata"]), ([3, 2], {"k": "v"}))

    def test_real_files(self):
        if not DATA:
            self.skipTest("SABATH_TEST_DATA is not set")
        for path in sorted(glob.glob(DATA + "/npy/*.npy")):
            (found,) = self.inspect(path)["arrays"]
            try:
                array = numpy.load(path)
            except ValueError:  # of objects
                array = None
            self.assertEqual(found["objects"], array is None, path)
            if array is not None:
                self.assertEqual((found["shape"], numpy.dtype(found["type"])), (list(array.shape), array.dtype))
        with numpy.load(DATA + "/npy/ptychonn_optimized_route.npz") as file:
            found = self.inspect(DATA + "/npy/ptychonn_optimized_route.npz")["arrays"]
            self.assertEqual([a["name"] for a in found], file.files)
        path = pathlib.Path(DATA, "nanoconfinement/scaler_new.pkl")
        (code,) = self.inspect(path)["code"]
        recorder = Recorder(io.BytesIO(path.read_bytes()))
        with self.assertRaises(KeyError):  # joblib's array stands in the middle
            recorder.load()
        self.assertEqual(code["imports"], sorted(recorder.names))
        self.assertIn("no opcode", code["trouble"])

    def test_onnx(self):
        """Debian's onnx library says the same of real models, and of one with subgraphs and external data."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                import onnx  # noqa: PLC0415
                from onnx import helper  # noqa: PLC0415
        except ImportError:
            self.skipTest("python3-onnx is not installed")
        value = helper.make_tensor_value_info("x", 1, ["N", 3])
        out = helper.make_tensor_value_info("y", 1, None)
        inner = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "inner", [], [out])
        tensor = helper.make_tensor("w", 1, [2], [1, 2])
        tensor.ClearField("float_data")
        tensor.external_data.add(key="location", value="../w.bin")
        tensor.data_location = 1
        nodes = [helper.make_node("If", ["c"], ["z"], then_branch=inner, else_branch=inner)]
        nodes.append(helper.make_node("Fold", ["x"], ["y"], domain="com.example"))
        graph = helper.make_graph(nodes, "outer", [value], [out], [tensor])
        model = helper.make_model(graph, producer_name="test", opset_imports=[helper.make_opsetid("", 13)])
        model.metadata_props.add(key="a", value="b")
        path = self.home / "made.onnx"
        path.write_bytes(model.SerializeToString())
        record = self.inspect(path)
        found = record["graph"]
        self.assertEqual(found["operators"], {"If": 1, "Relu": 2, "com.example.Fold": 1})
        self.assertEqual((found["external_data"], found["external_outside"]), (["../w.bin"], True))
        self.assertEqual(found["inputs"], [{"name": "x", "type": "float32", "shape": ["N", "3"]}])
        self.assertEqual((found["outputs"][0]["shape"], record["metadata"]), (None, {"a": "b"}))
        for path in sorted(glob.glob(DATA + "/onnx/*.onnx")) if DATA else []:
            found = self.inspect(path)["graph"]
            model = onnx.load(path, load_external_data=False)
            weights = {one.name for one in model.graph.initializer}
            self.assertEqual(found["ir_version"], model.ir_version)
            self.assertEqual(found["opsets"], {one.domain: one.version for one in model.opset_import})
            self.assertEqual(found["operators"], dict(collections.Counter(node.op_type for node in model.graph.node)))
            self.assertEqual([v["name"] for v in found["inputs"]], [v.name for v in model.graph.input if v.name not in weights])
            self.assertEqual([v["name"] for v in found["outputs"]], [v.name for v in model.graph.output])
            sizes = [numpy.prod(w.dims, dtype=int) * onnx.mapping.TENSOR_TYPE_TO_NP_TYPE[w.data_type].itemsize for w in model.graph.initializer]
            self.assertEqual((found["initializers"], found["initializer_bytes"]), (len(sizes), sum(sizes)))

    def test_damaged_onnx(self):
        if not DATA:
            self.skipTest("SABATH_TEST_DATA is not set")
        data = pathlib.Path(DATA, "onnx/light_squeezenet.onnx").read_bytes()
        for length in (40, 1000, len(data) - 30):
            record = self.sabath.run("inspect", str(self.put("cut.onnx", data[:length])), "--json")
            self.assertTrue(record.exit == 12 or json.loads(record.out)["format"] == "unknown")

    def test_others(self):
        self.assertEqual(self.inspect(self.put("empty", b""))["format"], "unknown")
        self.assertEqual(self.inspect(self.put("text.txt", b"hello"))["format"], "unknown")
        self.inspect(self.put("page.h5", b"\x89HDF\r\n\x1a\n" + bytes(100)), 12)
        self.inspect(self.home / "nowhere", 3)
        self.inspect(self.home, 2)


if __name__ == "__main__":
    main()
