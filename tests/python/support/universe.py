"""HDF5 files for tests, made with h5py: a small universe, and one file of everything that a type can be."""

import h5py
import numpy


def universe(path, n=32, **options):
    """The structure of a CosmoUniverse file; returns what `full` holds."""
    full = numpy.random.Generator(numpy.random.PCG64(n)).integers(-300, 300, (n, n, n, 4), dtype="<i2")
    with h5py.File(path, "w", libver=("earliest", "v108")) as file:
        file.attrs["dataset_tag"] = numpy.bytes_("4parE")
        file.attrs["seed9"] = 16305120
        file.attrs["universe_tag"] = numpy.bytes_("4parE_33007379-11")
        file.create_dataset("full", data=full, track_times=False, **options)
        file["full"].attrs["unit"] = "particles"
        file["namePar"] = numpy.array([b"Omega_m", b"sigma_8", b"N_spec", b"H_0"])
        file["physPar"] = numpy.array([0.15, 0.5, 0.96, 100.0])
        file["redshifts"] = numpy.array([0, 0.5, 1.5, 3])
        file["unitPar"] = numpy.array([-0.5, -0.375, 0, 3 / 7])
    return full


def everything(path):
    """Types, shapes, storages, links and attributes of all kinds."""
    with h5py.File(path, "w") as file:
        file.attrs["title"] = "all kinds, é"
        file.attrs["flag"] = True
        file.attrs["empty"] = h5py.Empty("f4")
        numbers = file.create_group("numbers")
        for name in ("i1", "<i2", ">i4", "i8", "u1", ">u2", "u4", "u8", "f2", ">f4", "f8", "?"):
            numbers[name] = (numpy.arange(30) % 7).reshape(5, 6).astype(name)
        numbers["long double"] = numpy.arange(4, dtype=numpy.longdouble) / 3
        numbers["complex"] = numpy.arange(4) * (1 + 2j)
        texts = file.create_group("texts")
        texts["fixed"] = numpy.array([b"a", b"bc", b""], dtype="S4")
        texts["list"] = ["a", "", "déf"]
        texts["one"] = "scalar"
        nested = numpy.dtype([("x", ">f8"), ("y", "S3"), ("z", [("a", "i2", (2, 2)), ("b", "?")])])
        file["compound"] = numpy.zeros(7, dtype=nested)
        record = file["compound"][2]
        record["x"], record["y"], record["z"]["a"] = 1.5, b"ab", [[1, 2], [3, 4]]
        file["compound"][2] = record
        file["enum"] = numpy.array([2, 1, 9], dtype=h5py.enum_dtype({"RED": 1, "BLUE": 2}, basetype="i2"))
        lists = file.create_dataset("lists", (4,), dtype=h5py.vlen_dtype("<i4"))
        lists[1], lists[3] = [1, 2, 3], range(1000)
        file["opaque"] = numpy.array([b"abcde", b"fg"], dtype="V5")
        file["scalar"] = 3
        file["none"] = h5py.Empty("i4")
        file.create_dataset("nothing", (0, 3), "f4")
        file.create_dataset("unwritten", (10, 20), "i4", fillvalue=-7)
        random = numpy.random.Generator(numpy.random.PCG64(7))
        packed = random.integers(0, 50, (60, 50), dtype="i4")
        file.create_dataset("packed", data=packed, chunks=(7, 11), compression="gzip", shuffle=True, fletcher32=True)
        file.create_dataset("growing", data=packed, chunks=(16, 16), maxshape=(None, 50))
        file["type"] = numpy.dtype("f8")
        file["type"].attrs["of"] = "something"
        file["soft"] = h5py.SoftLink("/scalar")
        file["dangling"] = h5py.SoftLink("/nowhere")
        file["outside"] = h5py.ExternalLink("other.h5", "/x")
        file["again"] = file["numbers"]
        file["numbers/loop"] = file["/"]
        file.create_dataset("references", data=numpy.array([file["scalar"].ref, numbers.ref], dtype=h5py.ref_dtype))
        file["packed"].attrs["look"] = file["compound"].ref
