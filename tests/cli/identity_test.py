#!/usr/bin/python3
"""An identifier leads to its asset, a recipe says which bytes it means, and what was removed is remembered elsewhere."""

import datetime
import hashlib
import json
import pathlib

from support.case import Case, main, place
from support.content import fragment, seeded

ONE, TWO = seeded(5000), seeded(5_000_000)
URN = "urn:uuid:00000000-0000-4000-8000-0000000000aa"
WRITTEN = """{
  "schema": 1,   "kind": "dataset",
  "name": "odd", "licence":"MIT" ,

  "fragments": [ {"id": "a.b", "type": "file", "path": "one", "urls": ["file://%s/one"]},
                 {"type": "file", "path": "two", "urls": ["file://%s/two"],  "id": "c"}
  ]
}
"""


class Identity(Case):
    def setUp(self):
        super().setUp()
        self.origin = self.home / "origin"
        place(self.origin / "one", ONE)
        place(self.origin / "two", TWO)

    def run_it(self, *arguments, code=0, **environment):
        return self.expect(self.sabath.run(*arguments, **environment), code)

    def catalogue(self, *arguments, code=0):
        return self.run_it("catalogue", *arguments, code=code)

    def describe(self, name, file="one", **keys):
        self.sabath.add(name, [fragment(f"file://{self.origin}/{file}")], **keys)
        return self.sabath.recipes / f"datasets/{name}.json"

    def subscribe(self, as_name, *names):
        """Exports assets of ours, and subscribes to that with recipes of another user."""
        public = self.home / f"public-{as_name}"
        self.catalogue("export", public, *names)
        ours = self.sabath.environment["SABATH_RECIPES"]
        self.sabath.environment["SABATH_RECIPES"] = str(self.home / "mine")
        (self.home / "mine/datasets").mkdir(parents=True, exist_ok=True)
        self.catalogue("subscribe", f"file://{public}/index.json", "--as", as_name)
        self.sabath.environment["SABATH_RECIPES"] = ours
        return public

    def as_subscriber(self):
        self.sabath.environment["SABATH_RECIPES"] = str(self.home / "mine")


class Pins(Identity):
    def odd(self):
        file = self.sabath.recipes / "datasets/odd.json"
        place(file, (WRITTEN % (self.origin, self.origin)).encode())
        return file

    def expect_pinned(self, text, root):
        recipe = json.loads(text)
        self.assertEqual(list(recipe), ["schema", "kind", "name", "licence", "fragments", "manifest"])
        today = datetime.datetime.now(datetime.timezone.utc).date()
        self.assertEqual(recipe["manifest"]["digest"], root)
        self.assertLessEqual(abs((datetime.date.fromisoformat(recipe["manifest"]["date"]) - today).days), 1)
        for each, data in zip(recipe["fragments"], (ONE, TWO)):
            self.assertEqual((each["size"], each["checksum"]), (len(data), {"sha256": hashlib.sha256(data).hexdigest()}))
        self.assertEqual(list(recipe["fragments"][1]), ["type", "path", "urls", "id", "size", "checksum"])
        for line in ('  "schema": 1,   "kind": "dataset",', '  "name": "odd", "licence":"MIT" ,\n\n'):
            self.assertIn(line, text)

    def test_a_recipe_says_which_bytes_it_means(self):
        file = self.odd()
        before = file.read_text()
        self.assertIn("`sabath fetch odd` brings it", self.catalogue("pin", "odd", code=9).err)
        root = self.run_it("fetch", "--json", "odd").record["assets"][0]["manifest"]
        shown = self.catalogue("pin", "odd", "-n").out
        self.assertEqual(file.read_text(), before)
        self.assertEqual(self.catalogue("pin", "odd").out.strip(), str(file))
        self.assertEqual(file.read_text(), shown)
        self.expect_pinned(shown, root)
        self.catalogue("pin", "odd")
        self.assertEqual(file.read_text(), shown, "a second time nothing changes")
        again = self.run_it("fetch", "--json", "odd").record["assets"][0]
        self.assertEqual((again["trusted_by"], again["fetched_bytes"]), ("pinned", 0))
        place(self.origin / "two", TWO[:-1] + b"?")
        self.run_it("--store", self.home / "colleague", "fetch", "odd", code=7)
        record = self.catalogue("pin", "odd", "--url", "https://h.example/odd.manifest", "--json").record
        self.assertEqual((record["manifest"], record["files"], record["by_root_alone"]), (root, 2, []))
        self.assertEqual(json.loads(file.read_text())["manifest"]["urls"], ["https://h.example/odd.manifest"])
        self.catalogue("edit", "odd", "fragments.c.size=7")
        self.assertEqual(json.loads(file.read_text())["fragments"][1]["size"], 7)
        self.catalogue("pin", "odd", code=7)
        self.assertIn('"fragments" has no "d"', self.catalogue("edit", "odd", "fragments.d.size=7", code=2).err)

    def test_only_ours_is_written(self):
        self.odd()
        self.run_it("fetch", "odd")
        self.subscribe("lab", "odd")
        self.as_subscriber()
        copy = next(self.home.rglob("catalogues/lab/datasets/odd.json"))
        before = copy.read_bytes()
        self.run_it("fetch", "-d", "lab/odd")
        self.assertIn("subscribed catalogue", self.catalogue("pin", "lab/odd", code=2).err)
        self.assertEqual(copy.read_bytes(), before)

    def test_an_export_with_pins(self):
        file = self.odd()
        before = file.read_text()
        root = self.run_it("fetch", "--json", "odd").record["assets"][0]["manifest"]
        self.catalogue("export", self.home / "public", "odd", "--pin")
        self.expect_pinned((self.home / "public/datasets/odd.json").read_text(), root)
        self.assertEqual(json.loads((self.home / "public/datasets/odd.jsonld").read_text())["sabath:manifest"], root)
        self.assertEqual(file.read_text(), before)
        self.describe("absent", "two")
        told = self.catalogue("export", self.home / "public", "--pin", "--json", code=8).record
        self.assertEqual([line.split(":")[0] for line in told["unpinned"]], ["absent"])
        self.assertEqual(told["assets"], 2)

    def test_what_stands_in_the_store_is_described(self):
        self.run_it("adopt", self.origin, "--name", "held")
        (asset,) = self.run_it("fair", "held", "--json").record["assets"]
        remedy = asset["principles"]["R2"]["remedy"].replace("SPDX", "MIT")
        self.catalogue("edit", "held", remedy, "abstract=Two files")
        (known,) = self.run_it("info", "held", "--json").record["assets"]
        self.assertEqual((known["licence"], known["abstract"]), ("MIT", "Two files"))
        self.run_it("adopt", self.origin, "--name", "held")
        self.assertEqual(self.run_it("info", "held", "--json").record["assets"][0]["licence"], "MIT")
        self.run_it("verify")
        self.assertIn("--forget held", self.catalogue("rm", "held", code=2).err)


class Identifiers(Identity):
    def name_of(self, identifier, code=0):
        told = self.run_it("info", "--json", identifier, code=code)
        return told.record["assets"][0]["name"] if code == 0 else told.err

    def test_the_id_of_a_document_is_kept_and_leads_here(self):
        document = {"@context": "https://schema.org/", "@type": "Dataset", "@id": "https://h.example/sets/1",
                    "name": "first", "identifier": "https://doi.org/10.1234/AB.c",
                    "distribution": [{"@type": "DataDownload", "contentUrl": "https://h.example/one"}]}  # fmt: skip
        place(self.home / "document.json", json.dumps(document).encode())
        file = pathlib.Path(self.catalogue("new", "first", "--from", self.home / "document.json").out.strip())
        recipe = json.loads(file.read_text())
        self.assertEqual((recipe["id"], recipe["doi"]), (document["@id"], "10.1234/ab.c"))
        for identifier in (document["@id"], "doi:10.1234/AB.C", "10.1234/ab.c", "https://doi.org/10.1234/ab.c"):
            self.assertEqual(self.name_of(identifier), "first", identifier)
        self.catalogue("new", "second", "--from", "first", "fragments=[]", code=12)
        self.assertIn("its id is that of", self.catalogue("new", "second", "--from", self.home / "document.json", code=2).err)

    def test_fetch_takes_an_identifier(self):
        self.describe("set", id=URN, doi="10.1234/set")
        for identifier in (URN, URN.upper().replace("URN:UUID", "urn:uuid"), "doi:10.1234/SET", "https://doi.org/10.1234/set"):
            (asset,) = self.run_it("fetch", "--json", identifier).record["assets"]
            self.assertEqual((asset["name"], asset["bytes"]), ("set", len(ONE)), identifier)
        self.assertEqual(self.run_it("path", URN).out, self.run_it("path", "set").out)
        self.assertIn("no recipe here has the identifier", self.run_it("fetch", URN[:-1] + "b", code=3).err)
        self.assertIn("no recipe here has the identifier", self.name_of("https://h.example/none", 3))
        self.describe("part", "two", doi="10.1234/set")
        self.assertIn("say which: part, set", self.name_of("doi:10.1234/set", 3))

    def test_what_others_claim_never_stands_before_ours(self):
        web = "https://h.example/one"
        self.describe("theirs", "two", id=URN, doi="10.1234/a")
        self.describe("page", "two", id=web)
        self.subscribe("lab", "theirs", "page")
        self.describe("theirs2", "two", id=URN)
        (self.sabath.recipes / "datasets/theirs.json").unlink()
        self.subscribe("other", "theirs2")
        self.as_subscriber()
        said = self.name_of(URN, 3)
        self.assertIn("lab/theirs", said)
        self.assertIn("other/theirs2", said)
        self.assertEqual(self.name_of("doi:10.1234/a"), "theirs")
        # A source that can be asked itself is asked: theirs would lead elsewhere.
        self.assertNotIn("page", self.sabath.run("plan", web, "--offline", "--json").out)
        mine = {"schema": 1, "kind": "dataset", "name": "mine", "id": URN, "doi": "10.1234/a",
                "fragments": [fragment(f"file://{self.origin}/one", ONE)]}  # fmt: skip
        place(self.home / "mine/datasets/mine.json", json.dumps(mine).encode())
        for identifier in (URN, "10.1234/a"):
            self.assertEqual(self.name_of(identifier), "mine")
            self.assertEqual(self.run_it("fetch", "--json", identifier).record["assets"][0]["name"], "mine")

    def test_what_was_removed_is_known_to_subscribers(self):
        self.describe("gone", id=URN, version="1")
        self.describe("stays", "two")
        self.catalogue("rm", "gone", "--why", "superseded")
        public = self.subscribe("lab", "stays")
        self.as_subscriber()
        self.assertTrue((public / "removed/gone@1.json").exists())
        for name in ("lab/gone", "lab/gone@1", URN):
            (stone,) = self.run_it("info", "--json", name).record["removed"]
            self.assertEqual((stone["name"], stone["why"], stone["id"]), ("lab/gone", "superseded", URN), name)
        self.assertIn("superseded", self.run_it("info", "lab/gone").out)
        self.assertIn('did you mean "lab/stays"?', self.run_it("info", "lab/stay", code=3).err)

    def test_a_subscriber_without_recipes_is_not_warned(self):
        self.describe("stays")
        self.subscribe("lab", "stays")
        self.as_subscriber()
        (self.home / "mine/datasets").rmdir()
        self.assertEqual(self.run_it("list").err, "")


class Tried(Identity):
    """`fair` does what it judges."""

    def answers(self, *arguments):
        (asset,) = self.run_it("fair", "--json", *arguments).record["assets"]
        return {name: (one["answer"], one["by"], one["remedy"]) for name, one in asset["principles"].items()}

    def test_a_source_of_this_machine_is_no_open_one(self):
        self.describe("here", id=URN)
        found = self.answers("here")
        self.assertEqual((found["A1"][0], found["A2"][0]), ("part", "no"))
        remedy = found["A2"][2].replace("URL", "https://h.example/one")
        self.catalogue("edit", "here", remedy)
        self.assertEqual(self.answers("here", "--offline")["A1"][0], "not asked")
        self.describe("there")
        told = self.catalogue("export", self.home / "public")
        self.assertIn("there: no other machine can read file://", told.err)

    def test_the_sources_are_asked(self):
        server = self.serve({"one": ONE})
        self.sabath.add("far", [fragment("https://h.example/one")], id=URN)
        rules = [{"from": "https://h.example/", "to": server.url()}]
        place(self.home / "config.json", json.dumps({"rewrites": rules}).encode())
        by = ("--config", self.home / "config.json")
        self.assertEqual(self.answers("far", *by)["A1"][:2], ("yes", "its identifier leads to it; 1 of 1 source answered"))
        self.sabath.add("far", [fragment("https://h.example/none")], id=URN)
        found = self.answers("far", *by)["A1"]
        self.assertEqual(found[0], "no")
        self.assertIn("404", found[1])
        self.assertEqual(self.answers("far", *by, "--offline")["A1"][0], "not asked")
        self.assertEqual(self.answers("far", "--offline")["I1"][0], "yes")


if __name__ == "__main__":
    main()
