#!/usr/bin/python3
"""Every text field of a recipe holds a command, an option or a line break, in turn: nothing is ever run by it.

The fields are those of the schema: one that is not tried here is a failure. The recipes are listed, shown, fetched and run;
a file X anywhere would be a command's work.
"""
import concurrent.futures
import copy
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from ground import Ground, main

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "recipes/schema/recipe-1.schema.json"
# {X}: the file that a command would make
HOSTILE = ("$(touch${IFS}{X})", "`touch {X}`", "a;touch {X};", "|touch {X}", "a\ntouch {X}\n", "--upload-pack=touch {X}",
           "-oProxyCommand=touch {X}", "'; touch {X}; '", '"; touch {X}; "', "ext::sh -c touch% {X}", "{{X}}")
NOT_TRIED = {"$schema", "shell"}  # a step says itself that it is for a shell


def dataset(base):
    return {
        "schema": 1, "kind": "dataset", "name": "victim", "version": "1", "title": "t", "abstract": "a", "description": "d",
        "homepage": "https://h.example/", "licence": "MIT", "citation": ["c"], "references": ["r"],
        "access": {"kind": "public", "steps": ["s"]},
        "fragments": [{"id": "main", "type": "file", "path": "p/f", "urls": [f"file://{base}/f"], "size": 3,
                       "checksum": {"md5": "900150983cd24fb0d6963f7d28e17f72", "sha1": "a9993e364706816aba3e25717850c26c9cd0d89d",
                                    "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}}],
        "manifest": {"digest": "sha256:" + "0" * 64, "urls": [f"file://{base}/m"]},
    }


def model(base):
    return {
        "schema": 1, "kind": "model", "name": "victim", "version": "1", "default_dataset": "good",
        "git": {"origin": f"file://{base}/repository", "branch": "main", "tag": "t", "commit": "0" * 40},
        "forks": [{"origin": f"file://{base}/repository", "branch": "main", "tag": "t", "commit": "0" * 40}],
        "requirements": {"python": "3", "pip": ["numpy"], "conda": ["numpy"], "system_modules": ["gcc"]},
        "env_vars": {"A": "b"}, "metrics": ["loss (?P<loss>.*)"],
        "run": {"good": [{"argv": ["printf", "%s", "x"]}]},
    }


def local_model(base):
    """Its code lies beside the recipe, so that it is really run."""
    return {key: value for key, value in model(base).items() if key not in ("git", "forks")} | {"source": "code"}


def leaves(node, path=()):
    """The path of every text of a document, keys of open maps included by their values."""
    if isinstance(node, str):
        yield path
    elif isinstance(node, dict):
        for key, value in node.items():
            yield from leaves(value, (*path, key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from leaves(value, (*path, index))


def put(document, path, value):
    result = copy.deepcopy(document)
    node = result
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = value
    return result


def text_fields(schema):
    """Names of all properties of the schema that are texts, or lists of them, and not one of a few words."""
    found = set()

    def is_text(node):
        node = resolve(node)
        kinds = node.get("type")
        return ("string" in (kinds if isinstance(kinds, list) else [kinds]) and "enum" not in node and "const" not in node) or (
            "items" in node and isinstance(node["items"], dict) and is_text(node["items"]))

    def resolve(node):
        while isinstance(node, dict) and "$ref" in node:
            target = schema
            for step in node["$ref"].lstrip("#/").split("/"):
                target = target[step]
            node = target
        return node if isinstance(node, dict) else {}

    def walk(node):
        if isinstance(node, dict):
            for name, value in node.get("properties", {}).items() if isinstance(node.get("properties"), dict) else ():
                if is_text(value):
                    found.add(name)
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(schema)
    return found


class Injection(unittest.TestCase):
    def setUp(self):
        self.ground = Ground(self)
        self.base = self.ground.directory / "origin"
        self.base.mkdir()
        (self.base / "f").write_bytes(b"abc")
        good = {key: value for key, value in dataset(self.base).items() if key not in ("manifest",)} | {"name": "good"}
        self.ground.write_recipe("good", json.dumps(good))
        self.assertEqual(self.ground.fetch("good").exit, 0)

    def test_no_field_of_the_schema_is_forgotten(self):
        tried = {step for document in (dataset("/b"), model("/b"), local_model("/b")) for path in leaves(document) for step in path
                 if isinstance(step, str)}
        self.assertEqual(text_fields(json.loads(SCHEMA.read_text())) - tried - NOT_TRIED, set())

    def verbs(self, kind):
        yield ("info", "victim"), ("list",)
        yield (("fetch", "victim", "--json"),) if kind == "dataset" else (("fetch", "-m", "victim", "--json"),
                                                                         ("run", "victim", "good"))

    def one(self, number, kind, document, path, text):
        """One recipe in a world of its own that shares the store; the exit codes of what was done with it."""
        place = self.ground.directory / f"recipes-{number}"
        for folder in ("datasets", "models"):
            (place / folder).mkdir(parents=True)
        (place / "models/code").mkdir()
        (place / "datasets/good.json").write_bytes((self.ground.recipes / "datasets/good.json").read_bytes())
        canary = self.ground.directory / f"X{number}"
        value = text.replace("{X}", str(canary))
        (place / f"{kind}s/victim.json").write_text(json.dumps(put(document, path, value)))
        work = self.ground.directory / f"work-{number}"
        work.mkdir()
        environment = {**self.environment, "SABATH_RECIPES": str(place)}
        codes = []
        for group in self.verbs(kind):
            for verb in group:
                done = subprocess.run([os.environ["SABATH_BINARY"], *verb], env=environment, cwd=work, capture_output=True,
                                      stdin=subprocess.DEVNULL, timeout=60, check=False)
                said = (done.stdout + done.stderr).decode("utf-8", "replace")
                codes.append(done.returncode)
                if done.returncode in (70, 134, 139) or done.returncode < 0:
                    return f"{path} = {value!r}: {verb[0]} ended with {done.returncode}: {said}"
        made = [str(p) for p in self.ground.directory.glob(f"X{number}*")] + [str(p) for p in work.glob("X*")]
        return f"{path} = {value!r}: made {made}" if made else ""

    def test_the_commands_would_work(self):
        """Without this, "nothing is run" would also be true of commands that do nothing."""
        shell = {"'": "printf '%s'", '"': 'printf "%s"'}
        for number, text in enumerate(t for t in HOSTILE if "touch" in t):
            canary = self.ground.directory / f"Y{number}"
            value = text.replace("{X}", str(canary))
            if value.startswith(("ext::", "--upload-pack")):
                words = ["--", value] if value.startswith("ext::") else [value, "--", f"file://{self.base}"]
                command = ["git", "-c", "protocol.ext.allow=always", "ls-remote", *words]
            elif value.startswith("-o"):
                command = ["ssh", "-F", "none", value, "h.example", "true"]
            else:
                command = ["sh", "-c", shell.get(value[0], "printf %s").replace("%s", value)]
            with self.subTest(text):
                if not shutil.which(command[0]):
                    self.skipTest(f"{command[0]} is not installed")
                subprocess.run(command, cwd=self.base, capture_output=True, stdin=subprocess.DEVNULL, timeout=60, check=False)
                self.assertTrue(canary.exists(), command)

    def test_a_command_that_is_run_is_seen(self):
        """By the very look that the test below takes: a step that is meant for a shell is run, and leaves its file."""
        self.environment = self.ground.environment()
        document = local_model(self.base) | {"run": {"good": [{"shell": "placeholder"}]}}
        self.assertIn("made", self.one(0, "model", document, ("run", "good", 0, "shell"), "touch {X}"))

    def test_nothing_is_run(self):
        self.environment = self.ground.environment()
        fixed = (("kind",), ("run", "good", 0, "argv", 0))  # the kind is one of a few words, the program is the recipe's to name
        cases = [(kind, document, path, text) for kind, document in (("dataset", dataset(self.base)), ("model", model(self.base)))
                 for path in leaves(document) if path not in fixed for text in HOSTILE]
        local = local_model(self.base)
        cases += [("model", local, path, text) for path in leaves(local)
                  if path[0] in ("source", "run", "env_vars", "metrics") and path not in fixed for text in HOSTILE]
        every = int(os.environ.get("SABATH_INJECTION_STRIDE", "4"))  # the whole takes minutes; each field is always tried
        chosen = [case for number, case in enumerate(cases) if every == 1 or number % every == number // len(HOSTILE) % every]
        self.assertEqual({(c[0], c[2]) for c in chosen}, {(c[0], c[2]) for c in cases})
        print(f"{len(chosen)} of {len(cases)} cases")
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            wrong = [w for w in pool.map(lambda case: self.one(case[0], *case[1]), enumerate(chosen)) if w]
        self.assertEqual(wrong, [])
        self.assertEqual([str(p) for p in pathlib.Path().glob("X*")], [])


if __name__ == "__main__":
    sys.setrecursionlimit(10_000)
    main()
