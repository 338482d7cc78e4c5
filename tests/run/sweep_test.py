#!/usr/bin/python3
"""Sweeps, and the places where a run's surroundings come from: profiles, modules, Python."""

import json
import os
import sys

from runs import Runs, main, place

SHOW = ["python3", "-c", "import json, os, sys; print(json.dumps([sys.argv[1:], dict(os.environ)]))"]


class Sweep(Runs):
    def test_one_run_for_each_value(self):
        self.model(["sh", "-c", "echo $1 $2; test $1 != 3", "sh", "{config.lr}", "{config.batch}"],
                   config={"lr": 1, "batch": 8})  # fmt: skip
        arguments = ("model", "--json", "--set", "lr=1,2,3", "--set", "batch=8,16")
        record = self.launch(*arguments, code=11).record
        names = [f"lr={lr},batch={batch}" for lr in (1, 2, 3) for batch in (8, 16)]
        self.assertEqual(sorted(p.name for p in self.run_directory.iterdir()), sorted(names))
        self.assertEqual([run["state"] for run in record["runs"]], ["finished"] * 4 + ["failed"] * 2)
        self.assertEqual((self.run_directory / "lr=2,batch=16/output/stdout").read_text(), "2 16\n")
        self.assertEqual(self.record(self.run_directory / "lr=2,batch=16")["config"], {"lr": "2", "batch": "16"})

        # Again: what is done stays; what failed is moved aside and done anew.
        before = (self.run_directory / "lr=1,batch=8/run.json").stat().st_mtime_ns
        record = self.launch(*arguments, code=11).record
        self.assertEqual([run.get("done_before", False) for run in record["runs"]], [True] * 4 + [False] * 2)
        self.assertEqual((self.run_directory / "lr=1,batch=8/run.json").stat().st_mtime_ns, before)
        self.assertTrue((self.run_directory / "lr=3,batch=8.unfinished-1/run.json").exists())
        reported = self.expect(self.sabath.run("report", self.run_directory, "--json")).record["runs"]
        self.assertEqual([run["run"] for run in reported], sorted(names))
        self.expect(self.sabath.run("compare", self.run_directory, self.run_directory), 2)

    def test_the_same_sweep_finds_its_directory(self):
        self.model(["true"], config={"lr": 1})
        first = self.expect(self.sabath.run("run", "model", "--set", "lr=1,2")).lines
        self.assertEqual(self.expect(self.sabath.run("run", "model", "--set", "lr=1,2")).lines, first)
        self.assertNotEqual(self.expect(self.sabath.run("run", "model", "--set", "lr=1,3")).lines, first)

    def test_a_stop_ends_the_sweep(self):
        self.model(["python3", "{source}/train.py", "{config.epochs}", "gate"], config={"epochs": 9})
        process = self.start("model", "--set", "epochs=9,8")
        self.run_directory /= "epochs=9"
        self.wait_for_output("waiting", process)
        process.terminate()
        process.communicate(timeout=300)
        self.assertEqual(process.returncode, 143)
        self.assertEqual([p.name for p in self.run_directory.parent.iterdir()], ["epochs=9"])


class Surroundings(Runs):
    def shown(self):
        arguments, environment = json.loads(self.output().splitlines()[-1])
        return arguments, environment

    def test_variables(self):
        self.model(SHOW, env_vars={"CUDA": "$CUDA_HOME/lib", "NONE": "$NOT_SET", "LITERAL": "$(id)"})
        self.launch("model", CUDA_HOME="/opt/cuda")
        _, environment = self.shown()
        self.assertEqual((environment["CUDA"], environment["LITERAL"]), ("/opt/cuda/lib", "$(id)"))
        self.assertNotIn("NONE", environment)
        self.assertEqual(environment["SABATH_RUN"], str(self.run_directory))
        self.assertEqual(self.record()["environment"]["variables"]["CUDA"], "/opt/cuda/lib")

    def test_a_path_that_leads_nowhere(self):
        """As shells have it: a directory of PATH that cannot be looked into has no programs."""
        (self.home / "loop").symlink_to("loop")
        self.model({"argv": ["echo", "here"], "parallel": True})
        self.launch("model", PATH=f"{self.home}/loop:{os.environ['PATH']}")
        self.assertEqual(self.output(), "here\n")

    def test_modules_of_a_site(self):
        place(self.home / "init", b'module() { export LOADED="$LOADED<$2>"; }\n')
        profile = {"schema": 1, "name": "here", "module_script": str(self.home / "init"), "modules": {"cuda>=11": ["cuda/12"]},
                   "launchers": {"mine": {"argv": ["env", "RANKS={ranks}"]}}, "launcher": "mine"}  # fmt: skip
        place(self.home / "here.json", json.dumps(profile).encode())
        self.model({"argv": SHOW, "parallel": True}, requirements={"system_modules": ["cuda>=11", "gcc/12"]})
        self.launch("model", "--site", self.home / "here.json", "--ranks", "3")
        _, environment = self.shown()
        self.assertEqual((environment["LOADED"], environment["RANKS"]), ("<cuda/12><gcc/12>", "3"))
        self.assertEqual(self.record()["environment"]["modules"], ["cuda/12", "gcc/12"])
        self.assertEqual((self.record()["launcher"], self.record()["ranks"]), ("mine", 3))
        self.run_directory = self.home / "none"
        self.launch("model", "--site", self.home / "here.json", "--env", "none")
        self.assertNotIn("LOADED", self.shown()[1])
        self.run_directory = self.home / "refused"
        self.launch("model", "--env", "check", code=3)  # no site says how modules are loaded
        self.assertIn("modules are not loaded", self.launch("model").err)

    def test_a_python_that_lacks_something(self):
        self.model(["python3", "-V"], requirements={"python": ">=3.6", "pip": ["no-such-package-anywhere>=3"]})
        self.assertIn("no-such-package-anywhere>=3", self.launch("model").err)
        self.assertEqual(self.record()["environment"]["python"]["missing"], ["no-such-package-anywhere>=3"])
        self.run_directory = self.home / "refused"
        self.launch("model", "--env", "check", code=11)
        self.assertFalse(self.run_directory.exists())
        self.assertEqual(self.launch("model", "--env", "none").err.count("warning"), 0)

    def test_the_python_that_is_named(self):
        self.model(["python", "-c", "import sys; print(sys.executable)"])
        self.launch("model")
        self.assertEqual(self.output().strip(), sys.executable)

    def test_a_python_that_is_made(self):
        """Without packages to install: those come from elsewhere, and tests ask no server."""
        self.model(["python3", "-c", "import sys; print(sys.prefix)"], requirements={"python": ">=99"})
        done = self.launch("model", "--env", "create", code=11)
        if "venv" in done.err and "ensurepip" in done.err:
            self.skipTest("this Python cannot make virtual environments")
        self.assertIn("python>=99", done.err)
        self.assertEqual(len(list((self.home / ".cache/sabath-environments").iterdir())), 1)


if __name__ == "__main__":
    main()
