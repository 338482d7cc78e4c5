#!/usr/bin/python3
"""Every text field and every key of a recipe holds a command, an option or a line break, in turn: nothing is ever run by it.

The fields are those of the schema: one that is not tried here is a failure. The recipes are listed, shown, fetched and run;
a file X anywhere would be a command's work. SABATH_INJECTION_STRIDE=1 tries every text in every field.
"""
import concurrent.futures
import copy
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from support.ground import Ground, main

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "recipes/schema/recipe-1.schema.json"
# {X}: the file that a command would make
HOSTILE = ("$(touch${IFS}{X})", "`touch {X}`", "a;touch {X};", "|touch {X}", "a\ntouch {X}\n", "--upload-pack=touch {X}",
           "-oProxyCommand=touch {X}", "'; touch {X}; '", '"; touch {X}; "', "ext::sh -c touch% {X}", "{{X}}")
# Names by which a variable is a command to some program that a fetch starts.
COMMANDING = ("GIT_SSH_COMMAND", "GIT_SSH", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_PROXY_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_PAGER",
              "GIT_EDITOR", "PAGER", "EDITOR", "BASH_ENV", "ENV", "PROMPT_COMMAND")
NOT_TRIED = {"$schema",
             "shell",  # a step says itself that it is for a shell
             "environment"}  # a name, or a name and a root: the recipe's unit tests refuse others


def dataset(base):
    return {
        "schema": 1, "kind": "dataset", "name": "victim", "version": "1", "title": "t", "abstract": "a", "description": "d",
        "homepage": "https://h.example/", "licence": "MIT", "citation": ["c"], "references": ["r"],
        "access": {"kind": "public", "steps": ["s"]},
        "id": "urn:x:1", "doi": "10.1234/a", "published": "2020-01-02", "tags": {"t": "v"}, "keywords": ["w"],
        "creators": [{"name": "n", "type": "person", "orcid": "0000-0002-1825-0097", "affiliation": "o"}],
        "supporting": [{"id": "s", "description": "d", "per": "file", "inputs": ["*.h5"], "outputs": ["*.out"], "argv": ["true"],
                        "arguments": [{"name": "a", "type": "text", "default": "d", "help": "h", "choices": ["d", "e"]}]}],
        "derived": {"from": "one", "input": "sha256:" + "1" * 64, "script": "s", "script_root": "sha256:" + "2" * 64,
                    "arguments": {"a": "d"}, "tools": {"t": "1"}, "key": "sha256:" + "3" * 64},
        "submitter": {"name": "n"}, "related": [{"relation": "Cites", "target": "two"}],
        "format": {"names": ["HDF5"], "media_types": ["a/b"], "conforms_to": ["urn:x:2"],
                   "variables": [{"name": "x", "dtype": "int16", "unit": "m", "description": "d", "shape": [1]}]},
        "unknown": {"git": "u"}, "read_from": {"title": ["https://h.example/"]},
        "fragments": [{"id": "main", "type": "file", "path": "p/f", "urls": [f"file://{base}/f"], "size": 3,
                       "checksum": {kind: hashlib.new(kind, b"abc").hexdigest()
                                    for kind in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")}}],
    }


def pinned_dataset(base):
    """Its manifest is not there: nothing else of it is looked at."""
    return dataset(base) | {"manifest": {"digest": "sha256:" + "0" * 64, "urls": [f"file://{base}/m"], "date": "2026-11-29"}}


def model(base, **pin):
    """Whose code is in the repository beside the data, at this branch, tag or commit."""
    return {
        "schema": 1, "kind": "model", "name": "victim", "version": "1", "default_dataset": "good",
        "git": {"origin": f"file://{base}/repository", **(pin or {"branch": "main"})},
        "forks": [{"origin": f"file://{base}/repository", **(pin or {"branch": "main"})}],
        "requirements": {"python": "3", "pip": ["numpy"], "conda": ["numpy"], "system_modules": ["gcc"],
                         "checks": ["memory>=1kB", {"name": "own", "argv": ["printf", "x"], "expect": "x"}]},
        "env_vars": {"A": "b"}, "metrics": ["loss (?P<loss>.*)"], "config": {"k": "v"}, "metadata": {"k": "v"},
        "model": {"format": "f", "framework": "f", "type": "t", "hyper_parameters": {"k": "v"}, "metrics": ["m"],
                  "accelerators": ["a"]},
        "run": {"good": [{"argv": ["printf", "%s", "{config.k}"]}]},
    }


def local_model(base):
    """Its code lies beside the recipe, so that it is really run."""
    return {key: value for key, value in model(base).items() if key not in ("git", "forks")} | {"source": "code"}


def leaves(node, path=()):
    """The path of every text of a document."""
    if isinstance(node, str):
        yield path
    elif isinstance(node, dict):
        for key, value in node.items():
            yield from leaves(value, (*path, key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from leaves(value, (*path, index))


def keys(node, path=()):
    """The path of every key of a document, of all its objects."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield (*path, key)
            yield from keys(value, (*path, key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from keys(value, (*path, index))


def rename(document, path, key):
    """The document with another key at this place, for the same value."""
    result = copy.deepcopy(document)
    node = result
    for step in path[:-1]:
        node = node[step]
    value = node.pop(path[-1])
    node[key] = value
    return result


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


class InjectionCase(unittest.TestCase):
    """One user's world, and the look for what a command would have left there."""

    def setUp(self):
        self.ground = Ground(self)
        self.base = self.ground.directory / "origin"
        self.base.mkdir()
        (self.base / "f").write_bytes(b"abc")
        self.ground.write_recipe("good", json.dumps(dataset(self.base) | {"name": "good"}))
        self.assertEqual(self.ground.fetch("good").exit, 0)
        self.environment = self.ground.environment()
        git = ["git", "-c", "user.name=n", "-c", "user.email=e", "-C", self.base / "repository"]
        (self.base / "repository").mkdir()
        for words in (["init", "-q", "-b", "main"], ["commit", "-q", "--allow-empty", "-m", "m"], ["tag", "t"]):
            subprocess.run([*git, *words], env=self.environment, check=True)
        self.commit = subprocess.run([*git, "rev-parse", "HEAD"], env=self.environment, check=True, capture_output=True).stdout.decode().strip()

    def verbs(self, kind):
        yield ("info", "victim"), ("list",)
        yield (("fetch", "victim", "--json"),) if kind == "dataset" else (("fetch", "-m", "victim", "--json"),
                                                                         ("run", "victim", "good"))

    def mark(self, canary):
        return str(canary)

    def one(self, number, kind, document, path, text, change=put, codes=None):
        """One recipe in a world of its own that shares the store: what is wrong, or "". `codes` gets what each verb ended with."""
        place = self.ground.directory / f"recipes-{number}"
        for folder in ("datasets", "models"):
            (place / folder).mkdir(parents=True)
        (place / "models/code").mkdir()
        (place / "datasets/good.json").write_bytes((self.ground.recipes / "datasets/good.json").read_bytes())
        canary = self.ground.directory / f"X{number}"
        value = text.replace("{X}", self.mark(canary))
        (place / f"{kind}s/victim.json").write_text(json.dumps(change(document, path, value)))
        work = self.ground.directory / f"work-{number}"
        work.mkdir()
        environment = {**self.environment, "SABATH_RECIPES": str(place)}
        codes = [] if codes is None else codes
        for group in self.verbs(kind):
            for verb in group:
                done = subprocess.run([os.environ["SABATH_BINARY"], *verb], env=environment, cwd=work, capture_output=True,
                                      stdin=subprocess.DEVNULL, timeout=300, check=False)
                said = (done.stdout + done.stderr).decode("utf-8", "replace")
                codes.append(done.returncode)
                if done.returncode in (70, 134, 139) or done.returncode < 0:
                    return f"{path} = {value!r}: {verb[0]} ended with {done.returncode}: {said}"
        made = [str(p) for p in self.ground.directory.glob(f"X{number}*")] + [str(p) for p in work.glob("X*")]
        return f"{path} = {value!r}: made {made}" if made else ""

    def tried(self, cases):
        """Of (kind, document, path, text, change) one in `stride`, but each path; none may make a file."""
        every = int(os.environ.get("SABATH_INJECTION_STRIDE", "8"))  # the whole takes ten minutes; each field is always tried
        chosen = [case for number, case in enumerate(cases) if every == 1 or number % every == number // len(HOSTILE) % every]
        self.assertEqual({(c[0], c[2]) for c in chosen}, {(c[0], c[2]) for c in cases})
        print(f"{len(chosen)} of {len(cases)} cases")
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            wrong = [w for w in pool.map(lambda case: self.one(case[0], *case[1]), enumerate(chosen)) if w]
        self.assertEqual(wrong, [])
        self.assertEqual([str(p) for p in pathlib.Path().glob("X*")], [])


class Injection(InjectionCase):
    def documents(self):
        """(kind, document, the part of it that matters); the same field of two recipes is tried once."""
        git = ("git", "forks")
        yield "dataset", dataset(self.base), None
        yield "dataset", pinned_dataset(self.base), ("manifest",)
        yield "model", model(self.base), None
        yield "model", model(self.base, tag="t"), git
        yield "model", model(self.base, commit=self.commit), git
        yield "model", local_model(self.base), ("source", "run", "env_vars", "metrics", "config", "metadata")

    def test_no_field_of_the_schema_is_forgotten(self):
        tried = {step for _, document, _ in self.documents() for path in leaves(document) for step in path if isinstance(step, str)}
        self.assertEqual(text_fields(json.loads(SCHEMA.read_text())) - tried - NOT_TRIED, set())

    def test_the_recipes_are_good(self):
        """A recipe that is refused as it stands would say nothing about any of its fields."""
        for number, (kind, document, _) in enumerate(self.documents()):
            with self.subTest(number):
                codes = []
                self.assertEqual(self.one(number, kind, document, ("name",), "victim", codes=codes), "")
                bad = 6 if "manifest" in document else 2 if "source" in document else 0  # no such manifest; nothing to fetch
                self.assertEqual([code for code in codes if code], [bad] if bad else [])

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
                subprocess.run(command, cwd=self.base, capture_output=True, stdin=subprocess.DEVNULL, timeout=300, check=False)
                self.assertTrue(canary.exists(), command)

    def test_a_command_that_is_run_is_seen(self):
        """By the very look that the test below takes: a step that is meant for a shell is run, and leaves its file."""
        document = local_model(self.base) | {"run": {"good": [{"shell": "placeholder"}]}}
        self.assertIn("made", self.one(0, "model", document, ("run", "good", 0, "shell"), "touch {X}"))

    def test_nothing_is_run(self):
        fixed = (("kind",), ("run", "good", 0, "argv", 0))  # the kind is one of a few words, the program is the recipe's to name
        self.tried([(kind, document, path, text, put) for kind, document, part in self.documents() for path in leaves(document)
                    if (part is None or path[0] in part) and path not in fixed for text in HOSTILE])

    def test_nothing_is_run_by_a_key(self):
        self.tried([(kind, document, path, text, rename) for kind, document, part in self.documents() for path in keys(document)
                    if part is None or path[0] in part for text in HOSTILE])

    def test_variables_are_for_the_run(self):
        """What git, ssh or a shell would take for a command is none to those that a fetch starts."""
        document = model(self.base)
        document["git"]["origin"] = "ssh://h.invalid/repository"
        self.environment["GIT_SSH_COMMAND"] = f"touch {self.ground.directory}/Xuser;"  # the user's own is one
        self.assertIn("made", self.one("user", "model", document, ("env_vars", "A"), "b"))
        del self.environment["GIT_SSH_COMMAND"]
        for number, name in enumerate(COMMANDING):
            with self.subTest(name):
                document["env_vars"] = {name: "placeholder"}
                self.assertEqual(self.one(number, "model", document, ("env_vars", name), "touch {X};"), "")


if __name__ == "__main__":
    sys.setrecursionlimit(10_000)
    main()
