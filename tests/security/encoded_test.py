#!/usr/bin/python3
"""Documents that come compressed, though identity was asked for: a bomb is refused by its head, never unpacked.

The kernel bounds the memory of the process: what unpacked a bomb would end in another way.
"""
import gzip
import hashlib
import json
import os
import resource
import unittest
import zlib

from formats import COLLECTION, COMMIT, REWRITTEN, TOKEN
from support.ground import Ground, main
from hostile import Hostile, body
from support.program import INSTRUMENTED

UNPACKED, MEMORY = 256 << 20, 112 << 20
DATA = b"x"
SHA256 = hashlib.sha256(DATA).hexdigest()
DAV = b"""<multistatus xmlns="DAV:"><response><href>/d/f</href>
<propstat><prop/><status>HTTP/1.1 200 OK</status></propstat></response></multistatus>"""
RECORD = {"id": 1, "files": [{"key": "f", "size": 1, "checksum": "md5:" + hashlib.md5(DATA).hexdigest(),
                              "links": {"self": "https://zenodo.org/f"}}]}
LAYER = {"digest": "sha256:" + SHA256, "size": 1, "annotations": {"org.opencontainers.image.title": "f"}}
BUCKET = b"<ListBucketResult><Contents><Key>run/f</Key><Size>1</Size></Contents></ListBucketResult>"
TREE = [{"type": "file", "path": "f", "size": 1}]
# What is listed -> its URL, the path by which it is asked for, a good answer.
LISTINGS = {
    "html": ("{http}/d/", "/d/", b"<a href=f>f</a>", "text/html", "200 OK"),
    "dav": ("{dav}/d/", "/d/", DAV, "application/xml", "207 Multi-Status"),
    "zenodo": ("zenodo:1", "/zenodo.org/api/records/1", RECORD, "application/json", "200 OK"),
    "s3": ("s3://bkt/run/", "/bkt", BUCKET, "application/xml", "200 OK"),
    "hf": ("hf://datasets/Lab/set@" + COMMIT, f"/api/datasets/Lab/set/tree/{COMMIT}", TREE, "application/json",
           "200 OK"),
    "oci": ("{oci}/lab/x:v1", "/v2/lab/x/manifests/v1", {"schemaVersion": 2, "layers": [LAYER]}, "application/json",
            "200 OK"),
    "globus": (f"globus://{COLLECTION}/d/", f"/v0.10/operation/endpoint/{COLLECTION}/ls",
               {"DATA": [], "has_next_page": False}, "application/json", "200 OK"),
}
BEFORE = {"/v2/": body(b"{}")}
FILES = {"/d/f": body(DATA), "/zenodo.org/f": body(DATA), "/bkt/run/f": body(DATA),
         f"/datasets/Lab/set/resolve/{COMMIT}/f": body(DATA), f"/v2/lab/x/blobs/sha256:{SHA256}": body(DATA)}


class Encoded(unittest.TestCase):
    def setUp(self):
        self.ground = Ground(self)
        self.server = Hostile()
        self.addCleanup(self.server.stop)
        (self.ground.directory / "token").write_text(TOKEN)
        (self.ground.directory / "token").chmod(0o600)
        origin = self.server.url("")
        self.ground.config |= {
            "globus": {"api": origin + "/v0.10"}, "tokens": [{"origin": origin, "file": "token"}],
            "rewrites": [{"from": f"https://{host}/", "to": f"{origin}/{host}/"} for host in REWRITTEN]}
        self.ground.variables |= {"AWS_ENDPOINT_URL_S3": origin, "HF_ENDPOINT": origin}

    def say(self, name, content, *fields):
        """The listing's URL is answered by `content`."""
        url, path, _, kind, status = LISTINGS[name]
        answer = body(content, "Content-Type: " + kind, *fields, status=status)
        self.server.answers = {**BEFORE, **FILES, path: answer}
        self.server.heads.clear()
        schemes = {scheme: self.server.url("").replace("http", scheme) for scheme in ("http", "dav", "oci")}
        self.ground.recipe("bad", self.ground.fragment(url.format(**schemes), "file_list"))

    def good(self, name):
        content = LISTINGS[name][2]
        return content if isinstance(content, bytes) else json.dumps(content).encode()

    @staticmethod
    def bounded():
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])  # each thread's stack counts
        if not INSTRUMENTED:
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))

    def refused(self, *says, name):
        result = self.ground.refused(6, *says, preexec_fn=self.bounded)
        self.assertTrue([head for head in self.server.heads if LISTINGS[name][1] in head], "it was never asked for")

    @unittest.skipIf(INSTRUMENTED, "sanitizers need more memory than the bound leaves")
    def test_the_bound_is_felt(self):
        """By a document that may be as long: 60 MiB of it, as they are."""
        self.say("html", b" " * (60 << 20))
        self.assertIn("out of memory", self.ground.fetch("bad", preexec_fn=self.bounded).err)
        self.assertIn("lists no file", self.ground.fetch("bad").err)

    def test_each_is_read_when_it_is_plain(self):
        for name in LISTINGS:
            with self.subTest(name):
                self.say(name, self.good(name), "Content-Encoding: identity")
                result = self.ground.fetch("bad")
                if name == "globus":  # an empty directory
                    self.assertNotIn("Encoding", result.err)
                else:
                    self.assertEqual(result.exit, 0, result)

    def test_bombs(self):
        blanks = b" " * UNPACKED
        once = gzip.compress(blanks, 9)
        bombs = (("gzip", once), ("gzip, gzip", gzip.compress(once, 9)), ("deflate", zlib.compress(blanks, 9)),
                 ("x-gzip", once))
        for name in LISTINGS:
            for encoding, bomb in bombs if name in ("html", "dav", "zenodo") else bombs[:1]:
                with self.subTest(name, encoding=encoding):
                    self.say(name, bomb, "Content-Encoding: " + encoding)
                    self.refused(f"Content-Encoding {encoding}", "identity was asked for", name=name)

    def test_not_even_what_is_small(self):
        for name in LISTINGS:
            with self.subTest(name):
                self.say(name, gzip.compress(self.good(name)), "Content-Encoding: GZip")
                self.refused("Content-Encoding GZip", name=name)

    def test_not_on_the_way(self):
        """A transfer encoding, which libcurl would undo if it had been asked for."""
        bomb = gzip.compress(b" " * UNPACKED, 9)
        for name in ("html", "dav", "zenodo"):
            with self.subTest(name):
                self.say(name, bomb, "Transfer-Encoding: gzip")
                self.refused("Transfer-Encoding", name=name)


if __name__ == "__main__":
    main()
