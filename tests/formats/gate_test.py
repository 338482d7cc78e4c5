#!/usr/bin/python3
"""The gate before data that are loaded, against the loaders themselves: CPython's two pickle machines, zipfile, NumPy.

Files are made at random and put behind the gate. What a loader would import or call is named there, or the file is told
as one that cannot be followed; what none of them would import is not told as code. Nothing is imported or called here:
the machines get stand-ins. SABATH_GATE_CASES: how many files, 1,500 by default; SABATH_SEED repeats a run."""

import bz2
import gzip
import io
import lzma
import os
import pickle
import pickletools
import random
import re
import struct
import tarfile
import warnings
import zipfile
import zlib

from support.case import main
from support.data_gate import Evil, GateCase
from support.loaders import judge

CASES = int(os.environ.get("SABATH_GATE_CASES", "1500"))
SEED = int(os.environ.get("SABATH_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)
BATCH = 90  # findings, of which the gate shows a hundred


class Maker:
    """Files at random."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def plain(self, depth=0):
        r = self.random
        if depth > 2 or r.random() < 0.6:
            return r.choice([None, True, 0, -5, 10**30, 2.5, "os", "system", "é" * 3, b"os", "a\nb", "x" * 300, bytearray(3)])
        inner = [self.plain(depth + 1) for _ in range(r.randrange(4))]
        return r.choice([inner, tuple(inner), {str(i): each for i, each in enumerate(inner)}])

    def dumped(self):
        value = self.plain()
        if self.random.random() < 0.6:
            value = self.random.choice([Evil(), [value, Evil()], {"a": Evil(), "b": value}, (Evil(),) * 3])
        return pickle.dumps(value, self.random.randrange(6))

    def line(self):
        return self.random.choice([
            b"0", b"1", b"-3", b" 7 ", b"1_0", b"+2", b"0x10", b"00", b"01", b"5L", b"2.5", b"nan", b"1e3", b"'os'", b'"system"',
            b"'a\\x41'", b"os", b"system", b"posix", b"x y", b"", b"'", b"9" * 30, b"1\0junk", b"o\\u0073",
        ])  # fmt: skip

    def operand(self, opcode):
        r = self.random
        argument = opcode.arg
        if argument is None:
            return b""
        if argument.n == pickletools.UP_TO_NEWLINE:
            if opcode.name in ("GLOBAL", "INST"):
                return r.choice([b"os\nsystem\n", b"site-packages.os\nsystem\n", b"~os\nsystem\n", b"my (1)\nrun\n", b"builtins\neval\n", b"a b\nc\n", b"posix\nsystem\n", b"\xc3\xa9\nx\n", b"o\n\n"])
            if opcode.name in ("PUT", "GET"):
                return r.choice([b"0", b"1", b"2", b" 1", b"+1", b"0_1", b"-1", b"-0", b"x"]) + b"\n"
            return self.line() + b"\n"
        if argument.n >= 0:
            return bytes(r.choice([0, 0, 1, 2, 3, r.randrange(256)]) if i == 0 else 0 for i in range(argument.n))
        size = {-2: 1, -3: 4, -4: 4, -5: 8}[argument.n]
        text = r.choice([b"os", b"system", b"posix", b"", b"x" * r.randrange(200), b"\xc3\xa9", b"\xff"])
        length = len(text) if r.random() < 0.95 else r.randrange(256)
        return length.to_bytes(size, "little") + text

    def program(self):
        """Opcodes in an order that often makes sense."""
        r = self.random
        common = "BINPERSID PERSID NONE MARK GLOBAL STRING UNICODE BINUNICODE SHORT_BINUNICODE EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 REDUCE BUILD " \
            "PUT BINPUT MEMOIZE GET BINGET POP POP_MARK DUP STACK_GLOBAL INST OBJ NEWOBJ APPEND APPENDS SETITEM EMPTY_LIST " \
            "EMPTY_DICT DICT LIST BININT1 INT FLOAT LONG STOP PROTO FRAME".split()  # fmt: skip
        by_name = {opcode.name: opcode for opcode in pickletools.opcodes}
        made = b""
        for _ in range(r.choice([0, r.randrange(1, 25)])):
            opcode = by_name[r.choice(common)] if r.random() < 0.9 else r.choice(pickletools.opcodes)
            made += opcode.code.encode("latin-1") + self.operand(opcode)
        snippet = r.choice([b"", b"(S'true'\nios\nsystem\n", b"cos\nsystem\n(S'id'\ntR", b"\x8c\x02os\x8c\x06system\x93)R",
                            b"((S'module'\ncos\nsystem\ntQ(S'id'\ntR", b"((cos\nsystem\ntQNR", b"P1\n0cos\nsystem\n)R", b"I1\n(cos\nDay\ntR0cos\nsystem\n)R",
                            b"csite-packages.os\nsystem\n)R", b"(i~os\nsystem\n", b"cos\nsystem\nNa", b"(cos\nsystem\nNo", b"cos\nsystem\n)\x81Nb", b"cos\nsystem\n}\x92"])  # fmt: skip
        return made + snippet + r.choice([b".", b"", b"\n"])

    def mutated(self, data):
        r = self.random
        data = bytearray(data)
        for _ in range(r.randrange(1, 4)):
            at = r.randrange(len(data) + 1)
            how = r.randrange(5)
            if how == 0:
                data[at:at] = r.choice([b"N0", b"(1", b"\n", b"\0", bytes([r.randrange(256)]), b"I01\n0", b"."])
            elif how == 1:
                del data[at : at + r.randrange(1, 4)]
            elif how == 2 and data:
                data[at % len(data)] = r.randrange(256)
            elif how == 3:
                data = data[:at] if r.random() < 0.3 else data
            else:
                data[at:at] = data[: r.randrange(40)]
        return bytes(data)

    def pickled(self):
        data = self.random.choice([self.dumped, self.program, self.program])()
        if self.random.random() < 0.2:
            data = self.random.choice([b"N0", b"N.", b"(1", b"L5L\n.", b"]0", b"\x80\x01", b"I00\n0", b"S'a'\n0"]) + data
        return self.mutated(data) if self.random.random() < 0.4 else data

    def array(self):
        r = self.random
        descr = r.choice(["'|O'", "'O'", "'|O8'", "[('a', '<i4'), ('b', '|O')]", "('|O', (1,))", "'\\x7cO'", "u'|O'", "'<f4'",
                          "'O,i4'", "'object'", "b'|O'", "'|' 'O'", "'i4,O'", "[('a', [('b', 'O')])]"])  # fmt: skip
        header = r.choice([
            f"{{'descr': {descr}, 'fortran_order': False, 'shape': (1,), }}", f"{{'shape': (1,), 'descr': {descr}, 'fortran_order': False}}",
            f"{{'descr': '<f4', 'descr': {descr}, 'fortran_order': False, 'shape': (1,)}}", f'{{"descr":{descr},"fortran_order":False,"shape":()}}',
        ]).encode()  # fmt: skip
        header += b" " * (-(len(header) + 11) % 64) + b"\n"
        version = r.choice([1, 1, 2, 3])
        length = struct.pack("<H" if version == 1 else "<I", len(header))
        return b"\x93NUMPY" + bytes([version, 0]) + length + header + r.choice([pickle.dumps(Evil(), r.randrange(6)), bytes(4), self.pickled()])

    def member(self):
        r = self.random
        config = '{"class_name": "%s", "config": {}}' % r.choice(["Lambda", "\\u004cambda", "L\\u0061mbda", "Dense", "__lambda__"])
        name = r.choice(["x.npy", "x", "a/data.pkl", "x.txt", "config.json", "X.NPY", "x.npy/", "é.npy", "model.bin"])
        if name == "config.json":
            return name, config.encode()
        return name, r.choice([self.array, self.pickled, self.dumped])()

    def archive(self):
        r = self.random
        data = io.BytesIO()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the same name twice
            with zipfile.ZipFile(data, "w", r.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
                for _ in range(r.randrange(1, 4)):
                    archive.writestr(*self.member())
                archive.comment = r.choice([b"", b"", b"text", b"PK\5\6" + bytes(18)])
        data = data.getvalue()
        if r.random() < 0.5:
            return data
        return r.choice([self.two_lists, self.large_besides, self.renamed, self.padded, self.flipped])(data)

    @staticmethod
    def parts(data):
        end = data.rfind(b"PK\5\6")
        count, size, at = struct.unpack("<HII", data[end + 10 : end + 20])
        return data[:at], data[at : at + size], count

    @staticmethod
    def moved(entries, by):
        out, at = b"", 0
        while at + 46 <= len(entries):
            name, extra, note = struct.unpack("<HHH", entries[at + 28 : at + 34])
            (place,) = struct.unpack("<I", entries[at + 42 : at + 46])
            whole = 46 + name + extra + note
            out += entries[at : at + 42] + struct.pack("<I", place + by) + entries[at + 46 : at + whole]
            at += whole
        return out

    def another(self):
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as archive:
            archive.writestr("x.npy", b"\x93NUMPY\1\0" + struct.pack("<H", 54) + b"{'descr': '|O', 'fortran_order': False, 'shape': (), }" + pickle.dumps(Evil()))
        return self.parts(data.getvalue())

    def two_lists(self, data):
        """The end mark that stands last has a comment that does not fit, or one end mark stands in another's comment."""
        (local, entries, count), (more, meant, number) = self.parts(data), self.another()
        body = local + more + entries
        meant = self.moved(meant, len(local))
        note = self.random.choice([7, 0, 2])
        comment = meant + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, number, number, len(meant), len(body) + 22, note) + b"ZZ"
        return body + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, count, count, len(entries), len(local) + len(more), len(comment)) + comment

    def large_besides(self, data):
        (local, entries, count), (more, meant, number) = self.parts(data), self.another()
        meant = self.moved(meant, len(local))
        at, at_meant = len(local) + len(more), len(local) + len(more) + len(entries)
        record = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, number, number, len(meant), at_meant)
        place_of = b"PK\6\7" + struct.pack("<IQI", 0, at_meant + len(meant) + self.random.choice([0, 0, 5]), 1)
        end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, count, count, len(entries), at, 0)
        return local + more + entries + meant + record + place_of + end

    def renamed(self, data):
        """A name in the list or before the content that is another, or is cut by a zero byte."""
        names = [name for name in (b"x.npy", b"config.json", b"x.txt") if name in data] or [b"PK"]
        name = self.random.choice(names)
        other = self.random.choice([name[:1] + b"\0" + name[2:], name[::-1], name.upper()])
        at = data.find(name) if self.random.random() < 0.5 else data.rfind(name)
        return data[:at] + other + data[at + len(name) :]

    def padded(self, data):
        return self.random.choice([b"", b"x" * 10, b"\x80\x02N."]) + data + self.random.choice([b"", b"\0" * 20, b"more"])

    def flipped(self, data):
        at = self.random.randrange(data.rfind(b"PK\1\2"), len(data))
        return data[:at] + bytes([self.random.randrange(256)]) + data[at + 1 :]

    def alone(self, data):
        return lzma.compress(data, lzma.FORMAT_ALONE)

    def zfile(self, data):
        """joblib's old form."""
        size = self.random.choice(["%x", "0x%x", "+%x", "0x0_%x", "\t%x", "%x\n"]) % len(data)
        return b"ZF" + size.ljust(self.random.choice([19, 19, 20])).encode() + zlib.compress(data, self.random.choice([0, 1, 9]))

    def streams(self, data, packers):
        """Packed in pieces, some of them empty, each in a form of its own."""
        out = b""
        for _ in range(self.random.randrange(3)):
            at = self.random.choice([0, self.random.randrange(len(data) + 1)])
            out += self.random.choice(packers)(data[:at])
            data = data[at:]
        return out + self.random.choice(packers)(data)

    def packed(self):
        r = self.random
        data = self.dumped()
        if r.random() < 0.2:
            data = self.mutated(data)
        packers = r.choice([[gzip.compress], [bz2.compress], [lzma.compress, self.alone], [zlib.compress], [self.zfile]])
        data = self.streams(data, packers)
        if r.random() < 0.2:
            data = self.streams(data, packers)
        if r.random() < 0.3:
            data = r.choice([data[: -r.randrange(1, 12)], data + bytes(r.randrange(40)), data + b"text", self.mutated(data)])
        return data

    def case(self, number):
        kind = self.random.choice(["pickle", "pickle", "pickle", "array", "zip", "zip", "packed"])
        endings = {"pickle": [".bin", ".pkl", ".txt", "", ".dat", ".safetensors", ".npy"], "array": [".npy", ".bin"],
                   "zip": [".npz", ".keras", ".pth", ".zip", ".bin"], "packed": [".bin", ".pkl.gz", ".joblib", ".pkl.xz", ".csv.bz2"]}  # fmt: skip
        data = {"pickle": self.pickled, "array": self.array, "zip": self.archive, "packed": self.packed}[kind]()
        return f"f{number}{self.random.choice(endings[kind])}", data or b"N."


# None of them imports anything, though some begin with an opcode.
INNOCENT = {
    "labels.txt": b"cat\ndog\nbird\n", "classes.csv": b"class,Name\nNa,1\n", "inches.txt": b"(in inches)\nwidth\n", "x.csv": b"x y\n1 2\n",
    "power.txt": b"x^2 + 1\n", "planets.txt": b"Planet\nName,Radius\n", "genes.txt": b"N" * 1000 + b"ACGT\n", "data.json": b'{"a": 1}',
    "index.txt": b"Index,Time\nI1\n", "float.bin": struct.pack("<64f", *range(64)), "doubles.dat": struct.pack("<32d", *range(32)),
    "numbers.dat": struct.pack("<16i", 93, *range(15)), "zeros.raw": bytes(5000), "text.md": b"Some text.\n\nAnd more.\n", "one.bin": b"1",
    "empty.txt": b"", "quoted.csv": b"'a','b'\n", "long.txt": b"V" + b"a" * 70000, "table.csv.gz": gzip.compress(b"a,b\n1,2\n" * 1000),
    "table.csv.xz": lzma.compress(b"a,b\n1,2\n"), "table.csv.bz2": bz2.compress(b"a,b\n1,2\n"), "I.txt": b"I am here\n", "p.txt": b"p\n",
    "code.py": b"class A:\n    pass\n", "cfg.txt": b"c = 1\nd = 2\n",
    "text.xz": b"no such packing at all", "zf.txt": b"ZF 12 cafe 00 0x5\n and more text",
    "word.txt": b"class\n" + b"a" * 2000 + b"\n", "sound.txt": b"(inaudible)\nYes\n", "license.txt": b"(c) 2020 Some Authors\nAll\nrights\n",
    "first.txt": b"(i) the first\nsecond\n", "chapter.txt": b"chapter 1\nIntroduction\n...\n", "column.csv": b"column a\nvalue\n.5\n.7\n",
    "image.pgm": b"P5\n640 480\n255\n" + bytes(range(256)) * 9, "names.txt": b"Planet\nName,Radius\n", "config.raw": b"cfg: 1\n" + bytes(9000),
    "persons.txt": b"P1\nNa\nQ\n", "query.txt": b"Question\n(in time)\nanswer\n",
}  # fmt: skip


class Gate(GateCase):
    def test_what_loaders_would_run_is_named(self):
        print(f"SABATH_SEED={SEED} SABATH_GATE_CASES={CASES}")
        maker = Maker(SEED)
        counted = 0
        for begin in range(0, CASES, BATCH):
            cases = [maker.case(number) for number in range(begin, min(begin + BATCH, CASES))]
            told = self.told(dict(cases))
            self.assertLess(len(told), 100)
            for (name, imports, calls, counts), (_, data) in zip(judge(cases), cases):
                counted += counts
                if not counts:
                    continue
                line = told.get(name, "")
                followed = line and "not followed" not in line and "cannot be looked into" not in line
                plain = [each for each in imports if re.fullmatch(r"[\w.]{1,150}", each)]  # others are shown with escapes
                missing = [each for each in plain if each not in line and "?" not in line] if followed else []
                if not line or missing:
                    self.fail(f"SABATH_SEED={SEED}: {name}: {data!r} imports {imports}, calls {calls}; told: {line!r}")
        print(f"{counted} of {CASES} files run code")
        self.assertGreater(counted, CASES // 10)

    def test_what_runs_nothing_is_not_told(self):
        self.assertEqual(self.told(INNOCENT), {})

    def test_forms(self):
        """One of each form that a loader goes by, and its line."""
        evil = pickle.dumps(Evil())
        old = pickle.dumps(Evil(), 0)
        tar = io.BytesIO()
        with tarfile.open(fileobj=tar, mode="w") as archive:
            member = tarfile.TarInfo("a/weights")
            member.size = len(old)
            archive.addfile(member, io.BytesIO(old))
        zipped = io.BytesIO()
        with zipfile.ZipFile(zipped, "w") as archive:
            archive.writestr("table", old)
        before = zipped.getvalue()
        lies = '{"config": {"module": "os", "class_name": "function", "config": "system"}}'
        keras = io.BytesIO()
        with zipfile.ZipFile(keras, "w") as archive:
            archive.writestr("config.json", lies)
        files = {
            "a.bin": b"N0" + evil, "b.dat": old, "c.pkl.bz2": bz2.compress(evil), "d.pkl.xz": lzma.compress(evil), "e.bin": zlib.compress(old),
            "f.lzma": lzma.compress(evil, lzma.FORMAT_ALONE), "g.tar": tar.getvalue(), "h.pkl.tar.gz": gzip.compress(tar.getvalue()),
            "i.zip": before, "j.safetensors": evil, "k.png": before, "l.keras": keras.getvalue(), "m.zip": b"#!/bin/sh\n" + before,
            "n.txt": b"(S'true'\nios\nsystemX", "o.model": b"L" + b"1" * 2000 + b"L\n0" + evil, "p.bin": b"\x80\x00" + old,
            "q.npy": old, "r.pkl.zst": b"\x28\xb5\x2f\xfd\x20" + bytes([len(evil)]) + (1 | len(evil) << 3).to_bytes(3, "little") + evil,
            "s.bin": b"cposix\nsystem\np-0\n0g-0\n(S'true'\ntR.", "t.bin": b"cposix\nsystem\np -0_0\n0g+0\n(S'true'\ntR.",
            "u.bin": b"N0\x80\x04cbuiltins\n" + b"eval.__self__." * 100 + b"eval\n(S'1'\ntR", "v.bin": b"N." + old.replace(b"system", b"a." * 600 + b"b"),
            "dash.bin": b"N0\x80\x04csite-packages.pip._internal.utils.misc\nos.system\n(S'true'\ntR.", "inst.bin": b"(S'true'\ni~ip\nmain\n.",
            "blank.bin": b"cmy data (1).code\nrun\n)R.", "import.bin": b"clib-dynload.x\ny\n.", "pandas.bin": b"N(cpandas.tseries.offsets\nDay\ntR0" + old,
            "module.bin": b"((S'module'\ncposix\nsystem\nS''\ntQ(S'true'\ntR.", "number.bin": b"P0\n0" + old,
            "legacy.pt": b"".join(pickle.dumps(each, 0) for each in (1, 2)) + b"((cposix\nsystem\ntQ(S'true'\ntR.",
            "memo.bin": b"\x8c\x05posix\x94\x8c\x06system\x94." + b"h\x00h\x01\x93\x8c\x04true\x85R.",
        }  # fmt: skip
        for number, (properties, dictionary) in enumerate(((0, 1 << 16), (0x5d, 3 << 15), (180, 1 << 12), (0x5d, 1 << 27))):
            packer = {"id": lzma.FILTER_LZMA1, "lc": properties % 9, "lp": properties // 9 % 5, "pb": properties // 45, "dict_size": dictionary}
            files[f"w{number}.xz"] = lzma.compress(evil, lzma.FORMAT_ALONE, filters=[packer])
        files["x.dat"] = b"ZF" + hex(len(evil)).encode().ljust(19) + zlib.compress(evil)
        files["y.dat"] = b"ZF" + hex(len(evil)).encode().ljust(20) + zlib.compress(evil)
        raw = b"LZIP\1\x10" + lzma.compress(evil, lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA1, "dict_size": 1 << 16}])
        files["z.xz"] = raw + struct.pack("<IQQ", zlib.crc32(evil), len(evil), len(raw) + 20)
        told = self.told(files)
        named = "imports posix.system, calls"
        want = {name: named for name in files}
        want["l.keras"] = "keras, imports os.system, calls"
        want["m.zip"] = "cannot be looked into"
        want |= {"dash.bin": "imports site-packages.pip._internal.utils.misc.os.system, calls", "inst.bin": "imports ~ip.main, calls"}
        want |= {"blank.bin": "imports my data (1).code.run, calls", "import.bin": "imports lib-dynload.x.y"}
        want["pandas.bin"] = "imports pandas.tseries.offsets.Day, posix.system, calls"
        want["n.txt"] = "imports os.system, calls"
        want["u.bin"] = want["v.bin"] = want["memo.bin"] = "imports ?, calls"
        for name, part in want.items():
            with self.subTest(name):
                self.assertIn(part, told.get(name, "nothing"))
        for name in ("j.safetensors", "k.png", "n.txt"):
            self.assertIn("though its name says otherwise", told[name])
        self.assertNotIn("otherwise", told["a.bin"])


if __name__ == "__main__":
    main()
