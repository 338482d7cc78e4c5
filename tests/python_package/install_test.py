#!/usr/bin/python3
"""`pip install ./python` into an environment of its own, beside a build; and what type checkers and readers rely on."""

import ast
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from support import program
from support.case import main
from support.package import PackageCase

TREE = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = TREE / "python"


def without(module):
    return subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True, check=False).returncode != 0


class Install(PackageCase):
    @unittest.skipIf(
        any(map(without, ("pip", "ensurepip", "setuptools", "wheel"))), "this Python has no pip, ensurepip, setuptools or wheel"
    )
    def test_into_an_environment(self):
        self.one(size=1000)
        self.session.fetch("one")
        environment = self.home / "environment"
        copy = self.home / "python"  # pip leaves its build there
        shutil.copytree(PACKAGES, copy, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
        subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", str(environment)], check=True)
        python = environment / "bin/python"
        clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")}
        code = (
            "import sabath, hpcfair, pathlib, sabath.program\n"
            "assert sabath.program.find().endswith('/build/release/bin/sabath'), sabath.program.find()\n"
            "print(pathlib.Path(sabath.__file__).parent, sabath.path('one'))\n"
            "try:\n"
            "    import fsspec\n"
            "except ImportError:\n"
            "    pass\n"
            "else:\n"
            "    assert len(fsspec.filesystem('sabath').cat('one/d/one.bin')) == 1000\n"
        )
        # In a tree beside a build, which the installed package then finds by itself.
        (self.home / "build").mkdir()
        (self.home / "build/release").symlink_to(pathlib.Path(os.environ["SABATH_LIBRARY"]).parents[1])
        for name in ("SABATH_LIBRARY", "SABATH_PROGRAM"):
            clean.pop(name, None)
        subprocess.run([python, "-m", "pip", "-q", "install", "--no-index", "--no-deps", "--no-build-isolation", copy],
                       check=True, env=clean, cwd=self.home)  # fmt: skip
        told = subprocess.run([python, "-c", code], check=True, env=clean, cwd=self.home, capture_output=True, text=True).stdout
        package, path = told.split()
        self.assertTrue(package.startswith(str(environment)), package)
        self.assertEqual(path, self.session.path("one"))
        for typed in (pathlib.Path(package), pathlib.Path(package).parent / "hpcfair"):
            self.assertTrue((typed / "py.typed").is_file())


class Finding(PackageCase):
    def test_the_library_is_found_beside_the_program(self):
        copy = self.home / "elsewhere"
        shutil.copytree(PACKAGES / "sabath", copy / "sabath", ignore=shutil.ignore_patterns("__pycache__"))
        clean = {name: value for name, value in os.environ.items() if name not in ("SABATH_LIBRARY", "SABATH_PROGRAM")}
        expected = os.path.realpath(os.environ["SABATH_LIBRARY"])
        in_path = f"{pathlib.Path(program.BINARY).parent}:{os.environ['PATH']}"
        for variables in ({"SABATH_PROGRAM": program.BINARY}, {"PATH": in_path}):
            told = subprocess.run([sys.executable, "-c", "import sabath; print(sabath.Library.opened().file)"], check=True,
                                  env={**clean, "PYTHONPATH": str(copy), **variables}, capture_output=True, text=True).stdout  # fmt: skip
            self.assertEqual(os.path.realpath(told.strip()), expected)


class Source(unittest.TestCase):
    def test_it_is_python_3_8(self):
        for file in PACKAGES.rglob("*.py"):
            ast.parse(file.read_text(), feature_version=(3, 8))

    def test_every_public_function_is_described_and_typed(self):
        for file in PACKAGES.rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                    where = f"{file.relative_to(TREE)}:{node.lineno}: {node.name}"
                    untyped = [each.arg for each in node.args.args + node.args.kwonlyargs if not each.annotation]
                    self.assertLessEqual(set(untyped), {"self", "cls"}, where)
                    self.assertIsNotNone(node.returns, where)

    def test_the_version_is_that_of_the_build(self):
        version = f'version = "{TREE.joinpath("CMakeLists.txt").read_text().split("VERSION ", 2)[2].split()[0]}"'
        self.assertIn(version, (PACKAGES / "pyproject.toml").read_text())


if __name__ == "__main__":
    tempfile.tempdir = None
    main()
