#!/usr/bin/python3
"""`site detect`, `show`, `diff` and `solve` with real Lmod and real environment-modules over a tree of twelve modulefiles, and with
module systems that hang, print, are huge or are another user's."""

import importlib.metadata
import json
import os
import pathlib
import subprocess
import time

from support import module_tree
from support.case import Case, main, place
from support.content import fragment

PATIENT = ("--patience", "120")


class Site(Case):
    def detect(self, *arguments, code=0, **environment):
        return self.expect(self.sabath.run("site", "detect", "--json", *arguments, **environment), code).record["profile"]

    def solve(self, *needs, code=0, **environment):
        return self.expect(self.sabath.run("site", "solve", "--json", *needs, **environment), code).record

    def rows(self, profile):
        return sorted(one.get("requires", []) + [one["module"]] for one in profile["software"] if "module" in one)

    def fact(self, profile, name):
        (found,) = [fact for fact in profile["machine"] if fact["name"] == name]
        return found

    def program(self, name, text):
        file = self.home / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("#!/bin/sh\n" + text)
        file.chmod(0o755)
        return file

    def path(self):
        return f"{self.home / 'bin'}:{self.sabath.environment['PATH']}"

    def stub_of_lmod(self, text):
        """A module system whose `spider` is a script; the tree's modules are in Lua."""
        core = module_tree.make_lua(self.home / "sw")
        spider = self.program("spider", text)
        return {"LMOD_DIR": str(spider.parent), "LMOD_VERSION": "0", "MODULEPATH": str(core)}


class UnderLmod(Site):
    def setUp(self):
        super().setUp()
        self.core = module_tree.make_lua(self.home / "sw")
        self.variables = module_tree.lmod_variables(self.core)
        if self.variables is None:
            self.skipTest("no Lmod: scripts/setup full")

    def test_the_hierarchy_is_found_and_each_line_says_how_it_is_known(self):
        profile = self.detect(*PATIENT, **self.variables)
        self.assertEqual(self.rows(profile), module_tree.ROWS)
        self.assertEqual(self.fact(profile, "modules")["known"], "Lmod's spider")
        self.assertEqual(profile["module_script"], str(module_tree.LMOD / "init/bash"))
        for rows in ("machine", "disks", "partitions", "interpreters", "software"):
            for row in profile[rows]:
                self.assertTrue(row["known"], row)
        (mpi,) = [one for one in profile["software"] if one.get("module") == "openmpi/4.1.6"]
        self.assertEqual(mpi["needs"], ["cuda/12.2"])
        self.assertEqual(sorted(mpi["features"]), ["cuda", "ucx"])
        self.assertEqual(mpi["known"], "Lmod's spider, and its modulefile")

    def test_what_is_chosen_is_what_lmod_loads(self):
        file = self.home / "here.json"
        self.expect(self.sabath.run("site", "detect", *PATIENT, "-o", file, **self.variables))
        for needs, modules in (
            (["cuda>=11,<13", "tensorflow>=2.10"], ["cuda/12.2", "gcc/12.3", "openmpi/4.1.6", "tensorflow/2.11"]),
            (["openmpi+cuda"], ["gcc/12.3", "cuda/12.2", "openmpi/4.1.6"]),
            (["hdf5", "fftw"], ["gcc/13.2", "openmpi/5.0.1", "hdf5/1.14", "fftw/3.3.10"]),
            (["keras"], ["gcc/12.3", "cuda/12.2", "openmpi/4.1.6", "tensorflow/2.11"]),
        ):
            chosen = self.solve("--site", file, *needs)["modules"]
            self.assertEqual(chosen, modules)
            loaded = self.load(chosen)
            self.assertEqual(set(loaded), set(chosen))

    def load(self, modules):
        script = f'. {module_tree.LMOD}/init/bash; module use {self.core}; module load "$@" || exit 1; echo "$LOADEDMODULES"'
        done = subprocess.run(["bash", "--noprofile", "--norc", "-c", script, "bash", *modules], capture_output=True, text=True,
                              env={"PATH": os.environ["PATH"], "HOME": str(self.home)}, check=False)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip().split(":")

    def test_a_modulefile_that_prints(self):
        (self.core / "noisy").mkdir()
        (self.core / "noisy/1.0.lua").write_text('print("hello {")\nio.stderr:write("and more\\n")\n')
        (self.core / "noisy/2.0").write_text('#%Module\nputs stdout "{\\"a\\": 1}"\nputs stderr "x"\n')
        profile = self.detect(*PATIENT, **self.variables)
        self.assertEqual(self.rows(profile), sorted([*module_tree.ROWS, ["noisy/1.0"], ["noisy/2.0"]]))

    def test_a_modulefile_that_never_ends(self):
        """Lmod itself hangs on it."""
        (self.core / "endless").mkdir()
        (self.core / "endless/1.0.lua").write_text("while true do end\n")
        profile = self.detect("--patience", "2", **self.variables)
        self.assertEqual(self.rows(profile), sorted([*module_tree.ROWS, ["endless/1.0"]]))
        self.assertEqual(self.fact(profile, "modules")["known"], "the modulefiles; Lmod's spider: it did not end within 2 s")

    def test_twenty_thousand_modules_under_lmod(self):
        """In the usual patience the answer is Lmod's, or the modulefiles'; both have all of them."""
        for name in range(200):
            (self.core / f"tool{name}").mkdir()
            for version in range(100):
                (self.core / f"tool{name}/1.{version}.lua").write_text('whatis("Name: tool")\n')
        profile = self.detect(**self.variables)
        self.assertEqual(len(profile["software"]), 20_000 + len(module_tree.ROWS))
        self.assertRegex(self.fact(profile, "modules")["known"], "^(Lmod's spider|the modulefiles; Lmod's spider: it did not end within 2 s)$")

    def test_what_a_run_takes(self):
        """The profile is one for `run` as it is: its modules are loaded by the script that it names."""
        file = self.home / "here.json"
        self.expect(self.sabath.run("site", "detect", *PATIENT, "-o", file, **self.variables))
        profile = json.loads(file.read_text())
        profile["modules"] = {"cuda>=11,<13": ["cuda/12.2"]}
        profile["launcher"] = None
        file.write_text(json.dumps(profile))
        place(self.home / "origin/a", b"x")
        self.sabath.add("set", [fragment(f"file://{self.home}/origin/a")])
        self.sabath.add("hello", kind="model", default_dataset="set", requirements={"system_modules": ["cuda>=11,<13"]},
                        run={"set": [{"argv": ["sh", "-c", 'echo "modules=$LOADEDMODULES"']}]})  # fmt: skip
        done = self.expect(self.sabath.run("run", "hello", "--site", file, "--trust", "once", "--json", **self.variables))
        (run,) = pathlib.Path(self.home).rglob("run.json")
        self.assertEqual(json.loads(run.read_text())["environment"]["modules"], ["cuda/12.2"], done)

    def test_a_run_loads_what_is_solved(self):
        """Needs that the profile's `modules` does not have; what is in the record is what was loaded."""
        file = self.home / "here.json"
        self.expect(self.sabath.run("site", "detect", *PATIENT, "-o", file, **self.variables))
        place(self.home / "origin/a", b"x")
        self.sabath.add("set", [fragment(f"file://{self.home}/origin/a")])
        step = {"argv": ["sh", "-c", 'echo "$LOADEDMODULES" >"$HOME/loaded"']}
        for name, needs in (("fits", ["cuda>=11,<13", "tensorflow>=2.10"]), ("none", ["cuda>=14"])):
            self.sabath.add(name, kind="model", default_dataset="set", requirements={"system_modules": needs}, run={"set": [step]})
        self.expect(self.sabath.run("run", "fits", "--site", file, "--trust", "once", "--launcher", "direct", **self.variables))
        (run,) = pathlib.Path(self.home).rglob("run.json")
        chosen = ["cuda/12.2", "gcc/12.3", "openmpi/4.1.6", "tensorflow/2.11"]
        self.assertEqual(json.loads(run.read_text())["environment"]["modules"], chosen)
        self.assertEqual(set((self.home / "loaded").read_text().strip().split(":")), set(chosen))
        failed = self.expect(self.sabath.run("run", "none", "--site", file, "--trust", "once", "--launcher", "direct", **self.variables), 3)
        self.assertIn("cuda is here as 13.0, 12.2, 11.8, and none of them is >=14", failed.err)
        self.assertIn("the nearest that exists: cuda/13.0", failed.err)


class UnderEnvironmentModules(Site):
    def setUp(self):
        super().setUp()
        self.command = module_tree.modulecmd()
        if self.command is None:
            self.skipTest("no environment-modules: scripts/setup modules")
        self.core = module_tree.make_tcl(self.home / "sw")
        self.variables = {"MODULES_CMD": self.command, "MODULEPATH": str(self.core)}

    def test_the_hierarchy_is_found_and_what_is_chosen_is_loaded(self):
        (self.core / ".modulerc").write_text(f"#%Module\nmodule-virtual gpu/1 {self.core}/cuda/12.2\n")
        file = self.home / "here.json"
        self.expect(self.sabath.run("site", "detect", *PATIENT, "-o", file, **self.variables))
        profile = json.loads(file.read_text())
        self.assertEqual(self.rows(profile), sorted([*module_tree.ROWS, ["gpu/1"]]))
        self.assertEqual(self.fact(profile, "modules")["known"], "`module avail`, and the modulefiles")
        known = {one["module"]: one["known"] for one in profile["software"]}
        self.assertEqual(known["gcc/12.3"], "`module avail`, and its modulefile")
        self.assertEqual(known["fftw/3.3.10"], "its modulefile")
        self.assertEqual(known["gpu/1"], "`module avail`")
        for needs in (["cuda>=11,<13", "tensorflow>=2.10"], ["openmpi+cuda"], ["hdf5", "fftw"]):
            chosen = self.solve("--site", file, *needs)["modules"]
            self.assertEqual(set(self.load(chosen)), set(chosen))

    def load(self, modules):
        script = f'm() {{ eval "$({self.command} bash "$@")"; }}; m load "$@" || exit 1; echo "$LOADEDMODULES"'
        done = subprocess.run(["bash", "--noprofile", "--norc", "-c", script, "bash", *modules], capture_output=True, text=True,
                              env={"PATH": os.environ["PATH"], "HOME": str(self.home), "MODULEPATH": str(self.core)}, check=False)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip().split(":")


class Strange(Site):
    def test_a_module_system_that_hangs(self):
        variables = self.stub_of_lmod("sleep 1000\n")
        begin = time.monotonic()
        profile = self.detect("--patience", "1", **variables)
        self.assertLess(time.monotonic() - begin, 120)
        self.assertEqual(self.rows(profile), module_tree.ROWS)
        self.assertEqual(self.fact(profile, "modules")["known"], "the modulefiles; Lmod's spider: it did not end within 1 s")

    def test_its_cache_is_read_instead(self):
        variables = self.stub_of_lmod("sleep 1000\n")
        cache = self.home / "cache/spiderT.lua"
        cache.parent.mkdir()
        cache.write_text('spiderT = { ["%s"] = { gcc = { fileT = { ["gcc/12.3"] = { fn = "x" } } } } }\nmpathMapT = {}\n' % variables["MODULEPATH"])
        profile = self.detect("--patience", "1", LMOD_SPIDER_CACHE_DIRS=str(cache.parent), **variables)
        self.assertEqual(self.rows(profile), [["gcc/12.3"]])
        self.assertEqual(self.fact(profile, "modules")["known"], f"Lmod's cache {cache}; its spider: it did not end within 1 s")

    def test_an_answer_that_is_none(self):
        for text in ("echo no JSON\n", "exit 3\n", "head -c 100 /dev/zero\n", "echo '{\"a\": {'\n"):
            profile = self.detect(*PATIENT, **self.stub_of_lmod(text))
            self.assertEqual(self.rows(profile), module_tree.ROWS)
            self.assertIn("the modulefiles; Lmod's spider: it", self.fact(profile, "modules")["known"])

    def test_twenty_thousand_modules(self):
        core = self.home / "many"
        for name in range(200):
            (core / f"tool{name}").mkdir(parents=True)
            for version in range(100):
                (core / f"tool{name}/1.{version}.lua").write_text('whatis("Name: tool")\n')
        file = self.home / "many.json"
        self.expect(self.sabath.run("site", "detect", "-o", file, MODULEPATH=str(core)))
        self.assertEqual(len(json.loads(file.read_text())["software"]), 20_000)
        chosen = self.solve("--site", file, *(f"tool{name}<1.50" for name in range(20)))
        self.assertEqual(chosen["modules"], [f"tool{name}/1.49" for name in range(20)])
        self.expect(self.sabath.run("site", "show", file))

    def test_nothing_is_here(self):
        profile = self.detect(PATH="/nonexistent")
        self.assertEqual(profile["software"], [])
        self.assertEqual(self.fact(profile, "modules")["known"], "MODULEPATH is not set")
        self.assertEqual(self.fact(profile, "mpi"), {"name": "mpi", "value": "none", "known": "mpirun is not on PATH"})
        refused = self.solve("cuda>=11", "--site", self.written(profile), code=3)
        self.assertIn("names no module and no interpreter", refused["error"]["message"])

    def written(self, profile):
        file = self.home / f"{len(list(self.home.glob('*.json')))}.json"
        file.write_text(json.dumps({"schema": 1, **profile}))
        return file

    def test_programs_say_what_a_machine_has(self):
        self.program("nvidia-smi", "printf 'NVIDIA H100, 81559 MiB, 550.1\\nNVIDIA H100, 81559 MiB, 550.1\\n'\n")
        self.program("sinfo", "printf 'batch*|up|1-00:00:00|4|8|16000|gpu:h100:2|ib\\nxfer|up|1:00:00|1|8|16000|(null)|(null)\\n'\n")
        self.program("mpirun", "echo 'mpirun (Open MPI) 4.1.6'\n")
        self.program("ompi_info", "echo mca:mpi:base:param:mpi_built_with_cuda_support:value:true\n")
        profile = self.detect(*PATIENT, PATH=f"{self.home / 'bin'}:/usr/bin:/bin", https_proxy="http://me:secret@proxy.lab:3128")
        for name, value in (("gpus", "2"), ("gpu kind", "cuda"), ("scheduler", "slurm"), ("mpi", "mpirun (Open MPI) 4.1.6"),
                            ("mpi with cuda", "yes"), ("proxy", "http://proxy.lab:3128")):  # fmt: skip
            self.assertEqual(self.fact(profile, name)["value"], value)
        partition, transfer = profile["partitions"]
        self.assertEqual((transfer["transfer"], transfer["known"]), (True, 'sinfo; its name has "xfer"'))
        self.assertNotIn("transfer", partition)
        self.assertRegex(self.fact(profile, "network")["value"], "^(a default route by [a-z0-9]+|no default route)$")
        self.assertEqual((partition["name"], partition["nodes"], partition["gpus"], partition["time_limit_seconds"]), ("batch", 4, 2, 86400))
        self.assertEqual(profile["launcher"], "srun")
        (python,) = profile["interpreters"]
        self.assertEqual(python["program"], "/usr/bin/python3")
        self.assertEqual(python["packages"]["numpy"], importlib.metadata.version("numpy"))
        other = self.detect(*PATIENT, PATH="/usr/bin:/bin")
        left, right = self.written(profile), self.written(other)
        differences = {one["what"]: one for one in self.expect(self.sabath.run("site", "diff", "--json", left, right)).record["differences"]}
        self.assertEqual((differences["gpus"]["before"], differences["gpus"]["after"]), ("2", "0"))
        self.assertEqual(differences["gpu kind"]["meaning"], "programs for the one kind do not run on the other")
        self.assertIn("partition batch", differences)
        self.assertEqual(self.expect(self.sabath.run("site", "diff", "--json", left, left)).record["differences"], [])
        shown = self.expect(self.sabath.run("site", "show", left)).out
        self.assertIn("batch (usual): 4 nodes of 8 cpus, 16.8 GB, 2 gpus", shown)


class OfOthers(Site):
    """What another account can write is named with its owner, and neither started nor read."""

    def passed_over(self, profile):
        return {one["what"]: one["why"] for one in profile["passed_over"]}

    def test_a_program_that_others_can_write(self):
        mark = self.home / "started"
        program = self.program("nvidia-smi", f"touch {mark}\n")
        program.chmod(0o777)
        result = self.expect(self.sabath.run("site", "detect", PATH=self.path()))
        self.assertFalse(mark.exists())
        self.assertIn(f"neither started nor loaded: {program}: others may write it (mode 777)", result.err)

    def test_a_script_whose_interpreter_is_looked_up(self):
        mark = self.home / "started"
        theirs = self.home / "theirs"
        theirs.mkdir()
        (theirs / "python3").write_text(f"#!/bin/sh\ntouch {mark}\n")
        (theirs / "python3").chmod(0o777)
        theirs.chmod(0o777)
        program = self.program("hipconfig", "")
        program.write_text('#!/usr/bin/env python3\nimport os\nprint("5", os.environ.get("BAD"), os.environ.get("PYTHONPATH"), os.environ["GOOD"])\n')
        profile = self.detect(*PATIENT, PATH=f"{theirs}:{self.home / 'bin'}:/usr/bin:/bin", PYTHONPATH=str(theirs), BAD=str(theirs), GOOD="x")
        self.assertFalse(mark.exists(), "another user's interpreter ran our script")
        self.assertIn("5 None None x", self.fact(profile, "rocm")["value"])

    def test_places_of_others_that_lmod_would_run(self):
        mark = self.home / "started"
        core = module_tree.make_lua(self.home / "sw")
        spider = self.program("spider", f"touch {mark}\n")
        theirs = self.home / "theirs"
        theirs.mkdir()
        theirs.chmod(0o777)
        variables = {"LMOD_DIR": str(spider.parent), "MODULEPATH": str(core)}
        for name in ("LMOD_PACKAGE_PATH", "LMOD_MODULERCFILE", "LMOD_RC", "LMOD_SPIDER_CACHE_DIRS"):
            profile = self.detect(*PATIENT, **variables, **{name: f"{core}:{theirs}"})
            self.assertFalse(mark.exists(), name)
            self.assertIn(f"not asked: {name} names {theirs}: ", self.fact(profile, "modules")["known"])
        (core / "gcc/14.lua").write_text('prepend_path("MODULEPATH", os.getenv("X"))\n')
        self.assertIn("not asked: ", self.fact(self.detect(*PATIENT, **variables), "modules")["known"])
        tcl = {"MODULES_CMD": str(spider), "MODULEPATH": str(core)}
        self.assertIn("`module avail`: not asked: ", self.fact(self.detect(*PATIENT, **tcl), "modules")["known"])
        self.assertFalse(mark.exists())

    def test_modules_of_another_user(self):
        if os.geteuid() != 0:
            self.skipTest("only root gives files to another user")
        core = module_tree.make_lua(self.home / "sw")
        os.chown(self.home / "sw/MPI/gcc12", 12345, 0)
        mark = self.home / "started"
        spider = self.program("spider", f"touch {mark}\n")
        variables = {"LMOD_DIR": str(spider.parent), "MODULEPATH": str(core)}
        profile = self.detect(*PATIENT, **variables)
        self.assertFalse(mark.exists(), "Lmod would have run another user's modulefiles")
        self.assertEqual(self.rows(profile), [row for row in module_tree.ROWS if "openmpi/4.1.6" not in row[:-1]])
        self.assertEqual(self.passed_over(profile)[str(self.home / "sw/MPI/gcc12")], "owned by uid 12345, and not by root or you")
        self.assertIn("not asked: ", self.fact(profile, "modules")["known"])
        (self.home / "config.json").write_text(json.dumps({"trusted_owners": ["12345"]}))
        trusting = self.detect(*PATIENT, "--config", str(self.home / "config.json"), **variables)
        self.assertEqual(self.rows(trusting), module_tree.ROWS)

    def test_a_profile_of_another_user(self):
        file = self.home / "theirs.json"
        file.write_text(json.dumps({"schema": 1, "name": "x", "hosts": []}))
        file.chmod(0o666)
        failed = self.expect(self.sabath.run("site", "show", "--json", file), 4)
        self.assertIn("others may write it (mode 666)", failed.record["error"]["message"])
        place(self.home / "origin/a", b"x")
        self.sabath.add("set", [fragment(f"file://{self.home}/origin/a")])
        self.sabath.add("model", kind="model", default_dataset="set", run={"set": [{"argv": ["true"]}]})
        for more in ((), ("-n",)):
            failed = self.expect(self.sabath.run("run", "model", "--site", file, "--trust", "once", *more), 4)
            self.assertIn("others may write it (mode 666)", failed.err)
        self.assertEqual(list(self.home.rglob("run.json")), [])
        file.chmod(0o644)
        self.expect(self.sabath.run("run", "model", "--site", file, "--trust", "once"))

    def test_the_usual_profile_of_another_user(self):
        """It fills in what others leave out, so a run starts what it names."""
        place(self.home / "origin/a", b"x")
        self.sabath.add("set", [fragment(f"file://{self.home}/origin/a")])
        self.sabath.add("model", kind="model", default_dataset="set", run={"set": [{"argv": ["true"]}]})
        sites = self.home / "config/sabath/sites"
        sites.mkdir(parents=True)
        (sites / "generic.json").write_text(json.dumps({"schema": 1, "name": "generic", "launchers": {"direct": {"argv": []}}}))
        (sites / "generic.json").chmod(0o666)
        variables = {"XDG_CONFIG_HOME": str(self.home / "config")}
        self.expect(self.sabath.run("run", "model", "--trust", "once", "--launcher", "direct", **variables), 4)
        (sites / "generic.json").chmod(0o600)
        self.expect(self.sabath.run("run", "model", "--trust", "once", "--launcher", "direct", **variables))

    def test_profiles_that_are_none(self):
        for text, code in (("{", 12), ("[]", 12), ('{"schema": 1, "name": "x", "softwear": []}', 12), ("", 12)):
            file = self.home / "bad.json"
            file.write_text(text)
            self.expect(self.sabath.run("site", "show", file), code)
            self.expect(self.sabath.run("site", "solve", "cuda", "--site", file), code)
        self.expect(self.sabath.run("site", "show", "nowhere"), 3)
        self.expect(self.sabath.run("site", "solve", "cuda;rm", "--site", file), 2)
        self.expect(self.sabath.run("site", "solve", "--site", file), 2)
        written = self.home / "kept.json"
        written.write_text("mine")
        self.expect(self.sabath.run("site", "detect", "-o", written, PATH="/nonexistent"), 2)
        self.assertEqual(written.read_text(), "mine")


if __name__ == "__main__":
    main()
