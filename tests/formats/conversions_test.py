#!/usr/bin/python3
"""The program's conversions, judged by h5py, NumPy, Python's gzip and a TFRecord reader that shares no code with them."""

import gzip
import os
import pathlib
import subprocess
import sys

import h5py
import numpy

from support.case import Case, main
from support.tfrecord_reference import example, records
from support.universe import everything, universe

CONVERT = os.environ["SABATH_CONVERT"]
DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs/formats.md"


class Conversions(Case):
    def setUp(self):
        super().setUp()
        self.out = self.home / "out"
        self.out.mkdir()

    def convert(self, name, source, *arguments, threads=1, code=0):
        """The files that were made; of a failure what it says."""
        command = [CONVERT, os.environ["SABATH_BINARY"], name, source, self.out, str(threads), *arguments]
        result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual(result.returncode, code, result.stdout)
        if code:
            self.assertEqual(list(self.out.iterdir()), [], "a failure leaves nothing")
            return result.stdout
        self.assertEqual(sorted(os.listdir(self.out)), sorted(result.stdout.split()))
        return [self.out / line for line in result.stdout.splitlines()]

    def clear(self):
        for file in self.out.iterdir():
            file.unlink()

    def array(self, name, values):
        path = self.home / name
        numpy.save(path, values)
        return path

    def test_universe_to_records(self):
        """HDF5 -> blocks -> TFRecord, as CosmoFlow's preprocessing does: order, bytes, labels, length of the file."""
        full = universe(self.home / "univ.hdf5", 32)
        blocks = self.convert("hdf5-blocks", self.home / "univ.hdf5", "blocks=8,8,8,4")
        self.assertEqual([block.name for block in blocks], [f"univ_{i:03}.hdf5" for i in range(64)])
        kept = self.home / "blocks"
        self.out.rename(kept)
        self.out.mkdir()
        for number in (0, 27, 63):
            self.clear()
            i, j, k = number // 16, number // 4 % 4, number % 4
            cube = full[8 * i : 8 * i + 8, 8 * j : 8 * j + 8, 8 * k : 8 * k + 8]
            (made,) = self.convert("hdf5-to-tfrecord", kept / f"univ_{number:03}.hdf5")
            self.assertEqual(made.name, f"univ_{number:03}.tfrecord")
            (record,) = records(made)
            self.assertEqual(list(example(record)), ["x", "y"])
            self.assertEqual(example(record)["x"], cube.tobytes())
            self.assertEqual(example(record)["y"], tuple(numpy.float32([-0.5, -0.375, 0, 3 / 7])))
            plain = made.read_bytes()
            (packed,) = self.convert("hdf5-to-tfrecord", kept / f"univ_{number:03}.hdf5", "gzip=true", "level=1")
            self.assertEqual(gzip.decompress(packed.read_bytes()), plain)

    def test_size_of_a_cosmoflow_record(self):
        """16,777,287 bytes: the index of a real file says so."""
        with h5py.File(self.home / "one.hdf5", "w") as file:
            file["full"] = numpy.zeros((128, 128, 128, 4), "<i2")
            file["unitPar"] = numpy.zeros(4)
        (made,) = self.convert("hdf5-to-tfrecord", self.home / "one.hdf5")
        self.assertEqual(made.stat().st_size, 16777287)

    def test_hdf5_to_npy(self):
        everything(self.home / "all.h5")
        with h5py.File(self.home / "all.h5") as file:
            for name in ("i1", "<i2", ">i4", "u8", "f2", ">f4", "f8", "?"):
                self.clear()
                (made,) = self.convert("hdf5-to-npy", self.home / "all.h5", f"data=numbers/{name}", "label=")
                found = numpy.load(made)
                self.assertEqual(found.dtype, numpy.dtype(name).newbyteorder("<"))
                numpy.testing.assert_array_equal(found, file["numbers"][name])
            for text, wanted in (
                ("packed[::7, 3:40:5]", file["packed"][::7, 3:40:5]),
                ("packed[-1]", file["packed"][-1]),
                ("packed[5,6]", file["packed"][5, 6]),
                ("unwritten[...,::3]", file["unwritten"][..., ::3]),
                ("nothing", file["nothing"][()]),
                ("texts/fixed", file["texts/fixed"][()]),
                ("enum", file["enum"][()]),
            ):
                self.clear()
                (made,) = self.convert("hdf5-to-npy", self.home / "all.h5", f"data={text}", "label=")
                numpy.testing.assert_array_equal(numpy.load(made), wanted, text)
        self.clear()
        for name in ("compound", "lists", "references", "texts/list", "numbers/complex", "numbers/long double"):
            self.assertIn("its type is", self.convert("hdf5-to-npy", self.home / "all.h5", f"data={name}", "label=", code=2))
        self.assertIn("doesn't exist", self.convert("hdf5-to-npy", self.home / "all.h5", "data=nowhere", "label=", code=12))

    def test_slabs_of_a_large_dataset(self):
        """More than one slab, along the first axis and along the second; chunks across both."""
        values = numpy.arange(3 * 2200 * 1700, dtype="<i8").reshape(3, 2200, 1700)
        with h5py.File(self.home / "big.h5", "w") as file:
            file.create_dataset("x", data=values, chunks=(2, 300, 700))
        for text, wanted in (("x", values), ("x[:,5::3,::2]", values[:, 5::3, ::2])):
            self.clear()
            (made,) = self.convert("hdf5-to-npy", self.home / "big.h5", f"data={text}", "label=")
            self.assertTrue((numpy.load(made) == wanted).all())

    def test_npy_of_a_file(self):
        values = numpy.arange(5000, dtype="<i2").reshape(50, 100)
        data = self.array("s_data.npy", values)
        self.array("s_label.npy", numpy.array([1.5, -2.25]))
        (made,) = self.convert("npy-to-tfrecord", data, "data_ending=_data.npy", "label_ending=_label.npy")
        self.assertEqual(made.name, "s.tfrecord")
        (record,) = records(made)
        self.assertEqual(example(record), {"x": values.tobytes(), "y": (1.5, -2.25)})

    def test_vector(self):
        """The bytes that the document shows."""
        vector = DOCUMENT.read_text(encoding="utf-8").split("as one record of 54 bytes:")[1].split("\n\n")[1]
        data = self.array("v.npy", numpy.array([1, -2, 3], "<i2"))
        self.array("v_label.npy", numpy.array([0.5, -2]))
        (made,) = self.convert("npy-to-tfrecord", data, "label_ending=_label.npy")
        self.assertEqual(made.read_bytes(), bytes.fromhex(vector))

    def test_npy_of_rows(self):
        """The same bytes for any number of threads; each row and its label; packed as well."""
        values = numpy.arange(37 * 11, dtype="<f4").reshape(37, 11)
        data = self.array("a.npy", values)
        self.array("a.label.npy", numpy.arange(37, dtype=">i2"))
        arguments = ["per=row", "as=floats", "label_ending=.label.npy", "x_name=values", "y_name=class"]
        (made,) = self.convert("npy-to-tfrecord", data, *arguments)
        once = made.read_bytes()
        for number, record in enumerate(records(made)):
            self.assertEqual(example(record), {"values": tuple(values[number]), "class": (float(number),)})
        self.assertEqual(number, 36)
        for threads in (2, 3, 64):
            (made,) = self.convert("npy-to-tfrecord", data, *arguments, threads=threads)
            self.assertEqual(made.read_bytes(), once)
        (made,) = self.convert("npy-to-tfrecord", data, *arguments, "gzip=true", threads=2)
        self.assertEqual(gzip.decompress(made.read_bytes()), once)

    def test_empty_arrays(self):
        (made,) = self.convert("npy-to-tfrecord", self.array("e.npy", numpy.zeros((0, 3), "<f4")), "per=row")
        self.assertEqual(made.read_bytes(), b"")
        (made,) = self.convert("npy-to-tfrecord", self.array("e.npy", numpy.zeros((0, 3), "<f4")))
        self.assertEqual([example(record) for record in records(made)], [{"x": b""}])
        (made,) = self.convert("npy-to-tfrecord", self.array("e.npy", numpy.float64(7)))
        self.assertEqual([example(record) for record in records(made)], [{"x": numpy.float64(7).tobytes()}])

    def test_refused_arrays(self):
        """By name and with what to do: objects, Fortran order, another byte order, a type that floats are not."""
        fortran = numpy.asfortranarray(numpy.arange(6, dtype="<i4").reshape(2, 3))
        self.assertIn("Fortran order", self.convert("npy-to-tfrecord", self.array("f.npy", fortran), code=2))
        objects = numpy.array([{"a": 1}], dtype=object)
        self.assertIn("pickle", self.convert("npy-to-tfrecord", self.array("o.npy", objects), code=12))
        self.assertIn("big-endian", self.convert("npy-to-tfrecord", self.array("b.npy", numpy.arange(3, dtype=">i4")), code=2))
        self.assertIn("<f4", self.convert("npy-to-tfrecord", self.array("d.npy", numpy.zeros(3)), "as=floats", code=2))
        self.assertIn("has none", self.convert("npy-to-tfrecord", self.array("s.npy", numpy.float32(1)), "per=row", code=2))
        whole = self.array("cut.npy", numpy.arange(100)).read_bytes()
        (self.home / "cut.npy").write_bytes(whole[:-1])
        self.assertIn("promises 800", self.convert("npy-to-tfrecord", self.home / "cut.npy", code=7))
        (self.home / "cut.npy").write_bytes(whole + b"x")
        self.assertIn("promises 800", self.convert("npy-to-tfrecord", self.home / "cut.npy", code=12))
        self.assertIn("2 GiB", self.convert("npy-to-tfrecord", self.sparse(), code=2))

    def sparse(self):
        path = self.home / "large.npy"
        with open(path, "wb") as file:
            numpy.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": (1 << 32,)})
            file.truncate(file.tell() + (1 << 32))
        return path

    def test_gzip(self):
        path = self.home / "text"
        path.write_bytes(b"abc" * 700000)
        (made,) = self.convert("gzip", path)
        self.assertEqual(gzip.decompress(made.read_bytes()), path.read_bytes())
        self.assertEqual(made.read_bytes()[3:8], bytes(5), "no name, no time")
        path.write_bytes(b"")
        (made,) = self.convert("gzip", path)
        self.assertEqual(gzip.decompress(made.read_bytes()), b"")

    def test_arguments(self):
        path = self.array("a.npy", numpy.zeros(3))
        for argument, said in (
            ("pre=row", "no argument pre"),
            ("per=rows", "must be file or row"),
            ("gzip=yes", "true or false"),
            ("level=10", "a number from 1 to 9"),
        ):
            self.assertIn(said, self.convert("npy-to-tfrecord", path, argument, code=2))

    def test_tensorflow(self):
        """TensorFlow reads the same, where it is installed."""
        python = os.environ.get("SABATH_TENSORFLOW", sys.executable)
        if subprocess.run([python, "-c", "import tensorflow"], capture_output=True, check=False).returncode:
            self.skipTest("no tensorflow: SABATH_TENSORFLOW names a Python that has it")
        values = numpy.arange(7 * 5, dtype="<i2").reshape(7, 5)
        data = self.array("a.npy", values)
        self.array("a.label.npy", numpy.arange(14, dtype="<f8").reshape(7, 2))
        (made,) = self.convert("npy-to-tfrecord", data, "per=row", "label_ending=.label.npy", "gzip=true")
        code = f"""
import tensorflow as tf
kinds = {{"x": tf.io.FixedLenFeature([], tf.string), "y": tf.io.FixedLenFeature([2], tf.float32)}}
for record in tf.data.TFRecordDataset({str(made)!r}, compression_type="GZIP"):
    one = tf.io.parse_single_example(record, kinds)
    print(tf.io.decode_raw(one["x"], tf.int16).numpy().tolist(), one["y"].numpy().tolist())
"""
        result = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
        lines = [f"{values[i].tolist()} {[2.0 * i, 2.0 * i + 1]}" for i in range(7)]
        self.assertEqual(result.stdout.splitlines(), lines, result.stderr[-2000:])


if __name__ == "__main__":
    main()
