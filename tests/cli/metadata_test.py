#!/usr/bin/python3
"""Metadata of a recipe as other tools read them, and Croissant documents as lists of files."""

import hashlib
import json
import os
import pathlib
import shutil

from support.case import Case, main
from support.content import seeded

FORMATS = ("jsonld", "hpc", "schema.org", "croissant", "datacite", "ro-crate", "bibtex", "cff")
DATA = pathlib.Path(os.environ.get("SABATH_TEST_DATA", "/nowhere")) / "croissant"


class Info(Case):
    def setUp(self):
        super().setUp()
        self.data = seeded(100_000, 1)
        (self.home / "f.bin").write_bytes(self.data)
        self.keys = {
            "schema": 1, "kind": "dataset", "name": "described", "title": "A set", "licence": "MIT", "published": "2021-02-03",
            "doi": "10.5281/zenodo.1234567", "creators": [{"name": "Carberry, Josiah", "orcid": "0000-0002-1825-0097"}],
            "tags": {"task": "regression"}, "unknown": {"homepage": "it has none"},
            "fragments": [{"id": "main", "type": "file", "urls": [(self.home / "f.bin").as_uri()], "size": len(self.data),
                           "checksum": {"sha256": hashlib.sha256(self.data).hexdigest()}}],
        }  # fmt: skip
        self.recipe = self.home / "described.json"
        self.recipe.write_text(json.dumps(self.keys))

    def info(self, *arguments, code=0):
        result = self.sabath.run("info", *arguments)
        self.assertEqual(result.exit, code, result.err)
        return result

    def test_each_format_is_printed_and_says_who_and_what(self):
        for name in FORMATS:
            with self.subTest(name):
                text = self.info("--format", name, str(self.recipe)).out
                self.assertIn("Carberry", text) if name != "hpc" else self.assertIn("regression", text)
                if name not in ("bibtex", "cff"):
                    json.loads(text)

    def test_the_root_of_what_was_fetched_is_an_identifier(self):
        self.assertEqual(self.sabath.run("fetch", str(self.recipe)).exit, 0)
        root = json.loads(self.info("--json", str(self.recipe)).out)["assets"][0]["manifest"]
        self.assertIn(root, json.loads(self.info("-f", "schema.org", str(self.recipe)).out)["identifier"])

    def test_people_and_programs_see_the_keys(self):
        text = self.info(str(self.recipe)).out
        for part in ("Josiah Carberry", "task=regression", "10.5281/zenodo.1234567", "homepage: it has none"):
            self.assertIn(part, text)
        asset = json.loads(self.info("--json", str(self.recipe)).out)["assets"][0]
        self.assertEqual(asset["creators"][0]["orcid"], "0000-0002-1825-0097")
        self.assertEqual((asset["tags"], asset["document"]), ({"task": "regression"}, None))

    def test_what_a_format_demands_is_named(self):
        del self.keys["published"]
        self.recipe.write_text(json.dumps(self.keys))
        self.assertIn("published", self.info("--format", "datacite", str(self.recipe), code=3).err)
        self.info("--format", "croissant", str(self.recipe), str(self.recipe), code=2)
        self.info("--format", "bibtex", str(self.recipe), str(self.recipe))

    def test_what_was_written_as_croissant_is_fetched_from_it(self):
        document = json.loads(self.info("--format", "croissant", str(self.recipe)).out)
        document["distribution"][0]["contentUrl"] = "f.bin"  # beside the document: one may not name a file of this machine
        (self.home / "croissant.json").write_text(json.dumps(document))
        record = json.loads(self.sabath.run("fetch", "--json", str(self.home / "croissant.json")).out)
        self.assertEqual(record["exit"], 0, record)
        self.assertEqual((pathlib.Path(record["assets"][0]["path"]) / "f.bin").read_bytes(), self.data)
        self.assertEqual(record["assets"][0]["trusted_by"], "checksum")

    def test_a_false_sum_of_a_croissant_document_names_the_file(self):
        document = json.loads(self.info("--format", "croissant", str(self.recipe)).out)
        document["distribution"][0] |= {"contentUrl": "f.bin", "sha256": "0" * 64}
        (self.home / "croissant.json").write_text(json.dumps(document))
        record = json.loads(self.sabath.run("fetch", "--json", str(self.home / "croissant.json")).out)
        self.assertEqual(record["exit"], 7, record)
        self.assertEqual(record["assets"][0]["failures"][0]["path"], "f.bin")


class RealDocuments(Case):
    def test_documents_are_fetched_where_their_bytes_lie_beside_them(self):
        if not DATA.is_dir():
            self.skipTest("SABATH_TEST_DATA does not name a directory with croissant")
        shutil.copytree(DATA, self.home / "croissant")
        fetched = 0
        for name in ("enum", "simple-split", "compressed_archive", "file_object_in_zip", "read_from_tar", "live_dataset"):
            file = self.home / "croissant/recipes" / f"{name}.json"
            with self.subTest(name):
                result = self.sabath.run("fetch", "--json", str(file))
                record = json.loads(result.out)
                self.assertEqual(record["exit"], 0, record)
                fetched += record["assets"][0]["files"]
        self.assertGreaterEqual(fetched, 8)


if __name__ == "__main__":
    main()
