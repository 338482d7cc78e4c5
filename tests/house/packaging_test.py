#!/usr/bin/python3
"""What packaging/ says agrees with the tree: versions, floors, names of targets; each file is one its tool could read."""

import ast
import os
import pathlib
import re
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = TREE / "packaging"
CMAKE = (TREE / "CMakeLists.txt").read_text()
VERSION = re.search(r"project\(sabath VERSION ([\d.]+)", CMAKE).group(1)

# Where each of them has the version, by a pattern with one group.
VERSIONS = {
    "spack/package.py": r'version\("([\d.]+)", tag="v\1"\)',
    "easybuild/SABATH-*.eb": r"^version = '([\d.]+)'$",
    "conda/recipe.yaml": r'^  version: "([\d.]+)"$',
    "debian/changelog": r"\Asabath \(([\d.]+)-\d+\)",
    "apptainer/sabath.def": r"image\.version ([\d.]+)$",
}


def text_of(pattern):
    (file,) = PACKAGING.glob(pattern)
    return file.read_text()


class Packaging(unittest.TestCase):
    def test_versions_are_in_step(self):
        for pattern, place in VERSIONS.items():
            found = re.search(place, text_of(pattern), re.M)
            self.assertIsNotNone(found, pattern)
            self.assertEqual(found.group(1), VERSION, pattern)
        (easyconfig,) = (PACKAGING / "easybuild").glob("*.eb")
        self.assertTrue(easyconfig.name.startswith(f"SABATH-{VERSION}-"), easyconfig.name)
        self.assertEqual(set(re.findall(r"sabath-([\d.]+)-linux", text_of("apptainer/sabath.def"))), {VERSION})

    def test_the_image_unpacks_what_is_packed(self):
        packed = re.search(r'>"\$root/\$name(\.tar\.\w+)"', (TREE / "scripts/package").read_text()).group(1)
        self.assertEqual(set(re.findall(r"x86_64(\.tar\.\w+)", text_of("apptainer/sabath.def"))), {packed})

    def test_floors_are_in_step(self):
        spack, page = text_of("spack/package.py"), text_of("README.md")
        cmake = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", CMAKE).group(1)
        self.assertIn(f'cmake@{cmake}:', spack)
        self.assertIn(f"cmake >={cmake}", text_of("conda/recipe.yaml"))
        self.assertIn(f"cmake (>= {cmake})", text_of("debian/control"))
        self.assertIn(f"| CMake | {cmake} |", page)
        for package, name in (("CURL", "curl"), ("OpenSSL", "openssl"), ("nlohmann_json", "nlohmann-json"), ("fmt", "fmt")):
            floor = re.search(rf"find_package\({package} ([\d.]+) REQUIRED\)", CMAKE)
            floor = floor or re.search(rf"SABATH_NEEDS_{name.split('-')[-1].upper()} ([\d.]+)\)", CMAKE)
            self.assertIn(f'depends_on("{name}@{floor.group(1)}:', spack)

    def test_python_is_python(self):
        for pattern in ("spack/package.py", "easybuild/*.eb"):
            ast.parse(text_of(pattern))

    def test_debian_files_are_whole(self):
        self.assertTrue(os.access(PACKAGING / "debian/rules", os.X_OK))
        self.assertEqual(text_of("debian/source/format"), "3.0 (quilt)\n")
        wanted = re.search(r"^product=\((.*?)\)$", (TREE / "scripts/setup").read_text(), re.M | re.S).group(1)
        for library in re.findall(r"\S+-dev\b", wanted.replace("'", "")):
            self.assertIn(library, text_of("debian/control"), "scripts/setup installs it for a build")


if __name__ == "__main__":
    unittest.main()
