#!/usr/bin/python3
"""A package of conda is a file of a stranger: what does not hold is refused by the package's name."""

import hashlib
import tarfile

from support.case import main, use_memory
from support.conda_packages import PLACEHOLDER, PLATFORM, Package, explicit_lock, file_entry
from support.packed_conda import Channel

HOLD = PLACEHOLDER.encode()


def setUpModule():
    use_memory()


def rename(old, new):
    def change(package, entries, notes, more):
        for entry, _ in entries:
            if entry.name == old:
                entry.name = new

    return change


def add(entry, data=b""):
    def change(package, entries, notes, more):
        entries.append((entry, data))
        notes["paths.json"]["paths"].append({"_path": "share/more", "path_type": "hardlink", "sha256": hashlib.sha256(data).hexdigest(), "size_in_bytes": len(data)})

    return change


def note(file, **members):
    def change(package, entries, notes, more):
        notes[file] |= members

    return change


def without(name):
    return lambda package, entries, notes, more: notes.pop(name)


def row(**members):
    return lambda package, entries, notes, more: notes["paths.json"]["paths"][0].update(members)


class Hostile(Channel):
    """Each row: a change of a package that was fine, and what the message says beside the package's name."""

    CHANGES = [
        (rename("share/a", "../a"), "unsafe path"),
        (rename("share/a", "share/../../a"), "unsafe path"),
        (rename("share/a", "/etc/a"), "unsafe path"),
        (rename("share/a", "share/b"), "twice"),
        (rename("share/a", "share/b/c"), "share/b"),
        (rename("share/a", "share/c"), "has no share/a"),
        (add(file_entry("share/more", type=tarfile.SYMTYPE, linkname="/etc/passwd")), "symlink"),
        (add(file_entry("share/more", type=tarfile.SYMTYPE, linkname="../../x")), "symlink"),
        (add(file_entry("share/more", type=tarfile.LNKTYPE, linkname="/etc/passwd")), "unsafe path"),
        (add(file_entry("share/more", type=tarfile.LNKTYPE, linkname="share/none")), "hard link"),
        (add(file_entry("share/more", type=tarfile.FIFOTYPE)), "neither a file"),
        (add(file_entry("share/more", type=tarfile.CHRTYPE)), "neither a file"),
        (add(file_entry("share/other"), b"x"), "share/"),
        (add(file_entry("share/more", type=tarfile.SYMTYPE, linkname="a")), "another kind"),
        (row(sha256="0" * 64), "share/a, whose bytes"),
        (row(sha256=None), "no SHA-256"),
        (row(size_in_bytes=7), "share/a, whose bytes"),
        (row(_path="../a"), "paths.json"),
        (row(prefix_placeholder="/"), "prefix_placeholder"),
        (without("paths.json"), "no info/paths.json"),
        (without("index.json"), "no info/index.json"),
        (note("index.json", name="viola"), "says that it is viola"),
        (note("index.json", build="h9"), "says that it is tuba 1.2 h9"),
        (note("paths.json", paths_version=2), "paths_version"),
        (lambda package, entries, notes, more: more.update({"pkg-more.tar.zst": b"x"}), "one pkg-"),
        (lambda package, entries, notes, more: more.update({"setup.py": b"x"}), "setup.py"),
    ]  # fmt: skip

    def setUp(self):
        super().setUp()
        fake = Package("python", "3.11.7", "h1_cpython", files={"lib/python3.11/os.py": b"", "bin/python3.11": b"#!/bin/false\n"})
        self.fake = fake.write(self.shelf)

    def bad(self, package, *words, label="tuba 1.2", more=(), arguments=("--at", "/local/horn")):
        files = [self.fake, package.write(self.shelf), *(other.write(self.shelf) for other in more)]
        self.refused(self.lock(explicit_lock(self.url, files), "list.txt"), label, *words, arguments=arguments)

    def test_packages(self):
        for number, (change, word) in enumerate(self.CHANGES):
            files = {"share/a": b"a", "share/b": b"b"}
            self.bad(Package("tuba", files=files, change=change, form=".conda" if number > 23 or number % 2 else ".tar.bz2"), word)

    def test_between_packages(self):
        one = {"share/same": b"1"}
        self.bad(Package("tuba", files=one), "viola 1.2", "share/same", more=[Package("viola", files=one)])
        self.bad(Package("tuba", files=one), "viola 1.2", "share/same", more=[Package("viola", files={"share/same/x": b""})])
        self.bad(Package("tuba", links={"share/far": "lib"}, files={}), "share/far", more=[Package("viola", files={"share/far/x": b""})])
        self.bad(Package("tuba", files={"conda-meta/x.json": b"{}"}), "conda itself writes")
        self.bad(Package("tuba", links={"share/up": "../share2", "share2/out": "../share/up/../.."}), "symlink")
        self.bad(Package("tuba", files={"site-packages/x": b""}, noarch="python", points=["../x = a:b"]), "link.json")
        self.bad(Package("tuba", files={"site-packages/x": b""}, noarch="python", points=["python3 = a:b"]), "as the interpreter has")
        self.bad(Package("tuba", files={"etc/a": HOLD}, places={"etc/a": "text"}), "etc/a", "--at", arguments=())
        short = Package("tuba", files={"etc/a": b"/short/placeholder\0"}, places={"etc/a": "binary"}, placeholder="/short/placeholder")
        self.bad(short, "18 bytes", arguments=("--at", "/a/much/longer/place/of/it"))

    def test_what_is_no_lock_of_this(self):
        tuba = Package("tuba", files={"share/a": b""})
        file = tuba.write(self.shelf)
        self.refused(self.lock(explicit_lock(self.url, [file]), "list.txt"), "no package python")
        other = Package("tuba", files={"share/a": b""}, subdir="osx-64").write(self.shelf)
        self.refused(self.lock(explicit_lock(self.url, [self.fake, other]), "list.txt"), "osx-64")
        good = self.lock(explicit_lock(self.url, [self.fake, file]), "list.txt")
        self.refused(good, "has its own", arguments=("--python", "3.11"), code=2)
        self.refused(good, "no program of Linux")
        cut = self.shelf / PLATFORM / "tuba-1.2-h0_0.conda"
        cut.write_bytes(cut.read_bytes()[:-40])
        self.refused(self.lock(explicit_lock(self.url, [self.fake, cut]), "list.txt"))


if __name__ == "__main__":
    main()
