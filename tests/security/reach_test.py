#!/usr/bin/python3
"""Where strangers may lead by documents, lists, redirects, proxies and programs: a public source leads to no near host,
also where the host's name is a public one."""
import hashlib
import json
import os
import pathlib
import shutil

from support.ground import checksums, main
from hostile import body, redirect
from namespace import enter_namespace
from reach import DATA, HOSTS, PROXY, SITE, ReachCase

DESCRIPTIONS = pathlib.Path(__file__).parents[2] / "fetchers/command"


def documents(far, url):
    """What a public host publishes that names `url`: for each kind its pages, and the fragment or URL that asks."""
    dataset = {"@context": {"@vocab": "https://schema.org/"}, "@type": "sc:Dataset", "name": "c",
               "conformsTo": "http://mlcommons.org/croissant/1.0",
               "distribution": [{"@type": "cr:FileObject", "@id": "f", "name": "f.bin", "contentUrl": url,
                                 "encodingFormat": "application/octet-stream"}]}
    meta = f'<?xml version="1.0"?><metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="f"><url>{url}</url></file></metalink>'
    digest = hashlib.sha256(DATA).hexdigest()
    sums = hashlib.md5(DATA).hexdigest() + "  f.bin\n"
    bag = {"/bag/bagit.txt": b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n",
           "/bag/fetch.txt": f"{url} {len(DATA)} data/f.bin\n".encode(),
           "/bag/manifest-sha256.txt": f"{digest}  data/f.bin\n".encode()}
    link = body(b"<html></html>", "Content-Type: text/html", f'Link: <{url}>; rel="item"')
    described = body(b"", f'Link: <{far("/m.meta4")}>; rel=describedby; type="application/metalink4+xml"')
    return {
        "list": ({"/list.txt": body(url.encode() + b"\n")}, far("/list.txt")),
        "metalink": ({"/m.meta4": body(meta.encode())}, far("/m.meta4")),
        "metalink by a header": ({"/m.meta4": body(meta.encode()), "/x": described}, "metalink+" + far("/x")),
        "Signposting": ({"/page": link}, "landing+" + far("/page")),
        "BagIt": ({path: body(text) for path, text in bag.items()}, far("/bag/bagit.txt")),
        ".uri": ({"/n.uri": body(url.rpartition("/")[0].encode() + b"/\n"), "/n.md5": body(sums.encode())}, far("/n.uri")),
        "Croissant": ({"/c.json": body(json.dumps(dataset).encode(), "Content-Type: application/json")}, None),
        "redirect": ({"/r": redirect(url)}, "file " + far("/r")),
    }


class Documents(ReachCase):
    def fetch(self, kind, answers, url):
        self.far.answers = answers
        name = "bad"
        if url is None:
            name = self.far_url("/c.json")
        elif url.startswith("file "):
            self.ground.recipe("bad", self.ground.fragment(url[5:]))
        else:
            self.ground.recipe("bad", {"id": "l", "type": "file_list", "urls": [url]})
        return self.ground.fetch(name)

    def test_by_name(self):
        """Neither at once, nor by a second run that has the list, or the recipe that was made of the document."""
        for name, server in self.near.items():
            server.answers = {"/f.bin": body(DATA)}
            for kind, (answers, url) in documents(self.far_url, server.url("/f.bin", name)).items():
                with self.subTest(kind, host=name):
                    for _ in range(2):
                        result = self.fetch(kind, answers, url)
                        self.assertNotEqual(result.exit, 0, result)
                        self.assertEqual(self.asked(), [], "the near server was asked")
                        self.assertIn("private address", result.err)
                        self.assertIn("near_hosts", result.err)
                    self.forget()

    def test_near_hosts_are_the_way_out(self):
        self.ground.config["near_hosts"] = ["*.example"]
        for name, server in self.near.items():
            server.answers = {"/f.bin": body(DATA)}
            for kind, (answers, url) in documents(self.far_url, server.url("/f.bin", name)).items():
                with self.subTest(kind, host=name):
                    result = self.fetch(kind, answers, url)
                    self.assertEqual(result.exit, 0, result)
                    self.assertNotEqual(self.asked(), [])
                    for recipe in self.ground.recipes.glob("datasets/*.json"):
                        recipe.unlink()
                    self.forget()

    def test_metadata_by_name(self):
        """Not even by the user's own word."""
        server = self.serve("169.254.169.254", {"/f.bin": body(DATA)})
        self.ground.recipe("bad", self.ground.fragment(server.url("/f.bin", "metadata.example")))
        self.ground.refused(6, "link-local", hint="near_hosts")
        self.assertEqual(server.heads, [])

    def test_a_near_list_leads_to_near_hosts(self):
        """A site's own list names the site's own hosts, also when it is here already."""
        site = self.near["site.example"]
        other = self.serve(SITE)
        site.answers = {"/list.txt": body(other.url("/f.bin", "site.example").encode())}
        self.ground.recipe("bad", {"id": "l", "type": "file_list", "urls": [site.url("/list.txt", "site.example")]})
        self.assertEqual(self.ground.fetch("bad").exit, 6)
        other.answers = {"/f.bin": body(DATA)}
        self.assertEqual(self.ground.fetch("bad").exit, 0)
        self.assertEqual(len([head for head in site.heads if "/list.txt" in head]), 1)

    def test_lfs(self):
        oid = hashlib.sha256(DATA).hexdigest()
        for name, server in self.near.items():
            with self.subTest(name):
                server.answers = {"/f.bin": body(DATA)}
                href = {"objects": [{"oid": oid, "size": len(DATA),
                                     "actions": {"download": {"href": server.url("/f.bin", name)}}}]}
                self.far.answers = {"/r.git/info/lfs/objects/batch": body(json.dumps(href).encode())}
                url = self.far_url(f"/r.git/info/lfs/{oid}?size={len(DATA)}")
                self.ground.recipe("bad", self.ground.fragment("lfs+" + url))
                self.ground.refused(6, "private address", hint="near_hosts")
                self.assertEqual(self.asked(), [])

    def test_bucket(self):
        """The endpoint that a stranger's recipe or list names; one of the user's own settings is his word."""
        server = self.near["site.example"]
        server.answers = {"/b/f.bin": body(DATA)}
        url = f"s3://b/f.bin?endpoint_override=site.example:{server.port}&scheme=http&anonymous=true"
        for reach, code in (("public", 6), ("site", 0)):
            self.ground.recipe("bad", self.ground.fragment(url, size=len(DATA), checksum=checksums(DATA)), reach=reach)
            self.assertEqual(self.ground.fetch("bad").exit, code)
            self.assertEqual(bool(server.heads), code == 0)
        self.forget()
        self.ground.config["s3_endpoint"] = f"http://site.example:{server.port}"
        self.ground.config["s3_anonymous"] = True
        self.ground.recipe("bad", self.ground.fragment("s3://b/f.bin", size=len(DATA), checksum=checksums(DATA)), reach="public")
        self.ground.succeeds("bad", DATA)


class Proxy(ReachCase):
    """Names are judged by their words, and nothing is looked up here: they have no address on this machine."""

    def setUp(self):
        super().setUp()
        self.proxy = self.serve(PROXY)
        self.ground.variables |= {"http_proxy": self.proxy.url("")}

    def test_names_and_literals(self):
        self.proxy.answers = {
            "http://no-dns.example/list.txt": body(b"http://none.example/f.bin\nhttp://10.0.0.5/g.bin\nhttp://localhost/h.bin\n"),
            "http://none.example/f.bin": body(DATA), "http://10.0.0.5/g.bin": body(DATA), "http://localhost/h.bin": body(DATA)}
        self.ground.recipe("bad", {"id": "l", "type": "file_list", "urls": ["http://no-dns.example/list.txt"]})
        result = self.ground.fetch("bad")
        self.assertEqual(result.exit, 6, result)
        self.assertEqual({head.split()[1] for head in self.proxy.heads},
                         {"http://no-dns.example/list.txt", "http://none.example/f.bin"})
        self.assertIn("near_hosts", result.err)

    def test_the_proxy_s_own_address_says_nothing(self):
        """A redirect from one public name to another, by a proxy of the site."""
        self.proxy.answers = {"http://no-dns.example/f": redirect("http://none.example/f"), "http://none.example/f": body(DATA)}
        self.ground.recipe("bad", self.ground.fragment("http://no-dns.example/f", size=len(DATA)))
        self.ground.succeeds("bad", DATA)

    def test_curl_and_git(self):
        self.ground.config["prefer"] = {"http": "curl"}
        self.proxy.answers = {"http://no-dns.example/f": body(DATA)}
        if shutil.which("curl"):
            self.ground.recipe("bad", self.ground.fragment("http://no-dns.example/f", size=len(DATA)))
            self.ground.succeeds("bad", DATA)
            del self.ground.variables["http_proxy"]
            self.forget()
            self.ground.variables["ALL_PROXY"] = self.proxy.url("")  # who is judged as behind it asks it
            site = self.near["site.example"]
            site.answers = {"/f": body(b"near")}
            self.ground.recipe("bad", self.ground.fragment(site.url("/f", "site.example")), reach="public")
            self.assertNotEqual(self.ground.fetch("bad").exit, 0)
            self.assertEqual(self.asked(), [])
            self.assertTrue(any("site.example" in head for head in self.proxy.heads))
        self.proxy.heads.clear()
        self.ground.recipe("bad", git={"origin": "http://none.example/r"}, access={"kind": "private", "steps": ["x"]})
        self.ground.recipes.joinpath("models/m.json").write_text(json.dumps(
            {"schema": 1, "kind": "model", "name": "m", "git": {"origin": "http://none.example/r"}}))
        self.assertNotEqual(self.ground.fetch("m").exit, 0)
        self.assertTrue(any("http://none.example/r/info/refs" in head for head in self.proxy.heads))


class Programs(ReachCase):
    def list_of(self, *urls, name="/list.txt"):
        self.far.answers |= {name: body("\n".join(urls).encode())}
        self.ground.recipe("bad", {"id": "l", "type": "file_list", "urls": [self.far_url(name)]})

    def by(self, name):
        if not shutil.which(name):
            self.skipTest(f"{name} is not installed")
        self.ground.config["prefer"] = {"http": name}

    def test_curl_is_told_the_address(self):
        self.by("curl")
        for name, server in self.near.items():
            self.list_of(server.url("/f.bin", name))
            result = self.ground.fetch("bad")
            self.assertEqual(result.exit, 6, result)
            self.assertIn("near_hosts", result.err)
        self.assertEqual(self.asked(), [])
        self.far.answers["/f.bin"] = body(DATA)
        self.list_of(self.far_url("/f.bin"), name="/l2.txt")
        self.assertEqual(self.ground.fetch("bad").exit, 0)

    def test_each_description(self):
        """Who is told the address, and who is not started for a host that others name: stand-ins say what they were told."""
        stands_in, log = self.ground.directory / "bin", self.ground.directory / "log"
        stands_in.mkdir()
        self.ground.variables["PATH"] = f"{stands_in}:{os.environ['PATH']}"
        self.ground.config["fetchers"] = [str(DESCRIPTIONS)]
        files = sorted(DESCRIPTIONS.glob("*.json"))
        self.assertGreater(len(files), 7)
        for file in files:
            described = json.loads(file.read_text())
            program = stands_in / described["read"]["argv"][0]
            answers = "".join(f"echo 'answer: {said}' >&2\n" for said in described["read"].get("accept", [])[:1])
            program.write_text(f"#!/bin/sh\necho \"$@\" >> {log}\nprintf x > content\nprintf x\n{answers}")
            program.chmod(0o755)
            given = described["address"] == "given"
            self.assertIn(described["address"], ("given", "own", "service"))
            for scheme in described["schemes"]:
                self.ground.config["prefer"] = {scheme: described["name"]}
                for reach, near_hosts, started in (("public", [], given), ("public", ["other.example"], True), (None, [], True)):
                    with self.subTest(file.name, scheme=scheme, reach=reach, near_hosts=near_hosts):
                        self.ground.config["near_hosts"] = near_hosts
                        self.ground.recipe("bad", self.ground.fragment(f"{scheme}://other.example/f.bin"), reach=reach)
                        result = self.ground.fetch("bad")
                        self.assertEqual(log.exists(), started, result)
                        self.assertEqual(result.exit, 0 if started else 6, result)
                        if given:
                            self.assertRegex(log.read_text(), r"--resolve other\.example:\d+:203\.0\.113\.2 ")
                        if not started:
                            self.assertIn("near_hosts", result.err)
                        log.unlink(missing_ok=True)
                        self.forget()
            program.unlink()

    def test_wget_is_not_started(self):
        """For a host that others name; the one of the list itself is the user's own word."""
        self.by("wget")
        self.far.answers["/f.bin"] = body(DATA)
        other = self.serve(HOSTS["other.example"], {"/g.bin": body(DATA)})
        self.list_of(self.far_url("/f.bin"))
        self.assertEqual(self.ground.fetch("bad").exit, 0)
        self.list_of(self.far_url("/f.bin"), other.url("/g.bin", "other.example"), name="/l2.txt")
        result = self.ground.fetch("bad")
        self.assertEqual(result.exit, 6, result)
        self.assertIn("near_hosts", result.err)
        self.assertEqual(other.heads, [])
        self.ground.config["near_hosts"] = ["other.example"]
        self.assertEqual(self.ground.fetch("bad").exit, 0)
        self.assertNotEqual(other.heads, [])

    def test_wget_asks_no_metadata_address(self):
        self.by("wget")
        metadata = self.serve(HOSTS["metadata.example"], {"/f.bin": body(DATA)})
        self.ground.recipe("bad", self.ground.fragment(metadata.url("/f.bin", "metadata.example")))
        for proxy in ({}, {"all_proxy": "http://192.0.2.1:9"}):  # wget does not heed this one
            self.ground.variables |= proxy
            result = self.ground.fetch("bad")
            self.assertEqual(result.exit, 6, result)
            self.assertIn("metadata address", result.err)
        self.assertEqual(metadata.heads, [])
        self.ground.config["near_hosts"] = ["metadata.example"]
        self.assertEqual(self.ground.fetch("bad").exit, 0)


if __name__ == "__main__":
    enter_namespace(HOSTS)
    main()
