#!/usr/bin/python3
"""A run in a packed environment: activated, verified, recorded with its root, trusted with it, and refused where it does not fit."""

import json
import os
import shutil
import subprocess
import unittest

from runs import Runs, main, place
from support import python_prefix
from support.case import use_memory

ASK = """
import json, os, sys
import flute.note
names = ("SABATH_ENV", "PYTHONNOUSERSITE", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
print(json.dumps([sys.prefix, flute.note.__file__, os.environ["PATH"], {name: os.environ.get(name) for name in names}]))
"""


def setUpModule():
    use_memory()
    if python_prefix.found() is None:
        raise unittest.SkipTest("no interpreter with a prefix of its own: SABATH_TEST_PYTHON_PREFIX may name one")
    if not shutil.which("patchelf"):
        raise unittest.SkipTest("patchelf is not here")


class InEnvironment(Runs):
    def setUp(self):
        super().setUp()
        base = python_prefix.interpreter(self.home / "interpreter")
        self.mine = python_prefix.install(python_prefix.venv(base, self.home / "mine"))
        self.packed = self.pack()
        self.model(["python3", "{source}/ask.py"], code={"ask.py": ASK})

    def pack(self, name="horn", prefix=None):
        return python_prefix.with_view(self.sabath, json.loads(self.expect(self.sabath.run("env", "pack", name, prefix or self.mine, "--json")).out), name)

    def changed(self, name, **facts):
        """The same tree with another note, under another name."""
        tree = self.home / "trees" / name
        if not tree.exists():
            tree.mkdir(parents=True)
            place(tree / "bin/python3", b"#!/bin/sh\nexit 1\n")
            (tree / "bin/python3").chmod(0o755)
        note = json.loads((self.home_of(self.packed) / "environment.json").read_text())
        place(tree / "environment.json", json.dumps(note | facts).encode())
        self.expect(self.sabath.run("adopt", tree, "--name", name))

    @staticmethod
    def home_of(packed):
        return python_prefix.site(packed["path"]).parents[2]

    def in_it(self, *arguments, **options):
        """A run; what its program has seen, and its record."""
        shutil.rmtree(self.run_directory, ignore_errors=True)
        self.launch("model", *arguments, **options)
        return json.loads(self.output()), self.record()

    def test_it_is_activated_by_its_content_and_recorded(self):
        seen, record = self.in_it("--env", "horn", PYTHONPATH="/nowhere", VIRTUAL_ENV="/old", PYTHONHOME="/wrong", SABATH_PYTHON="/wrong/python")
        prefix, module, path, variables = seen
        content = os.path.realpath(self.packed["path"])
        self.assertEqual(prefix, content)
        self.assertIn(self.packed["manifest"].removeprefix("sha256:"), content.replace("/", ""))
        self.assertTrue(module.startswith(content + "/"), module)
        self.assertEqual(path.split(":")[0], content + "/bin")
        self.assertEqual(variables, {"SABATH_ENV": content, "PYTHONNOUSERSITE": "1", "PYTHONPATH": None, "PYTHONHOME": None, "VIRTUAL_ENV": None})
        self.assertEqual(record["environment"]["packed"], {"name": "horn", "manifest": self.packed["manifest"], "path": content})
        (asset,) = [asset for asset in record["assets"] if asset.get("role") == "environment"]
        self.assertEqual((asset["manifest"], asset["path"]), (self.packed["manifest"], content))
        self.assertEqual(asset["verified_by"], "unchanged since it was hashed")
        self.assertEqual(record["assets"][-1]["name"], "data")
        self.assertEqual(record["environment"]["python"]["program"], content + "/bin/python3")
        self.assertEqual(record["environment"]["packages"]["flute"], "1.2")
        script = self.launch("model", "--env", "horn", "-n", PYTHONPATH="/nowhere").out
        self.assertIn(f"export SABATH_ENV={content}", script)
        self.assertIn("export PYTHONPATH=''", script)
        self.assertIn(f"{content}/bin/python3", script)

    def test_a_changed_file_is_refused_before_the_launch(self):
        module = self.home_of(self.packed) / python_prefix.site(self.packed["path"]).relative_to(self.packed["path"]) / "flute/note.py"
        module.chmod(0o644)
        module.write_text("print('changed')\n")
        error = self.launch("model", "--env", "horn", code=7).err
        self.assertIn("flute/note.py", error)
        self.assertFalse(self.run_directory.exists())

    def test_a_lock_brings_the_same_root(self):
        _, record = self.in_it("--env", "horn")
        first = self.home / "first"
        self.run_directory.rename(first)
        self.pack("same")  # another name of the same root
        python_prefix.install(self.mine, name="drum", version="2")
        self.expect(self.sabath.run("rm", "--forget", "horn"))
        newer = self.pack()
        self.assertNotEqual(newer["manifest"], self.packed["manifest"])
        seen, again = self.in_it("--lock", first)
        self.assertEqual(seen[0], record["environment"]["packed"]["path"])
        self.assertEqual(again["environment"]["packed"]["manifest"], self.packed["manifest"])
        self.assertEqual(again["environment"]["lock"]["environment"], {"name": "horn", "manifest": self.packed["manifest"]})
        error = self.launch("model", "--lock", first, "--env", "horn", code=2).err
        self.assertIn(self.packed["manifest"], error)
        for packed, code in (({"name": "horn", "manifest": "sha256:" + "0" * 64}, 3), ({"name": "horn"}, 12), ("horn", 12),
                             ({"name": "../../x", "manifest": self.packed["manifest"]}, 12)):  # fmt: skip
            record["environment"]["packed"] = packed
            place(self.home / "other/run.json", json.dumps(record).encode())
            shutil.rmtree(self.run_directory, ignore_errors=True)
            self.launch("model", "--lock", self.home / "other", code=code)

    def test_what_does_not_fit_is_not_started(self):
        other = "aarch64" if os.uname().machine == "x86_64" else "x86_64"
        for name, facts, words in (("machine", {"machine": other}, (other, os.uname().machine)), ("glibc", {"glibc": "9.99"}, ("glibc 9.99",)),
                                   ("library", {"system_libraries": ["libnothere.so.7"]}, ("libnothere.so.7",))):  # fmt: skip
            self.changed(name, **facts)
            error = self.launch("model", "--env", name, code=11).err
            for word in words:
                self.assertIn(word, error)
            self.assertFalse(self.run_directory.exists())
            error = self.expect(self.sabath.run("stage", "--env", name, "--to", self.home / "node"), 11).err
            self.assertIn(words[0], error)
            self.assertFalse((self.home / "node" / name).exists())
            shown = self.expect(self.sabath.run("env", "show", name, "--json")).record
            self.assertIn(words[0], shown["against"][0])
        for name, facts in (("kind", {"kind": "x"}), ("later", {"schema": 2}), ("names", {"system_libraries": ["../../x"]}),
                            ("text", {"packages": [{"name": "a\u0007"}]}), ("version", {"glibc": "two"})):  # fmt: skip
            self.changed(name, **facts)
            self.launch("model", "--env", name, code=12)
            self.expect(self.sabath.run("stage", "--env", name, "--to", self.home / "node"), 12)
        self.changed("driver", node_libraries=["libnodriver.so.1"])
        self.assertIn("libnodriver.so.1", self.sabath.run("run", "model", "--env", "driver", "-n").err)
        self.changed("placed", place="/local/horn")
        self.assertIn("made for /local/horn", self.sabath.run("run", "model", "--env", "placed", "-n").err)
        self.assertIn("no packed environment", self.launch("model", "--env", "data", code=3).err)
        self.assertIn("env list", self.launch("model", "--env", "nothing", code=3).err)
        self.launch("model", "--env", "horn", "--container", "podman:x", code=2)

    def test_a_recipe_names_it(self):
        root = self.packed["manifest"]
        for text in ("horn", f"horn@{root}"):
            self.model(["python3", "{source}/ask.py"], code={"ask.py": ASK}, requirements={"environment": text, "pip": ["flute==1.2"]})
            seen, record = self.in_it("--env", "check")
            self.assertEqual(record["environment"]["packed"]["manifest"], root)
        shutil.rmtree(self.run_directory)
        self.launch("model", "--env", "none", code=11)  # no flute in the tests' own Python
        self.model(["python3", "{source}/ask.py"], code={"ask.py": ASK}, requirements={"environment": "horn", "pip": ["nothere==7"]})
        shutil.rmtree(self.run_directory, ignore_errors=True)
        for word in ("check", "create"):  # a packed environment stays what it is
            self.assertIn("nothere", self.launch("model", "--env", word, code=11).err)
        for bad in ("../horn", "horn.json", "horn@sha256:12", "horn@", "-x", "a b", "horn@" + root.upper()):
            self.model(["python3", "{source}/ask.py"], code={"ask.py": ASK}, requirements={"environment": bad})
            self.launch("model", code=12)
        self.model(["python3", "{source}/ask.py"], code={"ask.py": ASK}, requirements={"environment": "horn@sha256:" + "1" * 64})
        self.assertIn("1" * 64, self.launch("model", code=3).err)

    def test_of_a_recipe_of_others_its_root_is_trusted(self):
        self.model(["python3", "{source}/ask.py"], code={"ask.py": ASK}, requirements={"environment": "horn"})
        (self.sabath.recipes / "models").chmod(0o777)
        error = self.launch("model", code=4).err
        self.assertIn(self.packed["manifest"], error)
        self.in_it("--trust", "commit")
        self.in_it()
        python_prefix.install(self.mine, name="drum", version="2")
        self.expect(self.sabath.run("rm", "--forget", "horn"))
        newer = self.pack()
        shutil.rmtree(self.run_directory)
        self.assertIn(newer["manifest"], self.launch("model", code=4).err)
        self.launch("model", "--env", "horn", code=4)  # what the recipe says is asked about all the same

    def test_a_staged_one_is_used_where_it_stands(self):
        done = self.expect(self.sabath.run("stage", "data", "--env", "horn", "--to", self.home / "node"))
        activate = f". {self.home}/node/horn/bin/activate"
        self.assertEqual(done.out.splitlines()[-1], activate)
        told = subprocess.run(["bash", "-c", f"{activate} && flute && echo $SABATH_ENV"], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
        self.assertEqual(told.stdout.splitlines(), ["a note", os.path.realpath(self.home / "node/horn")], told.stderr)
        seen, record = self.in_it("--env", "horn", "--at", self.home / "node")
        self.assertEqual(seen[0], os.path.realpath(self.home / "node/horn"))
        self.assertEqual(record["environment"]["packed"]["manifest"], self.packed["manifest"])

    def test_a_file_more_is_refused(self):
        site = python_prefix.site(self.packed["path"])
        site.chmod(0o755)
        for name in ("sitecustomize.py", "x.pth", "a/b.py"):
            (site / name).parent.mkdir(exist_ok=True)
            (site / name).write_text("import sys; print('more')\n")
            self.assertIn(f"site-packages/{name.split('/')[0]}", self.launch("model", "--env", "horn", code=7).err)
            self.assertFalse(self.run_directory.exists())
            (site / name).unlink()
        self.launch("model", "--env", "horn", code=7)  # an empty directory is a package for Python
        (site / "a").rmdir()
        self.in_it("--env", "horn")
        self.expect(self.sabath.run("stage", "data", "--env", "horn", "--to", self.home / "node"))
        tree = self.home / "node/horn"
        (tree / "lib/libm.so.6").write_bytes(b"x")
        shutil.rmtree(self.run_directory)
        self.assertIn("lib/libm.so.6", self.launch("model", "--env", "horn", "--at", self.home / "node", code=7).err)
        (tree / "lib/libm.so.6").unlink()
        self.in_it("--env", "horn", "--at", self.home / "node")

    def test_a_tree_that_others_may_write_is_refused(self):
        self.expect(self.sabath.run("stage", "data", "--env", "horn", "--to", self.home / "node"))
        tree = self.home / "node/horn"
        for place in (self.home / "node", tree, tree / "lib", tree / "environment.json"):
            mode = place.stat().st_mode & 0o777
            place.chmod(mode | 0o002)
            error = self.launch("model", "--env", "horn", "--at", self.home / "node", code=4).err
            self.assertIn("others may write it", error)
            self.assertFalse(self.run_directory.exists())
            place.chmod(mode)
        if os.geteuid() == 0:
            os.chown(tree / "bin", 64003, 64003)
            self.assertIn("uid 64003", self.launch("model", "--env", "horn", "--at", self.home / "node", code=4).err)
            os.chown(tree / "bin", 0, 0)
        self.in_it("--env", "horn", "--at", self.home / "node")


if __name__ == "__main__":
    main()
