#!/usr/bin/python3
"""A recipe of the original SABATH, read as it is and fetched from a loopback server by a rewrite rule."""

import hashlib
import json
import os
import pathlib
import shutil
import unittest

from support.case import Case, main, place
from support.content import small_tree, tar_bytes

NAME = "cosmoUniverse_2019_05_4parE_tf_v2_mini"
PORTAL = "https://portal.nersc.gov/"
PATH = f"project/dasrepo/cosmoflow-benchmark/{NAME}.tar"
DATA = os.environ.get("SABATH_TEST_DATA", "")


@unittest.skipUnless(DATA, "SABATH_TEST_DATA does not name the original's files")
class RealRecipe(Case):
    def setUp(self):
        super().setUp()
        self.root = self.home / "root"
        self.assets = self.root / "var/sabath/assets/sabath"
        shutil.copytree(pathlib.Path(DATA) / "original-sabath/sabath", self.assets)
        self.server = self.serve()

    def recipe(self, **changes):
        """Changes the fragment's facts, and nothing else."""
        file = self.assets / f"datasets/c/{NAME}.json"
        recipe = json.loads(file.read_text())
        recipe["fragments"][0].update(changes)
        file.write_text(json.dumps(recipe))

    def real_fetch(self, code):
        return self.fetch(NAME, "--root", self.root, "--rewrite", f"{PORTAL}={self.server.url()}", code=code)

    def expect_nothing_kept(self):
        self.assertEqual(self.sabath.visible(), [])
        self.assertEqual(self.sabath.run("--root", self.root, "path", NAME).exit, 9)

    def test_wrong_length_is_refused(self):
        place(self.server.root / PATH, tar_bytes(small_tree()))
        asset = self.real_fetch(code=7)
        (failure,) = asset["failures"]
        self.assertIn("5943306240", failure["message"])
        requests = self.server.log()
        self.assertEqual({request.uri for request in requests}, {f"/{PATH}"})
        self.assertLessEqual(len(requests), 16)  # those that were asked before the first answer said it
        self.expect_nothing_kept()

    def test_right_length_with_wrong_bytes_is_refused(self):
        """The real checksums stay; only the size is that of the payload here."""
        payload = tar_bytes(small_tree())
        place(self.server.root / PATH, payload)
        self.recipe(size=len(payload))
        asset = self.real_fetch(code=7)
        (failure,) = asset["failures"]
        self.assertEqual(failure["kind"], "content")
        self.assertRegex(failure["message"], "sha256|sha1|md5")
        self.assertTrue(failure["hint"])
        self.expect_log(asset, self.server.log())
        self.expect_nothing_kept()
        self.assertEqual(self.sabath.run("du", "--json").record["partial_bytes"], 0)

    def test_fitting_checksums_give_the_files(self):
        tree = {f"{NAME}/{name}": data for name, data in small_tree().items()}
        payload = tar_bytes(tree)
        place(self.server.root / PATH, payload)
        sums = {name: hashlib.new(name, payload).hexdigest() for name in ("md5", "sha1", "sha256")}
        self.recipe(size=len(payload), checksum=sums)
        asset = self.real_fetch(code=0)
        self.expect_tree(asset["path"], tree)
        self.assertEqual(asset["trusted_by"], "checksum")
        self.assertEqual(asset["fetched_bytes"], len(payload))
        self.expect_log(asset, self.server.log())
        found = self.sabath.run("--root", self.root, "path", NAME)
        self.assertEqual(found.out, asset["path"] + "\n")

    def test_model_brings_its_dataset(self):
        """`fetch cosmoflow` of the original's model asks for the dataset of its first run set too."""
        result = self.sabath.fetch("cosmoflow", "--root", self.root, "--dry-run")
        self.expect(result)
        kinds = [asset["kind"] for asset in result.record["assets"]]
        self.assertEqual(kinds, ["model", "dataset"])


if __name__ == "__main__":
    main()
