#!/usr/bin/python3
"""The gate before data that are loaded: arrays behind each other, configs of Keras, tars as Python's tarfile reads them."""

import gzip
import json
import pickle
import struct
import tarfile

from support.case import main
from support.data_gate import Evil, GateCase


def tar_of(*members, form=tarfile.USTAR_FORMAT, end=True):
    """`members`: (name, type, data, the size that it says, or its own)."""
    archive = b""
    for name, kind, data, *said in members:
        info = tarfile.TarInfo(name)
        info.type, info.size = kind, said[0] if said else len(data)
        archive += info.tobuf(form) + data + bytes(-len(data) % 512)
    return archive + bytes(1024 if end else 0)


def with_sum(archive, field):
    return archive[:148] + field + archive[156:]


FILE, DIRECTORY = tarfile.REGTYPE, tarfile.DIRTYPE


class Forms(GateCase):
    def test_arrays_behind_each_other(self):
        def array(descr, data):
            head = b"{'descr': '%s', 'fortran_order': False, 'shape': (1,), }" % descr
            return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + data

        number, objects = array(b"<f8", bytes(8)), array(b"|O", pickle.dumps(Evil()))
        files = {"a.npy": number + objects, "b.npy": number * 100 + objects, "c.npy": number + pickle.dumps(Evil(), 0), "d.bin": number + objects}
        told = self.told(files | {"clean.npy": number * 3, "padded.npy": number + bytes(2000), "short.npy": number[:-4]})
        self.assertEqual(sorted(told), sorted(files))
        for line in told.values():
            self.assertIn("imports posix.system, calls", line)

    def test_keras(self):
        """Of a model's config: what is no layer and no function that only computes."""

        def config(*layers):
            return json.dumps({"module": "keras", "class_name": "Sequential", "config": {"layers": layers}}).encode()

        def function(module, name):
            return {"module": module, "class_name": "function", "config": name, "registered_name": name}

        code = {
            "get_file": function("keras.utils", "get_file"), "func_load": function("keras.src.utils.python_utils", "func_load"),
            "TFOpLambda": {"class_name": "TFOpLambda", "config": {"function": "io.write_file"}}, "SlicingOpLambda": {"class_name": "SlicingOpLambda"},
            "Lambda": {"module": "keras.layers", "class_name": "Lambda", "config": {}}, "load_model": function("keras.saving", "load_model"),
            "deserialize": function("keras.losses", "deserialize"), "a.get_file": {"module": "keras.utils", "class_name": "get_file", "config": {}},
        }  # fmt: skip
        plain = config(function("keras.losses", "mean_squared_error"), function("keras.src.activations.activations", "relu"), function("builtins", "relu"),
                       function("keras_hub.src.utils.keras_utils", "gelu_approximate"), function("keras.ops", "softmax"),
                       {"module": "keras.layers", "class_name": "Dense", "config": {"value": {"class_name": "__tensor__", "config": {}}}},
                       {"module": "keras.initializers", "class_name": "GlorotUniform", "config": {"seed": None}, "registered_name": None})  # fmt: skip
        files = {f"{name}/config.json": config(layer) for name, layer in code.items()}
        clean = {
            "plain/config.json": plain, "hub/config.json": b'{"architectures": ["Bert"], "eps": Infinity, "id2label": {"0": "a"}}',
            "yaml/config.json": b"a: 1\n", "none/config.json": b"", "other/settings.json": config(code["Lambda"]),
        }  # fmt: skip
        told = self.told(files | clean | {"broken/config.json": config(code["Lambda"])[:-1]})
        self.assertIn("cannot be looked into", told.pop("broken/config.json", ""))
        self.assertEqual(sorted(told), sorted(files))
        for name in code:
            self.assertIn(name.split(".")[-1], told[f"{name}/config.json"])

    def test_tars(self):
        """What tarfile reads out of an archive is looked into; where it could read something else, that is told."""
        old = pickle.dumps(Evil(), 2)
        code = ("pickle", FILE, old)
        plain = tar_of(code)
        counted = sum(plain[:148]) + 256 + sum(plain[156:512])

        def pax(text, kind=tarfile.XHDTYPE):
            return "pax", kind, b"%d %s" % (len(text) + 3, text)

        files = {
            "plain": plain, "unknown": tar_of(("pickle", b"Z", old)), "oldest": tar_of(("pickle", tarfile.AREGTYPE, old)),
            "sum256": with_sum(plain, b"\x80" + counted.to_bytes(7, "big")), "sum0o": with_sum(plain, (b"0o%05o\0" % counted)[:8]),
            "sumzz": with_sum(plain, (b"%05o\0zz" % counted)[:8]), "sum_": with_sum(plain, b" +%05o\x1f" % counted),
            "directories": tar_of(*((f"d{i}", DIRECTORY, b"") for i in range(70)), code),
            **{f"size{kind.decode()}": tar_of(("a", kind, b"", 4096), code) for kind in (b"1", b"2", b"3", b"4", b"5", b"6")},
            "gnu_size": tar_of(("a", FILE, b"a" * 600), code, form=tarfile.GNU_FORMAT).replace(b"00000001130\0", b"\x80" + (600).to_bytes(11, "big")),
        }  # fmt: skip
        files["gnu_size"] = files["gnu_size"][:148] + b"%06o\0 " % (sum(files["gnu_size"][:148]) + 256 + sum(files["gnu_size"][156:512])) + files["gnu_size"][156:]
        unclear = {
            "pax_size": tar_of(pax(b"size=0\n"), ("a", FILE, b"", 4096), code), "all_size": tar_of(pax(b"size=1\n", tarfile.XGLTYPE), ("a", FILE, b"")),
            "two_sizes": tar_of(pax(b"size=9\n"), pax(b"size=8\n"), ("a", FILE, b"a" * 9)), "pieces": tar_of(("a", tarfile.GNUTYPE_SPARSE, b"")),
            "pieces_pax": tar_of(pax(b"GNU.sparse.major=1\n"), ("a", FILE, b"")), "junk": tar_of(("a", FILE, b"a"), end=False) + b"junk" * 256,
            "both": tar_of(("a/", tarfile.AREGTYPE, b"", 512), code), "minus": tar_of(("a", FILE, b"a"), ("b", DIRECTORY, b"", -1), form=tarfile.GNU_FORMAT),
            "headers": tar_of(*((f"d{i}", DIRECTORY, b"") for i in range(10_001)), code),
            "many.pth": tar_of(*((f"f{i}", FILE, b"text") for i in range(8)), code),
        }  # fmt: skip
        told = self.told(files | unclear)
        for name in files:
            with self.subTest(name):
                self.assertIn("imports posix.system, calls", told.get(name, "nothing"))
        for name in unclear:
            with self.subTest(name):
                self.assertRegex(told.get(name, "nothing"), "cannot be looked into|not followed")

    def test_tars_without_code_are_not_told(self):
        files = {
            "tree.tar": tar_of(*((f"d{i}", DIRECTORY, b"") for i in range(200)), *((f"d1/f{i}", FILE, b"text") for i in range(20))),
            "long.tar": tar_of(("é" * 150, FILE, b"a" * 1000), ("b" * 300, FILE, b"b"), ("c", tarfile.SYMTYPE, b""), form=tarfile.PAX_FORMAT),
            "gnu.tar": tar_of(("a" * 300, FILE, b"a" * 1000), ("b", FILE, b"b"), ("c", tarfile.FIFOTYPE, b""), form=tarfile.GNU_FORMAT),
            "large.tar": tar_of(("a", DIRECTORY, b""), ("a/b", FILE, b"a", 10 << 30), form=tarfile.PAX_FORMAT, end=False),
            "tree.pkl.tar.gz": gzip.compress(tar_of(("a", FILE, b"a"), ("b", FILE, b"b"))),
        }  # fmt: skip
        self.assertEqual(self.told(files), {})


if __name__ == "__main__":
    main()
