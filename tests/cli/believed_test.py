#!/usr/bin/python3
"""Bytes without a proof belong to the source that gave them, as this user asks for them."""

import json
import os
import pathlib
import shutil

from support.case import Case, main, place
from support.content import fragment, seeded, sha256, tar_bytes
from support.spoken import Spoken

LONG = 24 << 20
COMPACT = {"separators": (",", ":"), "sort_keys": True}


def site(content):
    """One machine behind an S3 endpoint that others have, too."""
    listing = (
        b"<ListBucketResult><Name>data</Name><IsTruncated>false</IsTruncated><Contents><Key>set/f.h5</Key>"
        b"<Size>%d</Size><ETag>&quot;1&quot;</ETag></Contents></ListBucketResult>" % len(content)
    )
    return Spoken({"*": lambda request: listing if "list-type" in request.path else content})


class Believed(Case):
    def pair(self, good, other):
        """Two servers with the same names; the first one is down."""
        first, second = self.serve(good, name="good"), self.serve(other, name="other")
        first.stop()
        return first, second

    def content(self, name, **variables):
        return self.fetch(name, **variables)["path"]

    def test_a_mirror_teaches_nothing_about_another(self):
        good = {"f": b"good\n" * 9, "t.tar": tar_bytes({"a": b"good"})}
        other = {"f": b"other" * 9, "t.tar": tar_bytes({"a": b"othe"})}
        first, second = self.pair(good, other)
        third = self.serve(other, name="third")
        third.stop()
        kinds = {"f": "file", "t.tar": "archive"}
        for path, kind in kinds.items():
            mirrors = [first.url(path), third.url(path), second.url(path)]
            self.sabath.add(f"three-{kind}", [fragment(mirrors, kind=kind, path="p")])
            self.fetch(f"three-{kind}")
        first.start()
        seen, other_seen = first.log(), second.log()
        for path, kind in kinds.items():
            self.sabath.add(f"one-{kind}", [fragment(first.url(path), kind=kind, path="p")])
            self.sabath.add(f"last-{kind}", [fragment(second.url(path), kind=kind, path="p")])
            asset = self.fetch(f"one-{kind}")
            found = {p.name: p.read_bytes() for p in pathlib.Path(asset["path"]).rglob("*") if p.is_file()}
            self.assertIn(good["f"] if kind == "file" else b"good", found.values())
            self.assertTrue(self.any_of(first.new_requests(seen), path), "its only source was asked")
            self.fetch(f"last-{kind}")  # the one that gave it is known, to any recipe
            self.fetch(f"three-{kind}")
        self.assertEqual(second.new_requests(other_seen), [])

    @staticmethod
    def any_of(requests, path):
        return any(request.uri.endswith(path) for request in requests)

    def test_a_list_of_another_mirror_is_not_the_first_ones(self):
        files = {"list": b"x\n", "x": b"good"}
        first, second = self.serve(files, name="good"), self.serve({"list": b"x\ny\n"}, name="other")
        place(first.root / "y", b"too much")
        (first.root / "list").rename(first.root / "gone")
        both = [first.url("list"), second.url("list")]
        self.sabath.add("both", [fragment(both, kind="file_list")])
        self.assertEqual(self.fetch("both")["files"], 3)
        (first.root / "gone").rename(first.root / "list")
        self.sabath.add("one", [fragment(both[:1], kind="file_list")])
        self.sabath.add("other", [fragment(both[1:], kind="file_list")])
        self.expect_tree(self.fetch("one")["path"], files)
        self.fetch("other", code=6)  # beside itself it has none of them

    def test_what_leads_elsewhere_is_known_by_the_url_that_was_asked(self):
        target = self.serve({"f": b"behind"}, name="target")
        door = self.serve(name="door", extra=f"location = /f {{ return 302 {target.url('f')}; }}")
        self.sabath.add("door", [fragment(door.url("f"))])
        self.fetch("door")
        seen = target.log()
        self.sabath.add("target", [fragment(target.url("f"))])
        self.fetch("target")
        self.assertEqual(len(target.new_requests(seen)), 1)

    def test_a_checksum_satisfies_who_asks_for_none_of_the_same_source(self):
        data = seeded(100_000)
        first, second = self.serve({"f": data}, name="one"), self.serve({"f": data}, name="two")
        self.sabath.add("sure", [fragment([first.url("f"), second.url("f")], data)])
        self.fetch("sure")
        seen, others = first.log(), second.log()
        self.sabath.add("free", [fragment(first.url("f"))])
        self.sabath.add("other", [fragment(second.url("f"))])
        self.assertEqual(self.fetch("free")["fetched_bytes"], 0)
        self.assertEqual(first.new_requests(seen), [])
        self.fetch("other")
        self.assertNotEqual(second.new_requests(others), [])

    def test_a_recipe_that_gains_a_checksum_asks_nobody(self):
        data = seeded(100_000)
        server = self.serve({"f": data})
        self.sabath.add("one", [fragment(server.url("f"))])
        self.fetch("one")
        server.stop()
        self.sabath.add("one", [fragment(server.url("f"), data)])
        asset = self.fetch("one")
        self.assertEqual((asset["fetched_bytes"], asset["trusted_by"]), (0, "checksum"))
        self.sabath.add("one", [fragment(server.url("f"), b"!" * len(data))])
        self.fetch("one", code=6)

    def test_two_mirrors_are_never_mixed(self):
        """Equal lengths, and equal ETags, which nginx makes of length and time."""
        servers = []
        for k, byte in enumerate((b"0", b"1")):
            server = self.serve({"f": byte * LONG}, name=f"mirror{k}", extra=f"limit_rate {(2, 8)[k]}m;")
            os.utime(server.root / "f", (1_700_000_000, 1_700_000_000))
            servers.append(server)
        self.sabath.add("both", [fragment([s.url("f") for s in servers])])
        asset = self.fetch("both")
        (byte,) = set((pathlib.Path(asset["path"]) / "f").read_bytes())
        self.assertEqual(self.believed(asset), [servers[byte - ord("0")].url("f")])

    @staticmethod
    def believed(asset):
        return [source["url"] for source in asset["sources"] if source.get("believed")]

    def test_the_record_names_who_was_believed(self):
        data = {"f": seeded(1000), "t.tar": tar_bytes({"a": b"a"})}
        first, second = self.pair(data, data)
        data["list"] = second.url("f\n").encode()
        place(second.root / "list", data["list"])
        urls = {name: [first.url(name), second.url(name)] for name in data}
        kinds = {"f": "file", "t.tar": "archive", "list": "file_list"}
        for name, kind in kinds.items():
            self.sabath.add("free", [fragment(urls[name], kind=kind, path="p")])
            asset = self.fetch("free", "--force")
            expected = [second.url(name)] + [second.url()] * (kind == "file_list")
            self.assertEqual(self.believed(asset), expected)
        self.sabath.add("sure", [fragment(urls["f"], data["f"], path="p")])
        self.assertEqual(self.believed(self.fetch("sure", "--force")), [])
        self.expect(self.sabath.run("manifest", "create", self.fetch("sure")["path"], "-o", self.home / "m"))
        self.sabath.add("pinned", [fragment(urls["f"], path="p")])
        self.assertEqual(self.believed(self.fetch("pinned", "--force", "--manifest", self.home / "m")), [])

    def test_an_endpoint_is_part_of_the_source(self):
        here, there = site(b"here" * 100), site(b"there" * 100)
        self.addCleanup(here.stop)
        self.addCleanup(there.stop)
        self.sabath.add("file", [fragment("s3://data/set/f.h5")])
        self.sabath.add("list", [fragment("s3://data/set/", kind="file_list")])
        keys = {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s"}
        for name in ("file", "list"):
            for machine, content in ((here, b"here"), (there, b"there"), (here, b"here")):
                asset = self.fetch(name, AWS_ENDPOINT_URL=machine.url().rstrip('/'), **keys)
                self.assertEqual((pathlib.Path(asset["path"]) / "f.h5").read_bytes(), content * 100)
                asked = len(machine.requests)
                again = self.fetch(name, AWS_ENDPOINT_URL=machine.url().rstrip('/'), **keys)
                self.assertEqual((again["path"], len(machine.requests)), (asset["path"], asked))
        # No server is asked: what was learnt last serves, and that is said.
        offline = self.fetch("file", "--offline")
        self.assertIn("other settings", offline["err"])

    def test_a_rewritten_url_is_another_source(self):
        first, second = self.serve({"f": b"true"}, name="true"), self.serve({"f": b"site"}, name="site")
        self.sabath.add("one", [fragment(first.url("f"))])
        config = self.home / "config.json"
        config.write_text('{"rewrites": [{"from": "%s", "to": "%s"}]}' % (first.url(), second.url()))
        led = self.fetch("one", SABATH_CONFIG=str(config))
        self.expect_tree(led["path"], {"f": b"site"})
        self.expect_tree(self.fetch("one")["path"], {"f": b"true"})
        self.expect_tree(self.fetch("one", SABATH_CONFIG=str(config))["path"], {"f": b"site"})

    def test_a_rule_for_what_a_list_names_makes_another_list(self):
        first, second = self.serve({"f": b"true"}, name="true"), self.serve({"f": b"site"}, name="site")
        lists = self.serve({"list": first.url("f\n").encode()}, name="lists")
        self.sabath.add("many", [fragment(lists.url("list"), kind="file_list")])
        config = self.home / "config.json"
        config.write_text('{"rewrites": [{"from": "%s", "to": "%s"}]}' % (first.url(), second.url()))
        for led, content in (({}, b"true"), ({"SABATH_CONFIG": str(config)}, b"site"), ({}, b"true")):
            asset = self.fetch("many", **led)
            self.assertEqual((pathlib.Path(asset["path"]) / "f").read_bytes(), content)
            again = self.fetch("many", **led)
            self.assertEqual((again["path"], again["sources"]), (asset["path"], []))

    def test_a_refresh_asks_for_the_version_that_this_mirror_gave(self):
        first, second = self.serve({"f": b"11111"}, name="one"), self.serve({"f": b"22222"}, name="two")
        for server in (first, second):
            os.utime(server.root / "f", (1_700_000_000, 1_700_000_000))
        first.stop()
        self.sabath.add("both", [fragment([first.url("f"), second.url("f")])])
        self.expect_tree(self.fetch("both")["path"], {"f": b"22222"})
        first.start()
        self.expect_tree(self.fetch("both", "--refresh")["path"], {"f": b"11111"})

    def test_a_checksum_that_is_stated_later_is_compared(self):
        """The mirror says that nothing changed, and what it gave before was compared with nothing."""
        server = self.serve({"f": b"good"})
        url = server.url("f")
        self.sabath.add("one", [fragment(url)])
        self.fetch("one")
        right = {"checksum": {"sha256": sha256(b"good")}}
        for stated, code in (({"checksum": {"sha256": "1" * 64}}, 7), ({"size": 5}, 7), (right, 0)):
            self.sabath.add("one", [fragment(url) | stated])
            self.fetch("one", "--refresh", code=code)
            self.fetch("one", code=code)

    def test_an_earlier_store(self):
        """As SABATH 0.1 left it: the first URL names what any mirror gave."""
        first, second = self.pair({"f": b"good"}, {"f": b"othe"})
        self.sabath.add("both", [fragment([first.url("f"), second.url("f")])])
        alone = self.serve({"f": b"alone"}, name="alone")
        self.sabath.add("one", [fragment(alone.url("f"))])
        self.fetch("one")
        self.as_it_was("both", self.fetch("both")["manifest"])
        shutil.rmtree(self.sabath.store / "arrivals")
        first.start()
        seen = first.log(), second.log()
        self.fetch("one", "--offline")
        self.sabath.add("first", [fragment(first.url("f"))])  # has the same name there
        for name in ("both", "first"):
            asset = self.fetch(name, "--offline")
            self.expect_tree(asset["path"], {"f": b"othe"})
            self.assertIn(name, asset["err"])
            self.assertIn("asked again", asset["err"])
        self.assertEqual((first.new_requests(seen[0]), second.new_requests(seen[1])), ([], []))
        for name in ("first", "both"):
            self.expect_tree(self.fetch(name)["path"], {"f": b"good"})
        self.expect(self.sabath.run("verify"))

    def test_a_part_of_an_earlier_store(self):
        """Offline a part serves as the whole does, with a warning; online its sources are asked again."""
        first, second = self.pair({"f": b"good"}, {"f": b"othe"})
        self.sabath.add("both", [fragment([first.url("f"), second.url("f")])])
        part = "--select", "f"
        self.as_it_was("both", self.fetch("both", *part)["manifest"], {"sample": None, "select": ["f"]})
        shutil.rmtree(self.sabath.store / "arrivals")
        first.start()
        seen = first.log(), second.log()
        asset = self.fetch("both", *part, "--offline")
        self.expect_tree(asset["path"], {"f": b"othe"})
        self.assertEqual(asset["trusted_by"], "first use")
        self.assertIn("asked again", asset["err"])
        self.fetch("both", "--offline", code=9)  # of the whole nothing is known
        self.fetch("both", "--select", "?", "--offline", code=9)
        self.assertEqual((first.new_requests(seen[0]), second.new_requests(seen[1])), ([], []))
        self.expect_tree(self.fetch("both", *part)["path"], {"f": b"good"})
        self.assertNotIn("asked again", self.fetch("both", *part, "--offline")["err"])

    def as_it_was(self, name, root, selection=None):
        """The asset's ref under the name that 0.1 gave it, and under no other."""
        (part,) = json.loads((self.sabath.recipes / "datasets" / f"{name}.json").read_text())["fragments"]
        url, none = part["urls"][0], {"md5": "", "sha1": "", "sha256": ""}
        key = {"checksum": none, "limit": None, "path": "f", "size": None, "type": 0, "url": url}
        text = json.dumps([key] if selection is None else {"of": [key], "pin": None, "selection": selection}, **COMPACT)
        earlier = sha256((b"asset\n" if selection is None else b"part of asset\n") + text.encode())
        refs = {p: p.read_bytes().partition(b"\n")[2] for p in (self.sabath.store / "refs").rglob("*.json")}
        refs = {p: body for p, body in refs.items() if json.loads(body)["root"] == root}
        text = next(iter(refs.values()))  # it put no name of its own before it
        for ref in refs:
            ref.unlink()
        place(self.sabath.store / "refs" / earlier[:2] / f"{earlier[2:]}.json", text)


if __name__ == "__main__":
    main()
