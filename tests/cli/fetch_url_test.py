#!/usr/bin/python3
"""`fetch URL`: SABATH writes a recipe and fetches it; the same command again changes nothing."""

import json
import subprocess

from support import program
from support.case import Case, main
from support.content import fragment, seeded

DATA = seeded(300_000)


class FetchUrl(Case):
    def setUp(self):
        super().setUp()
        self.server = self.serve({"x/f.bin": DATA, "x/data.json": DATA, "other/f.bin": DATA[1:],
                                  "set/a.h5": b"a", "set/deep/b.h5": b"b", "set/c.txt": b"c"}, extra="autoindex on;")  # fmt: skip

    def recipes(self):
        return sorted(file.name for file in (self.sabath.recipes / "datasets").iterdir())

    def read(self, name):
        return json.loads((self.sabath.recipes / f"datasets/{name}.json").read_text())

    def test_a_file(self):
        url = self.server.url("x/f.bin")
        first = self.expect(self.sabath.run("fetch", url))
        self.expect_tree(first.lines[-1], {"f.bin": DATA})
        file = self.sabath.recipes / "datasets/f.bin.json"
        self.assertIn(f"recipe: {file}; from now on `sabath fetch f.bin` means it\n", first.err)
        self.assertEqual(self.read("f.bin"), {
            "schema": 1, "kind": "dataset", "name": "f.bin",
            "fragments": [{"id": "main", "type": "file", "path": "f.bin", "urls": [url]}]})  # fmt: skip
        requests = len(self.server.log())
        again = self.expect(self.sabath.run("fetch", url))
        self.assertEqual(again.lines, first.lines)
        self.assertIn("f.bin: 300 kB in 1 file, nothing moved", again.err)
        self.assertNotIn("recipe:", again.err)
        self.assertEqual(self.expect(self.sabath.run("fetch", "f.bin")).lines, first.lines)
        self.assertEqual(self.expect(self.sabath.run("path", "f.bin")).lines, first.lines)
        self.assertEqual(len(self.server.log()), requests)
        self.assertEqual(self.recipes(), ["f.bin.json"])

    def test_names(self):
        """A name that is taken is left to its owner."""
        self.fetch(self.server.url("x/f.bin"))
        self.assertEqual(self.fetch(self.server.url("other/f.bin"))["name"], "f.bin-2")
        self.assertEqual(self.fetch(self.server.url("other/f.bin"))["name"], "f.bin-2")
        self.assertEqual(self.fetch(self.server.url("x/data.json"))["name"], "data")
        self.assertEqual(self.fetch(self.server.url("x/f.bin"), "--name", "mine")["name"], "mine")
        self.assertEqual(self.fetch("-d", self.server.url("x/f.bin"), "--name", "mine")["fetched_bytes"], 0)
        self.assertEqual(self.recipes(), ["data.json", "f.bin-2.json", "f.bin.json", "mine.json"])
        taken = self.expect(self.sabath.run("fetch", self.server.url("other/f.bin"), "--name", "mine"), 2)
        self.assertEqual(taken.err, f"error: mine is the name of another asset ({self.server.url('x/f.bin')}), and cannot be "
                                    f"that of {self.server.url('other/f.bin')}\n  hint: give another name\n")  # fmt: skip
        for arguments in (["f.bin"], [self.server.url("x/f.bin"), self.server.url("other/f.bin")]):
            result = self.expect(self.sabath.run("fetch", *arguments, "--name", "new"), 2)
            self.assertIn("error: new is to be the name of one URL's asset, and ", result.err)
        self.expect(self.sabath.run("fetch", self.server.url("x/f.bin"), "--name", "no/name"), 12)

    def test_places_that_are_listed(self):
        asset = self.fetch(self.server.url("set/**/*.h5"))
        self.assertEqual(asset["name"], "set")
        self.expect_tree(asset["path"], {"a.h5": b"a", "deep/b.h5": b"b"})
        self.assertEqual(self.read("set")["fragments"][0]["type"], "file_list")
        self.assertEqual(self.fetch(self.server.url("set/"))["name"], "set-2")

    def test_what_gives_nothing_leaves_nothing(self):
        self.fetch(self.server.url("x/g.bin"), code=6)
        self.assertEqual(self.recipes(), [])
        self.fetch(self.server.url("x/f.bin"), "--dry-run")
        self.assertEqual(self.recipes(), [])
        plan = self.expect(self.sabath.run("plan", "--json", self.server.url("x/f.bin"))).record
        self.assertEqual(plan["assets"][0]["name"], "f.bin")
        self.assertEqual(self.recipes(), [])

    def test_keys_are_not_written_down(self):
        base = self.server.url("x/f.bin")
        for query, key in (("X-Amz-Date=1&X-Amz-Signature=abc", "X-Amz-Signature"), ("sv=1&sig=abc", "sig"),
                           ("access_token=abc", "access_token"), ("AWSAccessKeyId=abc", "AWSAccessKeyId")):  # fmt: skip
            result = self.expect(self.sabath.run("fetch", f"{base}?{query}"), 2)
            self.assertIn(f"error: {base} has a key in its query ({key}), and a recipe would keep it for all to read\n", result.err)
            self.assertIn("leave the query out, and put the key where the configuration finds it", result.err)
            self.assertNotIn("abc", result.err)
        self.assertEqual(self.fetch(base + "?download=1#part")["name"], "f.bin")
        result = self.expect(self.sabath.run("fetch", base.replace("://", "://me:secret@")), 12)
        self.assertIn("it holds a user name or password", result.err)
        self.assertIn("~/.netrc", result.err)
        self.assertNotIn("secret", result.err)

    def test_schemes(self):
        local = self.home / "local file.bin"
        local.write_bytes(DATA)
        self.assertEqual(self.fetch("file://" + str(local).replace(" ", "%20"))["name"], "local-file.bin")
        unknown = self.expect(self.sabath.run("fetch", "gopher://a.example/f"), 6)
        self.assertIn("error: no fetcher of this build reads gopher: URLs\n  hint: `sabath fetchers` lists", unknown.err)
        known = self.expect(self.sabath.run("fetch", "az://a/f"), 6)
        self.assertIn("no fetcher of this build reads az: URLs", known.err)
        directory = self.expect(self.sabath.run("fetch", "sftp://a.example/d/"), 2)
        self.assertIn("error: sftp://a.example/d/ names no file\n", directory.err)

    def test_where_it_is_written(self):
        """The first directory of the user's that can be written; else one in the user's home; else it is said."""
        url = self.server.url("x/f.bin")
        self.sabath.environment["SABATH_RECIPES"] = str(self.home / "absent")
        self.assertIn("there is no directory", self.fetch(url)["err"])
        written = self.home / ".local/share/sabath/recipes/datasets/f.bin.json"
        self.assertTrue(written.exists())
        self.assertEqual(self.fetch("f.bin")["fetched_bytes"], 0)
        written.unlink()
        environment = {**self.sabath.environment, "HOME": "/dev/null/home"}
        result = subprocess.run([program.BINARY, "fetch", self.server.url("other/f.bin")], env=environment, capture_output=True, text=True)  # fmt: skip
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("there is no directory into which the recipe of a URL could be written", result.stderr)
        self.assertIn("name one of yours in SABATH_RECIPES, or set HOME", result.stderr)

    def test_a_hub(self):
        """Names alone: tests/cli/fetch_catalogues_test.py has the hub."""
        for url, name, kind in (("hf://datasets/owner/name", "name", "file_list"), ("hf://owner/name@main", "name", "file_list"),
                                ("hf://owner/name@main/sub/w.safetensors", "w.safetensors", "file"),
                                ("zenodo:1234/*.csv", "zenodo-1234", "file_list"), ("doi:10.1234/ABC", "doi-10.1234-ABC", "file_list"),
                                ("s3://bucket/runs/one/", "one", "file_list"), ("s3://bucket", "bucket", "file_list")):  # fmt: skip
            result = self.sabath.run("fetch", "--json", "--dry-run", url)
            self.assertEqual(result.record["assets"][0]["name"], name, result)


if __name__ == "__main__":
    main()
