#!/usr/bin/python3
"""One bit that is wrong at a random place of the store: `verify` finds it, or PLACES says why it need not be found.

What is found is repaired from the source, or told. Afterwards the assets have the right bytes, and the store verifies.
PLACES says where bits flip: a new kind of file gets a line there. SABATH_SEED repeats a run, SABATH_FLIPS lengthens it.
"""

import collections
import json
import os
import random
import shutil

from support.at_call import CHUNK, FULL, SEED, StoreCase, tar_of, skip_unless_traceable
from support.case import main, place, use_memory
from support.content import fragment, seeded

FLIPS = int(os.environ.get("SABATH_FLIPS", "1000" if FULL else "100"))
CONTENT, INVALID = 7, 12  # exit codes: wrong bytes; a file that is not what it must be

FOUND = ""  # by `verify`, each time
# What, where, whether the store that is tried must have some of it, and why `verify` may pass a flip over.
PLACES = (
    ("format", "format", True, "beside its name and version it says only which files are packed from now on"),
    ("object", "objects/*/*", True, FOUND),
    ("pack", "packs/*", True, FOUND),
    ("manifest", "manifests/*/*", True, FOUND),
    ("ref", "refs/*/*.json", True, FOUND),
    ("alias", "alias/*/*/*", True, FOUND),
    ("index", "indexes/*/*", True, FOUND),
    ("evidence", "verified/*.log", True, FOUND),
    ("arrivals", "arrivals/*.log", True, FOUND),
    ("checked", "checked/*.log", True, FOUND),
    ("pin", "pins/*", True, FOUND),
    ("executable of a view", "views/*/in/run.sh", True, FOUND),
    ("journal of known chunks", "partial/*/journal.*", True, FOUND),
    ("bytes of known chunks", "partial/*/data", True, "each chunk of another writer is hashed before it is believed"),
    ("journal of a source", "partial/*/*/journal.*", True, FOUND),
    ("scratch", "partial/**/scratch.*", False, "each piece has a checksum"),
    ("bytes of a source", "partial/*/*/data", True, "each chunk is hashed and compared with its journal"),
    ("note of a source", "partial/*/*/source.json", True, "where it disagrees with the source, all is fetched again"),
    ("lease", "leases/*", True, "its writer is dead: it protects nothing"),
    ("reservation", "reservations/*", True, "its writer is dead: it promises nothing"),
    ("record", "records/*", True, "it is for people"),
)
MAY_PASS = {kind: reason for kind, _, _, reason in PLACES if reason}


class Flips(StoreCase):
    def setUp(self):
        super().setUp()
        self.large = {name: seeded(2 * CHUNK + 5000, seed) for seed, name in enumerate(("known", "unknown"), 8)}
        for name, data in self.large.items():
            file = self.home / name / "large.bin"
            place(file, data)
            self.sabath.add(name, [fragment(f"file://{file}", data, path="large.bin")])
        self.members = {f"{name}/{n}.bin": seeded(20_000, n) for name in ("some", "others") for n in range(4)}
        server = self.serve({"remote.tar": tar_of(self.members)})
        self.sabath.add("remote", [fragment(server.url("remote.tar"), kind="archive", name="in")])
        self.part = ("remote", "--select", "some/*")  # by an index of the archive
        self.manifest = self.home / "known.manifest"
        self.expect(self.sabath.run("manifest", "create", self.home / "known", "-o", self.manifest))

    def interrupt(self, user, command):
        """Stopped when its first chunk is noted."""
        copy = self.new_store(f"{user.home.name}-count", user)
        _, report = self.at(copy, ("--ops", "write"), command)
        done = [number for number, call in enumerate(report.calls) if call == f"pwrite64 {CHUNK}"]
        self.at(user, ("--ops", "write", "--kill-at", done[0] + 3), command, code=137)

    def test_one_bit(self):
        self.add_packed()
        template = self.fetched("template", "other", "first")
        self.expect(template.fetch(*self.part))
        self.expect(template.run("verify", "-q"))
        self.expect(template.run("keep", "mixed"))
        self.interrupt(template, ("fetch", "-q", "known", "--manifest", self.manifest, "--lanes", 1))
        self.interrupt(template, ("fetch", "-q", "unknown", "--lanes", 1))
        kinds = []
        for kind, pattern, needed, _ in PLACES:
            files = sorted(str(f.relative_to(template.store)) for f in template.store.glob(pattern) if size_of(f) > 0)
            self.assertTrue(files or not needed, f"no {kind}")
            if files:
                kinds.append((kind, files))
        self.kinds = len(kinds)
        choose = random.Random(SEED)
        trials = []
        for number in range(FLIPS):
            kind, files = kinds[number % len(kinds)]
            trials.append((number, kind, choose.choice(files), choose.random()))
        self.outcomes = collections.Counter()
        self.each(trials, lambda trial: self.flip(template, *trial))
        for kind, _ in kinds:
            told = {outcome: count for (what, outcome), count in sorted(self.outcomes.items()) if what == kind}
            print(f"  {kind}: {told}", flush=True)

    def flip(self, template, number, kind, name, where):
        user = self.new_store(f"flip-{number}", template)
        flip_bit(user.store / name, where)
        # Half of them are repaired by the look that finds them, and half by the next fetch.
        how = ("--repair",) if number // self.kinds % 2 else ()
        found = user.run("verify", "--json", *how)
        self.assertIn(found.exit, (0, CONTENT, INVALID) if kind == "format" else (0, CONTENT), text_of(found))
        outcome = "harmless"
        if found.exit == INVALID:
            self.assertIn("format", found.err)
            shutil.copyfile(template.store / name, user.store / name)
            outcome = "told"
        elif found.asset["bad"]:
            mended = all(bad["mended"] for bad in found.asset["bad"])
            self.assertEqual(found.exit, 0 if how and mended else CONTENT, text_of(found))
            outcome = ("repaired" if mended else "told") if how else "found"
        if outcome == "harmless":
            self.assertIn(kind, MAY_PASS, f"no command has found the bit in {name}")
        if outcome == "harmless" and kind == "format":
            said = json.loads((user.store / name).read_text())
            self.assertEqual((said["format"], said["version"]), ("sabath-store", 1))
        self.expect_right(user)
        self.assertEqual(sorted(os.listdir(user.store / "pins")), sorted(os.listdir(template.store / "pins")))
        self.outcomes[kind, outcome] += 1
        shutil.rmtree(user.home)

    def expect_right(self, user):
        self.expect_tree(self.expect(user.fetch("mixed")).asset["path"], self.tree)
        self.expect_tree(self.expect(user.fetch("other")).asset["path"], {"other.bin": self.other})
        some = {name: data for name, data in self.members.items() if name.startswith("some/")}
        self.expect_tree(self.expect(user.fetch(*self.part)).asset["path"], some)
        self.expect(user.fetch("first"))
        self.expect(user.run("view", "first", "--to", user.home / "first"))
        self.expect_tree(user.home / "first", self.packed["first"])
        for name, more in (("known", ("--manifest", self.manifest)), ("unknown", ())):
            self.expect_tree(self.expect(user.fetch(name, *more)).asset["path"], {"large.bin": self.large[name]})
        last = user.run("verify", "--json")
        self.assertEqual(last.exit, 0, text_of(last))


def size_of(file):
    return file.stat().st_size if file.is_file() else 0


def flip_bit(file, where):
    """`where`: 0 to 1, of all bits. Size, times and mode stay."""
    status = file.stat()
    bit = int(where * status.st_size * 8)
    os.chmod(file, 0o644)
    with open(file, "r+b") as data:
        data.seek(bit // 8)
        byte = data.read(1)
        data.seek(bit // 8)
        data.write(bytes([byte[0] ^ 1 << bit % 8]))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    os.chmod(file, status.st_mode & 0o7777)


def text_of(result):
    return f"exit {result.exit}\n{result.out[:1500]}\n{result.err[:1500]}"


if __name__ == "__main__":
    skip_unless_traceable()
    use_memory()
    main()
