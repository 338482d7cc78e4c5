"""What CPython's loaders do with bytes: its two pickle machines, zipfile, NumPy and the packings that joblib and pandas take
off. Nothing is imported or called: the machines get stand-ins, and note what was asked of them."""

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import re
import resource
import warnings
import zipfile
import zlib

import numpy

WORD = re.compile(r"[\w.\x80-\U0010ffff]+")


def is_module(module, name):
    """A directory, and so a module, can be called nearly anything. "(in inches)" is none: nothing opens its bracket."""
    closes = any(module[:end].count(")") > module[:end].count("(") for end in range(1, len(module) + 1))
    return bool(WORD.fullmatch(module)) or (bool(module and WORD.fullmatch(name)) and "\0" not in module and not closes)



class Deeds:
    """What the machines were asked to do: names imported, names called; whether a pickle that imports was whole."""

    def __init__(self):
        self.imports, self.calls, self.whole = set(), set(), False

    def counted(self):
        return bool(self.calls) or (self.whole and bool(self.imports))


def stand_in(deeds, name):
    class Called(type):
        def __call__(cls, *_, **__):
            deeds.calls.add(name)
            return type.__call__(cls)

    class Fake(dict, metaclass=Called):
        def __new__(cls, *_, **__):
            deeds.calls.add(name)
            return super().__new__(cls)

        def __init__(self, *_, **__):
            super().__init__()

        def __setstate__(self, _):
            deeds.calls.add(name)

        def append(self, _):
            deeds.calls.add(name)

        extend = add = append

    return Fake


def machine(base, deeds, imports):
    class Machine(base):
        def find_class(self, module, name):
            if not is_module(module, name):  # there is no such module, under any path
                raise ImportError(module)
            if " " not in module:  # else it counts if it is called
                imports.add(f"{module}.{name}")
            return stand_in(deeds, f"{module}.{name}")

        def persistent_load(self, saved):
            """torch's two old loaders: what is in the id; of a text a tensor."""
            if isinstance(saved, tuple):
                return saved[1] if saved[0] == "module" else saved[0]
            return int(saved) and None

    return Machine


class Pandas(pickle._Unpickler):
    """pandas tries again with a class that is an argument, where its machine finds no function."""

    dispatch = pickle._Unpickler.dispatch.copy()

    def load_reduce(self):
        args = self.stack.pop()
        try:
            self.stack[-1] = self.stack[-1](*args)
        except TypeError:
            if not args or not isinstance(args[0], type):
                raise
            self.stack[-1] = args[0].__new__(*args)

    dispatch[pickle.REDUCE[0]] = load_reduce


def load_all(stream, deeds):
    """Each pickle of the stream by each machine, one behind the other, as far as they come."""
    data = stream.read()
    for base in (pickle.Unpickler, pickle._Unpickler, Pandas):
        rest = io.BytesIO(data)
        while rest.tell() < len(data):
            imports, before = set(), len(deeds.calls)
            try:
                machine(base, deeds, imports)(rest).load()
            except Exception:
                deeds.imports |= imports if len(deeds.calls) > before else set()
                break
            deeds.imports |= imports
            deeds.whole |= bool(imports)


def load_arrays(data, deeds):
    """numpy.load(allow_pickle=True), and each array of an archive."""

    class Pickle:
        load = staticmethod(lambda stream, **_: load_all(stream, deeds))
        UnpicklingError = pickle.UnpicklingError

    numpy.lib.format.pickle = numpy.lib.npyio.pickle = Pickle
    try:
        loaded = numpy.load(io.BytesIO(data), allow_pickle=True)
        for name in getattr(loaded, "files", ()):
            try:
                loaded[name]
            except Exception:  # what the stand-in gives is no array
                continue
    except Exception:
        return


def load_zip(data, deeds):
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        names = archive.namelist()
    except Exception:
        return
    for name in names:
        try:
            content = archive.read(name)
            if name == "config.json" and "Lambda" in class_names(json.loads(content)):
                deeds.calls.add("keras.layers.Lambda")
        except Exception:
            continue
        load_all(io.BytesIO(content), deeds)


def class_names(value):
    if isinstance(value, dict):
        yield value.get("class_name")
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from class_names(each)


def in_pieces(file):
    """What a loader gets before the damage."""
    data = b""
    try:
        while piece := file.read(8192):
            data += piece
    except Exception:
        return data
    return data


class JoblibZlib:
    """joblib asks its decompressor, block by block, until the file ends."""

    def __init__(self, stream):
        self.stream, self.inflate = stream, zlib.decompressobj()

    def read(self, _):
        data = b""
        while not data and not self.inflate.eof and (block := self.stream.read(8192)):
            data = self.inflate.decompress(block)
        return data


def joblib_compat(stream):
    """joblib's old form, numpy_pickle_compat.read_zfile."""
    size = int(stream.read(21)[2:], 16)
    if stream.read(1) != b" ":
        stream.seek(21)
    return io.BytesIO(zlib.decompress(stream.read(), 15, size))


def unpacked(name, data):
    """What joblib takes out of a file by its first bytes, and pandas by its name."""
    ways = {
        joblib_compat: (b"ZF", ()), JoblibZlib: (b"x", ()), bz2.BZ2File: (b"BZ", (".bz2",)), lzma.LZMAFile: ((b"\x5d\0", b"\xfd7zXZ"), (".xz", ".lzma")),
        lambda stream: gzip.GzipFile(fileobj=stream): (b"\x1f\x8b", (".gz",)),
    }  # fmt: skip
    for way, (marks, endings) in ways.items():
        if not data.startswith(marks) and not name.endswith(endings):
            continue
        try:
            yield in_pieces(way(io.BytesIO(data)))
        except Exception:
            continue


def judge(cases):
    """Of each case what its loaders do, in a process that cannot take the machine's memory."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        warnings.simplefilter("ignore")
        found = []
        for name, data in cases:
            deeds = Deeds()
            load_all(io.BytesIO(data), deeds)
            load_arrays(data, deeds)
            if data.startswith(b"PK") or name.endswith((".zip", ".keras")):  # others ask for the mark at the beginning
                load_zip(data, deeds)
            for content in unpacked(name, data):
                load_all(io.BytesIO(content), deeds)
            found.append((name, sorted(deeds.imports), sorted(deeds.calls), deeds.counted()))
        os.close(reading)
        with os.fdopen(writing, "wb") as out:
            out.write(json.dumps(found).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        text = answer.read()
    assert os.waitpid(child, 0)[1] == 0, "the judge has died"
    return json.loads(text)
