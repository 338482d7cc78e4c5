#!/usr/bin/python3
"""injection_test.py for recipes of schema 0, and the names of files that come to a shell by their commands."""
import json
import pathlib
import sys
import urllib.parse

import injection_test
from support.ground import main
from injection_test import HOSTILE, InjectionCase, keys, leaves, put, rename, text_fields

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "recipes/schema/recipe-0.schema.json"
NAMES = ("$(touch X)", "`touch X`", "a;touch X;", "|touch X", "'; touch X; '", '"; touch X; "', "&touch X&",
         "-e touch X", "a>X", "${IFS}X$(>X)")


def dataset(base):
    (fragment,) = injection_test.dataset(base)["fragments"]
    return {
        "name": "victim", "abstract": "a", "description": "d", "homepage": "https://h.example/", "references": ["r"],
        "fragments": [{"id": "main", "type": "file", "url": [f"file://{base}/f"], "size": 3,
                       "checksum": fragment["checksum"]}],
    }


def one_url(base):
    document = dataset(base)
    document["fragments"][0]["url"] = f"file://{base}/f"
    return document


def model(base, **pin):
    origin = f"file://{base}/repository"
    return {
        "schema": 0, "name": "victim", "git": {"origin": origin, "PnetCDF": origin, **(pin or {"branch": "main"})},
        "forks": [{"git": [origin]}], "requirements": {"python": "3", "pip": ["numpy"], "system_modules": ["gcc"]},
        "env_vars": {"A": "b"}, "run": {"good": ["true"]},
    }


class Schema0(InjectionCase):
    def documents(self):
        """(kind, document, the part of it that matters)."""
        yield "dataset", dataset(self.base), None
        yield "dataset", one_url(self.base), ("fragments",)
        yield "model", model(self.base), None
        yield "model", model(self.base, tag="t"), ("git",)
        yield "model", model(self.base, commit=self.commit), ("git",)

    def test_no_field_of_the_schema_is_forgotten(self):
        tried = {step for _, document, _ in self.documents() for path in leaves(document) for step in path}
        fields = text_fields(json.loads(SCHEMA.read_text()))
        self.assertLess({"origin", "commit", "abstract", "references", "md5"}, fields)
        self.assertEqual((fields | {"url", "PnetCDF"}) - tried, set())

    def test_the_recipes_are_good(self):
        for number, (kind, document, _) in enumerate(self.documents()):
            with self.subTest(number):
                codes = []
                self.assertEqual(self.one(number, kind, document, ("name",), "victim", codes=codes), "")
                self.assertEqual(set(codes), {0})

    def test_nothing_is_run(self):
        self.tried([(kind, document, path, text, put) for kind, document, part in self.documents()
                    for path in leaves(document) if (part is None or path[0] in part) and path[0] != "run"
                    for text in HOSTILE])

    def test_nothing_is_run_by_a_key(self):
        self.tried([(kind, document, path, text, rename) for kind, document, part in self.documents()
                    for path in keys(document) if part is None or path[0] in part for text in HOSTILE])

    def test_commands_are_for_the_run(self):
        """They are the recipe's to say: run by `run`, and by nothing else."""
        self.assertIn("made", self.one("run", "model", model(self.base), ("run", "good", 0), "touch {X}"))
        self.verbs = lambda kind: ((("info", "victim"), ("list",), ("fetch", "-m", "victim", "--json")),)
        for number, text in enumerate(t for t in HOSTILE if "{{" not in t):
            with self.subTest(text):
                codes = []
                case = "model", model(self.base), ("run", "good", 0), text.replace("${IFS}", " ")
                self.assertEqual(self.one(number, *case, codes=codes), "")
                self.assertEqual(set(codes), {0})

    def test_names_of_files_reach_no_shell(self):
        """`{dataset.main}` is pasted into a command."""
        document = model(self.base) | {"run": {"good": ["cp {dataset.main} copied; cat copied"]}}
        (self.ground.recipes / "models/victim.json").write_text(json.dumps(document))
        for number, name in enumerate(("plain", *NAMES)):
            with self.subTest(name):
                (self.base / name).write_text("seen it")
                data = {"name": "good", "fragments": [{"id": "main", "type": "file",
                                                       "url": f"file://{self.base}/{urllib.parse.quote(name)}"}]}
                self.ground.write_recipe("good", json.dumps(data))
                work = self.ground.directory / f"work-{number}"
                work.mkdir()
                result = self.ground.run("run", "victim", "good", cwd=work)
                self.assertEqual(result.exit == 0, name == "plain", result)
                self.assertNotIn(result.exit, (70, 134, 139))
                self.assertEqual(list(self.ground.directory.rglob("X")), [])
                if name == "plain":
                    self.assertTrue([p for p in self.ground.directory.rglob("copied")], result)


if __name__ == "__main__":
    sys.setrecursionlimit(10_000)
    main()
