"""Stores that are damaged, or none: told with the chunk or the name, put aside, and mended by the next fetch."""
import os
import pathlib

from support.ground import FaultCase, checksums, main, seeded_bytes

SIZE = 9_000_000  # three chunks
CHUNK = 4 << 20


class Tampering(FaultCase):
    def setUp(self):
        super().setUp()
        self.ground.recipe("bad", self.ground.fragment(self.server.url(f"/ok?size={SIZE}"), size=SIZE))
        self.fetched = self.ground.succeeds("bad")
        self.view = pathlib.Path(self.fetched.record["assets"][0]["path"]) / "f.bin"
        (self.object,) = [p for p in (self.ground.store / "objects").rglob("*") if p.name.endswith(f".{SIZE}")]
        self.good = self.object.read_bytes()

    def tamper(self, change):
        """Changes the object and puts size and times back, as bit rot would."""
        status = self.object.stat()
        mode = status.st_mode
        os.chmod(self.object, 0o644)
        with open(self.object, "r+b") as file:
            change(file)
        os.utime(self.object, ns=(status.st_atime_ns, status.st_mtime_ns))
        os.chmod(self.object, mode)

    def flip(self, offset):
        def change(file):
            file.seek(offset)
            byte = file.read(1)
            file.seek(offset)
            file.write(bytes([byte[0] ^ 1]))
        self.tamper(change)

    def mended(self):
        result = self.ground.fetch("bad")
        self.assertEqual(result.exit, 0, result)
        self.assertEqual(self.view.read_bytes(), self.good)
        self.assertEqual(self.object.read_bytes(), self.good)
        self.ground.verified()
        return result

    def test_verify_names_the_chunk_and_fetch_repairs(self):
        self.flip(CHUNK + 12345)
        result = self.ground.run("verify", "--json", "bad")
        self.assertEqual(result.exit, 7, result)
        bad = result.record["assets"][0]["bad"]
        self.assertEqual((bad[0]["path"], bad[0]["chunk"], bad[0]["offset"]), ("f.bin", 1, CHUNK), result)
        self.assertIn("f.bin: chunk 1", result.err)
        self.mended()

    def test_verify_of_the_whole_store(self):
        self.flip(0)
        self.flip(SIZE - 1)
        result = self.ground.run("verify", "--json")
        self.assertEqual(result.exit, 7, result)
        bad = [(b["path"], b["chunk"]) for b in result.record["assets"][0]["bad"] if not b["path"].startswith("views/")]
        self.assertEqual(bad, [("f.bin", 0), ("f.bin", 2)], result)
        self.mended()

    def test_fetch_alone_finds_it(self):
        self.flip(CHUNK)
        self.mended()

    def test_other_lengths(self):
        for length in (0, 1, SIZE - 1, SIZE + 1):
            with self.subTest(length):
                self.tamper(lambda file, length=length: file.truncate(length))
                result = self.ground.run("verify", "--json", "bad")
                self.assertEqual(result.exit, 7, result)
                self.mended()

    def test_object_that_is_gone(self):
        self.object.unlink()
        self.view.unlink()
        result = self.ground.run("verify", "--json", "bad")
        self.assertEqual(result.exit, 9, result)
        self.assertEqual(result.record["assets"][0]["missing_paths"], ["f.bin"])
        self.mended()

    def test_offline_does_not_serve_damage(self):
        self.flip(CHUNK)
        result = self.ground.fetch("bad", "--offline")
        self.assertEqual(result.exit, 9, result)
        self.assertIn("f.bin", result.err)
        self.mended()

    def test_view_that_was_changed(self):
        parent = self.view.parent
        os.chmod(parent, 0o755)
        self.view.unlink()
        self.view.write_bytes(b"mine")
        self.mended()


class Names(FaultCase):
    """Manifests, refs and records in the store that are damaged."""

    def setUp(self):
        super().setUp()
        self.data = seeded_bytes(1000)
        self.ground.recipe("bad", self.ground.fragment(self.server.url("/ok?size=1000"), checksum=checksums(self.data)))
        before = self.ground.visible()
        self.ground.succeeds("bad", self.data)
        self.manifests = [self.ground.store / name for name in self.ground.visible()
                          if name.startswith("manifests/") and name not in before]

    def damage(self, change):
        for path in self.manifests:
            data = path.read_bytes()
            os.chmod(path, 0o644)
            path.write_bytes(change(data))

    def test_damaged_manifest(self):
        for name, change in (("cut", lambda d: d[:-5]), ("empty", lambda d: b""), ("other", lambda d: b"no manifest\n"),
                             ("flipped", lambda d: d[:len(d) // 2] + bytes([d[len(d) // 2] ^ 1]) + d[len(d) // 2 + 1:])):
            with self.subTest(name):
                self.damage(change)
                self.ground.fails(12, "bad manifest", hint="sabath verify")
                result = self.ground.run("verify", "--json")
                self.assertEqual(result.exit, 7, result)
                self.ground.succeeds("bad", self.data)
                self.ground.verified()

    def test_damaged_ref_is_learnt_anew(self):
        for path in (self.ground.store / "refs").rglob("*.json"):
            for text in (b"", b"{", b"\xff" * 70_000):
                path.chmod(0o644)
                path.write_bytes(text)
                self.ground.succeeds("bad", self.data)

    def test_damaged_evidence_is_no_evidence(self):
        for path in (self.ground.store / "verified").rglob("*"):
            if path.is_file():
                path.chmod(0o644)
                path.write_bytes(b"\x00\xff" * 1000)
        self.ground.succeeds("bad", self.data)
        damaged = self.ground.run("verify", "--json")
        self.assertEqual(damaged.exit, 7, damaged)
        self.assertIn("never believed", damaged.err)


class Places(FaultCase):
    def fetch_into(self, place, exit_code, *says, **keys):
        before = sorted(p.name for p in place.iterdir()) if place.is_dir() else None
        self.ground.fails(exit_code, *says, command=("fetch", "--json", "before", "--store", place), **keys)
        if before is not None:
            self.assertEqual(sorted(p.name for p in place.iterdir()), before)

    def test_directory_that_is_no_store(self):
        place = self.ground.directory / "documents"
        place.mkdir()
        (place / "thesis.tex").write_text("precious")
        self.fetch_into(place, 12, "documents", "is not a store", hint="empty")

    def test_a_file(self):
        place = self.ground.directory / "file"
        place.write_text("precious")
        self.fetch_into(place, 70, "file")
        self.assertEqual(place.read_text(), "precious")

    def test_store_of_a_newer_version(self):
        place = self.ground.directory / "newer"
        place.mkdir()
        (place / "format").write_text('{"format":"sabath-store","version":99}\n')
        self.fetch_into(place, 12, "format 99", hint="newer")

    def test_damaged_format_file(self):
        for text in ("", "{", '{"format":"other"}', "\x1b[31m"):
            place = self.ground.directory / "damaged"
            place.mkdir(exist_ok=True)
            (place / "format").write_text(text)
            self.fetch_into(place, 12, "does not describe a store")

    def test_no_store_yet(self):
        place = self.ground.directory / "none"
        self.ground.fails(9, "none", command=("verify", "--json", "--store", place))
        self.assertFalse(place.exists())


if __name__ == "__main__":
    main()
