#!/usr/bin/python3
"""hdf5 inspect and select: h5py is the witness of what a file holds, before and after."""

import json
import random
import signal
import subprocess
import sys
import time

import h5py
import numpy

from support import program
from support.case import Case, main
from support.universe import everything, universe

MIB = 1 << 20


def text_of(index):
    """An index of numpy as the language of selections writes it."""
    parts = []
    for part in index:
        if part is Ellipsis:
            parts.append("...")
        elif isinstance(part, slice):
            ends = ["" if end is None else str(end) for end in (part.start, part.stop)]
            parts.append(":".join(ends + ([str(part.step)] if part.step else [])))
        else:
            parts.append(str(part))
    return "[" + ",".join(parts) + "]"


def random_index(dice, shape):
    index = []
    for extent in shape:
        start, stop = (dice.choice([None, dice.randint(-extent - 3, extent + 3)]) for _ in range(2))
        step = dice.choice([None, 1, 2, 3, 7, extent + 1])
        index.append(dice.randrange(-extent, extent) if dice.random() < 0.25 else slice(start, stop, step))
    cut = dice.randint(0, len(shape))
    if dice.random() < 0.3:
        return tuple(index[:cut]) + (Ellipsis,) + tuple(index[cut + 1 :])
    return tuple(index[: max(cut, 1)])


class Hdf5(Case):
    def hdf5(self, *arguments, code=0, **options):
        return self.expect(self.sabath.run("hdf5", *arguments, **options), code)

    def select(self, *arguments, **options):
        return self.hdf5("select", "--json", *arguments, **options).record


class Inspect(Hdf5):
    def test_every_kind_of_object(self):
        everything(self.home / "all.h5")
        record = self.hdf5("inspect", "--json", "all.h5").record
        objects = {one["path"]: one for one in record["objects"]}
        self.assertEqual(record["objects_total"], len(objects))
        self.assertEqual(record["bytes"], (self.home / "all.h5").stat().st_size)
        found = lambda path, *keys: [objects[path].get(key) for key in keys]
        self.assertEqual(found("/packed", "type", "shape", "chunk"), ["int32", [60, 50], [7, 11]])
        names = [(one["id"], one["name"], one["available"]) for one in objects["/packed"]["filters"]]
        self.assertEqual(names, [(2, "shuffle", True), (1, "gzip", True), (3, "fletcher32", True)])
        self.assertEqual(found("/growing", "shape", "shape_max"), [[60, 50], [None, 50]])
        self.assertEqual(found("/unwritten", "fill", "stored_bytes"), [-7, 0])
        self.assertEqual(found("/again/>i4", "type", "layout"), ["int32 big-endian", "contiguous"])
        self.assertEqual(found("/enum", "type"), ["enum int16 {RED=1, BLUE=2}"])
        self.assertEqual(found("/lists", "type"), ["list of int32"])
        self.assertIn("z: compound {a: array(2,2) of int16", objects["/compound"]["type"])
        self.assertEqual(found("/texts/list", "type"), ["string(utf-8)"])
        self.assertEqual(found("/none", "shape"), [None])
        self.assertEqual(found("/soft", "kind", "target"), ["soft_link", "/scalar"])
        self.assertEqual(found("/outside", "kind", "file", "target"), ["external_link", "other.h5", "/x"])
        self.assertEqual(found("/numbers", "kind", "target"), ["alias", "/again"])
        self.assertEqual(found("/again/loop", "kind", "target"), ["alias", "/"])
        self.assertEqual(found("/type", "kind", "type"), ["type", "float64"])
        values = {one["name"]: one["value"] for one in objects["/"]["attributes"]}
        self.assertEqual(values, {"empty": None, "flag": True, "title": "all kinds, é"})
        self.assertEqual(objects["/packed"]["attributes"][0]["value"], "/compound")
        text = self.hdf5("inspect", "all.h5").out
        self.assertIn("/outside  -> other.h5:/x  NOT FOLLOWED\n", text)
        self.assertIn("/packed  int32 (60, 50)  chunked (7, 11)  12.0 kB  shuffle(2", text)

    def test_values_are_bounded(self):
        with h5py.File(self.home / "long.h5", "w") as file:
            file.attrs["long"] = numpy.arange(5000)
            file.attrs["text"] = "é" * 2000
            file.attrs["nan"] = [numpy.nan, -numpy.inf, numpy.float64(1.5)]
            file.attrs["small"] = numpy.float32(0.15)
            for i in range(300):
                file.attrs[f"x{i}"] = i
        root = self.hdf5("inspect", "--json", "long.h5").record["objects"][0]
        attributes = {one["name"]: one for one in root["attributes"]}
        self.assertEqual((len(attributes), root["attributes_total"]), (256, 304))
        self.assertEqual((attributes["long"]["value"], attributes["long"]["cut"]), (list(range(64)), True))
        self.assertEqual((attributes["text"]["value"], attributes["text"]["cut"]), ("é" * 512, True))
        self.assertEqual(attributes["nan"]["value"], ["nan", "-inf", 1.5])
        self.assertEqual(attributes["small"]["value"], 0.15)


class Select(Hdf5):
    def test_the_cube_of_redshift_0(self):
        full = universe(self.home / "u.hdf5")
        made = self.select("u.hdf5", "full[:,:,:,0]", "physPar", "-o", "today.hdf5", "--source-digest", "ab" * 32)
        self.assertEqual((made["bytes_selected"], made["files"]), (full.nbytes // 4 + 32, ["today.hdf5"]))
        self.assertEqual(made["bytes_read"], full.nbytes + 32)
        with h5py.File(self.home / "today.hdf5") as file:
            self.assertEqual(sorted(file), ["full", "physPar"])
            self.assertTrue(numpy.array_equal(file["full"][...], full[:, :, :, 0]))
            self.assertEqual((file["full"].dtype, file["full"].attrs["unit"]), (numpy.dtype("<i2"), "particles"))
            self.assertEqual((file.attrs["seed9"], file.attrs["dataset_tag"]), (16305120, b"4parE"))
            told = json.loads(file.attrs["sabath_selection"])
        self.assertEqual(told["selections"], ["full[:,:,:,0]", "physPar"])
        self.assertEqual(told["source"], {"digest": "sha256:" + "ab" * 32, "bytes": self.size("u.hdf5")})
        self.assertLess(self.size("today.hdf5"), made["bytes_selected"] * 1.02 + 8192)
        self.select("today.hdf5", "full[0]", "-o", "plane.hdf5")
        with h5py.File(self.home / "plane.hdf5") as file:
            again = json.loads(file.attrs["sabath_selection"])
        self.assertEqual((again["selections"], json.loads(again["of"])), (["full[0]"], told))

    def size(self, name):
        return (self.home / name).stat().st_size

    def test_random_selections_equal_h5py(self):
        seed = int(program.os.environ.get("SABATH_SEED", time.time_ns() % 1_000_000))
        dice, shape = random.Random(seed), (23, 17, 9, 4)
        data = numpy.arange(numpy.prod(shape), dtype="i8").reshape(shape)
        stores = {"rows": {}, "chunks": {"chunks": (5, 6, 9, 2)}, "gzip": {"chunks": (4, 17, 3, 4), "compression": 1}}
        for dtype in ("<i2", ">i4", "f8", "u1", "S3"):
            with h5py.File(self.home / "s.h5", "w") as file:
                for name, options in stores.items():
                    file.create_dataset(name, data=(data % 199).astype(dtype), **options)
            for _ in range(6):
                wanted = {name: random_index(dice, shape) for name in stores}
                texts = [name + text_of(index) for name, index in wanted.items()]
                filters = ["--filter", dice.choice(["none", "gzip", "keep"])]
                self.select("s.h5", *texts, *filters, "-o", "part.h5")
                with h5py.File(self.home / "s.h5") as file, h5py.File(self.home / "part.h5") as part:
                    for name, index in wanted.items():
                        expected, found = file[name][index], part[name][()]
                        self.assertEqual(part[name].dtype, file[name].dtype, f"seed {seed} {texts}")
                        self.assertEqual(numpy.shape(found), numpy.shape(expected), f"seed {seed} {texts}")
                        self.assertTrue(numpy.array_equal(found, expected), f"seed {seed} {texts} {dtype}")

    def test_everything_else_is_kept_if_asked(self):
        everything(self.home / "all.h5")
        made = self.select("all.h5", "packed[3:50:9,::2]", "--rest", "-o", "rest.h5", "--filter", "keep")
        reasons = "\n".join(made["left_out"])
        for path in ("/soft", "/dangling", "/outside", "/references", "/packed@look", "/type"):
            self.assertIn(f"all.h5:{path}:", reasons)
        with h5py.File(self.home / "all.h5") as old, h5py.File(self.home / "rest.h5") as new:
            self.assertTrue(numpy.array_equal(new["packed"][...], old["packed"][3:50:9, ::2]))
            self.assertEqual((new["packed"].compression, new["packed"].shuffle), ("gzip", True))
            self.assertEqual(new["unwritten"].fillvalue, -7)
            datasets = []
            old.visititems(lambda name, one: datasets.append(name) if isinstance(one, h5py.Dataset) else None)
            for name in set(datasets) - {"packed", "references"}:
                self.same(old[name], new[name])

    def same(self, old, new):
        self.assertEqual((old.dtype, old.shape), (new.dtype, new.shape), old.name)
        if old.shape is None:
            return
        if old.dtype.hasobject and old.shape:
            pairs = zip(old[...], new[...])
            self.assertTrue(all(numpy.array_equal(a, b) for a, b in pairs), old.name)
        else:
            self.assertEqual(numpy.asarray(old[()]).tobytes(), numpy.asarray(new[()]).tobytes(), old.name)

    def test_a_limit_of_file_sizes_is_no_fault_of_the_file(self):
        big = self.home / "big.h5"
        with h5py.File(big, "w") as file:
            file["x"] = numpy.arange(200_000)
        out = self.home / "limited.h5"
        limited = self.sabath.run("hdf5", "select", big, "x", "-o", out, prefix=("prlimit", "--fsize=100000"))
        self.assertIn("File too large", self.expect(limited, 70).err)
        self.assertEqual([path.name for path in self.home.glob("limited*")], [])

    def test_the_same_selection_gives_the_same_bytes(self):
        universe(self.home / "u.hdf5", compression="gzip", chunks=(8, 16, 16, 2))
        everything(self.home / "all.h5")
        for filter_name in ("none", "gzip", "keep"):
            kinds = ["lists", "texts", "compound", "packed"]
            for source, what in (("u.hdf5", ["full[...,1]", "namePar"]), ("all.h5", kinds)):
                made = []
                for name in ("one.h5", "two.h5"):
                    self.select(source, *what, "-o", name, "--filter", filter_name)
                    made.append((self.home / name).read_bytes())
                    time.sleep(0.6)  # HDF5's times count seconds: a time in the file would differ in one of the rounds
                self.assertTrue(made[0] == made[1], (source, filter_name))

    def test_blocks(self):
        full = universe(self.home / "u.hdf5", 20)
        made = self.select("u.hdf5", "full", "unitPar", "--blocks", "8,10,20,4", "-o", "cut")
        names = [f"cut/cut_{i:03}.hdf5" for i in range(3 * 2)]
        self.assertEqual(made["files"], names)
        self.assertEqual((made["bytes_selected"], made["bytes_read"]), (full.nbytes + 6 * 32, full.nbytes + 6 * 32))
        self.select("u.hdf5", "full", "unitPar", "--blocks", "8,10,20,4", "--as", "groups", "-o", "cut.hdf5")
        with h5py.File(self.home / "cut.hdf5") as groups:
            self.assertEqual(sorted(groups), [f"{i:03}" for i in range(6)] + ["unitPar"])
            for i, name in enumerate(names):
                a, b = i // 2 * 8, i % 2 * 10
                expected = full[a : a + 8, b : b + 10]
                with h5py.File(self.home / name) as block:
                    self.assertTrue(numpy.array_equal(block["full"][...], expected), name)
                    told = json.loads(block.attrs["sabath_selection"])
                    self.assertEqual((told["block"], told["origin"]), (i, [a, b, 0, 0]))
                    self.assertEqual(block["unitPar"].shape, (4,))
                self.assertTrue(numpy.array_equal(groups[f"{i:03}/full"][...], expected))
        self.select("u.hdf5", "full[:,:,:,2]", "--blocks", "20,20,7", "-o", "thin")
        with h5py.File(self.home / "thin/thin_002.hdf5") as last:
            self.assertTrue(numpy.array_equal(last["full"][...], full[:, :, 14:, 2]))

    def test_what_makes_no_sense_is_said_and_changes_nothing(self):
        universe(self.home / "u.hdf5", 24)
        (self.home / "kept.h5").write_text("before")
        (self.home / "taken").mkdir()
        (self.home / "taken/file").write_text("x")
        before = sorted(path.name for path in self.home.iterdir())
        for code, words, arguments in (
            (2, "index 24 of axis 1 is out of bounds", ["full[0,24]"]),
            (2, "has 5 indices, and the dataset 4 axes", ["full[0,0,0,0,0]"]),
            (2, "a step is at least 1", ["full[::-1]"]),
            (2, "'...' is allowed once only", ["full[...,...]"]),
            (2, "at character 6", ["full[x]"]),
            (2, "is selected twice", ["full[0]", "/full"]),
            (2, "--blocks has 2 extents, and the selection has 3 axes", ["full[0]", "--blocks", "2,2"]),
            (2, "would hold 576 files open, at most 256", ["full[:,:,:,0:1]", "--blocks", "1,1,1,1", "--rest"]),
            (3, "did you mean /full?", ["ful"]),
            (3, "no such object", ["group/of/none"]),
            (2, "Debian has none", ["full", "--filter", "zstd"]),
        ):
            result = self.hdf5("select", "u.hdf5", *arguments, "-o", "kept.h5", code=code)
            self.assertIn(words, result.err)
        result = self.hdf5("select", "u.hdf5", "full", "--blocks", "24,24,24,1", "-o", "taken", code=2)
        self.assertIn("is there already", result.err)
        self.hdf5("select", "absent.h5", "full", "-o", "kept.h5", code=3)
        self.hdf5("select", "u.hdf5", "full", "-o", "no/such/directory.h5", code=70)
        self.assertEqual(sorted(path.name for path in self.home.iterdir()), before)
        self.assertEqual((self.home / "kept.h5").read_text(), "before")

    def test_a_stop_leaves_nothing(self):
        with h5py.File(self.home / "big.h5", "w") as file:
            data = numpy.random.Generator(numpy.random.PCG64(1)).integers(0, 256, 96 * MIB, dtype="u1")
            file["data"] = data
        process = self.sabath.start("hdf5", "select", "big.h5", "data", "--filter", "gzip", "-o", "out.h5")
        while process.poll() is None and not list(self.home.glob("out.h5.*.new")):
            time.sleep(0.005)  # until the work has begun
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(list(self.home.glob("out.h5*")), [])

    def test_inspect_of_any_file_names_the_datasets(self):
        with h5py.File(self.home / "two.h5", "w") as file:
            file["a/x"] = numpy.zeros((3, 4), "<f4")
            file["y"] = numpy.zeros(5, "<i8")
        record = self.expect(self.sabath.run("inspect", "--json", "two.h5")).record
        self.assertEqual([(one["name"], one["shape"], one["bytes"]) for one in record["arrays"]],
                         [("/a/x", [3, 4], 48), ("/y", [5], 40)])  # fmt: skip
        self.assertRegex(self.expect(self.sabath.run("inspect", "two.h5")).out, r"(?m)^/a/x  float32.* \(3, 4\)  48 B$")
        whole = (self.home / "two.h5").read_bytes()
        (self.home / "cut.h5").write_bytes(whole[: len(whole) - 40])
        self.assertIn("cut off", self.expect(self.sabath.run("inspect", "cut.h5"), 7).err)

    def test_a_chunk_beyond_the_memory(self):
        """What is too large is said to be that, and no damage of a file that is right."""
        if "ASAN_OPTIONS" in self.sabath.environment:
            self.skipTest("AddressSanitizer takes more address space than that")
        with h5py.File(self.home / "wide.h5", "w") as file:
            side = 256 * MIB
            file.create_dataset("x", (2, side), "u1", chunks=(1, side), compression=1)[0, :1] = 1
        run = self.sabath.run("hdf5", "select", "wide.h5", "x[0:1,0:1]", "-o", "one.h5", prefix=["prlimit", f"--as={200 * MIB}"])
        self.assertIn("takes more memory", self.expect(run, 12).err)
        self.assertIn("select less of it at a time", run.err)

    def test_memory_is_bounded(self):
        with h5py.File(self.home / "big.h5", "w") as file:
            file.create_dataset("rows", (256, MIB), "i1", fillvalue=1)
            file["rows"][...] = 2
            file.create_dataset("chunks", data=file["rows"][...], chunks=(16, 65536), compression=1)
        script = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
        script += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)"
        for what in ("rows[:,::2]", "chunks[:,::2]"):
            run = [sys.executable, "-c", script, program.BINARY, "hdf5", "select", "big.h5", what, "-o", "half.h5"]
            environment = self.sabath.environment
            result = subprocess.run(run, cwd=self.home, env=environment, capture_output=True, text=True, check=True)
            if "ASAN_OPTIONS" not in self.sabath.environment:
                self.assertLess(int(result.stdout.split()[-1]), 200, what)


if __name__ == "__main__":
    main()
