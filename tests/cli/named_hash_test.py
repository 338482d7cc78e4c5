#!/usr/bin/python3
"""A hash in a name is a checksum: content that is named by its hash is compared with it, from any source (exit 7). And
what a source itself says of its content is compared where nothing else proves it."""

import base64
import hashlib
import http.server
import json
import re
import threading

import lfs_service
from support.case import Case, main
from support.content import seeded, sha256
from support.hub import COMMIT, git_hash
from support.spoken import Spoken

GOOD, EVIL = b"good data\n", b"evil data\n"
LARGE = seeded(9_000_001, 7)


def field(data, algorithm="sha-256"):
    digest = hashlib.new(algorithm.replace("-", ""), data).digest()
    return f"{algorithm}=:{base64.b64encode(digest).decode()}:"


class Files:
    """An HTTP server with ranges. `files`: path -> (bytes, fields); fields may be a function of the bytes that are sent."""

    def __init__(self, files):
        self.files = files
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                found = outer.files.get(self.path)
                if found is None:
                    self.send_response(404)
                    self.send_header("Content-Length", "0")
                    return self.end_headers()
                data, fields = found
                asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
                begin = int(asked[1]) if asked else 0
                last = min(int(asked[2] or len(data)) if asked else len(data), len(data) - 1)
                part = data[begin : last + 1]
                self.send_response(206 if asked else 200)
                if asked:
                    self.send_header("Content-Range", f"bytes {begin}-{last}/{len(data)}")
                self.send_header("Accept-Ranges", "bytes")
                self.send_header("ETag", '"v1"')
                self.send_header("Content-Length", str(len(part)))
                for name, value in (fields(part) if callable(fields) else fields).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(part)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"


class Hashes(Case):
    def files(self, files):
        server = Files({path: found if isinstance(found, tuple) else (found, {}) for path, found in files.items()})
        self.addCleanup(server.server.shutdown)
        return server

    def other_store(self, name="other"):
        self.sabath.environment["SABATH_CACHE"] = str(self.home / name)

    def one(self, name, *urls, kind="file", code=0, **keys):
        place = {"path": "f"} if kind == "file" else {}
        self.sabath.add(name, [{"id": "m", "type": kind, "urls": list(urls), **place, **keys}])
        return self.fetch(name, code=code)

    def refused(self, name, *urls, words="published is", **keys):
        asset = self.one(name, *urls, code=7, **keys)
        self.assertIn(words, asset["err"])
        self.assertEqual(self.sabath.run("path", name).exit, 9)


class InNames(Hashes):
    def test_each_name(self):
        digest = sha256(GOOD)
        ni = base64.urlsafe_b64encode(hashlib.sha256(GOOD).digest()).decode().rstrip("=")
        for data in (GOOD, EVIL):
            server = self.files({f"/v2/n/blobs/sha256:{digest}": data, f"/.well-known/ni/sha-256/{ni}": data, "/v2/": b"{}", "/f": data})
            host = f"127.0.0.1:{server.port}"
            names = {
                "oci": f"oci://{host}/n@sha256:{digest}",
                "blob": f"{server.url}/v2/n/blobs/sha256:{digest}",
                "ni": f"ni://{host}/sha-256;{ni}",
                "known": f"{server.url}/.well-known/ni/sha-256/{ni}",
                "mark": f"{server.url}/f#sha256={digest}",
                "md5": f"{server.url}/f#md5={hashlib.md5(GOOD).hexdigest()}",
            }
            for name, url in names.items():
                with self.subTest(name, data=data):
                    if data == EVIL:
                        self.other_store(name)
                        self.refused(name + "-evil", url)
                    else:
                        self.assertEqual(self.one(name, url)["trusted_by"], "checksum")

    def test_lfs(self):
        digest = sha256(GOOD)
        for data in (EVIL, GOOD):
            server = self.files({"/o": data})
            batch = Spoken({f"{lfs_service.PATH}/objects/batch": lambda request, at=server: lfs_service.answer(
                request, lambda oid: {"href": at.url + "/o"})})
            self.addCleanup(batch.stop)
            url = f"lfs+{batch.url().rstrip('/')}{lfs_service.PATH}/{digest}?size={len(GOOD)}"
            if data == EVIL:
                self.refused("evil", url)
            else:
                self.one("good", url)

    def test_an_archive_and_a_listed_file(self):
        server = self.files({"/f": EVIL, "/list.txt": b""})
        mark = f"{server.url}/f#sha256={sha256(GOOD)}"
        server.files["/list.txt"] = (f"{mark}\n".encode(), {})
        self.refused("listed", f"{server.url}/list.txt", kind="file_list")

    def test_what_cannot_be_true(self):
        """Two hashes of one file: the recipe is refused, with its line; a mirror's name proves what another mirror gives."""
        server = self.files({"/f": GOOD})
        named = f"ni:///sha-256;{base64.urlsafe_b64encode(hashlib.sha256(GOOD).digest()).decode().rstrip('=')}"
        self.assertEqual(self.one("both", f"{server.url}/f", named)["trusted_by"], "checksum")
        self.sabath.add("torn", [{"id": "m", "type": "file", "path": "f", "urls": [f"{server.url}/f#sha256={sha256(EVIL)}"],
                                  "checksum": {"sha256": sha256(GOOD)}}])
        result = self.sabath.fetch("torn")
        self.assertNotEqual(result.exit, 0)
        self.assertIn("is published for the same file", result.err)
        self.one("alone", named.replace("sha-256;", "sha-256-128;"), code=6)


class SaidBySources(Hashes):
    def test_of_the_whole(self):
        wrong = {"Repr-Digest": field(GOOD)}
        server = self.files({"/evil": (EVIL, wrong), "/good": (GOOD, wrong), "/old": (EVIL, {"Digest": "SHA-256=" + field(GOOD)[9:-1]}),
                             "/strong": (EVIL, {"Repr-Digest": f"unixsum=:AA==:, {field(GOOD, 'sha-512')}"}),
                             "/weak": (EVIL, {"Repr-Digest": field(GOOD, "md5")})})
        for name in ("evil", "old", "strong"):
            self.refused(name, f"{server.url}/{name}", words="its source says")
        self.assertEqual(self.one("good", f"{server.url}/good")["trusted_by"], "first use")  # its own word proves nothing
        self.one("weak", f"{server.url}/weak")
        self.one("proven", f"{server.url}/evil", checksum={"sha256": sha256(EVIL)})  # the recipe's checksum decides

    def test_of_a_file_of_several_chunks(self):
        server = self.files({"/good": (LARGE, {"Repr-Digest": field(LARGE)}), "/evil": (LARGE, {"Repr-Digest": field(GOOD)})})
        self.one("good", f"{server.url}/good")
        self.other_store()
        self.refused("evil", f"{server.url}/evil", words="its source says")
        asset = self.one("two", f"{server.url}/evil", f"{server.url}/good")  # another mirror may be right
        self.assertEqual(asset["trusted_by"], "first use")

    def test_of_an_answer(self):
        """Content-Digest is of the bytes of each answer, a part as well."""
        right, wrong = lambda part: {"Content-Digest": field(part)}, lambda part: {"Content-Digest": field(part + b".")}
        server = self.files({"/s": (GOOD, right), "/l": (LARGE, right), "/es": (GOOD, wrong), "/el": (LARGE, wrong)})
        self.one("small", f"{server.url}/s")
        self.one("large", f"{server.url}/l")
        self.other_store()
        self.refused("small-evil", f"{server.url}/es", words="its source says")
        self.refused("large-evil", f"{server.url}/el", words="its source says")

    def test_of_a_list(self):
        server = self.files({"/list.txt": (b"http://127.0.0.1:1/f\n", {"Repr-Digest": field(GOOD)})})
        self.refused("list", f"{server.url}/list.txt", words="its source says", kind="file_list")


class Hubs(Hashes):
    """git's name of a small file, and a hub's ETags."""

    def setUp(self):
        super().setUp()
        self.given, self.linked = GOOD, ""
        self.hub = Spoken({"*": self.speak})
        self.addCleanup(self.hub.stop)
        self.sabath.environment["HF_ENDPOINT"] = self.hub.url().rstrip("/")

    def speak(self, request):
        if "/tree/" in request.path:
            entry = {"type": "file", "path": "f", "size": len(GOOD), "oid": git_hash(GOOD)}
            return 200, {"Content-Type": "application/json"}, json.dumps([entry]).encode()
        if request.path.startswith("/api/"):
            return 200, {"Content-Type": "application/json"}, json.dumps({"sha": COMMIT}).encode()
        if request.path == "/cdn":
            return 200, {"ETag": '"of-the-cdn"'}, self.given
        if self.linked:
            return 302, {"Location": "/cdn", "X-Linked-Etag": f'"{self.linked}"', "ETag": '"x"'}, b""
        return 200, {"ETag": f'"{git_hash(GOOD)}"'}, self.given

    def test_listed(self):
        self.one("good", "hf://datasets/acme/set", kind="file_list")
        self.given = EVIL
        self.other_store()
        self.refused("evil", "hf://datasets/acme/set", kind="file_list")

    def test_one_file(self):
        self.one("good", "hf://datasets/acme/set/f")
        self.given = EVIL
        self.other_store()
        self.refused("evil", "hf://datasets/acme/set/f", words="its source says")

    def test_one_that_lies_elsewhere(self):
        self.linked = sha256(GOOD)
        self.one("good", "hf://datasets/acme/set/f")
        self.given = EVIL
        self.other_store()
        self.refused("evil", "hf://datasets/acme/set/f", words="its source says")


if __name__ == "__main__":
    main()
