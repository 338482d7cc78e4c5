#!/usr/bin/python3
"""`sabath serve`: a store as a source for others, asked by curl, by raw sockets and by `sabath fetch`."""

import hashlib
import subprocess

from serving import ServeCase
from support.case import main
from support.certificate import Certificate
from support.content import seeded

TOKEN = "a-token-of-this-test"


class Content(ServeCase):
    def test_every_way_to_name_content(self):
        self.start()
        data = self.data["f.bin"]
        for path in ("/v1/objects/" + self.object("f.bin"), "/v1/checksums/sha256/" + hashlib.sha256(data).hexdigest()):
            status, head, body = self.ask(path)
            self.assertEqual((status, head["content-length"], head["accept-ranges"]), (200, str(len(data)), "bytes"))
            self.assertTrue(body == data)
        self.assertEqual(head["etag"].strip('"'), self.object("f.bin"))
        status, _, body = self.ask("/v1/manifests/" + self.root)
        stored = self.sabath.store / "manifests" / self.root[:2] / self.root[2:]
        self.assertEqual((status, body), (200, stored.read_bytes()))
        self.assertEqual(self.ask("/v1/objects/" + self.object("empty"))[::2], (200, b""))
        self.assertEqual(self.ask("/v1/")[0], 200)

    def test_ranges(self):
        self.start()
        data, path = self.data["f.bin"], "/v1/objects/" + self.object("f.bin")
        size = len(data)
        for text, status, first, last in (("0-0", 206, 0, 0), ("4194304-8388607", 206, 4194304, 8388607),
                                          ("9000000-", 206, size - 1, size - 1), ("-5", 206, size - 5, size - 1),
                                          (f"5-{2**70}", 206, 5, size - 1), ("7-5", 200, 0, size - 1),
                                          ("1-2,5-6", 200, 0, size - 1), ("x", 200, 0, size - 1)):
            got, head, body = self.ask(path, "-H", f"Range: bytes={text}")
            self.assertEqual((got, len(body)), (status, last - first + 1), text)
            self.assertTrue(body == data[first:last + 1], text)
            if status == 206:
                self.assertEqual(head["content-range"], f"bytes {first}-{last}/{size}")
        got, head, body = self.ask(path, "-H", f"Range: bytes={size}-")
        self.assertEqual((got, head["content-range"], body), (416, f"bytes */{size}", b""))
        self.assertEqual(self.ask(path, "-H", 'If-Match: "x"')[0], 412)
        self.assertEqual(self.ask(path, "-H", f'If-None-Match: "{self.object("f.bin")}"')[0], 304)
        self.assertEqual(self.ask(path, "-H", "Range: bytes=0-1", "-H", 'If-Range: "x"')[0], 200)

    def test_head(self):
        self.start()
        answer = self.raw(f"HEAD /v1/objects/{self.object('small')} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".encode())
        head, _, body = answer.partition(b"\r\n\r\n")
        self.assertIn(b"Content-Length: 1000", head)
        self.assertEqual(body, b"")

    def test_a_connection_is_kept(self):
        self.start()
        request = f"GET /v1/objects/{self.object('small')} HTTP/1.1\r\nHost: h\r\n".encode()
        answer = self.raw(request + b"\r\n" + request + b"Connection: close\r\n\r\n")
        self.assertEqual(answer.count(b"HTTP/1.1 200 OK"), 2)
        self.assertEqual(answer.count(self.data["small"]), 2)

    def test_nothing_else_can_be_had(self):
        self.start()
        name = self.object("small")
        for path in ("/", "/v1/objects/", "/v1/objects", "/format", "/v1/objects/../../format", "/v1/../format",
                     "/v1/objects/" + name.upper(), "/v1/objects/" + name[:-1], "/v1/objects/" + name + "0",
                     "/v1/objects/" + name[:64] + ".01000", "/v1/objects/" + "0" * 64 + ".1000", "/v1/manifests/" + name[:64],
                     "/v1/checksums/sha256/" + "0" * 64, "/v1/checksums/git/" + "0" * 40, "/v1/objects/%2e%2e/format",
                     "/v1/checksums/../../format", "//etc/passwd", "/v1/refs/" + "0" * 64):
            status, _, body = self.ask(path)
            self.assertEqual(status, 404, path)
            self.assertNotIn(b"sabath-store", body)

    def test_a_file_that_went_bad_is_not_served(self):
        name = self.object("small")
        file = self.sabath.store / "objects" / name[:2] / name[2:]
        file.chmod(0o644)
        file.write_bytes(b"x" * 1000)
        self.start()
        self.assertEqual(self.ask("/v1/objects/" + name)[0], 404)

    def test_a_path_with_a_nul(self):
        """The rest of such a path is no part of a C string: it must not name what stands before it."""
        self.start()
        self.assertEqual(self.ask("/v1/")[0], 200)
        name = self.object("small").encode()
        for path in (b"/v1/%00", b"/v1/\0", b"/v1/\0x", b"/v1/objects/" + name + b"%00", b"/v1/objects/" + name + b"\0.x",
                     b"/v1/objects/" + name + b"?\0"):
            answer = self.raw(b"GET " + path + b" HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            self.assertTrue(answer.startswith(b"HTTP/1.1 400 "), path + answer)
        for path in ("/v1/objects%2F" + self.object("small"), "/v1%2F"):  # one spelling only
            self.assertEqual(self.ask(path)[0], 404, path)

    def test_read_only(self):
        before = self.snapshot()
        self.start()
        for method in ("PUT", "POST", "DELETE", "PATCH", "OPTIONS", "PROPFIND"):
            self.assertEqual(self.ask("/v1/objects/" + self.object("small"), "-X", method)[0], 405, method)
        # A client that sends its body unasked may lose the answer: the server does not read that, and the connection ends.
        asking = ("-H", "Expect: 100-continue", "-X", "PUT", "-d", "x" * 100_000)
        self.assertEqual(self.ask("/v1/objects/" + self.object("small"), *asking)[0], 405)
        self.assertEqual(self.ask("/v1/", "-X", "GET", "-d", "x")[0], 413)
        self.assertEqual(self.snapshot(), before)

    def snapshot(self):
        places = ("objects", "manifests", "refs", "alias", "views")
        return sorted(str(f) for place in places for f in (self.sabath.store / place).rglob("*"))


class Fetching(ServeCase):
    def test_a_pinned_asset_by_digest_alone(self):
        server = self.start()
        self.sabath.add("again", [self.fragment(n, self.url) for n in self.data], manifest={"digest": "sha256:" + self.root})
        asset = self.fetch("again", **self.other())
        self.assertEqual(asset["manifest"], "sha256:" + self.root)
        self.assertEqual(asset["trusted_by"], "pinned")
        self.expect_tree(asset["path"], self.data)
        code, out, _ = self.end(server)
        self.assertEqual(code, 0)
        sent = sum(int(line.split()[5]) for line in out.splitlines())
        self.assertEqual(asset["fetched_bytes"], sent, out)
        self.assertEqual(sum(source["requests"] for source in asset["sources"]), len(out.splitlines()), out)

    def test_by_published_checksum(self):
        self.start()
        self.sabath.add("again", [self.fragment(n, self.url + "/") for n in ("f.bin", "small")])
        asset = self.fetch("again", **self.other())
        self.expect_tree(asset["path"], {n: self.data[n] for n in ("f.bin", "small")})

    def test_without_a_name_for_the_content(self):
        self.start()
        self.sabath.add("again", [{"id": "f", "type": "file", "path": "f", "urls": [self.url]}])
        result = self.expect(self.sabath.fetch("again", **self.other()), 6)
        self.assertIn("gives content by its hash", result.err)
        self.assertIn("pin a manifest", result.err)

    def test_a_store_beside_another_source(self):
        """What the store does not have comes from elsewhere, and a store that is down costs nothing but time."""
        server = self.start()
        self.data["new"] = seeded(5_000_000, 9)
        (self.origin / "new").write_bytes(self.data["new"])
        self.sabath.add("more", [self.fragment(n, self.url, f"file://{self.origin}/{n}") for n in ("f.bin", "new")])
        self.expect_tree(self.fetch("more", **self.other())["path"], {n: self.data[n] for n in ("f.bin", "new")})
        self.end(server)
        self.expect_tree(self.fetch("more", **self.other("third"))["path"], {n: self.data[n] for n in ("f.bin", "new")})

    def test_archives(self):
        """A store that kept the archive has it for others; one that only unpacked it has not, and says so."""
        packed = self.home / "a.tar.gz"
        subprocess.run(["tar", "-czf", packed, "-C", self.origin, *self.data], check=True)
        self.data["a.tar.gz"] = packed.read_bytes()
        def archive(url):
            return {**self.fragment("a.tar.gz", url), "id": "packed", "type": "archive", "path": "d"}
        self.sabath.add("packed", [archive(f"file://{packed}")])
        self.start()
        for kept, code in ((False, 6), (True, 0)):
            self.fetch("packed", *(["--keep-archives", "--force"] if kept else []))
            self.sabath.add("again", [archive(self.url)])
            asset = self.fetch("again", code=code, **self.other(f"kept-{kept}"))
        self.expect_tree(asset["path"], {f"d/{n}": d for n, d in self.data.items() if n != "a.tar.gz"})

    def test_a_store_that_lies(self):
        """Its file was changed behind its back, size and times kept: the client sees it."""
        name = self.object("f.bin")
        file = self.sabath.store / "objects" / name[:2] / name[2:]
        server = self.start("--limit-rate", "20M")
        self.sabath.add("again", [self.fragment("f.bin", self.url)], manifest={"digest": "sha256:" + self.root})
        self.ask("/v1/objects/" + name, "-H", "Range: bytes=0-0")  # present, and remembered as such
        file.chmod(0o644)
        with open(file, "r+b") as writer:
            writer.seek(5_000_000)
            writer.write(b"lie")
        result = self.sabath.fetch("again", **self.other())
        self.assertIn(result.exit, (6, 7), result.err)
        self.end(server)
        self.assertFalse(list((self.home / "other/objects").rglob("*.9000001")))

    def test_tls_and_token(self):
        token, certificate = self.home / "token", Certificate(self.home, "127.0.0.1")
        cert, key = certificate.file, certificate.key
        token.write_text(TOKEN + "\n")
        token.chmod(0o600)
        self.start("--token", token, "--tls-cert", cert, "--tls-key", key)
        self.assertTrue(self.url.startswith("sabath+tls://"), self.url)
        path = "/v1/objects/" + self.object("f.bin")
        for option, status in (([], 401), (["-H", "Authorization: Bearer wrong"], 401), (["-H", f"Authorization: {TOKEN}"], 401),
                               (["-H", f"Authorization: Bearer {TOKEN}x"], 401), (["-H", f"Authorization: Bearer {TOKEN}"], 200)):
            got, head, body = self.ask(path, "--cacert", str(cert), *option, scheme="https")
            self.assertEqual(got, status, option)
            self.assertEqual(body == self.data["f.bin"], status == 200)
        self.assertEqual(self.ask(path, "--cacert", str(cert), "--tls-max", "1.1", "--ciphers", "ALL:@SECLEVEL=0", scheme="https")[0], 0)
        self.sabath.add("again", [self.fragment("f.bin", self.url)])
        config = self.home / "config.json"
        config.write_text('{"ca_file": "cert.pem"}')
        keys = {**self.other(), "SABATH_CONFIG": str(config)}
        result = self.expect(self.sabath.fetch("again", **keys), 4)
        self.assertIn("401", result.err)
        config.write_text('{"ca_file": "cert.pem", "tokens": [{"origin": "%s", "file": "token"}]}' % self.url)
        token.chmod(0o644)
        self.assertIn("chmod 600", self.expect(self.sabath.fetch("again", **keys), 4).err)
        token.chmod(0o600)
        result = self.expect(self.sabath.fetch("again", "-v", **keys))
        shown = result.out + result.err + self.sabath.run("config", **keys).out
        self.assertNotIn(TOKEN, shown)


if __name__ == "__main__":
    main()
