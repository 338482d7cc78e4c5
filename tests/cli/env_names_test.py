#!/usr/bin/python3
"""A name that cannot be given to an environment is refused before anything is fetched or copied."""

import shutil
import unittest

from support import python_prefix
from support.case import main, place
from support.content import fragment
from support.packed_lock import PackLock, skip_without_tools

setUpModule = skip_without_tools


class Names(PackLock):
    def setUp(self):
        super().setUp()
        place(self.home / "f.bin", b"abc")
        self.sabath.add("known", [fragment(f"file://{self.home}/f.bin", b"abc")])

    def stored(self):
        objects = self.sabath.store / "objects"
        return sorted(objects.rglob("*")) if objects.exists() else []

    def refused(self, name, origin, code, *words):
        before = self.stored()
        error = self.pack(origin, name=name, code=code).err
        for word in (name, *words):
            self.assertIn(word, error)
        self.assertEqual(self.stored(), before, "something was stored")
        self.assertEqual(list((self.sabath.store / "tmp").rglob("tree")), [])

    def test_of_recipes_and_of_words(self):
        lock = self.lock(self.flute())
        self.refused("known", lock, 2, "taken")
        for word in ("none", "warn", "check", "create"):
            self.refused(word, lock, 2, "another name")
        place(self.home / "plain/a.txt", b"a")
        self.expect(self.sabath.run("adopt", self.home / "plain", "--name", "plain"))
        self.refused("plain", lock, 2, "taken")
        mine = python_prefix.install(python_prefix.venv(self.base, self.home / "mine"))
        self.expect(self.sabath.run("env", "pack", "known", mine), 2)

    def test_of_other_packages(self):
        flute, drum = self.flute(), self.wheel("Drum_kit", "2.0")
        first = self.pack(self.lock(flute))
        self.refused("horn", self.lock(flute, drum), 7, "no drum-kit", "--forget horn")
        self.refused("horn", self.lock(drum), 7, "no drum-kit")
        self.assertEqual(self.pack(self.lock(flute))["manifest"], first["manifest"])

    @unittest.skipUnless(shutil.which("mksquashfs"), "squashfs-tools is not here")
    def test_of_images(self):
        self.pack(self.lock(self.flute()))
        before = self.stored()
        self.assertIn("taken", self.expect(self.sabath.run("env", "image", "horn", "--name", "known"), 2).err)
        self.assertIn("taken", self.expect(self.sabath.run("env", "image", "horn", "--name", "horn"), 2).err)
        self.assertEqual(self.stored(), before)
        for _ in range(2):
            self.expect(self.sabath.run("env", "image", "horn"))


if __name__ == "__main__":
    main()
