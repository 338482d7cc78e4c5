#!/usr/bin/python3
"""Carriers that follow no redirects: the server that one leads to is never even called.

Each is shown to read from where the redirect stood, with its credentials: that they go nowhere else means something.
"""
import hashlib
import shutil
import unittest

from support.origin import find
from support.ground import Ground, checksums, main, seeded_bytes
from hostile import Hostile, body, redirect
from namespace import OTHER, PUBLIC, enter_namespace

DATA = seeded_bytes(100_000)
SHA256 = hashlib.sha256(DATA).hexdigest()
TOKEN, KEY, SECRET = "canary-token-8c1f", "CANARYKEY", "canary-secret-51"
STATUSES = ("301 Moved", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect")


class NoRedirects(unittest.TestCase):
    def setUp(self):
        self.ground = Ground(self)
        self.ground.config |= {"stall_timeout_s": 5, "connect_timeout_s": 5}
        self.far, self.other = self.serve(PUBLIC), self.serve(OTHER)

    def serve(self, host):
        server = Hostile(host=host)
        self.addCleanup(server.stop)
        return server

    def keys(self, endpoint):
        self.ground.variables |= {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "us-east-1",
                                  "AWS_ENDPOINT_URL_S3": endpoint}

    def reads(self, url, path, sent="", more=()):
        """From the server that is named; every request there says `sent`."""
        self.far.answers = {path: body(DATA, "Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT", 'ETag: "a"'), **dict(more)}
        self.far.heads.clear()
        self.ground.recipe("bad", self.ground.fragment(url, size=len(DATA), checksum=checksums(DATA)))
        self.ground.succeeds("bad", DATA)
        shutil.rmtree(self.ground.store)
        self.assertTrue(self.far.heads)
        for head in self.far.heads:
            self.assertIn(sent, head)

    def stays(self, path, target, *says, statuses=STATUSES, fields=(), code=6):
        """Answered by a redirect, "bad" is refused, and the server at its end was not called."""
        self.other.answers = {target: body(DATA)}
        for status in statuses:
            with self.subTest(status):
                self.far.answers = {path: body(b"", "Location: " + self.other.url(target), *fields, status=status)}
                self.far.heads.clear()
                result = self.ground.refused(code, *says)
                self.assertTrue(self.far.heads, "it was not asked")
                self.assertEqual(self.other.called(), [], result)
                for word in (TOKEN, SECRET):
                    self.assertNotIn(word, result.out + result.err)


class Witness(NoRedirects):
    def test_it_hears_what_is_followed(self):
        self.far.answers, self.other.answers = {"/f": redirect(self.other.url("/f"))}, {"/f": body(DATA)}
        self.ground.recipe("bad", self.ground.fragment(self.far.url("/f"), size=len(DATA)))
        self.ground.succeeds("bad", DATA)
        self.assertEqual(len(self.other.called()), len(self.other.heads))
        self.assertTrue(self.other.heads)


class Bucket(NoRedirects):
    def setUp(self):
        super().setUp()
        self.keys(self.far.url(""))

    def test_object(self):
        self.reads("s3://bkt/f", "/bkt/f", f"Credential={KEY}/")
        self.stays("/bkt/f", "/bkt/f", "s3://bkt/f")

    def test_listing(self):
        self.ground.recipe("bad", self.ground.fragment("s3://bkt/run/", "file_list"))
        self.stays("/bkt", "/bkt", "s3://bkt/run/")
        self.assertIn(f"Credential={KEY}/", self.far.heads[0])

    def test_a_region_is_no_place(self):
        """It is asked again for a region that an answer names, where it was asked before."""
        self.reads("s3://bkt/f", "/bkt/f")
        for region in ("eu-west-1", OTHER, f"{OTHER}:{self.other.port}/", f"@{OTHER}:{self.other.port}"):
            with self.subTest(region):
                said = ["x-amz-bucket-region: " + region]
                self.stays("/bkt/f", "/bkt/f", "s3://bkt/f", statuses=STATUSES[:1], fields=said)
                self.assertEqual("/eu-west-1/" in self.far.heads[-1], region == "eu-west-1")


class Store(NoRedirects):
    def test_object(self):
        """Another store, by a token of its own."""
        (self.ground.directory / "token").write_text(TOKEN)
        (self.ground.directory / "token").chmod(0o600)
        url, path = f"sabath://{PUBLIC}:{self.far.port}", f"/v1/checksums/sha256/{SHA256}"
        self.ground.config["tokens"] = [{"origin": url, "file": "token"}]
        self.reads(url, path, f"Authorization: Bearer {TOKEN}")
        self.stays(path, path, "so it is no store")


class Programs(NoRedirects):
    def by(self, scheme, name, program):
        if not find(program):
            self.skipTest(f"{program} is not installed")
        self.ground.config["prefer"] = {scheme: name}

    def web(self, name, code):
        self.by("http", name, name)
        self.reads(self.far.url("/f"), "/f")
        self.assertNotIn("User-Agent: sabath", self.far.heads[0])
        self.stays("/f", "/f", self.far.url("/f"), statuses=STATUSES[1::2], code=code)

    def test_curl(self):
        self.web("curl", 7)  # its description says what it must have been answered

    def test_wget(self):
        self.web("wget", 6)

    def bucket(self, name, program):
        self.by("s3", name, program)
        self.keys(self.far.url(""))
        self.reads("s3://bkt/f", "/bkt/f", f"Credential={KEY}/")
        self.stays("/bkt/f", "/bkt/f", "s3://bkt/f", statuses=STATUSES[1::2])

    def test_aws(self):
        self.bucket("aws-cli", "aws")

    def test_rclone(self):
        """It follows them, and cannot be told otherwise: the keys stay where they belong."""
        self.by("s3", "rclone-s3", "rclone")
        self.keys(self.far.url(""))
        entry = f"<Contents><Key>f</Key><Size>{len(DATA)}</Size></Contents>"
        listed = {"/bkt": body(f"<ListBucketResult>{entry}</ListBucketResult>".encode())}
        self.reads("s3://bkt/f", "/bkt/f", f"Credential={KEY}/", listed)
        self.other.answers = self.far.answers
        self.far.answers = {path: redirect(self.other.url(path)) for path in self.other.answers}
        self.ground.fetch("bad")
        self.assertTrue(self.other.heads, "it follows none any more: let `stays` say so, and the description's note")
        for head in self.other.heads:
            for word in (KEY, SECRET, "Authorization"):
                self.assertNotIn(word, head)


if __name__ == "__main__":
    enter_namespace()
    main()
