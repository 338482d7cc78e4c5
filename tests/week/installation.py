"""A case with a prefix of its own, where `cmake --install` puts the program under test."""

import os
import pathlib
import re
import subprocess

from support.case import Case

BUILD = pathlib.Path(os.environ.get("SABATH_BUILD", ""))
CMAKE = os.environ.get("SABATH_CMAKE", "cmake")


def paths_below(directory):
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*"))


class InstallCase(Case):
    def setUp(self):
        super().setUp()
        if not (BUILD / "cmake_install.cmake").exists():
            self.skipTest("SABATH_BUILD names no build directory")
        self.prefix = self.home / "prefix"

    def install(self, build=BUILD, *arguments, code=0):
        """What cmake says, without its lines of each file."""
        result = subprocess.run([CMAKE, "--install", build, "--prefix", self.prefix, *arguments], capture_output=True,
                                text=True, check=False)  # fmt: skip
        self.assertEqual(result.returncode, code, result.stderr)
        said = [line for line in result.stdout.splitlines() if not re.match("-- (Installing|Up-to-date|Install conf)", line)]
        return " ".join((" ".join(said) + result.stderr).split())

    def uninstall(self):
        script = self.prefix / "share/sabath/uninstall.cmake"
        return subprocess.run([CMAKE, "-P", script], capture_output=True, text=True, check=True).stdout
