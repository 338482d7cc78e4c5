#!/usr/bin/python3
"""Bundles: from one store into another without a network; what is hostile is refused, what was verified is kept."""

import io
import json
import pathlib
import random
import shutil
import subprocess
import tarfile

from support.case import Case, main, place, remove
from support.content import fragment, seeded, sha256, small_tree
from support.mounts import enter_own_namespace, mount_memory, need_own_namespace
from support.program import Sabath

CHUNK = 4 << 20


def members(file):
    with tarfile.open(file) as tar:
        return [(entry.name, tar.extractfile(entry).read()) for entry in tar]


def write_tar(file, entries):
    with tarfile.open(file, "w") as tar:
        for name, data in entries:
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))


class Bundle(Case):
    def setUp(self):
        super().setUp()
        self.server = self.serve()
        self.there = self.sabath  # has a network
        self.here = Sabath(self.home / "here")  # has none
        self.here.environment["SABATH_OFFLINE"] = "1"
        self.here.environment["SABATH_RECIPES"] = str(self.there.recipes)
        self.tar = self.home / "bundle.tar"

    def publish(self, name, tree, pinned=True):
        """Files on the server, a recipe of them, fetched there."""
        for path, data in tree.items():
            place(self.server.root / name / path, data)
        fragments = [
            fragment(self.server.url(f"{name}/{path}".replace(" ", "%20").replace("ü", "%C3%BC").replace("ï", "%C3%AF")),
                     data, name=f"f{i}", path=path)
            for i, (path, data) in enumerate(tree.items())
        ]
        manifest = self.home / f"{name}.manifest"
        made = self.expect(self.there.run("manifest", "create", self.server.root / name, "-o", manifest, "--json")).record
        more = {"manifest": {"digest": made["manifest"], "urls": []}} if pinned else {}
        self.there.add(name, fragments, **more)
        self.fetch(name)
        return made["manifest"]

    def export(self, *arguments, code=0):
        return self.expect(self.there.run("export", *arguments, "-o", self.tar, "--json"), code)

    def take(self, *arguments, code=0):
        return self.expect(self.here.run("import", self.tar, *arguments, "--json"), code)

    def expect_here(self, name, tree):
        asset = self.expect(self.here.fetch(name)).asset
        self.assertEqual(asset["fetched_bytes"], 0)
        self.expect_tree(asset["path"], tree)

    def test_what_came_is_kept(self):
        """No source is known for what a bundle brought: no collection takes it, named or not."""
        tree = small_tree()
        self.publish("one", tree)
        self.export("one")
        self.take()
        at_once = ("gc", "--grace", "0s", "--older-than", "0s", "--now", "--json")
        kept = self.expect(self.here.run(*at_once)).record
        self.assertEqual((kept["collected_objects"], [asset["why"] for asset in kept["kept"]]),
                         (0, ["no source can restore it"]))  # fmt: skip
        self.expect_here("one", tree)

    def test_a_model_is_one_there_too(self):
        weights = self.home / "weights"
        place(weights / "w.bin", b"w" * 1000)
        root = self.expect(self.there.run("adopt", weights, "--json")).record["manifest"]
        self.there.add("net", kind="model", manifest={"digest": root, "urls": []})
        self.here.environment["SABATH_RECIPES"] = str(self.here.recipes)
        self.export("net")
        self.assertTrue(self.take().record["assets"][0]["known"])
        self.assertEqual(self.expect(self.here.run("info", "net", "--json")).record["assets"][0]["kind"], "model")
        self.expect_here("net", {"w.bin": b"w" * 1000})
        entries = members(self.tar)
        for i, (kind, said) in enumerate((('"workflow"', "dataset"), ('"\\u0007"', "dataset"), ("7", None))):
            self.here = Sabath(self.home / f"here-{i}")
            write_tar(self.tar, [(name, data.replace(b'"kind":"model"', f'"kind":{kind}'.encode())) for name, data in entries])
            self.take(code=0 if said else 12)
            if said:
                self.assertEqual(self.expect(self.here.run("info", "net", "--json")).record["assets"][0]["kind"], said)

    def test_there_and_here(self):
        tree = small_tree()
        self.publish("one", tree)
        written = self.export("one").record
        self.assertEqual(written["bytes"], sum(map(len, tree.values())))
        record = self.take().record
        self.assertEqual(record["bundle_bytes"], written["bytes"])
        path = self.expect(self.here.run("path", "one")).out.strip()  # at once: nothing fetched it
        self.assertEqual(record["assets"][0]["path"], path)
        self.expect_tree(path, tree)
        self.assertEqual(self.expect(self.here.run("list", "--stored", "--names")).lines, ["one"])
        self.expect_here("one", tree)
        self.expect(self.here.run("verify", "one"))
        again = self.take().record
        self.assertEqual((again["bundle_bytes"], again["present_bytes"]), (0, written["bytes"]))
        first = self.tar.read_bytes()
        self.export("one")
        self.assertEqual(self.tar.read_bytes(), first)

    def test_through_a_pipe_and_compressed(self):
        tree = small_tree()
        self.publish("one", tree)
        export = self.there.start("export", "one", "-o", "-")
        packed = subprocess.run(["zstd", "-q", "-c"], stdin=export.stdout.buffer, stdout=subprocess.PIPE, check=True).stdout
        self.assertEqual(export.wait(), 0)
        export.stdout.close(), export.stderr.close()
        self.tar.write_bytes(packed)
        with open(self.tar, "rb") as source:
            self.assertEqual(subprocess.run([self.program(), "import", "-"], stdin=source, env=self.here.environment,
                                            capture_output=True).returncode, 0)
        self.expect_here("one", tree)

    def program(self):
        from support import program

        return program.BINARY

    def test_unpinned_assets_are_trusted_by_name_only(self):
        tree = {"f": seeded(1000)}
        self.publish("one", tree, pinned=False)
        self.export("one")
        self.take()
        self.expect(self.here.fetch("one"), 9)
        self.take("one")
        self.expect_here("one", tree)
        self.take("two", code=3)

    def versions(self):
        old = {"big": seeded(5 * CHUNK + 17, 1), "gone": seeded(100, 2), "same": seeded(70_000, 3)}
        big = bytearray(old["big"])
        big[CHUNK : CHUNK + 4] = b"new!"
        new = {"big": bytes(big), "same": old["same"], "more": seeded(3000, 4)}
        return old, new

    def test_delta_by_what_is_here(self):
        """The new manifest is not known here, so the list says what is here."""
        old, new = self.versions()
        self.publish("v1", old)
        self.export("v1")
        self.take()
        self.publish("v2", new)
        listed = self.expect(self.here.run("export", "--missing", "v2", "-o", self.home / "list", "--json")).record
        self.assertEqual(listed["kind"], "have")
        written = self.export("--want", self.home / "list").record
        self.assertEqual(written["bytes"], CHUNK + 3000)
        record = self.take().record
        self.assertEqual((record["bundle_bytes"], record["copied_bytes"]), (CHUNK + 3000, 4 * CHUNK + 17))
        self.expect_here("v2", new)
        self.assertEqual(self.export("v2", "--have", self.home / "list").record["bytes"], CHUNK + 3000)

    def test_delta_by_what_is_missing(self):
        """The manifest is here, and some of its files are not."""
        _, new = self.versions()
        self.publish("v2", new)
        self.export("v2")
        self.take()
        for path in (self.here.store / "objects").rglob("*"):
            if path.is_file() and path.name.endswith(f".{len(new['big'])}"):
                path.unlink()
        for view in (self.here.store / "views").glob("*"):
            shutil.rmtree(view)  # its files are those objects
        listed = self.expect(self.here.run("export", "--missing", "v2", "-o", self.home / "list", "--json")).record
        self.assertEqual((listed["kind"], listed["pieces"]), ("missing", 6))
        self.assertEqual(self.export("--want", self.home / "list").record["bytes"], len(new["big"]))
        self.take()
        self.expect_here("v2", new)

    def test_what_is_still_missing_is_said(self):
        old, new = self.versions()
        self.publish("v1", old)
        self.publish("v2", new)
        empty = Sabath(self.home / "other")
        empty.environment["SABATH_RECIPES"] = str(self.there.recipes)
        self.expect(self.there.run("export", "--missing", "v1", "-o", self.home / "list"))  # there, nothing is missing
        self.assertEqual(self.export("v1", "--want", self.home / "list").record["bytes"], 0)
        record = self.take(code=8).record
        self.assertEqual(record["assets"][0]["missing_files"], 3)
        self.assertIn("big", record["assets"][0]["missing"])

    def test_interrupted_imports_go_on(self):
        _, new = self.versions()
        self.publish("v2", new)
        self.export("v2")
        whole = self.tar.read_bytes()
        self.tar.write_bytes(whole[: len(whole) * 2 // 3])
        self.take(code=12)
        kept = [p for p in (self.here.store / "partial").rglob("data")]
        self.assertTrue(kept)
        self.tar.write_bytes(whole)
        record = self.take().record
        self.assertGreater(record["present_bytes"], 2 * CHUNK)
        self.expect_here("v2", new)

    def test_there_must_be_room(self):
        """It is reserved, as for a fetch: nothing is begun that does not fit."""
        need_own_namespace(self)
        tree = {"large": seeded(12_000_000)}
        self.publish("one", tree)
        self.export("one")
        disk = self.home / "small"
        mount_memory(self, disk, 8)
        store = disk / "store"
        refused = self.expect(self.here.run("import", self.tar, SABATH_CACHE=str(store)), 5)
        self.assertIn("are free", refused.err)
        self.assertEqual([*store.glob("reservations/*"), *store.glob("partial/*")], [])
        self.take()
        self.expect_here("one", tree)

    def test_hostile_bundles(self):
        tree = {"a": seeded(1000, 1), "b": seeded(2 * CHUNK, 2)}
        self.publish("one", tree)
        self.export("one")
        good = members(self.tar)
        names = [name for name, _ in good]
        self.assertEqual(names[0], "sabath-bundle.json")
        head, manifest, contents, *objects = good

        def flipped(entry, at):
            data = bytearray(entry[1])
            data[at] ^= 1
            return (entry[0], bytes(data))

        def with_head(**changes):
            return ("sabath-bundle.json", json.dumps({**json.loads(head[1]), **changes}).encode())

        traversal = [("../../etc/x", b"x")]
        cases = {
            "empty": ([], 12),
            "no head": (good[1:], 12),
            "another version": ([with_head(version=2), *good[1:]], 12),
            "assets is text": ([with_head(assets="x"), *good[1:]], 12),
            "root is no hash": ([with_head(assets=[{"name": "x", "root": "y", "trusted_by": "", "source": ""}])], 12),
            "wrong manifest": ([head, flipped(manifest, 50), contents, *objects], 12),
            "foreign manifest": ([head, ("manifests/" + "0" * 64, manifest[1]), contents, *objects], 12),
            "unlisted member": ([*good, *traversal], 12),
            "member before": ([head, *traversal, *good[1:]], 12),
            "objects swapped": ([head, manifest, contents, *reversed(objects)], 12),
            "no objects": ([head, manifest, contents], 12),
            "a wrong byte": ([head, manifest, contents, objects[0], flipped(objects[1], 77)], 7),
            "a wrong byte in a small one": ([head, manifest, contents, flipped(objects[0], 7), objects[1]], 7),
            "a short object": ([head, manifest, contents, (objects[0][0], objects[0][1][:-1]), objects[1]], 12),
            "contents of a stranger": ([head, manifest, (contents[0], b"0" * 64 + b".5.0+1\n"), *objects], 12),
            "contents twice": ([head, manifest, (contents[0], contents[1] * 2), *objects], 12),
            "contents backwards": ([head, manifest, (contents[0], b"x" * 100), *objects], 12),
        }
        for name, (entries, code) in cases.items():
            with self.subTest(name):
                remove(self.here.store)
                write_tar(self.tar, entries)
                result = self.take(code=code)
                self.expect(self.here.run("verify"))  # what was published is right
                self.assertNotIn("Traceback", result.err)
        special = self.home / "special.tar"
        with tarfile.open(special, "w") as tar:
            link = tarfile.TarInfo("sabath-bundle.json")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            tar.addfile(link)
        self.tar.write_bytes(special.read_bytes())
        self.take(code=12)
        self.tar.write_bytes(b"PK\3\4 no tar at all")
        self.take(code=12)
        write_tar(self.tar, good)
        self.take()
        self.expect_here("one", tree)

    def test_random_damage(self):
        tree = {"a": seeded(1000, 1), "b": seeded(CHUNK + 1, 2)}
        self.publish("one", tree)
        self.export("one")
        whole = self.tar.read_bytes()
        seed = random.randrange(1 << 30)
        print(f"seed {seed}", flush=True)
        generator = random.Random(seed)
        for _ in range(12):
            bad = bytearray(whole)
            for _ in range(generator.randrange(1, 4)):
                bad[generator.randrange(len(bad))] ^= 1 << generator.randrange(8)
            self.tar.write_bytes(bad[: generator.choice([len(bad), generator.randrange(len(bad))])])
            self.assertIn(self.here.run("import", self.tar).exit, (0, 7, 8, 12))
        self.expect(self.here.run("verify"))

    def test_want_lists_are_hostile_too(self):
        self.publish("one", {"a": b"1"})
        bad = self.home / "bad"
        good = self.expect(self.here.run("export", "--missing", "one", "-o", self.home / "list")) and (self.home / "list").read_bytes()
        for data in (b"", b"x", good[:-1] + b"xx", b"sabath-want 1 have 5\n\n", b"sabath-want 1 have 99999999999999999999\n\n",
                     b"sabath-want 1 all 0\n\n", b"sabath-want 2 have 0\n\n", b"sabath-want 1 have 2\n\n" + b"b" * 16 + b"a" * 16,
                     b"sabath-want 1 have 0\n- \x1b[31m\n\n", b"sabath-want 1 have 0\n" + b"- x\n" * 2000 + b"\n"):
            bad.write_bytes(data)
            self.export("one", "--want", bad, code=12)
        self.export("one", "--want", self.home / "absent", code=2)
        self.export("one", "--want", bad, "--have", bad, code=2)
        self.export(code=2)

    def test_a_damaged_store_is_not_exported(self):
        tree = {"b": seeded(2 * CHUNK, 2)}
        self.publish("one", tree)
        (thing,) = [p for p in (self.there.store / "objects").rglob("*") if p.is_file()]
        thing.chmod(0o644)
        with open(thing, "r+b") as file:
            file.seek(CHUNK + 5)
            file.write(b"?")
        self.assertIn(self.there.run("export", "one", "-o", self.tar).exit, (7, 9))
        self.assertFalse(self.tar.exists())

    def test_vector_of_the_document(self):
        """The bundle of docs/bundles.md, byte for byte."""
        place(self.home / "v" / "data" / "one", bytes(1))
        place(self.home / "v" / "big", bytes(i % 251 for i in range(CHUNK + 1)))
        adopted = json.loads(self.expect(self.there.run("adopt", self.home / "v", "--json")).out)
        self.export(adopted["manifest"])
        text = (pathlib.Path(__file__).parents[2] / "docs/bundles.md").read_text()
        vectors = dict(line.rsplit(" ", 1) for line in text.split("```vectors")[1].split("```")[0].split("\n") if line)
        self.assertEqual(adopted["manifest"], "sha256:" + vectors.pop("root"))
        self.assertEqual(sha256(self.tar.read_bytes()), vectors.pop("bundle"))
        self.expect(self.there.run("export", "--missing", adopted["manifest"], "-o", self.home / "none"))
        self.assertEqual((self.home / "none").read_bytes().split(b"\n")[0], b"sabath-want 1 missing 0")
        # Another store knows nothing of it, and says what it has: the same files, adopted.
        self.expect(self.here.run("adopt", self.home / "v"))
        self.expect(self.here.run("export", "--missing", "sha256:" + "0" * 63 + "1", "-o", self.home / "list"))
        keys = [key.to_bytes(16, "big") for key in sorted(int(value, 16) for value in vectors.values())]
        self.assertEqual((self.home / "list").read_bytes().split(b"\n\n", 1)[1], b"".join(keys))


if __name__ == "__main__":
    enter_own_namespace()
    main()
