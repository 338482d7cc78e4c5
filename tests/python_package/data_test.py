#!/usr/bin/python3
"""Bytes of assets for programs: from packs, mapped, through fsspec, and as samples of torch."""

import io
import json
import os
import pickle
import shutil
import unittest
import warnings

import h5py
import numpy
import sabath
from support.case import main, place, use_memory
from support.content import fragment, seeded
from support.package import PackageCase
from support.traced import traced

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of other packages, not ours
    try:
        import fsspec
        import pandas
        import xarray
        from sabath.fsspec import SabathFileSystem
    except ImportError as missing:
        fsspec, WITHOUT_FSSPEC = None, f"this Python has no {missing.name}"
    try:
        import torch
        from sabath.torch import FileDataset, HDF5Dataset, ShardSampler
    except ImportError as missing:
        torch, WITHOUT_TORCH = None, f"this Python has no {missing.name}"


def content(number):
    """Of packed files: every second one can be compressed, and is read; the others are mapped."""
    return seeded(500 + number, number) if number % 2 else b"%05d" % number * 200


class Packs(PackageCase):
    def setUp(self):
        super().setUp()
        self.names = self.many(1100, content)
        self.asset = self.session.fetch("many")

    def test_files_are_read_from_packs(self):
        self.assertTrue(self.asset.provenance["packed"])
        files = self.asset.files
        for number in (0, 1, 2, 3, 1098, 1099):
            path, data = self.names[number], content(number)
            self.assertEqual(files.read(path), data)
            self.assertEqual(files.read(path, 100, 50), data[100:150])
            self.assertEqual((files.read(path, len(data) - 1, 9), files.read(path, len(data), 9)), (data[-1:], b""))
            self.assertEqual(files.place(path) is not None, number % 2 == 1)
            with files.open(path) as file:
                self.assertEqual((file.read(3), file.tell(), file.read(), file.read()), (data[:3], 3, data[3:], b""))
                self.assertEqual(io.BufferedReader(files.open(path)).read(), data)
            with self.assertRaises(ValueError):
                file.read()
        lines = b"".join(b"%d\n" % each for each in range(5000)) + b"end"
        place(self.home / "lines", lines)
        self.sabath.add("lines", [fragment(f"file://{self.home}/lines")])
        with self.session.fetch("lines").open("lines") as file:
            self.assertEqual(list(file), lines.splitlines(keepends=True))
            self.assertEqual((file.seek(2), file.readline(1), file.readline(), file.tell()), (2, b"1", b"\n", 4))
            self.assertEqual(file.seek(2) and io.TextIOWrapper(file).read(3), "1\n2")
        with self.assertRaises(sabath.NotFound):
            files.read("train/none.bin")
        with self.assertRaises(sabath.UsageError):
            files.read(self.names[0], -1)
        with self.assertRaises(sabath.Offline):
            self.session.path("many")
        self.assertEqual((self.asset.path / self.names[7]).read_bytes(), content(7), "a directory is made when it is wanted")

    def test_arrays_are_mapped(self):
        files = self.asset.files
        data = content(1)
        array = files.array(self.names[1])
        self.assertEqual(array.tobytes(), data)
        self.assertFalse(array.flags.writeable or array.flags.owndata)
        self.assertIsInstance(array, numpy.memmap)
        self.assertIn("/packs/", str(array.filename))
        shaped = files.array(self.names[1], dtype="<u2", shape=(2, 5), offset=3)
        self.assertEqual(shaped.tolist(), numpy.frombuffer(data, "<u2", 10, 3).reshape(2, 5).tolist())
        self.assertEqual(files.array(self.names[2]).tobytes(), content(2), "compressed: a copy")
        for wrong in ({"shape": (10_000,)}, {"offset": -1}, {"offset": 10_000}, {"dtype": "f8", "shape": (70,)}):
            with self.assertRaises(sabath.UsageError, msg=wrong):
                files.array(self.names[1], **wrong)
        kept = files.array(self.names[3])
        self.asset.files.close()
        self.assertEqual(kept.tobytes(), content(3), "what is mapped stays")

    def test_no_collection_takes_what_is_open(self):
        files = self.asset.files
        self.assertEqual(self.session.call("gc", max_size=0)["exit"], 0)
        self.assertEqual([files.read(name) for name in self.names[:4]], [content(number) for number in range(4)])
        self.session.view("many")  # it is whole


class Arrays(PackageCase):
    def test_of_npy_files(self):
        kinds = {"c.npy": numpy.arange(60, dtype="<f4").reshape(3, 4, 5), "f.npy": numpy.asfortranarray(numpy.eye(4)),
                 "empty.npy": numpy.zeros((0, 3)), "scalar.npy": numpy.array(7)}  # fmt: skip
        for name, array in kinds.items():
            numpy.save(self.home / name, array)
        numpy.save(self.home / "object.npy", numpy.array([{}], dtype=object), allow_pickle=True)
        names = [*kinds, "object.npy"]
        self.sabath.add(
            "arrays", [fragment(f"file://{self.home}/{name}", name=name.split(".")[0], path=name) for name in names]
        )
        files = self.session.fetch("arrays").files
        for name, array in kinds.items():
            numpy.testing.assert_array_equal(files.array(name), array, strict=True)
            numpy.testing.assert_array_equal(numpy.load(files.open(name)), array)
        with self.assertRaises(sabath.UsageError):
            files.array("object.npy")


@unittest.skipUnless(fsspec, fsspec is None and WITHOUT_FSSPEC)
class Protocol(PackageCase):
    def setUp(self):
        super().setUp()
        SabathFileSystem.clear_instance_cache()

    def test_of_a_packed_asset(self):
        names = self.many(1100, content)
        self.session.fetch("many")
        system = fsspec.filesystem("sabath")
        self.assertEqual(system.ls("sabath://", detail=False), ["many"])
        self.assertEqual(system.ls("many", detail=False), ["many/list.txt", "many/train"])
        self.assertEqual(len(system.ls("many/train")), 1100)
        self.assertEqual(system.glob("many/train/0000[12].bin"), [f"many/{names[1]}", f"many/{names[2]}"])
        self.assertEqual(len(system.find("sabath://many")), 1101)
        self.assertEqual(system.info(f"many/{names[1]}")["size"], len(content(1)))
        self.assertEqual([system.isdir("many/train"), system.isfile("many/train"), system.exists("many/none"), system.exists("none/x")],
                         [True, False, False, False])  # fmt: skip
        for number in (1, 2):
            url, data = f"sabath://many/{names[number]}", content(number)
            self.assertEqual(system.cat(url), data)
            self.assertEqual([system.cat_file(url, 3, 9), system.cat_file(url, -4), system.cat_file(url, 0, -4)],
                             [data[3:9], data[-4:], data[:-4]])  # fmt: skip
            with fsspec.open(url) as file:
                self.assertEqual((file.read(10), file.seek(-3, 2), file.read()), (data[:10], len(data) - 3, data[-3:]))
        self.assertEqual(pickle.loads(pickle.dumps(system)).cat(f"many/{names[1]}"), content(1))
        with self.assertRaises(FileNotFoundError):
            system.cat("many/none")
        with self.assertRaises(sabath.UsageError):
            system.open("many/x", "wb")
        for change in (system.mkdir, system.makedirs, system.rm, system.touch, lambda path: system.mv(path, "many/y"),
                       lambda path: system.put(str(self.home / "files/list.txt"), path),
                       lambda path: system.pipe(path, b"1"), lambda path: system.cp("many/list.txt", path)):  # fmt: skip
            with self.assertRaisesRegex(sabath.UsageError, "read-only"):
                change("many/x")
        system.get("many/list.txt", str(self.home / "got"))
        self.assertEqual((self.home / "got").read_bytes(), (self.home / "files/list.txt").read_bytes())
        with self.assertRaises(sabath.Offline):
            self.one()
            system.cat("one/d/one.bin")

    def test_pandas_and_xarray_read_by_it(self):
        (self.home / "table.csv").write_text("x,y\n1,2\n3,4\n")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of xarray's own
            grid = xarray.Dataset({"v": (("y", "x"), numpy.arange(12.0).reshape(3, 4))})
            grid.to_netcdf(self.home / "grid.nc", engine="h5netcdf")
        self.sabath.add(
            "climate", [fragment(f"file://{self.home}/{name}", name=name[:4], path=name) for name in ("table.csv", "grid.nc")]
        )
        self.session.fetch("climate")
        self.assertEqual(pandas.read_csv("sabath://climate/table.csv").y.tolist(), [2, 4])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of xarray's own
            with fsspec.open("sabath://climate/grid.nc") as file, xarray.open_dataset(file, engine="h5netcdf") as read:
                self.assertTrue(read.equals(grid))


@unittest.skipUnless(torch, torch is None and WITHOUT_TORCH)
class Samples(PackageCase):
    def hdf5(self, count):
        self.lengths = [3 + number % 4 for number in range(count)]
        begin = 0
        for number, length in enumerate(self.lengths):
            with h5py.File(self.home / f"{number:02}.h5", "w") as file:
                file["x"] = numpy.arange(begin, begin + length, dtype="f4")[:, None] * numpy.ones(8, dtype="f4")
                file["y"] = numpy.arange(begin, begin + length)
            begin += length
        names = [f"{number:02}.h5" for number in range(count)]
        self.sabath.add("cubes", [fragment(f"file://{self.home}/{name}", name=f"f{name[:2]}", path=name) for name in names])
        return self.session.fetch("cubes")

    def test_a_loader_with_workers_reads_each_sample_once(self):
        asset = self.hdf5(12)
        dataset = HDF5Dataset(asset, ["x", "y"])
        self.assertEqual((len(dataset), dataset.lengths), (sum(self.lengths), self.lengths))
        seen = []
        for rank in range(3):
            sampler = ShardSampler(dataset, rank, 3, batch_size=4, seed=2)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that this machine has fewer cores
                loader = torch.utils.data.DataLoader(dataset, batch_size=4, sampler=sampler, num_workers=4 if rank == 0 else 0)
                batches = list(loader)
            self.assertEqual(len(batches), sampler.batches)
            for x, y in batches:
                self.assertEqual((x.shape, x.dtype), ((4, 8), torch.float32))
                self.assertEqual(x[:, 0].tolist(), y.tolist())
                seen += y.tolist()
        self.assertEqual(set(seen), set(range(len(dataset))))

    def test_of_packed_files_and_of_a_plan_of_stage(self):
        names = self.many(1100, content)
        asset = self.session.fetch("many")
        dataset = FileDataset(asset, "train/*", lambda data, path: len(data))
        self.assertEqual((len(dataset), dataset[3]), (1100, len(content(3))))
        self.assertEqual(bytes(FileDataset(asset, "train/*")[4]), content(4))
        plan = sabath.Plan(asset.files.paths(), 2, seed=3)
        sampler = ShardSampler(dataset, 1, batch_size=50, plan=plan)
        held = set(plan.files(1))
        self.assertTrue(all(names[sample] in held for sample in sampler))
        loader = torch.utils.data.DataLoader(dataset, batch_size=50, sampler=sampler, num_workers=2)
        self.assertEqual(sum(len(batch) for batch in loader), len(sampler))
        with self.assertRaises(sabath.UsageError):
            ShardSampler(dataset, 0, plan=sabath.Plan(["other"], 2))


@unittest.skipUnless(shutil.which("strace"), "there is no strace")
class Quiet(PackageCase):
    def test_an_offline_load_opens_no_network_socket(self):
        self.one(size=100_000)
        self.session.fetch("one")
        code = "import sabath; a = sabath.fetch('one', local_files_only=True); a.files.read('d/one.bin'); print('[1]')"
        log = self.home / "calls"
        process = self.python(
            f"import os, sys; os.execvp('strace', {list(traced(log, 'socket'))!r} + [sys.executable, '-c', {code!r}])"
        )
        out, err = process.communicate(timeout=300)
        self.assertEqual((process.returncode, json.loads(out)), (0, [1]), err)
        calls = "".join(file.read_text() for file in log.parent.glob("calls.*"))
        self.assertNotRegex(calls, "AF_INET")
        self.assertTrue(os.path.exists(self.session.path("one")))


if __name__ == "__main__":
    use_memory()
    main()
