#!/usr/bin/python3
"""The gate before data that are loaded: packings, as Python's loaders take them off. One layer, stream after stream, also
of several forms; what came before the damage counts, where a loader takes it."""

import bz2
import gzip
import lzma
import pickle
import struct
import zlib

from support.case import main
from support.data_gate import Evil, GateCase
from support.loaders import unpacked

CODE = b"cposix\nsystem\n(S'true'\ntR."
NAMED = "imports posix.system, calls"


def alone(data):
    return lzma.compress(data, lzma.FORMAT_ALONE)


def lzip(data):
    raw = lzma.compress(data, lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA1, "dict_size": 1 << 16}])
    return b"LZIP\1\x10" + raw + struct.pack("<IQQ", zlib.crc32(data), len(data), 26 + len(raw))


def zstd(data, *, mark=b"\x28"):
    """A frame of one raw block."""
    return mark + b"\xb5\x2f\xfd\x20" + bytes([len(data)]) + (1 | len(data) << 3).to_bytes(3, "little") + data


SKIPPED = b"\x50\x2a\x4d\x18" + struct.pack("<I", 5) + b"later"
NOTHING = b"\x5d\0\0\x80\0" + bytes(8 + 5)  # lzma's old form, of no bytes
FORMS = {"alone": alone, "xz": lzma.compress, "lzip": lzip}


class Packings(GateCase):
    def test_streams_behind_each_other(self):
        """Python's LZMAFile goes on with the next stream of any form; gzip and bzip2 with the next of their own."""
        files = {
            "nothing.bin": NOTHING + alone(CODE), "nothing.xz": NOTHING + lzma.compress(CODE), "zeros.xz": bytes(18) + alone(CODE),
            "many.bin": NOTHING * 200 + lzip(CODE), "gzip.bin": gzip.compress(b"") + gzip.compress(CODE[:9]) + gzip.compress(CODE[9:]),
            "bzip2.bin": bz2.compress(CODE[:9]) + bz2.compress(CODE[9:]), "zstd.bin": SKIPPED + zstd(CODE[:9]) + SKIPPED + zstd(CODE[9:]),
            "padded.xz": lzma.compress(CODE[:9]) + bytes(8) + lzma.compress(CODE[9:]),
        }  # fmt: skip
        for first, pack in FORMS.items():
            for second, other in FORMS.items():
                files[f"{first}-{second}.xz"] = pack(CODE[:9]) + other(CODE[9:])
        for name, data in files.items():
            if name not in ("zstd.bin", "padded.xz"):
                self.assertIn(CODE, list(unpacked(name, data)), name)
        told = self.told(files)
        for name in files:
            with self.subTest(name):
                self.assertRegex(told.get(name, "nothing"), f"{NAMED}|cannot be looked into")
        for name in ("nothing.bin", "nothing.xz", "zeros.xz", "many.bin", "bzip2.bin", "alone-xz.xz", "alone-alone.xz", "alone-lzip.xz", "lzip-xz.xz", "lzip-alone.xz"):
            with self.subTest(name):
                self.assertIn(NAMED, told.get(name, "nothing"))

    def test_one_layer_comes_off(self):
        """A pickle that begins as bytes that are packed: a text of 389 MB, of which 388 are zeros."""
        inner = bz2.compress(b"") + bz2.compress(b"a harmless text")
        packer, left = bz2.BZ2Compressor(), struct.unpack("<I", inner[1:5])[0] + 5 - len(inner)
        data, zeros = packer.compress(inner), bytes(1 << 20)
        while left > 0:
            data += packer.compress(zeros[:left])
            left -= len(zeros)
        self.assertIn(NAMED, self.told({"weights.bin": data + packer.compress(b"0" + CODE) + packer.flush()}).get("weights.bin", "nothing"))

    def test_damaged_behind_the_code(self):
        """joblib takes what comes out of zlib until the bytes end, and asks for no checksum."""
        long = zlib.compressobj(level=0)
        blocks = long.compress(CODE) + b"".join(long.flush(zlib.Z_FULL_FLUSH) for _ in range(1)) + b"\0\0\0\xff\xff" * 30000 + b"\7"
        files = {"short.bin": zlib.compress(CODE)[:-4], "shorter.bin": zlib.compress(CODE)[:-5], "later.bin": blocks, "marked.bin": zlib.compress(pickle.dumps(Evil()))[:-2]}
        told = self.told(files)
        for name in files:
            with self.subTest(name):
                self.assertIn(NAMED, told.get(name, "nothing"))

    def test_old_joblib(self):
        """Its size is read by int(), its zlib may have any window."""
        sizes = ["+%x", "0x0_%x", "\t%x", "%x\n", "0X%x", "-%x"]
        files = {f"f{i}.bin": b"ZF" + (text % len(CODE)).ljust(19).encode() + zlib.compress(CODE) for i, text in enumerate(sizes)}
        small = zlib.compressobj(wbits=9)
        files["window.bin"] = b"ZF" + hex(len(CODE)).ljust(19).encode() + small.compress(CODE) + small.flush()
        files["blank.bin"] = b"ZF" + hex(len(CODE)).ljust(20).encode() + zlib.compress(CODE)
        told = self.told(files)
        for name in files:
            with self.subTest(name):
                self.assertIn(NAMED, told.get(name, "nothing"))

    def test_what_holds_no_code_is_not_told(self):
        text = b"a,b\n1,2\n" * 500
        packs = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "lzma": alone, "lz": lzip, "z": zlib.compress}
        files = {f"table{i}.csv.{name}": pack(data) for name, pack in packs.items() for i, data in enumerate((b"", text, text * 300))}
        files |= {f"twice.csv.{name}": pack(text) * 2 for name, pack in packs.items()} | {f"layers.{name}": pack(pack(text)) for name, pack in packs.items()}
        files |= {
            "table.zst": SKIPPED + zstd(text[:99]), "none.zst": SKIPPED, "ints.dat": struct.pack("<64i", 93, *[0] * 13, *range(50)), "zeros.dat": struct.pack("<5000i", 93, *[0] * 4999),
            "x.txt": b"x^2 + 1\n", "x.csv": b"x\x9cno zlib", "short.z": zlib.compress(text)[:-4], "zf.txt": b"ZF x x x x x x x x x x x x x", "padded.xz": lzma.compress(text) + bytes(8),
        }  # fmt: skip
        self.assertEqual(self.told(files), {})


if __name__ == "__main__":
    main()
