#!/usr/bin/python3
"""What packaging/ says agrees with the tree: name, version and address, floors, names of targets; each file is one that
its tool can read. `scripts/test --part recipes` runs the tools themselves."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

TREE = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = TREE / "packaging"
CMAKE = (TREE / "CMakeLists.txt").read_text()
VERSION = re.search(r"project\(sabath VERSION ([\d.]+)", CMAKE).group(1)
HOME = re.search(r'^ *HOMEPAGE_URL "(.*)"$', CMAKE, re.M)
SPACK = "spack/spack_repo/sabath/packages/sabath/package.py"

# Where each of them has the version, by a pattern with one group.
VERSIONS = {
    SPACK: r'version\("([\d.]+)", tag="v\1"\)',
    "easybuild/SABATH-*.eb": r"^version = '([\d.]+)'$",
    "conda/recipe.yaml": r'^  version: "([\d.]+)"$',
    "debian/changelog": r"\Asabath \(([\d.]+)-\d+\)",
    "apptainer/sabath.def": r"image\.version ([\d.]+)$",
}
# Where each of them has the address.
ADDRESSES = {
    SPACK: r'^    homepage = "(.*?)"',
    "easybuild/SABATH-*.eb": r"^homepage = '(.*)'$",
    "conda/recipe.yaml": r"^  homepage: (.*)$",
    "debian/control": r"^Homepage: (.*)$",
    "debian/copyright": r"^Source: (.*)$",
    "apptainer/sabath.def": r"image\.url (.*)$",
}
# An address of a thing called sabath, or an e-mail address of it. Hosts of examples and of the tests' own servers are no such thing.
ADDRESS = re.compile(
    r"(?:https?|git|ssh)://[\w.-]*(?<![\w-])sabath\.[\w.-]+[\w/.#-]*"
    r"|https?://[\w-]+\.[\w.-]+/[\w.-]+/sabath(?![\w-])[\w/.#-]*"
    r"|[\w.]+@[\w.]*sabath\.[a-z]+|sabath@[\w-]+\.[\w.]+"
)
# Facts about the original: where it has its fragments; and the seed of the ids of recipes, which stay what they are.
ORIGINAL = re.compile(r"https://github\.com/icl-utk-edu/sabath/(blob/|terms#KIND/NAME$)")
# What Spack's core gives to each package since Package API 2.0 (Spack 1.0), as far as such a class needs it: build systems,
# with their directives, are not among it.
CORE = ("Executable", "build_system", "conflicts", "depends_on", "license", "maintainers", "patch", "provides", "requires", "run_after",
        "run_before", "variant", "version", "when", "which", "working_dir", "join_path", "find", "install")  # fmt: skip


def text_of(pattern):
    (file,) = PACKAGING.glob(pattern)
    return file.read_text()


class StandIns:
    """Spack's two modules: each directive of a class is kept, with what it was told."""

    def __init__(self):
        self.told = []
        core, cmake = types.ModuleType("spack.package"), types.ModuleType("spack_repo.builtin.build_systems.cmake")
        for name in CORE:
            setattr(core, name, self.directive(name))
        cmake.CMakePackage = type("CMakePackage", (), {})
        cmake.generator = self.directive("generator")
        parents = [name for module in (core, cmake) for name in self.parents(module.__name__)]
        self.modules = {**{name: types.ModuleType(name) for name in parents}, core.__name__: core, cmake.__name__: cmake}

    @staticmethod
    def parents(name):
        words = name.split(".")
        return [".".join(words[:count]) for count in range(1, len(words))]

    def directive(self, name):
        return lambda *words, **named: self.told.append((name, words, named))

    def load(self, file):
        names = {"__name__": "sabath_package"}
        with mock.patch.dict(sys.modules, self.modules):
            exec(compile(file.read_text(), str(file), "exec"), names)
        return names["Sabath"]

    def words(self, name):
        return [words[0] for told, words, _ in self.told if told == name]


class Packaging(unittest.TestCase):
    def test_versions_are_in_step(self):
        for pattern, place in VERSIONS.items():
            found = re.search(place, text_of(pattern), re.M)
            self.assertIsNotNone(found, pattern)
            self.assertEqual(found.group(1), VERSION, pattern)
        self.assertEqual(len(list((PACKAGING / "easybuild").glob(f"SABATH-{VERSION}-*.eb"))), 1)
        self.assertEqual(set(re.findall(r"sabath-([\d.]+)-linux", text_of("apptainer/sabath.def"))), {VERSION})

    def test_one_address(self):
        self.assertIsNotNone(HOME, "CMakeLists.txt has the address: HOMEPAGE_URL")
        for pattern, place in ADDRESSES.items():
            found = re.search(place, text_of(pattern), re.M)
            self.assertIsNotNone(found, pattern)
            self.assertEqual(found.group(1), HOME.group(1), pattern)

    def test_no_other_address(self):
        self.assertIsNotNone(HOME, "CMakeLists.txt has the address: HOMEPAGE_URL")
        host = HOME.group(1).split("//")[1].split("/")[0]
        done = subprocess.run(["git", "-C", TREE, "grep", "-nIi", "sabath[./@]\\|@.*sabath"], capture_output=True, text=True)
        if done.returncode == 128:
            self.skipTest("no repository: " + done.stderr.strip())
        found = [line for line in done.stdout.splitlines() if not line.startswith(str(pathlib.Path(__file__).relative_to(TREE)))]
        self.assertGreater(len(found), 20)
        other = []
        for line in found:
            for match in ADDRESS.finditer(line):
                if not re.search(rf"[/@]{re.escape(host)}(/|$)", match[0]) and not ORIGINAL.match(match[0]):
                    other.append(f"{line.split(':')[0]}: {match[0]}")
        self.assertEqual(other, [], f"the address of SABATH is {HOME.group(1)}")

    def test_the_image_unpacks_what_is_packed(self):
        packed = re.search(r'>"\$root/\$name(\.tar\.\w+)"', (TREE / "scripts/package").read_text()).group(1)
        self.assertEqual(set(re.findall(r"x86_64(\.tar\.\w+)", text_of("apptainer/sabath.def"))), {packed})

    def test_floors_are_in_step(self):
        spack, page = text_of(SPACK), text_of("README.md")
        cmake = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", CMAKE).group(1)
        self.assertIn(f'cmake@{cmake}:', spack)
        self.assertIn(f"cmake >={cmake}", text_of("conda/recipe.yaml"))
        self.assertIn(f"cmake (>= {cmake})", text_of("debian/control"))
        self.assertIn(f"| CMake | {cmake} |", page)
        for package, name in (("CURL", "curl"), ("OpenSSL", "openssl"), ("nlohmann_json", "nlohmann-json"), ("fmt", "fmt")):
            floor = re.search(rf"find_package\({package} ([\d.]+) REQUIRED\)", CMAKE)
            floor = floor or re.search(rf"SABATH_NEEDS_{name.split('-')[-1].upper()} ([\d.]+)\)", CMAKE)
            self.assertIn(f'depends_on("{name}@{floor.group(1)}:', spack)

    def test_spack_loads_the_class(self):
        stand_ins = StandIns()
        stand_ins.load(PACKAGING / SPACK)
        self.assertEqual(stand_ins.words("generator"), ["ninja"])
        self.assertEqual(set(stand_ins.words("variant")), {"mpi", "library"})
        self.assertIn("hdf5@1.10.7:1.14 ~mpi", stand_ins.words("depends_on"))
        self.assertEqual((PACKAGING / "spack/spack_repo/sabath/repo.yaml").read_text(), "repo:\n  namespace: sabath\n  api: v2.0\n")

    def test_easyconfigs_are_of_one_generation(self):
        generation = set()
        for file in (PACKAGING / "easybuild").glob("*.eb"):
            constants = {"SYSTEM": {}, "SHLIB_EXT": "so", "GNU_SOURCE": "", "SOURCE_TAR_GZ": "a", "SOURCELOWER_TAR_GZ": "a"}
            exec(compile(file.read_text(), str(file), "exec"), constants)
            toolchain, suffix = constants["toolchain"], constants.get("versionsuffix", "")
            self.assertEqual(file.name, f"{constants['name']}-{constants['version']}-{toolchain['name']}-{toolchain['version']}{suffix}.eb")
            generation.add(toolchain["version"])
            self.assertEqual(len(constants["checksums"]), len(constants["sources"]), file.name)
            own = {(other.name.split("-")[0], other.name.split("-")[1]) for other in file.parent.glob("*.eb")}
            for name, version, *_ in constants["dependencies"]:
                if name in {known for known, _ in own}:
                    self.assertIn((name, version), own, file.name)
                if name == "HDF5":  # the plain one links the program with an MPI
                    self.assertIn((name, version, "-serial"), constants["dependencies"])
        self.assertEqual(len(generation), 1, generation)

    def test_conda_requires_no_mpi(self):
        recipe = text_of("conda/recipe.yaml")
        host = re.search(r"^  host:\n((?:    - .*\n)+)", recipe, re.M).group(1)
        ignored = re.search(r"^  ignore_run_exports:\n    from_package:\n((?:      - .*\n)+)", recipe, re.M)
        ignored = re.findall(r"- (\S+)", ignored.group(1)) if ignored else []
        for mpi in re.findall(r"- (openmpi|mpich)\b", host):
            self.assertIn(mpi, ignored, "each installation would get this MPI, and could have no other")
        self.assertRegex(host, r"- hdf5 .*nompi_\*")
        self.assertNotRegex(recipe, r"(?m)^  path: ")

    def test_setup_without_apt_names_the_ways(self):
        with tempfile.TemporaryDirectory() as directory:
            for program in ("bash", "cat", "env"):
                os.symlink(shutil.which(program), f"{directory}/{program}")
            done = subprocess.run([TREE / "scripts/setup", "quickstart"], capture_output=True, text=True, env={"PATH": directory})
        self.assertEqual(done.returncode, 1)
        for way in re.findall(r"^  (scripts/package|spack \S+ \S+ \S+)", done.stderr, re.M):
            self.assertTrue((TREE / way.split()[-1]).exists(), way)
        for word in ("scripts/package", "wheel", "spack repo add", "docs/install.md"):
            self.assertIn(word, done.stderr)

    def test_debian_files_are_whole(self):
        self.assertTrue(os.access(PACKAGING / "debian/rules", os.X_OK))
        self.assertEqual(text_of("debian/source/format"), "3.0 (quilt)\n")
        wanted = re.search(r"^product=\((.*?)\)$", (TREE / "scripts/setup").read_text(), re.M | re.S).group(1)
        for library in re.findall(r"\S+-dev\b", wanted.replace("'", "")):
            self.assertIn(library, text_of("debian/control"), "scripts/setup installs it for a build")


if __name__ == "__main__":
    unittest.main()
