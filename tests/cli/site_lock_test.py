#!/usr/bin/python3
"""`run --lock`: what a run loaded under Lmod is loaded again under environment-modules, and the other way round, both over real
trees of modulefiles; and records and sites that are no help."""

import hashlib
import json
import os

from support import module_tree
from support.case import Case, main, place
from support.content import fragment

PATIENT = ("--patience", "120")


class Locked(Case):

    def setUp(self):
        super().setUp()
        place(self.home / "origin/a", b"x")
        self.sabath.add("set", [fragment(f"file://{self.home}/origin/a")])
        self.step = {"argv": ["sh", "-c", 'echo "$LOADEDMODULES" >"$HOME/loaded"']}

    def model(self, name, *needs):
        self.sabath.add(name, kind="model", default_dataset="set", requirements={"system_modules": list(needs)}, run={"set": [self.step]})

    def launch(self, name, site, *arguments, code=0, **variables):
        self.count = getattr(self, "count", 0) + 1
        directory = self.home / f"run{self.count}"
        result = self.expect(self.sabath.run("run", name, "--site", site, "--trust", "once", "--launcher", "direct", "--run-dir",
                                             directory, *arguments, **variables), code)  # fmt: skip
        self.assertEqual(directory.exists(), code == 0, "a run that is refused leaves nothing")
        return result, directory

    def environment(self, directory):
        return json.loads((directory / "run.json").read_text())["environment"]

    def loaded(self):
        return {one for one in (self.home / "loaded").read_text().strip().split(":") if one}


class LockedOnTwoSites(Locked):
    MODULES = ["cuda/12.2", "gcc/12.3", "openmpi/4.1.6", "tensorflow/2.11"]

    def setUp(self):
        super().setUp()
        lua, tcl = module_tree.make_lua(self.home / "lua"), module_tree.make_tcl(self.home / "tcl")
        self.lmod, self.command = module_tree.lmod_variables(lua), module_tree.modulecmd()
        if self.lmod is None or self.command is None:
            self.skipTest("no Lmod, or no environment-modules: scripts/setup full modules")
        self.tcl = {"MODULES_CMD": self.command, "MODULEPATH": str(tcl)}
        script = self.home / "module.sh"
        script.write_text(f'module() {{ eval "$({self.command} bash "$@")"; }}\n')
        self.scripts = {"lmod": str(module_tree.LMOD / "init/bash"), "tcl": str(script)}

    def site(self, name, variables):
        file = self.home / f"{name}.json"
        self.expect(self.sabath.run("site", "detect", *PATIENT, "-o", file, **variables))
        profile = json.loads(file.read_text())
        file.write_text(json.dumps({**profile, "module_script": self.scripts[name]}))
        return file

    def both_ways(self, first, second):
        (one, variables, _), (other, others, newer) = first, second
        self.model("fits", "cuda>=11,<13", "tensorflow>=2.10")
        _, before = self.launch("fits", self.site(one, variables), **variables)
        self.assertEqual(self.environment(before)["modules"], self.MODULES)
        self.assertNotIn("lock", self.environment(before))
        newer()
        elsewhere = self.site(other, others)
        _, unlocked = self.launch("fits", elsewhere, **others)
        self.assertIn("tensorflow/2.15", self.environment(unlocked)["modules"])
        _, after = self.launch("fits", elsewhere, "--lock", before, **others)
        self.assertEqual(self.environment(after)["modules"], self.MODULES)
        self.assertEqual(self.loaded(), set(self.MODULES))
        written = before / "run.json"
        self.assertEqual(self.environment(after)["lock"],
                         {"run": before.name, "path": str(written), "modules": self.MODULES,
                          "digest": "sha256:" + hashlib.sha256(written.read_bytes()).hexdigest()})  # fmt: skip
        _, again = self.launch("fits", elsewhere, "--lock", after / "run.json", **others)
        self.assertEqual(self.environment(again)["modules"], self.MODULES, "a locked run is a lock, too")
        foreseen = self.expect(self.sabath.run("run", "fits", "--site", elsewhere, "-n", "--json", "--lock", before, **others)).record
        self.assertEqual(foreseen["runs"][0]["modules"], self.MODULES)

    def newer_lua(self):
        (self.home / "lua/MPI/gcc12/tensorflow/2.15.lua").write_text('depends_on("cuda/12.2")\n')

    def newer_tcl(self):
        (self.home / "tcl/MPI/gcc12/tensorflow/2.15").write_text("#%Module1.0\nconflict tensorflow\nprereq cuda/12.2\n")

    def test_what_lmod_loaded_is_loaded_by_environment_modules(self):
        self.both_ways(("lmod", self.lmod, None), ("tcl", self.tcl, self.newer_tcl))

    def test_what_environment_modules_loaded_is_loaded_by_lmod(self):
        self.both_ways(("tcl", self.tcl, None), ("lmod", self.lmod, self.newer_lua))

    def test_what_is_not_here_is_refused_before_anything_begins(self):
        self.model("fits", "cuda>=11,<13", "tensorflow>=2.10")
        _, before = self.launch("fits", self.site("lmod", self.lmod), **self.lmod)
        (self.home / "tcl/MPI/gcc12/tensorflow/2.11").unlink()
        elsewhere = self.site("tcl", self.tcl)
        there = sorted(self.home.rglob("*"))
        failed, _ = self.launch("fits", elsewhere, "--lock", before, code=3, **self.tcl)
        self.assertIn("tensorflow is here as 2.9, and none of them is ==2.11", failed.err)
        self.assertIn("the nearest that exists: cuda/12.2 gcc/12.3 openmpi/4.1.6 tensorflow/2.9", failed.err)
        self.assertEqual(sorted(self.home.rglob("*")), there)


class LockedStrangely(Locked):
    """Records that no run wrote, and sites that do not have what they name. `module` is a script that only counts."""

    def setUp(self):
        super().setUp()
        script = self.home / "module.sh"
        script.write_text('module() { export LOADEDMODULES="${LOADEDMODULES-}${LOADEDMODULES:+:}$2"; }\n')
        self.profile = {"schema": 1, "name": "here", "module_script": str(script)}
        self.model("plain", "gcc")

    def site(self, *modules, **more):
        software = [{"name": one.rpartition("/")[0], "version": one.rpartition("/")[2], "module": one} for one in modules]
        file = self.home / "site.json"
        file.write_text(json.dumps({**self.profile, "software": software, **more}))
        return file

    def record(self, modules, **more):
        file = self.home / "recorded.json"
        file.write_text(json.dumps({"schema": 1, "id": "run_x", "state": "finished", "command": ["sh"], "steps": [],
                                    "environment": {"modules": modules}, **more}))  # fmt: skip
        return file

    def test_versions(self):
        site = self.site("gcc/12.3.0", "gcc/13.2", "compiler/clang/17", "cuda/11.8", "cuda/12.2")
        for modules, chosen in (
            (["gcc/12.3"], ["gcc/12.3.0"]),
            (["GCC/13.2"], ["gcc/13.2"]),
            (["clang/17"], ["compiler/clang/17"]),
            (["compiler/gcc/13.2", "cuda/11.8"], ["gcc/13.2", "cuda/11.8"]),
            (["cuda"], ["cuda/12.2"]),
            (["cuda/11.8", "cuda/11.8"], ["cuda/11.8"]),
        ):
            result, directory = self.launch("plain", site, "--lock", self.record(modules))
            self.assertEqual(self.environment(directory)["modules"], chosen)
            self.assertEqual(self.environment(directory)["lock"]["modules"], modules)
            self.assertEqual(self.loaded(), set(chosen))
            if modules == ["gcc/12.3"]:
                self.assertIn("gcc==12.3 of the lock is gcc/12.3.0 here", result.err)
        for modules, why in (
            (["gcc/12"], "gcc is here as 13.2, 12.3.0, and none of them is ==12"),
            (["gcc/14.1"], "the nearest that exists: gcc/13.2"),
            (["gcc/12.3", "gcc/13.2"], "does not go with"),
            (["gc/12.3"], "no software is called gc"),
        ):
            failed, _ = self.launch("plain", site, "--lock", self.record(modules), code=3)
            self.assertIn(why, failed.err)

    def test_another_build_is_not_the_same(self):
        site = self.site("OpenMPI/4.1.4-intel-2022a", "OpenMPI/4.1.5", "HDF5/1.14-gompi-2023a", "HDF5/1.14-iimpi-2023a")
        failed, _ = self.launch("plain", site, "--lock", self.record(["OpenMPI/4.1.4-GCC-11.3.0"]), code=3)
        self.assertIn("OpenMPI==4.1.4-GCC-11.3.0 is here as another build, OpenMPI/4.1.4-intel-2022a", failed.err)
        self.assertIn("the nearest that exists: OpenMPI/4.1.4-intel-2022a", failed.err)
        for modules, chosen in ((["OpenMPI/4.1.4"], ["OpenMPI/4.1.4-intel-2022a"]), (["OpenMPI/4.1.5-GCC-12.3.0"], ["OpenMPI/4.1.5"]),
                                (["HDF5/1.14-iimpi-2023a"], ["HDF5/1.14-iimpi-2023a"]), (["HDF5/1.14-gompi-2023a"], ["HDF5/1.14-gompi-2023a"])):  # fmt: skip
            _, directory = self.launch("plain", site, "--lock", self.record(modules))
            self.assertEqual(self.environment(directory)["modules"], chosen)

    def test_a_lock_of_nothing(self):
        result, directory = self.launch("plain", self.site("gcc/13.2"), "--lock", self.record([]))
        self.assertIn("its lock loads none", result.err)
        self.assertEqual(self.environment(directory)["modules"], [])
        self.assertEqual(self.environment(directory)["lock"]["modules"], [])
        self.assertEqual(self.loaded(), set())

    def test_records_that_are_none(self):
        site = self.site("gcc/13.2")
        odd = self.home / "odd"
        (self.home / "sweep/a").mkdir(parents=True)
        for text, code in (("", 12), ("{", 12), ("[]", 12), ('{"schema": 9, "command": [], "environment": {}}', 12)):
            odd.write_text(text)
            self.launch("plain", site, "--lock", odd, code=code)
        for modules in (None, "gcc/13.2", {"gcc": "13.2"}, 7):
            failed, _ = self.launch("plain", site, "--lock", self.record(modules), code=3)
            self.assertIn("does not say which modules were loaded", failed.err)
        for environment in (None, [], "x", {}):
            self.launch("plain", site, "--lock", self.record(None, environment=environment), code=3)
        for modules in ([""], ["-x"], ["gcc/13.2\n"], ["gcc 13.2"], ["gcc/"], ["/gcc"], ["a" * 2000], [1], [None], [["gcc/13.2"]],
                        [f"m{number}/1" for number in range(257)]):  # fmt: skip
            self.launch("plain", site, "--lock", self.record(modules), code=12)
        mark = self.home / "mark"
        for modules in ([f"$(touch${{IFS}}{mark})"], [f"`touch${{IFS}}{mark}`/1"], [f"gcc/13.2;touch${{IFS}}{mark}"], ["../gcc/13.2/.."]):
            self.launch("plain", site, "--lock", self.record(modules), code=3)
        self.assertFalse(mark.exists())
        self.launch("plain", site, "--lock", self.home / "sweep", code=3)
        failed, _ = self.launch("plain", site, "--lock", self.home / "nowhere", code=3)
        self.assertIn("there is no record of a run at", failed.err)
        self.launch("plain", site, "--lock", self.record(["gcc/13.2"]), "--env", "none", code=2)
        os.mkfifo(self.home / "fifo")
        self.assertNotEqual(self.sabath.run("run", "plain", "--site", site, "--lock", self.home / "fifo").exit, 0)

    def test_sites_that_cannot(self):
        lock = self.record(["gcc/13.2"])
        failed, _ = self.launch("plain", self.site(), "--lock", lock, code=3)
        self.assertIn('the site profile here has no modules among its "software"', failed.err)
        failed, _ = self.launch("plain", self.site("gcc/13.2", module_script=None), "--lock", lock, code=3)
        self.assertIn("the site profile here does not say how modules are loaded", failed.err)
        _, directory = self.launch("plain", self.site("gcc/13.2", modules={"gcc": ["gcc/9"]}), "--lock", lock)
        self.assertEqual(self.environment(directory)["modules"], ["gcc/13.2"], "a lock goes before what a person wrote for a need")


if __name__ == "__main__":
    main()
