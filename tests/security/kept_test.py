#!/usr/bin/python3
"""What a user owns and others wrote: files of a dataset, of a run's copy of code and of a job's lock are no recipe and no
profile of his own; files that a profile names count by their owner; no program starts in a directory of others."""

import json
import os
import shutil

from support.accounts import MALLORY, Members
from support.case import Case, main, place
from support.content import fragment

MODULES = ("json", "re", "os", "site", "importlib", "platform", "packaging", "venv", "sitecustomize", "encodings", "torch")


def facts(mark, **more):
    return {"default_dataset": "data", "run": {"data": [{"argv": ["touch", str(mark)]}]}, **more}


def model(mark):
    return {"schema": 1, "kind": "model", "name": "vnet", **facts(mark)}


class Kept(Case):
    def setUp(self):
        super().setUp()
        self.mark = self.home / "mark"
        place(self.home / "origin/f.bin", b"abc")
        self.sabath.add("data", [fragment(f"file://{self.home}/origin/f.bin", b"abc")])

    def fetched(self, name, document):
        """A document as a publisher's dataset brings it: its file in the store."""
        data = json.dumps(document).encode()
        place(self.home / "origin" / name, data)
        self.sabath.add("set", [fragment(f"file://{self.home}/origin/{name}", data, path=name)])
        return self.home / self.expect(self.sabath.fetch("set")).asset["path"] / name

    def launch(self, recipe, *arguments, code):
        shutil.rmtree(self.home / "record", ignore_errors=True)
        result = self.expect(self.sabath.run("run", recipe, "--run-dir", self.home / "record", *arguments), code)
        ran = self.mark.exists()
        self.mark.unlink(missing_ok=True)
        self.assertEqual(ran, code == 0, result)
        return result

    def test_a_recipe_that_a_dataset_brought_is_asked_about(self):
        recipe = self.fetched("vnet.json", model(self.mark))
        for named in (recipe, recipe.resolve(), os.path.relpath(recipe.resolve(), self.home)):
            self.assertIn("others may have written it", self.launch(named, code=4).err)
        (self.home / "link.json").symlink_to(recipe)
        self.launch(self.home / "link.json", code=4)
        self.launch(recipe, "--trust", "once", code=0)
        shutil.copyfile(recipe, self.home / "copy.json")  # "make one your own by copying it, after you have read it"
        self.launch(self.home / "copy.json", code=0)

    def test_a_recipe_in_a_view_and_on_a_node_is_asked_about(self):
        self.fetched("vnet.json", model(self.mark))
        self.expect(self.sabath.run("stage", "set", "--to", self.home / "node", "--alone"))
        self.launch(self.home / "node/set/vnet.json", code=4)

    def test_recipes_of_ones_own_stay_so(self):
        for at in ("here/vnet.json", "recipes/models/vnet.json"):
            place(self.home / at, json.dumps(model(self.mark)).encode())
            self.launch(self.home / at, code=0)
        place(self.home / "vnet.json", json.dumps(model(self.mark)).encode())
        self.launch("./vnet.json", code=0)
        self.launch("vnet", code=0)

    def test_a_recipe_in_the_code_that_a_run_copied_is_asked_about(self):
        data = json.dumps(model(self.mark)).encode()
        place(self.home / "origin/vnet.json", data)
        self.sabath.add("net", [fragment(f"file://{self.home}/origin/vnet.json", data, path="vnet.json")], kind="model",
                        default_dataset="data", run={"data": [{"argv": ["test", "-e", "{source}/vnet.json"]}]})  # fmt: skip
        self.expect(self.sabath.run("run", "net", "--run-dir", self.home / "copied"))
        self.launch(self.home / "copied/source/vnet.json", code=4)

    def test_a_profile_that_a_dataset_brought_is_refused(self):
        profile = self.fetched("site.json", {"schema": 1, "name": "x", "launchers": {"evil": {"argv": ["touch", str(self.mark)]}}})
        place(self.home / "vnet.json", json.dumps(model(self.mark)).encode())
        result = self.launch("./vnet.json", "--site", profile, "--launcher", "evil", code=4)
        self.assertIn("others wrote what is in the store", result.err)
        self.expect(self.sabath.run("site", "show", profile), 4)

    def test_a_lock_that_a_call_sent_is_no_recipe(self):
        place(self.home / "job/job.json", b"{}")
        place(self.home / "job/lock.json", json.dumps(model(self.mark)).encode())
        self.launch(self.home / "job/lock.json", code=4)


class OthersFiles(Members):
    """Files that another account wrote, which a profile of one's own names, and directories of his."""

    def setUp(self):
        super().setUp()
        self.mark = self.home / "mark"
        self.sabath.environment["PATH"] = "/usr/bin:/bin"
        place(self.home / "origin2/f.bin", b"abc")
        self.sabath.add("data", [fragment(f"file://{self.home}/origin2/f.bin", b"abc")])

    def of_mallory(self, file, text, mode=0o755):
        place(file, text.encode())
        file.chmod(mode)
        os.chown(file, MALLORY, MALLORY)
        return str(file)

    def profile(self, **more):
        place(self.home / "site.json", json.dumps({"schema": 1, "name": "s", **more}).encode())
        return self.home / "site.json"

    def launch(self, *arguments, code):
        shutil.rmtree(self.home / "record", ignore_errors=True)
        result = self.expect(self.sabath.run("run", "vnet", "--run-dir", self.home / "record", *arguments), code)
        self.assertFalse(self.mark.exists(), result)
        return result

    def test_a_module_script_of_others_is_not_sourced(self):
        script = self.of_mallory(self.home / "theirs/init", f"touch {self.mark}; module() {{ :; }}\n")
        self.sabath.add("vnet", kind="model", **facts(self.home / "ran", requirements={"system_modules": ["gcc"]}))
        site = self.profile(module_script=script, modules={"gcc": ["gcc/12"]})
        self.assertIn("module_script of the site profile", self.launch("--site", site, code=4).err)
        self.expect(self.sabath.run("doctor", "--for", "vnet", "--site", site), 4)
        self.assertFalse(self.mark.exists())
        os.chown(script, 0, 0)
        self.expect(self.sabath.run("run", "vnet", "--site", site))
        self.assertTrue(self.mark.exists())
        self.mark.unlink()
        os.chown(script, MALLORY, MALLORY)
        place(self.home / ".config/sabath/config.json", json.dumps({"trusted_owners": [str(MALLORY)]}).encode())
        self.expect(self.sabath.run("run", "vnet", "--site", site))
        self.assertTrue(self.mark.exists())

    def test_a_launcher_of_others_is_not_started(self):
        launcher = self.of_mallory(self.home / "theirs/start", f"#!/bin/sh\ntouch {self.mark}\n")
        self.sabath.add("vnet", kind="model", **facts(self.home / "ran"))
        site = self.profile(launchers={"theirs": {"argv": [launcher]}})
        self.assertIn("the launcher of the site profile", self.launch("--site", site, "--launcher", "theirs", code=4).err)

    def test_no_interpreter_starts_in_a_directory_of_others(self):
        theirs = self.home / "theirs"
        for name in MODULES:
            self.of_mallory(theirs / f"{name}.py", f"open({str(self.mark)!r}, 'a').write({name!r})\nraise SystemExit(0)\n")
        init = self.home / "init"
        place(init, f"[ \"$PWD\" = / ] || touch {self.mark}\nmodule() {{ :; }}\n".encode())
        theirs.chmod(0o777)
        self.sabath.add("vnet", kind="model", **facts(self.home / "ran", requirements={"pip": ["packaging"], "python": ">=3.6", "system_modules": ["gcc"],
                                                                         "checks": ["torch.cuda"]}))  # fmt: skip
        site = self.profile(module_script=str(init), modules={"gcc": ["gcc/12"]})
        for arguments in (["run", "vnet", "-n"], ["run", "vnet", "--checks", "warn", "--run-dir", self.home / "r1"],
                          ["run", "vnet", "--env", "check", "--checks", "none", "--run-dir", self.home / "r2"],
                          ["run", "vnet", "--env", "create", "--checks", "none", "--run-dir", self.home / "r3"],
                          ["doctor", "--for", "vnet"], ["job", "vnet", "--scheduler", "slurm"]):  # fmt: skip
            where = [] if arguments[0] == "job" else ["--site", site]
            self.sabath.run(*arguments, *where, prefix=["env", "-C", theirs], XDG_CACHE_HOME=str(self.home / "cache"))
            self.assertFalse(self.mark.exists(), (arguments, self.mark.exists() and self.mark.read_text()))


if __name__ == "__main__":
    main()
