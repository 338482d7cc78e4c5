#!/usr/bin/python3
"""Catalogues as their keepers see them: new, changed and removed recipes, exports, subscriptions, the FAIR questions."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess

from support.case import Case, main, place
from support.content import fragment, seeded

TREE = pathlib.Path(__file__).resolve().parents[2]
DATA = seeded(5000)
WRITTEN = """{
  "schema": 1,   "kind": "dataset",
  "name": "odd",

  "licence":"MIT" , "tags": {"task": "regression"},
  "fragments": [ {"id": "a", "type": "file", "path": "f.bin", "urls": ["%s"]} ]
}
"""


class Keepers(Case):
    def setUp(self):
        super().setUp()
        self.file = self.home / "origin/f.bin"
        place(self.file, DATA)
        self.url = f"file://{self.file}"
        self.sabath.add("held", [fragment(self.url, DATA)])

    def run_it(self, *arguments, code=0):
        return self.expect(self.sabath.run(*arguments), code)

    def catalogue(self, *arguments, code=0):
        return self.run_it("catalogue", *arguments, code=code)


class Recipes(Keepers):
    def test_a_new_recipe_is_fetched_and_is_new(self):
        place(self.home / "origin/g.bin", b"g" * 70_000)
        other = f"file://{self.home}/origin/g.bin"
        shown = self.catalogue("new", "mine", "--url", other, "licence=MIT", "version=1.0", "-n")
        self.assertIn('"version": "1.0"', shown.out)
        file = pathlib.Path(self.catalogue("new", "mine", "--url", other, "licence=MIT", "tags.n=4").out.strip())
        recipe = json.loads(file.read_text())
        uuid = r"^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"
        self.assertRegex(recipe["id"], uuid)
        self.assertEqual((recipe["licence"], recipe["tags"]), ("MIT", {"n": 4}))
        self.run_it("fetch", "mine")
        for words, said in ((["mine", "--url", other], "there already"),
                            (["again", "--url", other], "its sources are those of"),
                            (["again", "--url", other + ".x", f"id={recipe['id']}"], "its id is that of"),
                            (["a b", "--url", other], "is no name"), (["none"], "must not be empty"),
                            (["bad", "--url", other + ".y", "licence"], "changes nothing"),
                            (["bad", "--url", other + ".y", "colour=red"], "colour")):  # fmt: skip
            refused = self.sabath.run("catalogue", "new", *words)
            self.assertIn(refused.exit, (2, 12), (words, refused))
            self.assertIn(said, refused.err, words)
        self.assertFalse((file.parent / "bad.json").exists())

    def test_programs_and_libraries_are_assets(self):
        """Found, fetched, described and exported as what they are; a program can be executed."""
        server = self.serve({"tool": b"#!/bin/sh\necho done\n", "libx.a": b"!<arch>\n", "x.o": b"\x7fELF"})
        for kind, file, folder in (("executable", "tool", "executables"), ("library", "libx.a", "libraries"), ("object", "x.o", "objects")):
            with self.subTest(kind):
                name = "my" + kind
                self.run_it("catalogue", "new", name, "--kind", kind, "--url", server.url(file), "licence=MIT")
                self.assertTrue((self.sabath.recipes / folder / f"{name}.json").is_file())
                asset = self.fetch(name)
                self.assertEqual(asset["kind"], kind)
                self.assertEqual(self.fetch(name, "--force")["manifest"], asset["manifest"])
                self.assertEqual(os.access(pathlib.Path(asset["path"], file), os.X_OK), kind == "executable")
                for verb in ("list", "search"):
                    words = ["my"] if verb == "search" else []
                    found = self.run_it(verb, "--kind", kind, "--json", *words).record["assets"]
                    self.assertEqual([each["name"] for each in found], [name])
                self.expect(self.sabath.run("verify", name))
                for form in ("schema.org", "croissant"):
                    self.run_it("info", "--format", form, name)
                self.assertIn(f"sabath:{kind.capitalize()}", self.run_it("info", "--format", "jsonld", name).out)
                self.assertIn(f"{name} is content of the kind {kind}", self.run_it("run", name, code=2).err)
        self.assertEqual(subprocess.run([pathlib.Path(self.run_it("path", "myexecutable").out.strip(), "tool")], capture_output=True).stdout, b"done\n")
        site = self.home / "site"
        self.run_it("catalogue", "export", site)
        index = json.loads((site / "index.json").read_text())
        self.assertEqual(sorted(each["kind"] for each in index["assets"]), ["dataset", "executable", "library", "object"])

    def test_a_document_of_another_standard(self):
        document = {"@context": {"@vocab": "https://schema.org/", "cr": "http://mlcommons.org/croissant/"},
                    "@type": "sc:Dataset", "name": "other", "conformsTo": "http://mlcommons.org/croissant/1.0",
                    "distribution": [{"@type": "cr:FileObject", "@id": "f", "name": "f", "sha256": "0" * 64,
                                      "contentUrl": "https://h.example/f.csv", "encodingFormat": "text/csv"}]}  # fmt: skip
        place(self.home / "doc.json", json.dumps(document).encode())
        shown = self.catalogue("new", "fromdoc", "--from", self.home / "doc.json", "-n")
        self.assertIn("https://h.example/f.csv", shown.out)
        self.assertIn('"name": "fromdoc"', shown.out)

    def test_a_document_by_its_url(self):
        """As `fetch URL` reads it: from a server, with relative URLs; or a list of checksums, there and here."""
        sums = f"{hashlib.sha256(DATA).hexdigest()}  f.bin\n".encode()
        document = {"@context": "https://schema.org/", "@type": "Dataset", "name": "Wind", "license": "MIT", "colour": "grey",
                    "distribution": [{"@type": "DataDownload", "contentUrl": "f.bin", "sha256": hashlib.sha256(DATA).hexdigest()}]}  # fmt: skip
        server = self.serve({"set/f.bin": DATA, "set/SHA256SUMS": sums, "set/wind.json": json.dumps(document).encode()})
        new = self.catalogue("new", "wind", "--from", server.url("set/wind.json"), "version=2")
        self.assertIn("not understood", new.err)
        recipe = json.loads(pathlib.Path(new.out.strip()).read_text())
        self.assertEqual((recipe["name"], recipe["licence"], recipe["version"]), ("wind", "MIT", "2"))
        self.expect_tree(self.fetch("wind")["path"], {"f.bin": DATA})
        again = self.catalogue("new", "wind2", "--from", server.url("set/wind.json"), code=2)
        self.assertIn("its sources are those of", again.err)
        self.catalogue("new", "sums", "--from", server.url("set/SHA256SUMS"))
        self.expect_tree(self.fetch("sums")["path"], {"f.bin": DATA})
        self.catalogue("new", "here", "--from", server.root / "set/SHA256SUMS")
        self.expect_tree(self.fetch("here")["path"], {"f.bin": DATA})
        for url, code, said in ((server.url("set/f.bin"), 12, "describes no asset"), (server.url("set/none.json"), 6, "404"),
                                (server.url("set/wind.json") + "?token=x", 2, "has a key in its query")):  # fmt: skip
            self.assertIn(said, self.catalogue("new", "bad", "--from", url, code=code).err)
        self.assertIn("offline", self.catalogue("new", "bad", "--from", server.url("set/wind.json"), "--offline", code=9).err)
        (self.home / "b.json").write_text('{"a" 1}')
        for name, data in (("x.npy", b"\x93NUMPY\x01\x00"), ("read.md", b"# nothing\n"), ("t.csv", b"1,2\n"), ("big.bin", b"{" * (5 << 20))):
            (self.home / name).write_bytes(data)
            err = self.catalogue("new", "bad", "--from", self.home / name, code=12).err
            self.assertIn("describes no asset", err)
            self.assertIn(f"--url file://{self.home}/{name} makes a recipe of that file", err)
        self.assertIn("malformed JSON", self.catalogue("new", "bad", "--from", self.home / "b.json", code=12).err)
        self.assertIn("is a directory", self.catalogue("new", "bad", "--from", self.home, code=2).err)
        self.assertFalse(list(self.sabath.recipes.rglob("bad.json")))

    def test_edit_changes_what_is_said_and_nothing_else(self):
        file = self.sabath.recipes / "datasets/odd.json"
        place(file, (WRITTEN % (self.url + "2")).encode())
        self.catalogue("edit", "odd", "licence=BSD-3-Clause", "tags.n=3", 'keywords=["a", "b"]')
        text = (WRITTEN % (self.url + "2")).replace('"MIT"', '"BSD-3-Clause"')
        text = text.replace('{"task": "regression"}', '{"task": "regression", "n": 3}')
        text = text.replace('"urls": ["%s2"]} ]' % self.url, '"urls": ["%s2"]} ],\n  "keywords": ["a","b"]' % self.url)
        self.assertEqual(file.read_text(), text)
        for words in (["colour=red"], ["name=a b"], ["fragments=[]"], ["kind=model"], ["tags=3"], ["licence.x=3"], []):
            self.assertIn(self.sabath.run("catalogue", "edit", "odd", *words).exit, (2, 12), words)
        self.assertEqual(file.read_text(), text)
        self.catalogue("edit", "odd", "--unset", "keywords", "--unset", "tags.n", "licence=MIT")
        self.assertEqual(file.read_text(), WRITTEN % (self.url + "2"))
        self.catalogue("edit", "cosmoflow", "licence=MIT", code=4)  # it came with the program
        self.catalogue("rm", "cosmoflow", code=4)

    def test_a_removed_recipe_is_remembered(self):
        place(self.home / "origin/g.bin", b"g" * 7000)
        file = pathlib.Path(self.catalogue("new", "gone", "--url", f"file://{self.home}/origin/g.bin", "licence=MIT",
                                           'citation=["Doe, 2020"]', "title=What it was").out.strip())  # fmt: skip
        identity = json.loads(file.read_text())["id"]
        self.run_it("fetch", "gone")
        root = self.run_it("info", "--json", "gone").record["assets"][0]["manifest"]
        self.catalogue("rm", "gone", "--why", "superseded")
        self.assertFalse(file.exists())
        self.run_it("gc", "--now")
        self.run_it("rm", "gone")  # until then the store holds it by its name
        self.run_it("fetch", "gone", code=3)
        for name in ("gone", identity):
            (stone,) = self.run_it("info", "--json", name).record["removed"]
            self.assertEqual((stone["id"], stone["manifest"], stone["licence"], stone["why"], stone["citation"]),
                             (identity, root, "MIT", "superseded", ["Doe, 2020"]))  # fmt: skip
        for word in ("superseded", "What it was", root, "Doe, 2020"):
            self.assertIn(word, self.run_it("info", "gone").out)
        refused = self.catalogue("new", "other", "--url", "https://h.example/x", f"id={identity}", code=2)
        self.assertIn("removed one", refused.err)
        self.catalogue("rm", "gone", code=3)


    def test_a_removed_recipe_of_the_original_layout_is_remembered(self):
        root = self.home / "tree"
        recipe = {"schema": 1, "kind": "dataset", "name": "seedset", "licence": "MIT", "id": "urn:uuid:00000000-0000-4000-8000-000000000001",
                  "fragments": [{"id": "a", "type": "file", "path": "f.bin", "urls": [self.url + "3"]}]}  # fmt: skip
        place(root / "var/sabath/assets/lab/datasets/s/seedset.json", json.dumps(recipe).encode())
        self.sabath.environment["SABATH_ROOT"] = str(root)
        stone = pathlib.Path(self.catalogue("rm", "seedset", "--why", "moved").out.strip())
        self.assertEqual(stone.parent, root / "var/sabath/assets/lab/removed")
        for name in ("seedset", recipe["id"]):
            (found,) = self.run_it("info", "--json", name).record["removed"]
            self.assertEqual((found["why"], found["licence"]), ("moved", "MIT"))
        self.catalogue("new", "other", "--url", "https://h.example/x", f"id={recipe['id']}", code=2)


class Sharing(Keepers):
    def setUp(self):
        super().setUp()
        self.url = self.serve({"f.bin": DATA}).url("f.bin")  # a subscribed recipe names no file of this machine
        self.sabath.add("held", [fragment(self.url, DATA)], id="urn:uuid:00000000-0000-4000-8000-000000000000", licence="MIT",
                        version="1.10")  # fmt: skip
        code = {"argv": ["sh", "-c", f"touch {self.home}/proof"]}
        place(self.sabath.recipes / "models/net/train.py", b"print()\n")
        self.sabath.add("net", kind="model", source="net", run={"held": [code]})
        self.public = self.home / "public"

    def lab(self):
        """A user with recipes of his own, who subscribes."""
        self.sabath.environment["SABATH_RECIPES"] = str(self.home / "mine")
        (self.home / "mine/datasets").mkdir(parents=True)

    def export(self):
        return json.loads(pathlib.Path(self.catalogue("export", self.public).out.strip()).read_text())

    def test_an_export_is_subscribed_pinned_and_updated(self):
        index = self.export()
        self.assertEqual([asset["name"] for asset in index["assets"]], ["held", "net"])
        for file in index["files"]:
            self.assertEqual(hashlib.sha256((self.public / file["path"]).read_bytes()).hexdigest(), file["sha256"])
        self.assertIn("models/net/train.py", [file["path"] for file in index["files"]])
        document = json.loads((self.public / "datasets/held.jsonld").read_text())
        self.assertEqual(document["@id"], "urn:uuid:00000000-0000-4000-8000-000000000000")
        recipes = self.sabath.recipes
        self.lab()
        url = f"file://{self.public}/index.json"
        (one,) = self.catalogue("subscribe", url, "--as", "lab", "--json").record["catalogues"]
        pin = "sha256:" + hashlib.sha256((self.public / "index.json").read_bytes()).hexdigest()
        self.assertEqual((one["pin"], one["added"], one["recipes"]), (pin, ["held", "net"], 2))
        self.catalogue("subscribe", url, "--as", "lab", code=2)
        self.run_it("fetch", "-d", "lab/held")
        self.run_it("fetch", "-d", "held")  # nothing else has the name
        shown = self.run_it("list", "--json").record["assets"]
        self.assertIn("held", [asset["name"] for asset in shown])
        place(self.home / "own.bin", b"own")
        place(self.home / "mine/datasets/held.json", json.dumps(
            {"schema": 1, "kind": "dataset", "name": "held", "version": "1.9",
             "fragments": [fragment(f"file://{self.home}/own.bin", b"own")]}).encode())  # fmt: skip
        self.run_it("fetch", "-d", "held")
        listed = [asset["name"] for asset in self.run_it("list", "--json").record["assets"]]
        self.assertEqual(sorted(name for name in listed if "held" in name), ["held", "lab/held"])
        (newer,) = self.run_it("list", "--newer", "--json").record["assets"]
        self.assertEqual((newer["name"], newer["newer"]), ("held", "lab/held@1.10"))
        self.assertEqual(self.run_it("list", "--newer").out, "held@1.9  lab/held@1.10\n")
        where = self.run_it("info", "--where", "held", "--json").record
        self.assertEqual(where["recipe"], str(self.home / "mine/datasets/held.json"))
        self.assertIn("catalogues/lab", self.run_it("info", "--json", "lab/held").record["assets"][0]["recipe"])
        found = self.run_it("search", "held", "--json").record["assets"]
        self.assertEqual(found[0]["name"], "held")
        self.assertIn("lab/held", [asset["name"] for asset in found])
        self.refuse_its_code()
        # It moves, when it is asked to.
        self.sabath.environment["SABATH_RECIPES"] = str(recipes)
        self.sabath.add("later", [fragment(self.url + "x", b"")])
        self.catalogue("export", self.public)
        self.sabath.environment["SABATH_RECIPES"] = str(self.home / "mine")
        self.run_it("info", "later", code=3)
        (foreseen,) = self.catalogue("update", "-n", "--json").record["catalogues"]
        self.assertEqual((foreseen["before"], foreseen["added"]), (pin, ["later"]))
        self.run_it("info", "later", code=3)
        self.catalogue("update", "lab")
        self.run_it("info", "later")
        self.catalogue("update", "lab", "--at", f"sha256:{'1' * 64}", code=7)  # what is offered has another hash
        self.catalogue("update", "lab", "--at", "main", code=2)
        self.run_it("info", "later")
        self.catalogue("unsubscribe", "lab")
        self.run_it("info", "later", code=3)
        self.catalogue("unsubscribe", "lab", code=3)

    def refuse_its_code(self):
        """Its directory is the user's, and what stands there is not."""
        refused = self.run_it("run", "--run-dir", self.home / "record", "net", "lab/held", code=4)
        self.assertIn("others may have written it", refused.err)
        self.assertIn("trust it by commit", self.run_it("run", "net", "lab/held", "--trust", "origin", code=2).err)
        self.run_it("run", "--run-dir", self.home / "record", "net", "lab/held", "--trust", "once")
        self.assertTrue((self.home / "proof").exists())

    def test_a_git_repository(self):
        if not shutil.which("git"):
            self.skipTest("there is no git program")
        self.export()
        work = self.home / "lab"
        shutil.copytree(self.public, work / "recipes")
        place(work / "recipes/datasets/cosmoflow.json", b"{ this is no recipe")
        (work / "recipes/datasets/link.json").symlink_to("held.json")

        def git(*words):
            environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
            subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words], cwd=work, check=True,
                           stdout=subprocess.DEVNULL, env=environment)  # fmt: skip

        git("init", "-q", "-b", "main", ".")
        git("add", "-A")
        git("commit", "-q", "-m", "one")
        self.lab()
        (one,) = self.catalogue("subscribe", f"file://{work}", "--json").record["catalogues"]
        self.assertEqual((one["name"], one["added"], len(one["pin"])), ("lab", ["held", "net"], 40))
        self.assertIn("cosmoflow.json", one["left_out"][0])
        self.run_it("fetch", "-d", "lab/held")
        git("rm", "-q", "recipes/models/net.json")
        git("commit", "-q", "-m", "two")
        (two,) = self.catalogue("update", "--json").record["catalogues"]
        self.assertEqual((two["before"], two["removed"]), (one["pin"], ["net"]))
        (back,) = self.catalogue("update", "lab", "--at", one["pin"], "--json").record["catalogues"]
        self.assertEqual((back["pin"], back["added"], back["fixed"]), (one["pin"], ["net"], True))
        (stays,) = self.catalogue("update", "--json").record["catalogues"]
        self.assertEqual(stays["pin"], one["pin"])

    def test_hostile_indexes(self):
        self.lab()
        good = {"path": "datasets/x.json", "size": 1, "sha256": "0" * 64}
        for number, text in enumerate((
            b"", b"[]", b"{" * 100, b'{"catalogue": "sabath", "schema": 2}', b'{"catalogue": "other", "schema": 1}',
            *(json.dumps({"catalogue": "sabath", "schema": 1, "files": [{**good, **change}]}).encode() for change in (
                {"path": "../x.json"}, {"path": "/etc/passwd"}, {"path": "datasets/../../x"}, {"path": "bin/x"},
                {"path": "datasets/x\x00.json"}, {"sha256": "0"}, {"size": 1 << 40}, {"size": -1})),
            json.dumps({"catalogue": "sabath", "schema": 1, "files": [good, good]}).encode(),
            json.dumps({"catalogue": "sabath", "schema": 1, "files": []}).encode(),
        )):  # fmt: skip
            place(self.home / f"h{number}/index.json", text)
            refused = self.sabath.run("catalogue", "subscribe", f"file://{self.home}/h{number}/index.json")
            self.assertNotEqual(refused.exit, 0, text)
            self.assertNotEqual(refused.exit, 70, refused)
        self.assertEqual(self.catalogue("list", "--json").record["catalogues"], [])
        for url in ("lab", "https://h.example/a b/", "file:///nowhere/x.git"):
            self.assertNotEqual(self.sabath.run("catalogue", "subscribe", url).exit, 0)


class Fair(Keepers):
    def test_the_questions(self):
        (asset,) = self.run_it("fair", "held", "--json").record["assets"]
        answers = {name: one["answer"] for name, one in asset["principles"].items()}
        self.assertEqual(list(answers), "F1 F2 F3 F4 A1 A2 A3 A4 I1 I2 I3 R1 R2 R3".split())
        self.assertEqual((answers["F1"], answers["F2"], answers["R2"], answers["A1"]), ("no", "no", "no", "part"))
        self.assertIn("sabath catalogue edit held 'licence=SPDX'", self.run_it("fair", "held").out)
        self.catalogue("edit", "held", "licence=MIT", "id=urn:uuid:00000000-0000-4000-8000-000000000001", "title=Held",
                       "abstract=A file", 'creators=[{"name": "Doe, Jane"}]', 'keywords=["x"]',
                       'format={"names": ["HDF5"]}')  # fmt: skip
        (asset,) = self.run_it("fair", "held", "--json").record["assets"]
        better = {name: one["answer"] for name, one in asset["principles"].items()}
        for name in ("F1", "F2", "F3", "I2", "R2", "A4"):
            self.assertEqual(better[name], "yes", name)
        self.run_it("fair", code=2)
        self.assertIn("held", self.run_it("fair", "--all").out)


class Shipped(Case):
    """What the shipped recipes answer stands in docs/fair.md, and may become better only."""

    NEVER_NO = ("F1", "F2", "F4", "A1", "A2", "I1", "R2")
    MARKS = {"no": "-", "not asked": "?", "part": "~", "yes": "+"}
    HEAD = "| kind | asset |"

    def test_scores_rise(self):
        self.sabath.environment["SABATH_RECIPES"] = str(TREE / "recipes")
        assets = self.expect(self.sabath.run("fair", "--all", "--json")).record["assets"]
        self.assertGreater(len(assets), 50)
        found = {(one["kind"], one["name"]): one["principles"] for one in assets}
        for name, principles in found.items():
            for principle in self.NEVER_NO:
                self.assertNotEqual(principles[principle]["answer"], "no", (name, principle, principles[principle]))
        document = (TREE / "docs/fair.md").read_text()
        begin = document.index(self.HEAD)
        if os.environ.get("SABATH_ACCEPT"):
            names = list(assets[0]["principles"])
            rows = [f"{self.HEAD} {' | '.join(names)} |", "|" + "---|" * (len(names) + 2)]
            for kind, name in sorted(found, key=lambda key: (key[0], key[1].lower())):
                marks = [self.MARKS[found[kind, name][each]["answer"]] for each in names]
                rows.append(f"| {kind} | {name} | {' | '.join(marks)} |")
            (TREE / "docs/fair.md").write_text(document[:begin] + "\n".join(rows) + "\n")
            return
        lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in document[begin:].splitlines() if line]
        names = lines[0][2:]
        stated = {(line[0], line[1]): line[2:] for line in lines[2:]}
        self.assertEqual(sorted(stated), sorted(found), "SABATH_ACCEPT=1 writes docs/fair.md")
        order = list(self.MARKS.values())
        for key, marks in stated.items():
            for principle, mark in zip(names, marks):
                now = self.MARKS[found[key][principle]["answer"]]
                self.assertGreaterEqual(order.index(now), order.index(mark), (key, principle, found[key][principle]))


if __name__ == "__main__":
    main()
