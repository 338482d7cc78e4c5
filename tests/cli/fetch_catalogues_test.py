#!/usr/bin/python3
"""Hubs and repositories, as one fragment. The real services are not at hand: small servers speak as documented."""

import hashlib
import json
import unittest.mock

from support.case import Case, main, place
from support.content import fragment, seeded, sha256
from support.hub import git_hash
from support.spoken import Spoken

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "hf_abcdefgh12345678"
FILES = {
    "README.md": b"# hello",
    "data/train 1.parquet": seeded(300_000, 1),
    "data/train 2.parquet": seeded(5_000_000, 2),
    "data/x/deep.parquet": seeded(10, 3),
}
JSON = {"Content-Type": "application/json"}


def answer(value, **headers):
    return 200, {**JSON, **headers}, json.dumps(value).encode()


class Hub(Case):
    """Trees of two entries a page; what lies in LFS is had from another host."""

    def setUp(self):
        super().setUp()
        self.cdn = Spoken({f"/{sha256(data)}": data for data in FILES.values()})
        self.addCleanup(self.cdn.stop)
        self.busy = 1
        self.hub = Spoken({"*": self.speak})
        self.addCleanup(self.hub.stop)
        self.private = False
        self.sabath.environment["HF_ENDPOINT"] = self.hub.url().rstrip("/")

    def speak(self, request):
        path, _, query = request.path.partition("?")
        if path.startswith("/Lab/net/resolve/"):
            path = path.replace("/Lab/net/", "/datasets/Lab/set/")
        if self.private and request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return 401, {"X-Error-Code": "GatedRepo"}, b"no"
        if path in ("/api/datasets/Lab/set", "/api/datasets/Lab/set/revision/v1", "/api/models/Lab/net"):
            return answer({"id": "Lab/set", "sha": COMMIT, "siblings": []})
        if f"/tree/{COMMIT}" in path and path.startswith(("/api/datasets/Lab/set/", "/api/models/Lab/net/")):
            below = path.partition(f"/tree/{COMMIT}")[2].strip("/")
            if self.busy:
                self.busy -= 1
                return 429, {"Retry-After": "0"}, b"slow down"
            return self.tree(path, below, int(query.partition("cursor=")[2] or 0))
        path = path.replace("/resolve/main/", f"/resolve/{COMMIT}/")
        for name, data in FILES.items():
            if path == f"/datasets/Lab/set/resolve/{COMMIT}/" + name.replace(" ", "%20"):
                if name == "README.md":
                    return 200, {"ETag": '"git"'}, data
                return 302, {"Location": self.cdn.url(f"{sha256(data)}?signature=xyz")}, b""
        return 404, {}, b""

    def tree(self, path, below, begin):
        names = sorted(name for name in FILES if name.startswith(below))
        entries = [{"type": "directory", "oid": "0" * 40, "size": 0, "path": "data"}]
        for name in names:
            entry = {"type": "file", "oid": git_hash(FILES[name]), "size": len(FILES[name]), "path": name}
            if name.endswith(".parquet"):
                entry["lfs"] = {"oid": sha256(FILES[name]), "size": len(FILES[name]), "pointerSize": 130}
            entries.append(entry)
        more = begin + 2 < len(entries)
        link = {"Link": f'<{self.hub.url()[:-1]}{path}?recursive=true&cursor={begin + 2}>; rel="next"'} if more else {}
        return answer(entries[begin : begin + 2], **link)

    def add(self, url, **more):
        self.sabath.add("set", [fragment(url, kind="file_list", **more)])

    def test_whole(self):
        self.add("hf://datasets/Lab/set")
        asset = self.fetch("set")
        self.expect_tree(asset["path"], FILES)
        self.assertEqual(asset["resolved"], [{"url": "hf://datasets/Lab/set", "version": COMMIT}])
        self.assertEqual(self.fetch("set")["fetched_bytes"], 0)
        self.assertEqual([line for line, headers, _ in self.hub.requests if "Authorization" in headers], [])

    def test_by_its_url_alone(self):
        """`fetch hf://...` writes the recipe of a repository, of a revision's directory, or of one file."""
        for url, name, tree in (
            ("hf://datasets/Lab/set", "set", FILES),
            ("hf://datasets/Lab/set@v1/data/", "data", {n[5:]: d for n, d in FILES.items() if n.startswith("data/")}),
            (f"hf://datasets/Lab/set@{COMMIT}/README.md", "README.md", {"README.md": FILES["README.md"]}),
        ):
            with self.subTest(url):
                asset = self.fetch(url)
                self.assertEqual(asset["name"], name)
                self.expect_tree(asset["path"], tree)
                asked = len(self.hub.requests)
                self.assertEqual(self.fetch(name)["fetched_bytes"], 0)
                self.assertEqual(len(self.hub.requests), asked)

    def test_the_card_describes_it(self):
        card = b"---\nlicense: mit\npretty_name: The Set\ntags: [rain]\n---\n# Set\n"
        with unittest.mock.patch.dict(FILES, {"README.md": card}):
            self.fetch("hf://datasets/Lab/set")
        recipe = json.loads((self.sabath.recipes / "datasets" / "set.json").read_text())
        self.assertEqual((recipe["title"], recipe["licence"], recipe["keywords"]), ("The Set", "MIT", ["rain"]))
        self.assertEqual(recipe["fragments"], [{"id": "all", "type": "file_list", "urls": ["hf://datasets/Lab/set"]}])
        with unittest.mock.patch.dict(FILES, {"README.md": card}):
            asset = self.fetch("hf://Lab/net")
            self.expect_tree(asset["path"], FILES)
        self.assertEqual(asset["kind"], "model")
        self.assertEqual(self.fetch("net", "--offline")["path"], asset["path"])

    def test_revision_directory_and_pattern(self):
        for url, tree in (
            ("hf://datasets/Lab/set@v1/data/", {n.removeprefix("data/"): d for n, d in FILES.items() if "data/" in n}),
            (f"hf://datasets/Lab/set@{COMMIT}/data/*.parquet", {n[5:]: d for n, d in FILES.items() if "train" in n}),
            ("hf://datasets/Lab/set/**/*.parquet", {n: d for n, d in FILES.items() if n.endswith("t")}),
        ):
            with self.subTest(url):
                self.add(url)
                self.expect_tree(self.fetch("set")["path"], tree)

    def test_one_file(self):
        self.sabath.add("one", [fragment(f"hf://datasets/Lab/set@{COMMIT}/data/train%202.parquet", name="f")])
        self.expect_tree(self.fetch("one")["path"], {"train 2.parquet": FILES["data/train 2.parquet"]})

    def test_what_names_no_repository(self):
        """It fails alone: the other fragments arrive."""
        one = fragment(f"hf://datasets/Lab/set@{COMMIT}/README.md", name="one")
        for url in ("hf://datasets/Lab", "hf://datasets/Lab/../x", "hf://Lab/set@", "hf://datasets/Lab/none"):
            with self.subTest(url):
                self.sabath.add("set", [one, fragment(url, kind="file_list")])
                asset = self.fetch("set", code=6)
                self.assertEqual([failure["path"] for failure in asset["failures"]], ["main"])

    def test_token_goes_to_the_hub_only(self):
        self.private = True
        self.add("hf://datasets/Lab/set")
        asset = self.fetch("set", code=4)
        self.assertIn("HF_TOKEN", asset["failures"][0]["hint"])
        self.sabath.environment["HF_TOKEN"] = TOKEN
        asset = self.fetch("set")
        self.expect_tree(asset["path"], FILES)
        self.assertNotIn(TOKEN, asset["err"] + json.dumps(asset))
        self.assertEqual([h for _, h, _ in self.cdn.requests if "Authorization" in h], [])
        self.assertGreater(len(self.cdn.requests), 2)

    def test_token_in_a_file(self):
        self.private = True
        self.add("hf://datasets/Lab/set")
        file = self.home / ".cache/huggingface/token"
        place(file, TOKEN.encode() + b"\n")
        file.chmod(0o644)
        self.assertIn("chmod 600", self.fetch("set", code=4)["failures"][0]["hint"])
        file.chmod(0o600)
        self.expect_tree(self.fetch("set")["path"], FILES)

    def test_content_that_is_not_what_the_hub_says(self):
        wrong = FILES["data/x/deep.parquet"]
        self.cdn.table[f"/{sha256(wrong)}"] = b"0123456789"
        self.add("hf://datasets/Lab/set")
        asset = self.fetch("set", code=7)
        self.assertEqual([f["path"] for f in asset["failures"]], ["data/x/deep.parquet"])

    def test_hostile_trees(self):
        entry = {"type": "file", "oid": "0" * 40, "size": 1}
        elsewhere = Spoken({"*": answer([])})
        self.addCleanup(elsewhere.stop)
        path = f"/api/datasets/Lab/set/tree/{COMMIT}"
        for said in (
            answer([{**entry, "path": "../x"}]),
            answer([{**entry, "path": "/etc/passwd"}]),
            answer([{**entry, "path": "a\u001b[31m"}]),
            answer([{**entry, "path": "a"}, {**entry, "path": "a"}]),
            answer([{**entry, "path": "a"}, {**entry, "path": "a/b"}]),
            answer([{**entry, "path": "a", "lfs": {"oid": "../../x", "size": 1}}]),
            answer([{**entry, "path": "a"}], Link=f'<{elsewhere.url("next")}>; rel="next"'),
            answer([{**entry, "path": "a"}], Link=f'<{path}?recursive=true&expand=false>; rel="next"'),
            (200, JSON, b"[" * 100_000),
            answer({"error": "x"}),
        ):
            with self.subTest(said[2][:80]):
                self.hub.table[path] = said
                self.add("hf://datasets/Lab/set")
                self.fetch("set", code=12)
        self.assertEqual(elsewhere.requests, [])


class Repositories(Case):
    def setUp(self):
        super().setUp()
        self.tree = {"a.h5": seeded(70_000, 1), "b c.txt": b"text"}
        self.server = Spoken({f"/content/{i}": data for i, data in enumerate(self.tree.values())})
        self.addCleanup(self.server.stop)
        self.rules = []
        for host in ("zenodo.org", "doi.org", "api.figshare.com", "dataverse.example"):
            self.rules += ["--rewrite", f"https://{host}/={self.server.url(host + '/')}"]

    def md5(self, name):
        return hashlib.md5(self.tree[name]).hexdigest()

    def zenodo(self, **change):
        files = [
            {"key": name, "size": len(data), "checksum": f"md5:{self.md5(name)}",
             "links": {"self": f"https://zenodo.org/content/{i}"}, **change}
            for i, (name, data) in enumerate(self.tree.items())
        ]
        for i, data in enumerate(self.tree.values()):
            self.server.table[f"/zenodo.org/content/{i}"] = data
        record = {"id": 123, "doi": "10.5281/zenodo.123", "files": files}
        self.server.table["/zenodo.org/api/records/123"] = answer(record)

    def get(self, url, code=0):
        self.sabath.add("record", [fragment(url, kind="file_list")])
        return self.fetch("record", *self.rules, code=code)

    def datacite(self, doi, url):
        self.server.table[f"/doi.org/{doi}"] = answer({"id": f"https://doi.org/{doi}", "url": url})

    def test_zenodo(self):
        self.zenodo()
        asset = self.get("zenodo:123")
        self.expect_tree(asset["path"], self.tree)
        self.assertEqual(asset["resolved"], [{"url": "zenodo:123", "version": "10.5281/zenodo.123"}])
        self.expect_tree(self.get("zenodo:123/*.h5")["path"], {"a.h5": self.tree["a.h5"]})

    def test_doi_of_zenodo(self):
        self.zenodo()
        self.datacite("10.5281/zenodo.123", "https://zenodo.org/records/123")
        self.expect_tree(self.get("doi:10.5281/zenodo.123")["path"], self.tree)
        accept = self.server.asked("/doi.org/")[0][1]["Accept"]
        self.assertEqual(accept, "application/vnd.datacite.datacite+json")

    def test_doi_of_figshare(self):
        files = [
            {"id": i, "name": name, "size": len(data), "is_link_only": False, "computed_md5": self.md5(name),
             "download_url": self.server.url(f"content/{i}")}
            for i, (name, data) in enumerate(self.tree.items())
        ]
        files.append({"id": 9, "name": "page", "size": 0, "is_link_only": True, "download_url": "https://x.example"})
        article = {"doi": "10.6084/m9.figshare.77.v2", "files": files}
        self.server.table["/api.figshare.com/v2/articles/77/versions/2"] = answer(article)
        self.datacite("10.6084/m9.figshare.77.v2", "https://figshare.com/articles/dataset/A_title/77/2")
        self.expect_tree(self.get("doi:10.6084/m9.figshare.77.v2")["path"], self.tree)

    def test_doi_of_dataverse(self):
        def entry(i, name, **more):
            return {"label": name.rpartition("/")[2], "restricted": False, "dataFile": {
                "id": i, "filename": name, "filesize": len(self.tree[name]),
                "checksum": {"type": "MD5", "value": self.md5(name)}, **more}}

        text = entry(1, "b c.txt", originalFileFormat="text/csv", originalFileSize=4)
        data = {"datasetPersistentId": "doi:10.7910/DVN/X", "versionNumber": 3, "versionMinorNumber": 1,
                "files": [{**entry(0, "a.h5"), "directoryLabel": "data/raw"}, text]}
        base = "/dataverse.example/api/"
        record = f"{base}datasets/:persistentId/versions/:latest-published?persistentId=doi%3A10.7910%2FDVN%2FX"
        self.server.table[record] = answer({"status": "OK", "data": data})
        self.server.table[f"{base}access/datafile/0"] = self.tree["a.h5"]
        self.server.table[f"{base}access/datafile/1?format=original"] = b"text"
        self.datacite("10.7910/DVN/X", "https://dataverse.example/dataset.xhtml?persistentId=doi:10.7910/DVN/X")
        asset = self.get("doi:10.7910/DVN/X")
        self.expect_tree(asset["path"], {"data/raw/a.h5": self.tree["a.h5"], "b c.txt": b"text"})
        self.assertEqual(asset["resolved"][0]["version"], "doi:10.7910/DVN/X 3.1")
        data["files"][0]["restricted"] = True
        self.server.table[record] = answer({"status": "OK", "data": data})
        self.fetch("record", "--refresh", *self.rules, code=4)

    def test_refused(self):
        for change in (
            {"key": "../x"},
            {"key": "/etc/passwd"},
            {"key": "same"},
            {"key": "a\u0007"},
            {"checksum": "md5:zz"},
            {"links": {"self": "file:///etc/passwd"}},
            {"links": {"self": "s3://bucket/x"}},
        ):
            with self.subTest(str(change)):
                self.zenodo(**change)
                self.get("zenodo:123", code=12)
        for url in ("zenodo:abc", "zenodo:12/../3", "doi:x", "doi:10.1234/none"):
            with self.subTest(url):
                self.get(url, code=6)
        self.server.table["/zenodo.org/api/records/123"] = answer({"id": 123, "files": []})
        self.get("zenodo:123", code=4)
        self.datacite("10.1/file", "file:///etc/passwd")
        self.get("doi:10.1/file", code=12)
        self.datacite("10.1/other", "https://other.example/page")
        self.get("doi:10.1/other", code=6)


if __name__ == "__main__":
    main()
