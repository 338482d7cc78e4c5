"""The logical hash of an HDF5 file, written from docs/hdf5.md with h5py and hashlib: a witness that shares no code."""

import hashlib
import struct

import h5py
import numpy

LEAF, CHUNK, FANOUT = 65536, 4 << 20, 64
IEEE = {2: (0, 15, 10, 5, 0, 10, 15, 2), 4: (0, 31, 23, 8, 0, 23, 127, 2), 8: (0, 63, 52, 11, 0, 52, 1023, 2)}


def number(value):
    return struct.pack("<Q", value)


def text(value):
    return number(len(value)) + value


def tag(name, last):
    return name.ljust(15, b"\0") + bytes([last])


def file_hash(data):
    """docs/manifest.md, section 1."""

    def node(level, size, children):
        return hashlib.sha256(tag(b"SABATH-node-v1", level) + number(size) + b"".join(children)).digest()

    if len(data) <= LEAF:
        return hashlib.sha256(data).digest()
    level, span = 0, LEAF
    hashes = [hashlib.sha256(data[i : i + LEAF]).digest() for i in range(0, len(data), LEAF)]
    while level == 0 or len(hashes) > 1:
        level, groups = level + 1, range(0, len(hashes), FANOUT)
        sizes = [min(len(data) - i * span, FANOUT * span) for i in groups]
        last = hashes
        hashes = [
            last[i] if level == 1 and len(last[i : i + FANOUT]) == 1 else node(level, size, last[i : i + FANOUT])
            for i, size in zip(groups, sizes)
        ]
        span *= FANOUT
    return hashes[0]


def charset(dtype):
    return b"utf-8" if dtype.get_cset() == h5py.h5t.CSET_UTF8 else b"ascii"


def sized(value):
    return b"%d:%s" % (len(value), value)


def descriptor(t):
    """The descriptor of a low-level type."""
    size = t.get_size()
    if isinstance(t, h5py.h5t.TypeEnumID):
        base = t.get_super()
        signed = base.get_sign() == h5py.h5t.SGN_2
        members = []
        for i in range(t.get_nmembers()):
            value = t.get_member_value(i)
            members.append((value & (2**64 - 1), t.get_member_name(i), value if signed else value & (2**64 - 1)))
        body = b"".join(b";" + sized(name) + b"=%d" % value for _, name, value in sorted(members))
        return b"e" + descriptor(base) + b"{%d" % len(members) + body + b"}"
    if isinstance(t, (h5py.h5t.TypeIntegerID, h5py.h5t.TypeBitfieldID)):
        letter = b"b" if isinstance(t, h5py.h5t.TypeBitfieldID) else b"i" if t.get_sign() == h5py.h5t.SGN_2 else b"u"
        return letter + b"%d" % size + (b"" if t.get_precision() == 8 * size else b":%d" % t.get_precision())
    if isinstance(t, h5py.h5t.TypeFloatID):
        spos, epos, esize, mpos, msize = t.get_fields()
        norm = {h5py.h5t.NORM_IMPLIED: 0, h5py.h5t.NORM_MSBSET: 1, h5py.h5t.NORM_NONE: 2}[t.get_norm()]
        fields = (t.get_offset(), spos, epos, esize, mpos, msize, t.get_ebias(), norm)
        standard = IEEE.get(size, ())[:7]
        if fields[:7] == standard and norm == 0 and t.get_precision() == 8 * size:
            return b"f%d" % size
        return b":".join([b"f%d" % size] + [b"%d" % f for f in (t.get_precision(), *fields)])
    if isinstance(t, h5py.h5t.TypeStringID):
        return b"s" + (b"*" if t.is_variable_str() else b"%d" % size) + b":" + charset(t)
    if isinstance(t, h5py.h5t.TypeCompoundID):
        names = [t.get_member_name(i) for i in range(t.get_nmembers())]
        body = b"".join(b";" + sized(n) + b"=" + descriptor(t.get_member_type(i)) for i, n in enumerate(names))
        return b"c{%d" % t.get_nmembers() + body + b"}"
    if isinstance(t, h5py.h5t.TypeArrayID):
        return b"a[" + b",".join(b"%d" % d for d in t.get_array_dims()) + b"]" + descriptor(t.get_super())
    if isinstance(t, h5py.h5t.TypeVlenID):
        return b"v" + descriptor(t.get_super())
    if isinstance(t, h5py.h5t.TypeReferenceID):
        return b"r"
    if isinstance(t, h5py.h5t.TypeOpaqueID):
        return b"o%d:" % size + sized(t.get_tag())
    raise NotImplementedError(type(t))


def element(t, value, paths):
    """Canonical bytes of one value as numpy gives it."""
    if isinstance(value, numpy.complexfloating):
        return b"".join(element(t.get_member_type(i), part, paths) for i, part in enumerate((value.real, value.imag)))
    if isinstance(t, h5py.h5t.TypeCompoundID):
        return b"".join(
            element(t.get_member_type(i), value[t.get_member_name(i).decode()], paths) for i in range(t.get_nmembers())
        )
    if isinstance(t, h5py.h5t.TypeArrayID):
        return b"".join(element(t.get_super(), v, paths) for v in numpy.asarray(value).reshape(-1))
    if isinstance(t, h5py.h5t.TypeVlenID):
        return number(len(value)) + b"".join(element(t.get_super(), v, paths) for v in value)
    if isinstance(t, h5py.h5t.TypeStringID):
        raw = value.encode() if isinstance(value, str) else bytes(value)
        return text(raw) if t.is_variable_str() else raw.ljust(t.get_size(), b"\0")
    if isinstance(t, h5py.h5t.TypeReferenceID):
        return text(paths[h5py.h5o.get_info(h5py.h5r.dereference(value, paths["file"])).addr] if value else b"")
    if isinstance(t, h5py.h5t.TypeOpaqueID):
        return bytes(value)
    array = numpy.asarray(value)
    return array.astype(array.dtype.newbyteorder("<")).tobytes()


def values(low, t, paths):
    """Type, shape and data of a dataset or an attribute."""
    space = low.get_space()
    if space.get_simple_extent_type() == h5py.h5s.NULL:
        shape, data = b"n", b""
    else:
        dims = space.get_simple_extent_dims()
        shape = b"s" + number(len(dims)) + b"".join(map(number, dims))
        array = numpy.empty(dims, dtype=low.dtype)
        if array.size:
            if isinstance(low, h5py.h5a.AttrID):
                low.read(array)
            else:
                low.read(h5py.h5s.ALL, h5py.h5s.ALL, array)
        if array.dtype.kind in "iufb" and array.dtype.metadata is None:
            data = array.astype(array.dtype.newbyteorder("<")).tobytes()
        else:
            data = b"".join(element(t, value, paths) for value in array.reshape(-1))
    return text(descriptor(t)) + shape + number(len(data)) + file_hash(data)


def object_hash(obj, kind, paths):
    record = tag(b"SABATH-hdf5-o1", 0) + kind
    if kind == b"d":
        record += values(obj.id, obj.id.get_type(), paths)
    elif kind == b"t":
        record += text(descriptor(obj.id))
    names = sorted(name.encode("utf-8", "surrogateescape") for name in obj.attrs)
    record += number(len(names))
    for name in names:
        attribute = h5py.h5a.open(obj.id, name)
        record += text(name) + values(attribute, attribute.get_type(), paths)
    return hashlib.sha256(record).digest()


def links(group, path, paths, found):
    for name in sorted(group, key=lambda n: n.encode("utf-8", "surrogateescape")):
        below = path + b"/" + name.encode("utf-8", "surrogateescape")
        link = group.get(name, getlink=True)
        if isinstance(link, h5py.SoftLink):
            found.append((below, b"l", text(link.path.encode()), None))
        elif isinstance(link, h5py.ExternalLink):
            found.append((below, b"x", text(link.filename.encode()) + text(link.path.encode()), None))
        else:
            obj = group[name]
            address = h5py.h5o.get_info(obj.id).addr
            if address in paths:
                found.append((below, b"a", text(paths[address]), None))
                continue
            paths[address] = below
            kind = b"g" if isinstance(obj, h5py.Group) else b"d" if isinstance(obj, h5py.Dataset) else b"t"
            found.append((below, kind, b"", obj))
            if kind == b"g":
                links(obj, below, paths, found)


def logical_hash(path):
    with h5py.File(path, "r") as file:
        paths = {"file": file.id, h5py.h5o.get_info(file["/"].id).addr: b"/"}
        found = [(b"/", b"g", b"", file["/"])]
        links(file, b"", paths, found)
        whole = hashlib.sha256(tag(b"SABATH-hdf5-f1", 0) + number(len(found)))
        for where, kind, rest, obj in found:
            whole.update(text(where) + kind + (rest if obj is None else object_hash(obj, kind, paths)))
    return "hdf5-v1:" + whole.hexdigest()
