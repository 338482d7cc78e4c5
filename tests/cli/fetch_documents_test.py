#!/usr/bin/python3
"""`fetch URL` of what describes a data set: Croissant, pages, DataCite, cards, landing pages, a portal's index pages."""

import json
import os
import pathlib

from support.case import Case, main, place
from support.content import seeded, sha256
from support.spoken import Spoken

DATA = {"a.h5": seeded(200_000, 1), "b c.csv": b"x,y\n1,2\n"}
CROISSANT = "http://mlcommons.org/croissant/1.1"
REAL = pathlib.Path(os.environ.get("SABATH_TEST_DATA", "/nonexistent")) / "croissant"


def croissant(files, **more):
    return json.dumps({"@context": {"@vocab": "https://schema.org/"}, "@type": "sc:Dataset", "name": "Rain, 2020",
                       "conformsTo": CROISSANT, "license": "MIT", **more,
                       "distribution": [{"@type": "cr:FileObject", **file} for file in files]}).encode()  # fmt: skip


class Recipes(Case):
    def recipe(self, name, kind="datasets"):
        return json.loads((self.sabath.recipes / kind / f"{name}.json").read_text())


class Documents(Recipes):
    def setUp(self):
        super().setUp()
        self.server = self.serve({f"set/data/{name}": data for name, data in DATA.items()})

    def publish(self, name, data):
        place(self.server.root / "set" / name, data)
        return self.server.url("set/" + name)

    def files(self):
        return [{"@id": name, "contentUrl": "data/" + name.replace(" ", "%20"), "contentSize": f"{len(data)} B", "sha256": sha256(data)}
                for name, data in DATA.items()]  # fmt: skip

    def test_croissant_by_its_url(self):
        url = self.publish("metadata.json", croissant(self.files(), colour="grey", recordSet=[]))
        plan = self.expect(self.sabath.run("fetch", "--dry-run", "--json", url)).record
        self.assertEqual(plan["assets"][0]["to_fetch_bytes"], sum(map(len, DATA.values())))
        asset = self.fetch(url)
        self.assertEqual((asset["name"], asset["trusted_by"]), ("Rain-2020", "checksum"))
        self.expect_tree(asset["path"], {f"data/{name}": data for name, data in DATA.items()})
        self.assertIn(f"{url} is read as Croissant; not understood: {url}:1: colour\n", asset["err"])
        recipe = self.recipe("Rain-2020")
        self.assertEqual((recipe["licence"], recipe["read_from"]), ("MIT", {"name": url}))
        requests = len(self.server.log())
        self.assertEqual(self.fetch(url)["path"], asset["path"])
        self.assertEqual(self.fetch(url, "--offline")["path"], asset["path"])
        self.assertEqual(len(self.server.log()), requests, "the document is not asked for again")

    def test_hashes_that_are_none(self):
        """A sum that is a URL counts as not known; one that is wrong is an error."""
        files = self.files()
        files[0]["sha256"] = "https://github.com/mlcommons/croissant/issues/80"
        del files[1]["sha256"]
        self.fetch(self.publish("metadata.json", croissant(files)))
        self.assertIn("which is no sha256", self.recipe("Rain-2020")["unknown"]["fragments.a.h5.sha256"])
        files[0]["sha256"] = sha256(b"another")
        failures = self.fetch(self.publish("wrong.json", croissant(files, name="wrong")), "--force", code=7)["failures"]
        self.assertEqual([failure["path"] for failure in failures], ["data/a.h5"])

    def test_the_croissants_of_the_world(self):
        """Each is read and planned, by URL and as a file; those whose bytes lie beside it are fetched."""
        if not REAL.is_dir():
            self.skipTest("SABATH_TEST_DATA does not name a directory with croissant")
        fetched = 0
        server = self.serve(name="world", root=REAL, extra="autoindex on;")
        for number, file in enumerate(sorted(REAL.rglob("*.json"))):
            relative = file.relative_to(REAL)
            with self.subTest(str(relative)):
                url = server.url(str(relative))
                elsewhere = "huggingface" in str(relative) or file.stem == "minimal"
                for what in (url, str(file)):
                    plan = self.sabath.run("plan", "--json", what)  # a hub is not at hand; one document names no file
                    self.assertIn(plan.exit, (0, 4, 6) if elsewhere else (0,), plan)
                    self.assertEqual(len(plan.record["assets"]), 1)
                if elsewhere:
                    continue
                if file.stem == "read_binary_file_by_line":  # its archive holds "../../datasets/..."
                    self.assertIn("unsafe path", self.expect(self.sabath.run("fetch", url), 12).err)
                    continue
                asset = self.fetch(url, "--name", f"n{number}")
                again = self.fetch(str(file))
                self.assertGreater(asset["files"], 0)
                self.assertEqual((again["files"], again["bytes"]), (asset["files"], asset["bytes"]))
                fetched += 1
        self.assertEqual(fetched, 11)

    def test_a_page_for_search_engines(self):
        said = json.dumps({"@context": "https://schema.org/", "@type": "Dataset", "name": "Wind",
                           "distribution": [{"@type": "DataDownload", "contentUrl": self.server.url("set/data/a.h5"), "sha256": sha256(DATA["a.h5"])}]})
        url = self.publish("wind.html", f"<!DOCTYPE html><html><script type='application/ld+json'>{said}</script></html>".encode())
        asset = self.fetch(url)
        self.assertEqual(asset["name"], "Wind")
        self.expect_tree(asset["path"], {"a.h5": DATA["a.h5"]})

    def test_datacite(self):
        url = self.publish("record.json", json.dumps({"data": {"attributes": {
            "doi": "10.1234/x", "titles": [{"title": "Waves"}], "creators": [{"name": "Carberry, Josiah"}], "publicationYear": 2021,
            "contentUrl": self.server.url("set/data/a.h5")}}}).encode())  # fmt: skip
        self.expect_tree(self.fetch(url)["path"], {"a.h5": DATA["a.h5"]})
        self.assertEqual(self.recipe("Waves")["doi"], "10.1234/x")

    def test_hostile_documents(self):
        for text, code in (
            (croissant([{"@id": "x", "contentUrl": "../../etc/passwd"}]), 12),
            (croissant([{"@id": "x", "contentUrl": "file:///etc/passwd"}]), 12),
            (croissant([{"@id": "x", "contentUrl": "http://169.254.169.254/latest"}]), 6),
            (croissant([{"@id": "x", "contentUrl": "scp://127.0.0.1/x"}]), 12),
            (b'{"@context":"https://schema.org","@type":"Dataset","name":' + b"[" * 1000 + b"]" * 1000 + b"}", 12),
            (b'{"@context":"https://schema.org","@type":"Dataset","name":"a","name":"b"}', 12),
            (b'---\nlicense: &a [*a]\na: ' + b"[" * 1000 + b"\n---\n", 12),
        ):  # fmt: skip
            with self.subTest(text[:90]):
                name = "README.md" if text.startswith(b"---") else "hostile.json"
                result = self.sabath.run("fetch", self.publish(name, text))
                self.assertEqual(result.exit, code, result)
        self.assertEqual(self.server.log()[-1].uri, "/set/README.md")
        self.assertEqual(list(self.sabath.recipes.rglob("*.json")), [])

    def test_json_that_is_data_stays_data(self):
        for name, data in (("list.json", b'[{"name": 1}]'), ("big.json", b"[" + b"1," * 3_000_000 + b"1]"), ("page", b"\x89PNG...")):
            with self.subTest(name):
                self.expect_tree(self.fetch(self.publish(name, data))["path"], {name: data})


class Landing(Recipes):
    """Pages of repositories that have no reader here, behind DOIs of several registries: Signposting."""

    def setUp(self):
        super().setUp()
        files = {f"/lab.example/files/{name.replace(' ', '%20')}": data for name, data in DATA.items()}
        self.server = Spoken({**files, "/lab.example/other/a.h5": b"other"})
        self.addCleanup(self.server.stop)
        self.rules = []
        for host in ("doi.org", "lab.example"):
            self.rules += ["--rewrite", f"https://{host}/={self.server.url(host + '/')}"]

    def item(self, path):
        return f'<https://lab.example/{path}>; rel="item"; type="application/octet-stream"'

    def datacite(self, page):
        self.server.table["/doi.org/10.1234/x"] = (200, {"Content-Type": "application/json"}, json.dumps({"id": "x", "url": page}).encode())

    def test_links_in_headers(self):
        self.datacite("https://lab.example/record?id=7")
        links = ", ".join([self.item("files/a.h5"), self.item("files/b%20c.csv"), self.item("other/a.h5"), '<https://lab.example/x>; rel="author"'])
        self.server.table["/lab.example/record?id=7"] = (200, {"Content-Type": "text/html", "Link": links}, b"<!DOCTYPE html>")
        asset = self.fetch("https://doi.org/10.1234/X".replace("X", "x"), *self.rules)
        self.assertEqual(asset["name"], "doi-10.1234-x")
        self.expect_tree(asset["path"], {**DATA, "2/a.h5": b"other"})
        asset = self.fetch("doi:10.1234/x/*.csv", *self.rules)
        self.expect_tree(asset["path"], {"b c.csv": DATA["b c.csv"]})

    def test_links_in_the_page(self):
        """Of a DOI that is registered elsewhere: the registry redirects to the page."""
        page = b'<html><head><link href="files/a.h5" rel="item"><LINK rel=item href=\'https://lab.example/files/b c.csv\'></head></html>'
        self.server.table["/lab.example/page"] = (200, {"Content-Type": "text/html"}, page)
        self.server.table["/doi.org/10.1234/x"] = (200, {"Content-Type": "text/html"}, page.replace(b'"files', b'"https://lab.example/files'))
        self.fetch("doi:10.1234/x", *self.rules)
        asset = self.fetch("https://lab.example/page", *self.rules)
        self.expect_tree(asset["path"], DATA)
        self.assertEqual(self.fetch("https://lab.example/page", *self.rules)["path"], asset["path"])

    def test_a_link_set(self):
        self.datacite("https://lab.example/record/a/7")
        self.server.table["/lab.example/record/a/7"] = (
            200, {"Content-Type": "text/html", "Link": '<https://lab.example/set>; rel="linkset"; type="application/linkset+json"'}, b"<html>")  # fmt: skip
        links = {"anchor": "https://lab.example/record/a/7", "item": [{"href": "https://lab.example/files/a.h5"}], "license": [{"href": "https://x"}]}
        self.server.table["/lab.example/set"] = (
            200, {"Content-Type": "application/linkset+json"}, json.dumps({"linkset": [links, {"anchor": "https://o.example/", "item": []}]}).encode())  # fmt: skip
        self.expect_tree(self.fetch("doi:10.1234/x", *self.rules)["path"], {"a.h5": DATA["a.h5"]})
        self.server.table["/lab.example/set"] = (200, {}, b'{"linkset":' + b"[" * 10_000)
        self.fetch("doi:10.1234/x", "--refresh", *self.rules, code=12)

    def test_the_record_of_a_doi(self):
        """DataCite's record says who made the data, and the recipe keeps it; the record of another DOI is not believed."""
        record = {"id": "https://doi.org/10.1234/x", "doi": "10.1234/X", "url": "https://lab.example/p", "titles": [{"title": "Rain"}],
                  "creators": [{"name": "Doe, Jane"}], "publicationYear": 2021, "rightsList": [{"rightsIdentifier": "cc-by-4.0"}],
                  "contentUrl": ["https://lab.example/elsewhere"]}  # fmt: skip
        for doi in ("x", "y"):
            self.server.table[f"/doi.org/10.1234/{doi}"] = (200, {"Content-Type": "application/json"}, json.dumps(record).encode())
        self.server.table["/lab.example/p"] = (200, {"Content-Type": "text/html", "Link": self.item("files/a.h5")}, b"<html>")
        asset = self.fetch("doi:10.1234/x", *self.rules)
        self.assertIn("doi:10.1234/x is described by DataCite\n", asset["err"])
        self.expect_tree(asset["path"], {"a.h5": DATA["a.h5"]})
        recipe = self.recipe(asset["name"])
        self.assertEqual([recipe[key] for key in ("title", "licence", "published", "doi")], ["Rain", "CC-BY-4.0", "2021", "10.1234/x"])
        self.assertEqual(recipe["creators"], [{"name": "Doe, Jane"}])
        self.assertEqual(recipe["fragments"], [{"id": "all", "type": "file_list", "urls": ["doi:10.1234/x"]}])
        asked = len(self.server.requests)
        self.assertEqual(self.fetch("doi:10.1234/x", *self.rules)["path"], asset["path"])
        self.assertEqual(len(self.server.requests), asked)
        self.assertNotIn("title", self.recipe(self.fetch("doi:10.1234/y", *self.rules)["name"]))

    def test_a_page_that_another_document_describes(self):
        """What it says of the data is kept, and its files are fetched if it names some: their hashes are known."""
        said = '<https://lab.example/meta>; rel="describedby"; type="application/ld+json"'
        page = {"Content-Type": "text/html", "Link": f"{said}, {self.item('files/b%20c.csv')}"}
        self.server.table["/lab.example/page"] = (200, page, b'<link rel="describedby" href="x">')
        self.server.table["/lab.example/named"] = (200, {"Content-Type": "text/html"}, b'<html><link rel="describedby" type="application/ld+json" href="/meta"></html>')
        facts = {"@context": "https://schema.org/", "@type": "Dataset", "name": "Rain", "license": "https://spdx.org/licenses/MIT"}
        self.server.table["/lab.example/meta"] = json.dumps(facts).encode()
        asset = self.fetch("landing+https://lab.example/page", *self.rules)
        self.expect_tree(asset["path"], {"b c.csv": DATA["b c.csv"]})
        self.assertEqual(self.recipe(asset["name"])["title"], "Rain")
        file = {"@id": "a", "contentUrl": "files/a.h5", "contentSize": "200000 B", "sha256": sha256(DATA["a.h5"])}
        self.server.table["/lab.example/meta"] = croissant([file])
        asset = self.fetch("https://lab.example/named", *self.rules)
        self.assertEqual((asset["trusted_by"], asset["bytes"]), ("checksum", 200_000))
        for hostile in (croissant([{**file, "contentUrl": "http://127.0.0.1:9/a.h5"}]), b"[" * 10_000, b"\xff" * 9, b'{"@context":'):
            with self.subTest(hostile[:20]):
                self.server.table["/lab.example/meta"] = hostile
                asset = self.fetch("landing+https://lab.example/page", "--name", f"h{len(hostile)}", *self.rules)
                self.expect_tree(asset["path"], {"b c.csv": DATA["b c.csv"]})

    def test_pages_that_name_nothing(self):
        self.datacite("https://lab.example/n")
        self.server.table["/lab.example/n"] = (
            200, {"Content-Type": "text/html", "Link": '<https://lab.example/meta>; rel="describedby"; type="application/ld+json"'}, b"<html>")  # fmt: skip
        result = self.expect(self.sabath.fetch("doi:10.1234/x", *self.rules), 6)
        self.assertIn("names no files by links", result.err)
        self.assertIn("it says that https://lab.example/meta describes it: name that", result.err)
        for link in ('<file:///etc/passwd>; rel="item"', '<https://lab.example/>; rel="item"'):
            self.server.table["/lab.example/n"] = (200, {"Content-Type": "text/html", "Link": link}, b"<html>")
            self.assertIn(self.sabath.fetch("doi:10.1234/x", *self.rules).exit, (6, 12), link)


class Portal(Case):
    def test_one_universe(self):
        """The portal's index pages, imitated: four job directories are listed, and one universe comes."""
        jobs = ("21688988", "22098324", "22118427", "22309462")
        tree = {f"project/m3363/cosmoUniverse_2019_05_4parE/{job}/univ_ics_2019-03_a{job[:4]}{i}.hdf5": seeded(1000 + i, int(job) + i)
                for job in jobs for i in range(3)}  # fmt: skip
        tree["project/m3363/cosmoUniverse_2019_05_4parE/README"] = b"no data"
        server = self.serve(tree, extra="autoindex on;")
        rule = ["--rewrite", f"https://portal.nersc.gov/={server.url()}"]
        recipes = pathlib.Path(__file__).parents[2] / "recipes"
        self.sabath.environment["SABATH_RECIPES"] = f"{self.sabath.recipes}:{recipes}"
        asset = self.fetch("cosmoUniverse_2019_05_4parE", "--sample", "1", *rule)
        self.assertEqual((asset["files"], asset["bytes"]), (1, 1000))
        listed = [request.uri for request in server.log() if request.uri.endswith("/")]
        self.assertEqual(len(listed), 5, listed)
        self.assertEqual(self.fetch("cosmoUniverse_2019_05_4parE", *rule)["files"], 12)


if __name__ == "__main__":
    main()
