#!/usr/bin/python3
"""hdf5 hash: the same data however they are stored, other data with all else the same; and a second program agrees."""

import os
import pathlib
import re

import h5py
import numpy

from support.case import Case, main
from support.hdf5_reference import file_hash, logical_hash
from support.universe import everything, universe

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs/hdf5.md"
NAMES = ["alpha", "beta", "gamma"]


def nothing(file, settings):
    pass


def base(path, change=nothing, order=1, swap=False, libver=None, track=False, filled=False, **options):
    """One set of data; `change` alters it, everything else alters only how it is stored."""
    settings = {"track_times": track, **options}
    with h5py.File(path, "w", libver=libver, track_order=track) as file:
        for i, name in list(enumerate(NAMES))[::order]:
            file.attrs[name] = i
        numbers = numpy.arange(6000, dtype=">i4" if swap else "<i4").reshape(60, 100)
        floats = (numpy.arange(500) / 7).astype(">f8" if swap else "<f8")
        makers = [
            lambda: file.create_dataset("group/numbers", data=numbers, **settings),
            lambda: file.create_dataset("floats", data=floats, track_times=track),
            lambda: file.create_dataset("texts", data=["a", "bc", "déf"], track_times=track),
            lambda: file.create_group("empty group"),
        ]
        for make in makers[::order]:
            make()
        if filled:
            file.create_dataset("with fill", data=numpy.full((30, 30), 5, "i2"))
        else:
            file.create_dataset("with fill", (30, 30), "i2", fillvalue=5, chunks=(10, 10))
        file["group/numbers"].attrs["unit"] = "m"
        file["flags"] = numpy.array([True, False])
        file["record"] = numpy.array([(1, 2.5)], dtype=numpy.dtype([("a", "i2"), ("b", "f4")], align=swap))
        lists = file.create_dataset("lists", (3,), h5py.vlen_dtype(">i4" if swap else "<i4"))
        lists[1] = numpy.array([1, 2, 3], ">i4" if swap else "<i4")
        file["soft"] = h5py.SoftLink("/floats")
        file["hard"] = file["floats"]
        change(file, settings)


class Hash(Case):
    def hash(self, name):
        result = self.expect(self.sabath.run("hdf5", "hash", name))
        value, shown = result.out.split()
        self.assertRegex(value, "^hdf5-v1:[0-9a-f]{64}$")
        self.assertEqual(shown, str(name))
        return value

    def test_a_second_program_agrees(self):
        everything(self.home / "all.h5")
        universe(self.home / "u.h5", 40, chunks=(7, 13, 40, 3), compression="gzip")
        base(self.home / "base.h5")
        with h5py.File(self.home / "long.h5", "w") as file:
            file["bytes"] = numpy.arange(9 << 20, dtype="u4").astype("u1")
            file["exact"] = numpy.zeros(4 << 20, "i1")
            file["leaf"] = numpy.zeros(65536, "i1")
        for name in ("all.h5", "u.h5", "base.h5", "long.h5"):
            self.assertEqual(self.hash(name), logical_hash(self.home / name), name)
        real = pathlib.Path(os.environ.get("SABATH_TEST_DATA", "/nowhere")) / "hdf5"
        for path in sorted(real.glob("*.h5")):
            self.assertEqual(self.hash(path), logical_hash(path), path)

    def test_the_document(self):
        text = DOCUMENT.read_text()
        with h5py.File(self.home / "empty.h5", "w"):
            pass
        with h5py.File(self.home / "small.h5", "w") as file:
            file.attrs["unit"] = "m"
            file["g/x"] = numpy.array([1, -2], ">i2")
            file["y"] = h5py.SoftLink("/g/x")
        for name in ("empty", "small"):
            (expected,) = re.findall(rf"\| {name} \|.*?(hdf5-v1:[0-9a-f]{{64}})", text)
            self.assertEqual((self.hash(f"{name}.h5"), logical_hash(self.home / f"{name}.h5")), (expected, expected))
        self.assertIn(file_hash(bytes([1, 0, 0xFE, 0xFF])).hex(), text)

    def test_how_data_are_stored_does_not_count(self):
        base(self.home / "base.h5")
        expected = self.hash("base.h5")
        rewritten = {
            "chunks": {"chunks": (7, 13)},
            "one chunk": {"chunks": (60, 100)},
            "gzip": {"compression": "gzip", "chunks": (16, 16)},
            "gzip 9, shuffle, checksum": {"compression": 9, "shuffle": True, "fletcher32": True},
            "scale and offset": {"scaleoffset": 0},
            "growing": {"maxshape": (None, None)},
            "latest format": {"libver": "latest"},
            "format of 1.8": {"libver": ("v108", "v108")},
            "times, order of creation kept": {"track": True},
            "other order": {"order": -1},
            "big-endian, aligned": {"swap": True},
            "fill values written": {"filled": True},
        }
        bytes_seen = {(self.home / "base.h5").read_bytes()}
        for name, options in rewritten.items():
            base(self.home / "other.h5", **options)
            bytes_seen.add((self.home / "other.h5").read_bytes())
            self.assertEqual(self.hash("other.h5"), expected, name)
        self.assertEqual(len(bytes_seen), len(rewritten) + 1)  # or the test would show nothing
        with h5py.File(self.home / "other.h5", "a") as file:  # a file with a hole where something was
            file["gone"] = numpy.arange(10000)
            del file["gone"]
        self.assertEqual(self.hash("other.h5"), expected)

    def test_any_change_counts(self):
        def replace(name, data, **options):
            def change(file, settings):
                attributes = dict(file[name].attrs)
                del file[name]
                file.create_dataset(name, data=data, **options).attrs.update(attributes)

            return change

        def do(*statements):
            def change(file, settings):
                for statement in statements:
                    exec(statement, {"file": file, "numpy": numpy, "h5py": h5py})

            return change

        numbers = numpy.arange(6000, dtype="<i4").reshape(60, 100)
        changes = {
            "one value": do("file['group/numbers'][59, 99] = 7"),
            "wider": replace("group/numbers", numbers.astype("i8")),
            "unsigned": replace("group/numbers", numbers.astype("u4")),
            "shape": replace("group/numbers", numbers.reshape(100, 60)),
            "one more axis": replace("group/numbers", numbers.reshape(1, 60, 100)),
            "float of the same values": replace("floats", (numpy.arange(500) / 7).astype("f4")),
            "minus zero": do("file['floats'][0] = -0.0"),
            "scalar": replace("flags", True),
            "attribute value": do("file.attrs['alpha'] = 99"),
            "attribute type": do("file.attrs['alpha'] = numpy.int32(0)"),
            "attribute name": do("file.attrs['delta'] = file.attrs['alpha']", "del file.attrs['alpha']"),
            "attribute gone": do("del file['group/numbers'].attrs['unit']"),
            "attribute elsewhere": do("file['floats'].attrs['unit'] = 'm'"),
            "text": do("file['texts'][1] = 'bd'"),
            "text of fixed length": replace("texts", numpy.array([b"a", b"bc", "déf".encode()], "S4")),
            "text in ascii": replace("texts", [b"a", b"bc", b"def"], dtype=h5py.string_dtype("ascii")),
            "dataset name": do("file.move('floats', 'floating')"),
            "moved": do("file.move('floats', 'group/floats')"),
            "group gone": do("del file['empty group']"),
            "group more": do("file.create_group('another')"),
            "soft link": do("del file['soft']", "file['soft'] = h5py.SoftLink('/hard')"),
            "link of another kind": do("del file['soft']", "file['soft'] = h5py.ExternalLink('x.h5', '/floats')"),
            "a copy, not a hard link": do("del file['hard']", "file.copy('floats', 'hard')"),
            "member name": replace("record", numpy.array([(1, 2.5)], dtype=[("a", "i2"), ("c", "f4")])),
            "member order": replace("record", numpy.array([(2.5, 1)], dtype=[("b", "f4"), ("a", "i2")])),
            "enumeration": replace("flags", numpy.array([1, 0], h5py.enum_dtype({"NO": 0, "YES": 1}, basetype="i1"))),
            "fill value": lambda file, settings: (
                file.__delitem__("with fill"), file.create_dataset("with fill", (30, 30), "i2", fillvalue=6)),
            "nothing": replace("flags", h5py.Empty("?")),
            "a type by name": do("file['type'] = numpy.dtype('f8')"),
        }  # fmt: skip
        base(self.home / "base.h5")
        seen = {self.hash("base.h5"): "nothing changed"}
        for name, change in changes.items():
            base(self.home / "other.h5", change)
            value = self.hash("other.h5")
            self.assertNotIn(value, seen, f"{name} looks like: {seen.get(value)}")
            seen[value] = name

    def test_the_record_says_where_files_differ(self):
        base(self.home / "a.h5")
        base(self.home / "b.h5", lambda file, _: file["group/numbers"].write_direct(numpy.zeros((60, 100), "i4")))
        tables = []
        for name in ("a.h5", "b.h5"):
            record = self.expect(self.sabath.run("hdf5", "hash", "--json", name)).record
            tables.append({one["path"]: (one["kind"], one["hash"], one["bytes"]) for one in record["objects"]})
        differ = [path for path in tables[0] if tables[0][path] != tables[1][path]]
        self.assertEqual(differ, ["/group/numbers"])
        self.assertEqual(tables[0]["/group/numbers"][2], 24000)
        self.assertEqual(tables[0]["/hard"], ("alias", None, 0))

    def test_what_has_no_logical_form_is_refused(self):
        with h5py.File(self.home / "region.h5", "w") as file:
            file["x"] = numpy.arange(10)
            file.create_dataset("r", data=numpy.array([file["x"].regionref[2:4]], dtype=h5py.regionref_dtype))
        result = self.expect(self.sabath.run("hdf5", "hash", "region.h5"), 12)
        self.assertIn("region.h5:/r: reference to a region has no logical form", result.err)


if __name__ == "__main__":
    main()
