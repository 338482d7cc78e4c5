#!/usr/bin/python3
"""A hostile wheel is refused by its package's name, and nothing of it stays."""

import stat
import zipfile

from support import python_prefix
from support.case import main
from support.packed_lock import PackLock, skip_without_tools
from support.wheels import record_hash, record_of

setUpModule = skip_without_tools


def put(path, data):
    """A member more, that RECORD does not name."""
    return {"change": lambda files, info: files.update({path: data})}


def add(path, data=b"x\n", mode=0o100644):
    """A member more, which RECORD names."""

    def change(files, info):
        files[f"{info}/RECORD"] += f"{path},{record_hash(data)},{len(data)}\n".encode()
        entry = zipfile.ZipInfo("place")
        entry.filename = path  # as it is: ZipInfo would mend it
        entry.external_attr = mode << 16
        files[path] = [(entry, data)]

    return {"change": change}


def twice(path):
    def change(files, info):
        files[path] = [(zipfile.ZipInfo(path), files[path]), (zipfile.ZipInfo(path), files[path])]

    return {"change": change}


def drop(name):
    return {"change": lambda files, info: files.pop(f"{info}/{name}")}


def replace(name, data):
    return {"change": lambda files, info: files.update({f"{info}/{name}": data})}


class Hostile(PackLock):
    """Each row: what is done to a wheel, and what the message names beside the package."""

    FILES = {"SELF/__init__.py": b"x = 1\n"}
    ROWS = (
        (add("../../escape.py"), "leads out"),
        (add("SELF/../../../escape.py"), "leads out"),
        (add("/etc/escape"), "absolute"),
        (add("SELF\\..\\escape.py"), "backslash"),
        (add("C:/escape.py"), "drive"),
        (add("SELF/a\nb.py"), "no name"),
        (add("SELF//a.py"), "no name"),
        (add("SELF/__INIT__.py"), "twice"),
        (twice("SELF/__init__.py"), "twice"),
        (add("SELF/link", b"/etc/passwd", stat.S_IFLNK | 0o777), "symlink"),
        (add("SELF/pipe", b"", stat.S_IFIFO | 0o644), "neither a file nor a folder"),
        (add("SELF/device", b"", stat.S_IFCHR | 0o644), "neither a file nor a folder"),
        (add("SELF/__init__.py/x.py"), "as a file and as a folder"),
        (put("SELF/extra.py", b"x\n"), "RECORD does not name"),
        (drop("RECORD"), "no RECORD"),
        (drop("WHEEL"), "no WHEEL"),
        (drop("METADATA"), "no METADATA"),
        ({"record": lambda files, info: record_of({**files, "SELF/__init__.py": b"y\n"}, info)}, "not those that RECORD names"),
        ({"record": lambda files, info: "".join(f"{path},,\n" for path in files)}, "no SHA-256"),
        ({"record": lambda files, info: "".join(f"{path},md5=abc,\n" for path in files)}, "no SHA-256"),
        ({"record": lambda files, info: record_of(files, info) + "SELF/__init__.py,sha256=abc,1\n"}, "twice in RECORD"),
        (replace("METADATA", b"Metadata-Version: 2.1\nName: drum\nVersion: 1.2\n"), "says that it is drum"),
        (replace("METADATA", b"Metadata-Version: 2.1\nName: SELF\nVersion: 1.3\n"), "says that it is SELF 1.3"),
        (replace("METADATA", b"Metadata-Version: 2.1\nName: SELF\nVersion: 1.2\nRequires-Python: <3.7\n"), "requires Python"),
        (replace("WHEEL", b"Wheel-Version: 2.0\n"), "format 2.0"),
        (add("drum-1.0.dist-info/METADATA"), "drum-1.0.dist-info"),
        (add("drum.egg-info/PKG-INFO"), "another package"),
        (add("SELF-1.2.data/purelib/drum-1.0.dist-info/METADATA"), "another package"),
        (add("drum-1.2.data/scripts/x"), "another package"),
        (add("SELF-1.2.data/data/pyvenv.cfg"), "how the interpreter starts"),
        (add("SELF-1.2.data/scripts/python3"), "how the interpreter starts"),
        (add("SELF-1.2.data/data/bin/activate"), "how the interpreter starts"),
        (add("SELF-1.2.data/data/lib/PYTHON/os.py"), "standard library"),
        (add("SELF-1.2.data/data/lib/PYTHON/sitecustomize.py"), "standard library"),
        (add("SELF-1.2.data/data/lib/libm.so.6"), "where the interpreter looks"),
        (add("SELF-1.2.data/scripts/libm.so.6"), "where the interpreter looks"),
        (add("SELF-1.2.data/data/lib/glibc-hwcaps/x86-64-v2/libpython3.so"), "glibc-hwcaps"),
        (add("SELF-1.2.data/data/lib/tls/libm.so.6"), "tls"),
        (add("SELF-1.2.data/unknown/x"), "known folders"),
        (add("x.pth/a.py"), "name of a file"),
        (add("_virtualenv.py/a.py"), "name of a file"),
        (add("SELF-1.2.dist-info/uv_cache.json/x"), "name of a file"),
        (add("SELF-1.2.dist-info/direct_url.json/x"), "name of a file"),
        (add("SELF-1.2.data/scripts/a/b"), "script in a folder"),
        ({"entry_points": "[console_scripts]\n../../x = SELF:main\n"}, "names a program ../../x"),
        ({"entry_points": "[console_scripts]\na/b = SELF:main\n"}, "names a program a/b"),
        ({"entry_points": "[console_scripts]\nx = SELF:main;import os\n"}, "no MODULE:OBJECT"),
        ({"entry_points": "[console_scripts]\nx = SELF:main\n  more\n"}, "several lines"),
        ({"entry_points": "[console_scripts]\nx = SELF\n"}, "no MODULE:OBJECT"),
        ({"entry_points": "[console_scripts]\nx = SELF:a\nx = SELF:b\n"}, "x twice"),
        ({"entry_points": "[console_scripts]\npython3 = SELF:a\n"}, "as the interpreter has"),
        ({"entry_points": "[console_scripts]\nx = SELF:a\n", **add("SELF-1.2.data/scripts/x")}, "bin/x twice"),
        ({"files": {**FILES, "SELF/zeros.bin": bytes(80 << 20)}}, "unpacks to"),
    )  # fmt: skip

    LATER = (  # seen in the tree that they are unpacked into
        (add("SELF-1.2.data/scripts/run", b"#!/opt/perl/bin/perl\n"), "/opt/perl/bin/perl"),
        (add("up.pth", b"../../../../elsewhere\n"), "up.pth"),
        (add("sitecustomize.py", b"x = 1\n"), "sitecustomize.py is code"),
        (add("SELF-nspkg.pth", b"import sys, types, os;open(chr(47) + 'tmp')\n"), "each start"),
    )  # fmt: skip
    AT_ONCE = 16

    def prepared(self, name, how):
        folder = python_prefix.site(self.base).parent.name
        how = {"files": self.FILES, **how}
        own = {key: value for key, value in how.items() if key not in ("files", "change", "entry_points")}

        def change(members, info):
            how.get("change", lambda members, info: None)(members, info)
            words = {b"SELF": name.encode(), b"PYTHON": folder.encode()}
            with_words(members, info, words)

        return self.wheel(name, files=how["files"], change=change, entry_points=how.get("entry_points", "").replace("SELF", name), **own)

    def test_each_by_its_package(self):
        for begin in range(0, len(self.ROWS), self.AT_ONCE):
            rows = self.ROWS[begin : begin + self.AT_ONCE]
            wheels = [self.prepared(f"bad{begin + n}", how) for n, (how, word) in enumerate(rows)]
            good = self.wheel("good", "1.0")
            error = self.pack(self.lock(good, *wheels), code=12).record["error"]["message"]
            for n, (how, word) in enumerate(rows):
                with self.subTest(word=word, number=begin + n):
                    name = f"bad{begin + n}"
                    said = [part for part in error.split("; ") if f"{name} 1.2" in part]
                    self.assertEqual(len(said), 1, error)
                    self.assertIn(word.replace("SELF", name), said[0])
        self.nothing_stays()

    def test_what_only_the_tree_shows(self):
        for number, (how, word) in enumerate(self.LATER):
            error = self.pack(self.lock(self.prepared(f"late{number}", how)), code=12).err
            self.assertIn(f"late{number} 1.2", error)
            self.assertIn(word, error)
        self.nothing_stays()

    def nothing_stays(self):
        self.assertFalse((self.sabath.store / "by-name/horn").exists())
        self.assertEqual([p for p in (self.sabath.store / "tmp").rglob("tree")], [], "scratch is left")
        self.assertFalse(list(self.home.glob("**/escape.py")))
        self.assertEqual(self.pack(self.lock(self.wheel("good", "1.0")), name="good")["known_packages"], 0)

    def test_two_packages_with_one_file(self):
        drum = self.wheel("drum", "1.0", files={"shared/a.py": b"x = 1\n"})
        bell = self.wheel("bell", "1.0", files={"shared/a.py": b"x = 1\n"})
        error = self.pack(self.lock(drum, bell), code=12).err
        self.assertIn("bell 1.0 and drum 1.0 both bring", error)
        self.pack(self.lock(drum), name="drums")  # known now, and compared all the same
        self.assertIn("bell 1.0 and drum 1.0 both bring", self.pack(self.lock(drum, bell), code=12).err)
        script = self.wheel("reed", "1.0", entry_points="[console_scripts]\ndrum = reed:x\n")
        other = self.wheel("drum", "2.0", files={"drum.py": b"", "drum-2.0.data/scripts/drum": b"#!python\n"})
        self.assertIn("drum 2.0 and reed 1.0 both bring bin/drum", self.pack(self.lock(other, script), code=12).err)
        include = next((self.base / "include").glob("python3*")).name
        header = self.wheel("oboe", "1.0", files={"oboe.py": b"", f"oboe-1.0.data/data/include/{include}/Python.h": b"x"})
        self.assertIn("oboe 1.0 and the interpreter both bring", self.pack(self.lock(header), code=12).err)

    def test_bytes_that_are_not_the_locks(self):
        wheel = self.flute()
        lock = self.lock(wheel)
        data = bytearray(wheel.read_bytes())
        data[100] ^= 1
        wheel.write_bytes(data)
        self.pack(lock, code=7)
        self.assertFalse((self.sabath.store / "by-name/horn").exists())


def with_words(members, info, words):
    """SELF and PYTHON in names and notes: the package, and the folder of this interpreter's library."""

    def mended(text):
        for word, meant in words.items():
            text = text.replace(word, meant)
        return text

    for path, data in list(members.items()):
        new = mended(path.encode()).decode()
        if new != path:
            members[new] = members.pop(path)
            for entry, _ in data if isinstance(data, list) else ():
                entry.filename = mended(entry.filename.encode()).decode()
        if path.startswith(info) and not isinstance(data, list):
            members[new] = mended(data)


if __name__ == "__main__":
    main()
