#!/usr/bin/python3
"""`site detect` and `solve`, and `run` on what they give, with trees in the layouts of EESSI, EasyBuild and Spack under real Lmod;
and the same of environment-modules for Spack's."""

import json
import os
import pathlib
import subprocess
import time

from support import made_trees, module_tree
from support.case import Case, main, place
from support.content import fragment

TREE = pathlib.Path(__file__).resolve().parents[2]
PATIENT = ("--patience", "120")


class Trees(Case):
    def setUp(self):
        super().setUp()
        if module_tree.lmod_variables("/x") is None:
            self.skipTest("no Lmod: scripts/setup full")

    def detect(self, **variables):
        file = self.home / "here.json"
        file.unlink(missing_ok=True)
        self.expect(self.sabath.run("site", "detect", *PATIENT, "-o", file, **variables))
        return file, json.loads(file.read_text())

    def fact(self, profile, name):
        (found,) = [fact for fact in profile["machine"] if fact["name"] == name]
        return found

    def solve(self, file, *needs, code=0):
        return self.expect(self.sabath.run("site", "solve", "--json", "--site", file, *needs), code).record

    def loaded_by_lmod(self, modules, module_path):
        script = f'. {module_tree.LMOD}/init/bash; export MODULEPATH={module_path}; module load "$@" || exit 1; echo "$LOADEDMODULES"'
        done = subprocess.run(["bash", "--noprofile", "--norc", "-c", script, "bash", *modules], capture_output=True, text=True,
                              env={"PATH": os.environ["PATH"], "HOME": str(self.home)}, check=False)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        return set(done.stdout.strip().split(":"))

    def run_with(self, site, *needs, code=0, **variables):
        """What the programs of a run find loaded."""
        place(self.home / "origin/a", b"x")
        self.sabath.add("set", [fragment(f"file://{self.home}/origin/a")])
        step = {"argv": ["sh", "-c", 'env >"$HOME/loaded"']}
        self.sabath.add("model", kind="model", default_dataset="set", requirements={"system_modules": list(needs)}, run={"set": [step]})
        directory = self.home / f"run{time.monotonic_ns()}"
        self.expect(self.sabath.run("run", "model", "--site", site, "--trust", "once", "--launcher", "direct", "--run-dir", directory, **variables), code)
        variables = dict(line.split("=", 1) for line in (self.home / "loaded").read_text().split("\n") if "=" in line)
        return json.loads((directory / "run.json").read_text())["environment"]["modules"], variables


class Eessi(Trees):
    def setUp(self):
        super().setUp()
        self.root = self.home / "cvmfs/software.eessi.io"
        self.script = made_trees.eessi(self.root)

    def variables(self):
        """What a shell has after the script of EESSI's beginning."""
        done = subprocess.run(["bash", "--noprofile", "--norc", "-c", f". {self.script} >&2 && env -0"], capture_output=True, text=True,
                              env={"PATH": os.environ["PATH"], "HOME": str(self.home)}, check=True)  # fmt: skip
        found = dict(one.split("=", 1) for one in done.stdout.split("\0") if one)
        return {name: value for name, value in found.items() if name.startswith(("LMOD", "MODULE", "EESSI"))}

    def test_what_is_found_and_what_a_run_loads(self):
        variables = self.variables()
        file, profile = self.detect(**variables)
        self.assertEqual(sorted(one["module"] for one in profile["software"]), sorted(made_trees.EASYBUILD))
        self.assertEqual(self.fact(profile, "modules")["known"], "Lmod's spider")
        self.assertEqual(self.fact(profile, "EasyBuild")["value"], f"{len(made_trees.EASYBUILD)} installed")
        for one in profile["software"]:
            self.assertEqual(one["known"], "Lmod's spider, and its modulefile, and EasyBuild's tree")
        for needs, last in ((["tensorflow>=2.10"], "TensorFlow/2.15.1-foss-2023a-CUDA-12.1.1"), (["tensorflow<2.14"], "TensorFlow/2.13.0-foss-2023a"),
                            (["openmpi", "python"], "Python/3.11.5-GCCcore-13.2.0"), (["hdf5", "ucx-cuda+cuda"], "UCX-CUDA/1.14.1-GCCcore-12.3.0-CUDA-12.1.1"),
                            (["tensorflow+cuda", "openmpi"], "OpenMPI/4.1.5-GCC-12.3.0")):  # fmt: skip
            chosen = self.solve(file, *needs)["modules"]
            self.assertIn(last, chosen)
            hidden = {made_trees.HIDDEN} if "GCCcore/12.3.0" in chosen else set()
            self.assertEqual(self.loaded_by_lmod(chosen, variables["EESSI_MODULEPATH"]) - hidden, set(chosen))
        refused = self.solve(file, "tensorflow", "openmpi>=4.1.6", code=3)
        self.assertIn("OpenMPI/4.1.5-GCC-12.3.0 is in the way", refused["against"][0])
        modules, found = self.run_with(file, "tensorflow>=2.10", **variables)
        self.assertEqual(found["EBVERSIONTENSORFLOW"], "2.15.1-foss-2023a-CUDA-12.1.1")
        self.assertEqual(modules, self.solve(file, "tensorflow>=2.10")["modules"])

    def test_the_profile_that_is_shipped(self):
        """It needs no detection; what its script prints is not taken for variables."""
        text = (TREE / "etc/sites/eessi.json").read_text()
        self.assertEqual(text.count("/cvmfs/"), 1)
        site = self.home / "eessi.json"
        site.write_text(text.replace("/cvmfs/", f"{self.home}/cvmfs/"))
        named = {module for modules in json.loads(text)["modules"].values() for module in modules}
        self.assertLessEqual(named, set(made_trees.EASYBUILD))
        modules, found = self.run_with(site, "tensorflow", "openmpi>=4")
        self.assertEqual(modules, ["TensorFlow/2.13.0-foss-2023a", "OpenMPI/4.1.5-GCC-12.3.0"])
        self.assertEqual(found["EBVERSIONOPENMPI"], "4.1.5-GCC-12.3.0")
        self.assertEqual([name for name in found if not name.isidentifier() and not name.startswith("BASH_FUNC_")], [])

    def test_as_cvmfs_shows_it(self):
        """All files are of one user, who is not root."""
        if os.geteuid() != 0:
            self.skipTest("only root gives files to another user")
        variables = self.variables()
        for path in [self.root, *self.root.rglob("*")]:
            os.chown(path, 12345, 12345, follow_symlinks=False)
        _, profile = self.detect(**variables)
        self.assertEqual(profile["software"], [])
        self.assertIn("owned by uid 12345", {one["what"]: one["why"] for one in profile["passed_over"]}[variables["EESSI_MODULEPATH"]])
        (self.home / "config.json").write_text(json.dumps({"trusted_owners": ["12345"]}))
        _, profile = self.detect(SABATH_CONFIG=str(self.home / "config.json"), **variables)
        self.assertEqual(len(profile["software"]), len(made_trees.EASYBUILD))


class EasyBuild(Trees):
    def test_its_tree(self):
        made_trees.easybuild(self.home / "eb", self.home / "eb/modules/all")
        (self.home / "eb/software/Bare/1.0/easybuild").mkdir(parents=True)
        (self.home / "eb/software/NotOfIt/1.0").mkdir(parents=True)
        variables = module_tree.lmod_variables(self.home / "eb/modules/all")
        file, profile = self.detect(**variables, EASYBUILD_PREFIX=str(self.home / "eb"))
        (bare,) = [one for one in profile["software"] if "module" not in one]
        self.assertEqual((bare["name"], bare["version"], bare["known"]), ("Bare", "1.0", "EasyBuild's tree"))
        self.assertEqual(self.fact(profile, "EasyBuild"), {"name": "EasyBuild", "value": f"{len(made_trees.EASYBUILD) + 1} installed",
                                                           "known": str(self.home / "eb")})  # fmt: skip
        self.assertIn("no module has bare", self.solve(file, "bare", code=3)["against"][0])
        chosen = self.solve(file, "foss==2023a")["modules"]
        self.assertEqual(self.loaded_by_lmod(chosen, self.home / "eb/modules/all") - {made_trees.HIDDEN}, set(chosen))
        (self.home / "eb").chmod(0o777)
        _, profile = self.detect(**variables, EASYBUILD_PREFIX=str(self.home / "eb"))
        self.assertEqual(self.fact(profile, "EasyBuild")["value"], "not asked")
        (self.home / "eb").chmod(0o755)


class Spack(Trees):
    def test_its_database_and_its_modules(self):
        root = self.home / "spack"
        modules = made_trees.spack(root)
        systems = [module_tree.lmod_variables(modules)]
        if module_tree.modulecmd() is not None:
            systems.append({"MODULES_CMD": module_tree.modulecmd(), "MODULEPATH": str(modules)})
        for variables in systems:
            file, profile = self.detect(**variables, SPACK_ROOT=str(root))
            self.assertEqual(self.fact(profile, "Spack")["value"], f"{len(made_trees.SPACK)} packages")
            rows = {one["name"]: one for one in profile["software"]}
            self.assertEqual(rows["openmpi"]["version"], "4.1.6")
            self.assertEqual(sorted(set(rows["openmpi"]["features"]) & {"cuda", "ucx"}), ["cuda", "ucx"])
            self.assertNotIn("module", rows["paraview"])
            self.assertNotIn("fortran", rows["hdf5"]["features"])
            chosen = self.solve(file, "hdf5+mpi", "openmpi+cuda>=4")["modules"]
            self.assertEqual([one.split("/")[0] for one in chosen], ["gcc", "openmpi", "hdf5"])
            self.assertEqual(self.loaded_by_lmod(chosen, modules), set(chosen))
            self.assertIn("no module has paraview", self.solve(file, "paraview", code=3)["against"][0])


if __name__ == "__main__":
    main()
