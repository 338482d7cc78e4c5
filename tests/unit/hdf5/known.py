#!/usr/bin/python3
"""Makes known.h5 and known.inc, what h5py and numpy say of it: types, elements, attributes, hashes, indices.

PYTHONPATH=tests/python /usr/bin/python3 tests/unit/hdf5/known.py; the descriptors, canonical bytes and hashes are those of
support/hdf5_reference.py, which is written from docs/hdf5.md and shares no code with SABATH.
"""
import json
import pathlib
import random

import h5py
import numpy
from support import hdf5_reference

HERE = pathlib.Path(__file__).parent
NESTED = numpy.dtype([("x", ">f8"), ("y", "S3"), ("z", [("a", "<i2", (2, 2)), ("b", "?")])])
ATTRIBUTES = {  # of /integers
    "half": numpy.array([0.1, -0.0, 6e-8, 65504, numpy.inf, numpy.nan], "<f2"),
    "single": numpy.array([0.1, 3.4e38, -numpy.inf], ">f4"),
    "double": numpy.float64(0.1),
    "least": numpy.int64(-(2**63)),
    "most": numpy.uint64(2**64 - 1),
    "bytes": numpy.array([-1, 0, 127], "i1"),
    "flags": numpy.array([True, False]),
    "fixed": numpy.array([b"ab", b"abc"], "S3"),
    "text": "déf",
    "texts": ["", "a"],
    "square": numpy.arange(6, dtype=">u2").reshape(2, 3),
    "many": numpy.arange(70),
}


def make(path):
    with h5py.File(path, "w", libver="earliest", track_order=False) as file:
        make_dataset = lambda name, data, **more: file.create_dataset(name, data=data, track_times=False, **more)  # noqa: E731
        integers = make_dataset("integers", (numpy.arange(12) * 1000 - 5000).astype(">i2").reshape(3, 4))
        make_dataset("floats", numpy.array([0.5, numpy.nan, -numpy.inf], "<f4"))
        compound = make_dataset("compound", numpy.zeros(2, NESTED))
        record = compound[1]
        record["x"], record["y"], record["z"]["a"], record["z"]["b"] = 1.5, b"ab", [[1, 2], [3, -4]], True
        compound[1] = record
        make_dataset("enum", numpy.array([2, 1, -3], h5py.enum_dtype({"RED": 1, "BLUE": 2, "NONE": -3}, basetype=">i2")))
        lists = file.create_dataset("lists", (3,), h5py.vlen_dtype("<i4"), track_times=False)
        lists[1], lists[2] = [1, -2, 3], [7]
        file.create_dataset("texts", data=["a", "", "déf"], track_times=False)
        make_dataset("fixed", numpy.array([b"a", b"bc"], "S4"))
        make_dataset("opaque", numpy.array([b"abcde", b"fg"], "V5"))
        references = numpy.array([integers.ref, None], h5py.ref_dtype)
        make_dataset("references", references)
        file["here"] = h5py.SoftLink("/floats")
        file["there"] = h5py.ExternalLink("other.h5", "/x")
        file["group/again"] = integers
        for name, value in ATTRIBUTES.items():
            integers.attrs[name] = value


def plain(value):
    """As JSON has it: no word for what is not finite, a float's shortest decimal."""
    if isinstance(value, numpy.float16):
        value = numpy.float64(value)
    if isinstance(value, numpy.floating):
        return float(str(value)) if numpy.isfinite(value) else str(value)
    if isinstance(value, numpy.ndarray):
        return [plain(v) for v in value.reshape(-1)[:64]]
    if isinstance(value, (bytes, numpy.bytes_)):
        return value.decode()
    return value.item() if isinstance(value, numpy.generic) else value


def quoted(value):
    return json.dumps(value, ensure_ascii=False)


def elements(file, name, paths):
    low = file[name].id
    kind, array = low.get_type(), file[name][...]
    return b"".join(hdf5_reference.element(kind, value, paths) for value in array.reshape(-1))


def rows(file):
    paths = {"file": file.id, h5py.h5o.get_info(file["integers"].id).addr: b"/group/again"}
    for name in sorted(file):
        if isinstance(file.get(name, getlink=True), h5py.HardLink) and isinstance(file[name], h5py.Dataset):
            descriptor = hdf5_reference.descriptor(file[name].id.get_type()).decode()
            yield f"{{{quoted(name)}, {quoted(descriptor)}, {quoted(elements(file, name, paths).hex())}}},"


def attributes(file):
    for name in sorted(ATTRIBUTES):
        value = file["integers"].attrs[name]
        shape = file["integers"].attrs.get_id(name).shape
        yield f"{{{quoted(name)}, R\"({json.dumps(list(shape))})\", R\"({json.dumps(plain(value), ensure_ascii=False)})\"}},"


def slices():
    """(extent, index, numbers that numpy takes) of one axis."""
    chance = random.Random(5)
    for _ in range(60):
        extent = chance.randrange(0, 12)
        part = lambda: chance.choice(["", str(chance.randrange(-14, 15))])  # noqa: E731
        index = f"{part()}:{part()}" + chance.choice(["", f":{chance.randrange(1, 6)}"])
        taken = eval(f"numpy.arange({extent})[{index}]").tolist()
        yield f"{{{extent}, \"{index}\", {{{', '.join(map(str, taken))}}}}},"


def picks():
    for extents, begin, step, count in (
        ((5, 6, 8), (1, 0, 2), (2, 3, 2), (2, 2, 3)),
        ((40, 4), (0, 1), (1, 1), (40, 1)),
        ((30, 2), (3, 0), (1, 1), (27, 1)),
        ((9, 8), (0, 7), (2, 1), (5, 1)),
        ((7, 5), (2, 0), (1, 1), (4, 5)),
        ((3, 1, 6), (0, 0, 5), (2, 1, 1), (2, 1, 1)),
    ):
        cube = numpy.arange(numpy.prod(extents)).reshape(extents)
        taken = cube[tuple(slice(b, b + (c - 1) * s + 1, s) for b, s, c in zip(begin, step, count))].reshape(-1)
        lists = (f"{{{', '.join(map(str, numbers))}}}" for numbers in (extents, begin, step, count, taken.tolist()))
        yield f"{{{', '.join(lists)}}},"


def main():
    make(HERE / "known.h5")
    with h5py.File(HERE / "known.h5", "r") as file:
        text = [f'constexpr const char* known_hash = "{hdf5_reference.logical_hash(HERE / "known.h5")}";']
        for name, lines in (
            ("KnownDataset known_datasets", rows(file)),
            ("KnownAttribute known_attributes", attributes(file)),
            ("KnownSlice known_slices", slices()),
            ("KnownPick known_picks", picks()),
        ):
            text += [f"const {name}[] = {{", *lines, "};"]
    (HERE / "known.inc").write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
