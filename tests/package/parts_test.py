#!/usr/bin/python3
"""What packaging/sources.json pins, who builds it, and that nothing else is unpacked."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PACKAGING = pathlib.Path(__file__).resolve().parents[2] / "packaging"
SOURCES = json.loads((PACKAGING / "sources.json").read_text())
PARTS = {part["name"]: part for part in SOURCES["parts"]}


def parts(*arguments, **variables):
    return subprocess.run([sys.executable, PACKAGING / "parts.py", *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, **variables})  # fmt: skip


class Pinned(unittest.TestCase):
    def test_each_file_has_a_hash_and_no_url_is_a_mirror_of_one_distribution(self):
        for part in PARTS.values():
            self.assertTrue(part["files"] and part["licence"] and part["homepage"].startswith("https://"), part["name"])
            self.assertTrue(part.get("build_only") or part["licence_files"], part["name"])
            for file in part["files"]:
                self.assertRegex(file["sha256"], "^[0-9a-f]{64}$")
                for url in file["urls"]:
                    self.assertRegex(url, "^https://")
                    self.assertNotIn("debian", url)

    def test_each_part_is_built_and_with_the_version_that_is_pinned(self):
        script = (PACKAGING / "build-parts").read_text()
        for name in PARTS:
            self.assertIn(f"\nbuild_{name}() {{", script)
        names = {"libxxhash": "xxhash", "yaml-0.1": "yaml", "openssl": "openssl", "libcrypto": "openssl", "hdf5-serial": "hdf5"}
        told = dict(re.findall(r"\bpc ([\w.-]+) (\d[\d.]*) ", script))
        for package, name in names.items():
            self.assertEqual(told[package], PARTS[name]["version"], package)

    def test_what_is_needed_comes_first(self):
        order = parts("closure", "curl", "libarchive").stdout.split()
        for name in order:
            for need in PARTS[name]["needs"]:
                self.assertLess(order.index(need), order.index(name))
        self.assertNotEqual(parts("closure", "no-such-part").returncode, 0)

    def test_other_bytes_are_not_unpacked(self):
        with tempfile.TemporaryDirectory() as directory:
            directory = pathlib.Path(directory)
            name = PARTS["bzip2"]["files"][0]["name"]
            absent = parts("unpack", directory, "bzip2", directory / "a", "x86_64")
            self.assertIn("is missing", absent.stderr)
            (directory / name).write_bytes(b"other bytes")
            wrong = parts("unpack", directory, "bzip2", directory / "b", "x86_64")
            self.assertNotEqual((absent.returncode, wrong.returncode), (0, 0))
            self.assertIn("is not what sources.json names", wrong.stderr)
            self.assertEqual([*(directory / "b").iterdir()], [])


class Bill(unittest.TestCase):
    def test_an_spdx_document(self):
        bill = json.loads(parts("spdx", "1.2.3", SOURCE_DATE_EPOCH="1767225600").stdout)
        self.assertEqual((bill["spdxVersion"], bill["creationInfo"]["created"]), ("SPDX-2.3", "2026-01-01T00:00:00Z"))
        names = [package["SPDXID"] for package in bill["packages"]]
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual({f"SPDXRef-{name}" for name in PARTS}, set(names))
        for relation in bill["relationships"]:
            self.assertLessEqual({relation["spdxElementId"], relation["relatedSpdxElement"]}, {*names, "SPDXRef-DOCUMENT"})
        own = {licence["licenseId"] for licence in bill["hasExtractedLicensingInfos"]}
        for package in bill["packages"]:
            if package["licenseDeclared"].startswith("LicenseRef-"):
                self.assertIn(package["licenseDeclared"], own)


if __name__ == "__main__":
    unittest.main()
