#!/usr/bin/python3
"""`cmake --install` as an administrator uses it: after a partial build, over an older version, moved, and away again."""

import json
import os
import pathlib
import re
import shutil
import subprocess

from installation import BUILD, InstallCase, paths_below
from support.case import main

# What `module load` does with a modulefile, for a machine without modules.
MODULES = """
proc prepend-path {name value} { puts "$name=$value" }
foreach command {module-whatis conflict setenv} { proc $command args {} }
set ModulesCurrentModulefile [lindex $argv 0]
source $ModulesCurrentModulefile
"""


class Install(InstallCase):
    def built(self, *parts):
        """A build directory with only these parts of this one."""
        copy = self.home / "build"
        for script in [*BUILD.rglob("cmake_install.cmake"), *BUILD.glob("*.cmake"), *BUILD.glob("modulefile*")]:
            file = copy / script.relative_to(BUILD)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(script.read_text().replace(str(BUILD), str(copy)))
        for part in parts:
            (copy / part).parent.mkdir(parents=True, exist_ok=True)
            os.symlink(BUILD / part, copy / part)
        return copy

    def test_the_program_alone(self):
        """It is installed, and the library's absence is said."""
        programs = ["bin/sabath", *(str(p.relative_to(BUILD)) for p in BUILD.glob("lib*/sabath"))]
        build = self.built(*programs)
        said = self.install(build)
        self.assertEqual(said, f"-- Not installed: the library for C++ programs, as it is not built: cmake --build {build}"
                               " --target sabath-library; then install again")
        self.assertFalse(list(self.prefix.glob("include/*")) + list(self.prefix.rglob("libsabath.*")))
        self.assertIn("it is not built", self.install(build, "--component", "library", code=1))
        listed = subprocess.run([self.prefix / "bin/sabath", "list"], capture_output=True, text=True, env={"HOME": "/"},
                                check=True).stdout
        self.assertIn("cosmoflow", listed)

    def test_nothing_is_built(self):
        said = self.install(self.built(), code=1)
        self.assertIn("the program is not built: cmake --build", said)
        self.assertFalse(list(self.prefix.rglob("*.json")))

    def test_upgrade(self):
        """What only the older version had goes, and what others put beside it stays."""
        self.install()
        for name, component in (("share/sabath/shipped/datasets/gone.json", "program"), ("share/doc/sabath/docs/gone.md", "docs")):
            (self.prefix / name).write_text("{}")
            with open(self.prefix / f"share/sabath/installed/{component}.txt", "a", encoding="utf-8") as names:
                names.write(name + "\n")
        config, own = self.prefix / "etc/sabath/config.json", self.prefix / "share/sabath/shipped/datasets/own.json"
        config.parent.mkdir(parents=True)
        for file in (config, own):
            file.write_text("{}")
        before = paths_below(self.prefix)
        said = self.install(BUILD, "--component", "program")
        self.assertEqual(said, f"-- Removing: {self.prefix}/share/sabath/shipped/datasets/gone.json")
        self.assertEqual(self.install(), f"-- Removing: {self.prefix}/share/doc/sabath/docs/gone.md")
        self.assertEqual(self.install(), "")
        gone = {"share/sabath/shipped/datasets/gone.json", "share/doc/sabath/docs/gone.md"}
        self.assertEqual(paths_below(self.prefix), sorted(set(before) - gone))

    def test_uninstall(self):
        self.install()
        self.assertIn("Removed", self.uninstall())
        self.assertFalse(self.prefix.exists())
        for kept in ("bin/other", "share/man/man1/other.1", "etc/sabath/config.json"):
            (self.prefix / kept).parent.mkdir(parents=True, exist_ok=True)
            (self.prefix / kept).write_text("x")
        (self.prefix / "lib").mkdir()  # empty, and not ours
        before = paths_below(self.prefix)
        self.install()
        self.install(BUILD, "--component", "docs")
        self.uninstall()
        self.assertEqual(paths_below(self.prefix), before)


class Prefix(InstallCase):
    def setUp(self):
        super().setUp()
        self.install()
        moved = self.home / "moved"
        self.prefix.rename(moved)
        self.prefix = moved

    def run_installed(self, *arguments, **variables):
        path = f"{self.prefix}/bin:/usr/bin:/bin"
        return subprocess.run(arguments, env={"HOME": str(self.home), "PATH": path, **variables}, capture_output=True,
                              text=True, check=True).stdout

    def test_documents(self):
        """Each link of each document, and each docs/NAME.md of the manual, leads to a file."""
        home = self.prefix / "share/doc/sabath"
        for page in home.rglob("*.md"):
            for link in re.findall(r"\]\(([^)#:\s]+)", page.read_text()):
                self.assertTrue((page.parent / link).exists(), f"{page.relative_to(home)} links to {link}")
        manual = (self.prefix / "share/man/man1/sabath.1").read_text()
        named = set(re.findall(r"docs/[a-z-]+\.md", manual.replace("\\-", "-")))
        self.assertGreater(len(named), 5)
        for name in named:
            self.assertTrue((home / name).exists(), name)

    def test_help_and_manual(self):
        for verb in ("fetch", "manifest diff"):
            self.assertTrue(self.run_installed("sabath", "help", *verb.split()).startswith(f"sabath {verb}: "))
        if shutil.which("man"):
            self.assertEqual(self.run_installed("man", "-w", "sabath").strip(), f"{self.prefix}/share/man/man1/sabath.1")

    def test_schemas(self):
        schemas = sorted((self.prefix / "share/sabath/shipped/schema").glob("*.json"))
        self.assertEqual([file.name for file in schemas], ["recipe-0.schema.json", "recipe-1.schema.json"])
        for file in schemas:
            self.assertIn("$schema", json.loads(file.read_text()))

    def test_module(self):
        module, for_lmod = sorted((self.prefix / "share/sabath/modules/sabath").iterdir())
        self.assertEqual(for_lmod.name, f"{module.name}.lua")
        self.assertEqual(f"sabath {module.name}", self.run_installed("sabath", "--version").split("\n")[0][: len(module.name) + 7])
        if not shutil.which("tclsh"):
            self.skipTest("there is no tclsh")
        loader, link = self.home / "load.tcl", self.home / "sabath"
        loader.write_text(MODULES)
        link.symlink_to(module)
        for file in (module, link):
            said = subprocess.run(["tclsh", loader, file], capture_output=True, text=True, check=True).stdout
            paths = dict(line.split("=") for line in said.splitlines())
            self.assertEqual(paths["PATH"], f"{self.prefix}/bin")
            for value in paths.values():
                self.assertTrue(pathlib.Path(value).is_dir(), value)

    def loaded(self, program, modules, *more):
        """What `module load sabath` of this program adds to PATH and CMAKE_PREFIX_PATH; nothing stands in them before."""
        script = f'eval "$({program} load sabath)" && echo "$PATH $CMAKE_PREFIX_PATH $LOADEDMODULES"'
        variables = {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "MODULEPATH": str(modules), "LC_ALL": "C.UTF-8"}
        result = subprocess.run(["bash", "--norc", "-c", script], env={**variables, **dict(more)}, capture_output=True, text=True,
                                check=False)  # fmt: skip
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.split()

    def test_module_programs(self):
        """The real ones load the real files, in their place and by a site's link."""
        programs = {"tcl": "/usr/lib/x86_64-linux-gnu/modulecmd.tcl", "lua": "/usr/share/lmod/lmod/libexec/lmod"}
        there = {kind: name for kind, name in programs.items() if pathlib.Path(name).exists()}
        if not there:
            self.skipTest("there is neither Environment Modules nor Lmod")
        version = self.run_installed("sabath", "--version").split()[1]
        own, site = self.prefix / "share/sabath/modules", self.home / "site"
        (site / "sabath").mkdir(parents=True)
        for kind, name in there.items():
            file = f"{version}.lua" if kind == "lua" else version
            (site / "sabath" / file).symlink_to(own / "sabath" / file)
            for modules in (own, site):
                path, prefix, names = self.loaded(f"{name} bash", modules, ("LMOD_CMD", name))
                self.assertEqual(path.split(":")[0], f"{self.prefix}/bin", kind)
                self.assertEqual((prefix, names), (str(self.prefix), f"sabath/{version}"), kind)


if __name__ == "__main__":
    main()
