#!/usr/bin/python3
"""Listings that never end: one more page, always; a directory within itself; an answer without an end. Each is refused.

A bound is only as good as its unit: each test also says how much was asked for before the refusal.
"""
import concurrent.futures
import hashlib
import itertools
import json
import re
import socket
import threading
import time
import unittest

from formats import COLLECTION, COMMIT, REWRITTEN, TOKEN, Ftp
from support.ground import Ground, main

PAGES_MAX, EMPTY_PAGES_MAX = 20_000, 1000  # fetchers/resolvers/pages.h
DOCUMENT_MAX, PAGE_OF_BUCKET_MAX = 64 << 20, 4 << 20  # fetchers/http/document.h, s3/s3.cc
BATCH_MAX, HEAD_MAX = 1 << 20, 1 << 20  # fetchers/lfs/lfs.cc, curl/transport.cc
ON_THE_WAY = 32 << 20  # in the sockets of a few attempts
DATA = b"canary\n"
SHA256 = hashlib.sha256(DATA).hexdigest()
SECONDS_MAX = 500  # the run itself has ten minutes


class Endless:
    """Answers each request in one piece, on connections that stay: `answer(path, number)` -> (headers, body), or (headers, None)
    for a body that goes on and on."""

    def __init__(self, answer):
        self.say, self.count, self.sent = answer, itertools.count(), 0
        self.heads = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        try:
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=(client,), daemon=True).start()
        except OSError:
            pass  # closed

    def serve(self, client):
        waiting = b""
        with client:
            try:
                while piece := client.recv(65536):
                    waiting += piece
                    head, end, content = waiting.partition(b"\r\n\r\n")
                    length = re.search(rb"^Content-Length: (\d+)", head, re.IGNORECASE | re.MULTILINE)
                    length = int(length[1]) if length else 0
                    if end and len(content) >= length:  # one request at a time is sent
                        waiting = content[length:]
                        self.answer(client, head.decode("latin-1"))
            except OSError:
                pass  # the client has had enough

    def answer(self, client, head):
        self.heads.append(head.partition("\r\n")[0])
        headers, body = self.say(head.split()[1], next(self.count))
        length = [] if body is None else [f"Content-Length: {len(body)}"]
        lines = ["HTTP/1.1 " + ("207 Multi-Status" if head.startswith("PROPFIND") else "200 OK"), *headers, *length]
        client.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b""))
        while body is None:
            client.sendall(b" " * 65536)
            self.sent += 65536

    def stop(self):
        self.listener.close()


class Case(unittest.TestCase):
    def setUp(self):
        self.ground = Ground(self)
        (self.ground.directory / "token").write_text(TOKEN)
        (self.ground.directory / "token").chmod(0o600)

    def serve(self, answer):
        server = Endless(answer)
        self.addCleanup(server.stop)
        self.ground.config |= {
            "globus": {"api": server.url + "/v0.10"}, "tokens": [{"origin": server.url, "file": "token"}],
            "rewrites": [{"from": f"https://{host}/", "to": f"{server.url}/{host}/"} for host in REWRITTEN]}
        self.ground.variables |= {"AWS_ENDPOINT_URL_S3": server.url, "HF_ENDPOINT": server.url}
        return server

    def refused(self, url, *says, code=12, **keys):
        self.ground.recipe("bad", self.ground.fragment(url, "file_list"))
        begin = time.monotonic()
        result = self.ground.refused(code, *says, **keys)
        self.assertLess(time.monotonic() - begin, SECONDS_MAX)
        return result


# --- pages ----------------------------------------------------------------------------------------------------------
class Bucket:
    url = "s3://bkt/run/"

    def __init__(self, entry, following):
        """`entry(number)`: the key of a page, or none; `following(number)`: what the next page is asked for by."""
        self.entry, self.following = entry, following

    def __call__(self, path, number):
        name = self.entry(number)
        key = f"<Contents><Key>run/{name}</Key><Size>1</Size></Contents>" if name else ""
        token = f"<NextContinuationToken>{self.following(number)}</NextContinuationToken>"
        return [], f"<ListBucketResult><IsTruncated>true</IsTruncated>{token}{key}</ListBucketResult>".encode()


class Hub(Bucket):
    url = "hf://datasets/Lab/set@" + COMMIT

    def __call__(self, path, number):
        name = self.entry(number)
        entries = [{"type": "file", "path": name, "size": 1}] if name else []
        link = f'Link: <{path.partition("?")[0]}?cursor={self.following(number)}>; rel="next"'
        return ["Content-Type: application/json", link], json.dumps(entries).encode()


class Collection(Bucket):
    """The next page is asked for by an offset that the client counts."""

    url = f"globus://{COLLECTION}/d/"

    def __call__(self, path, number):
        name = self.entry(number)
        entries = [{"name": name or "link", "type": "file" if name else "link", "size": 1}]
        return ["Content-Type: application/json"], json.dumps({"DATA": entries, "has_next_page": True}).encode()


def fresh(number):
    return f"f{number}"


class Pages(Case):
    def test_always_another(self):
        for kind in (Bucket, Hub, Collection):
            with self.subTest(kind.__name__):
                server = self.serve(kind(fresh, fresh))
                self.refused(kind.url, "has no end", f"{PAGES_MAX} pages", hint="a smaller part")
                self.assertEqual(len(server.heads), PAGES_MAX)

    def test_empty_ones(self):
        for kind in (Bucket, Hub, Collection):
            with self.subTest(kind.__name__):
                server = self.serve(kind(lambda number: None, fresh))
                self.refused(kind.url, "has no end", f"{EMPTY_PAGES_MAX} pages in a row hold no file")
                self.assertEqual(len(server.heads), EMPTY_PAGES_MAX)

    def test_a_circle(self):
        for kind in (Bucket, Hub):
            with self.subTest(kind.__name__):
                server = self.serve(kind(fresh, lambda number: number % 3))
                self.refused(kind.url, "has no end", "in a circle")
                self.assertEqual(len(server.heads), 4)

    def test_always_the_same(self):
        for kind in (Bucket, Hub, Collection):
            with self.subTest(kind.__name__):
                server = self.serve(kind(lambda number: "same", fresh))
                self.refused(kind.url, "has no end", "begin with the same entry")
                self.assertEqual(len(server.heads), 2)

    def test_many_empty_ones_are_no_end(self):
        """A store may pass over what was deleted: this ends, and is believed."""
        def answer(path, number):
            if "list-type" not in path:
                return [], b"x"
            if number < EMPTY_PAGES_MAX - 1:
                return [], pages(path, number)[1]
            return [], b"<ListBucketResult><Contents><Key>run/f.bin</Key><Size>1</Size></Contents></ListBucketResult>"

        pages = Bucket(lambda number: None, fresh)
        server = self.serve(answer)
        self.ground.recipe("good", self.ground.fragment(Bucket.url, "file_list"))
        self.ground.succeeds("good", b"x")
        self.assertGreater(len(server.heads), EMPTY_PAGES_MAX)


# --- directories ----------------------------------------------------------------------------------------------------
def index(path, _):
    return ["Content-Type: text/html"], b"<a href=again/>again</a>"


def json_index(path, _):
    return ["Content-Type: application/json"], b'[{"name": "again", "type": "directory"}]'


def multistatus(path, _):
    entry = (f"<response><href>{path}again/</href><propstat><prop><resourcetype><collection/></resourcetype></prop>"
             "<status>HTTP/1.1 200 OK</status></propstat></response>")
    return ["Content-Type: application/xml"], f'<multistatus xmlns="DAV:">{entry}</multistatus>'.encode()


def globus(path, _):
    entries = [{"name": "again", "type": "dir"}]
    return ["Content-Type: application/json"], json.dumps({"DATA": entries, "has_next_page": False}).encode()


class Within(Case):
    def test_itself(self):
        for name, answer, scheme in (("html", index, "http"), ("json", json_index, "http"), ("dav", multistatus, "dav"),
                                     ("globus", globus, None)):
            with self.subTest(name):
                server = self.serve(answer)
                url = server.url.replace("http:", f"{scheme}:") + "/d/" if scheme else Collection.url
                self.refused(url, "deeper than 32 directories", hint="name what is wanted by a pattern")
                self.assertEqual(len(server.heads), 33)

    def test_itself_by_ftp(self):
        for facts, line in ((True, b"type=dir; again\r\n"), (False, b"drwxr-xr-x 2 0 0 4096 Nov 21 12:00 again\r\n")):
            with self.subTest(facts):
                server = Ftp()
                self.addCleanup(server.stop)
                server.facts, server.text = facts, line
                self.refused(server.url("/d/"), "deeper than 32 directories", hint="name what is wanted by a pattern")


# --- answers --------------------------------------------------------------------------------------------------------
class Answers(Case):
    """No answer is read without an end, of any format."""

    def test_ftp(self):
        server = Ftp()
        self.addCleanup(server.stop)
        server.text = b"type=file;size=1; f\r\n" * (DOCUMENT_MAX // 16)
        self.refused(server.url("/d/"), "is longer than 67.1 MB")

    def test_each_format(self):
        doi = json.dumps({"url": "https://dataverse.example/dataset.xhtml?persistentId=doi:10.7910/x"}).encode()
        article = json.dumps({"url": "https://figshare.com/articles/dataset/T/77"}).encode()
        bag = b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"
        manifest, sha = b"0" * 64 + b" data/f\n", "sha256:" + "0" * 64
        cases = (  # the format, its URL, the answers that come before the endless one, the bytes that may be read
            ("html", "{http}/d/", {}, DOCUMENT_MAX), ("dav", "{dav}/d/", {}, DOCUMENT_MAX),
            ("s3", Bucket.url, {}, PAGE_OF_BUCKET_MAX), ("hf", Hub.url, {}, DOCUMENT_MAX),
            ("hf revision", "hf://datasets/Lab/set", {}, DOCUMENT_MAX), ("globus", Collection.url, {}, DOCUMENT_MAX),
            ("zenodo", "zenodo:1", {}, DOCUMENT_MAX), ("datacite", "doi:10.1/x", {}, DOCUMENT_MAX),
            ("dataverse", "doi:10.7910/x", {"/doi.org/": doi}, DOCUMENT_MAX),
            ("figshare", "doi:10.6084/x", {"/doi.org/": article}, DOCUMENT_MAX),
            ("oci", "{oci}/lab/x:v1", {"/v2/$": b"{}"}, 4 << 20), ("oci digest", "{oci}/lab/x@" + sha, {"/v2/$": b"{}"}, 4 << 20),
            ("oci login", "{oci}/lab/x:v1", {}, 1 << 20), ("metalink", "metalink+{http}/described", {}, 256 << 20),
            ("bag", "{http}/bag/bagit.txt", {}, 16 << 20),
            ("bag-info", "{http}/bag/bagit.txt", {"/bag/bagit.txt": bag, "/bag/manifest-sha256.txt": manifest, "/bag/manifest-": b""}, 16 << 20),
        )
        for name, url, before, most in cases:
            with self.subTest(name):
                def answer(path, _, before=before):
                    for begin, body in before.items():
                        if re.match(begin, path):
                            return ["Content-Type: application/json"], body
                    if path == "/described":
                        return ['Link: </meta4>; rel=describedby; type="application/metalink4+xml"'], b""
                    return ["Content-Type: text/html"], None

                server = self.serve(answer)
                schemes = {scheme: server.url.replace("http", scheme) for scheme in ("http", "dav", "oci")}
                result = self.refused(url.format(**schemes), code=12)
                print(f"{name}: {server.sent >> 20} MiB sent: {result.failures[0][1]}")
                self.assertGreater(server.sent, 0, "the endless answer was never asked for")
                self.assertLess(server.sent, most + ON_THE_WAY, "it listened too long")

    def test_lfs_batch(self):
        server = self.serve(lambda path, _: (["Content-Type: application/vnd.git-lfs+json"], None))
        url = f"lfs+{server.url}/r.git/info/lfs/{SHA256}?size={len(DATA)}"
        self.ground.recipe("bad", self.ground.fragment(url, size=len(DATA), checksum={"sha256": SHA256}))
        self.ends(server, 12, "/r.git/info/lfs/objects/batch: the answer is longer than 1.05 MB", most=BATCH_MAX)

    def test_manifest_of_a_store(self):
        """4 GiB of it would be read; what says that it is longer is not."""
        server = self.serve(lambda path, _: (["Content-Length: 5000000000"], None))
        pin = {"digest": "sha256:" + "0" * 64, "urls": [server.url.replace("http", "sabath")]}
        self.ground.recipe("bad", self.ground.fragment("http://127.0.0.1:1/f"), manifest=pin)
        self.ends(server, 12, f"/v1/manifests/{'0' * 64} is longer than 4.29 GB", most=0)

    def ends(self, server, code, *says, most):
        """"bad" is refused within its time, and after a bounded number of bytes."""
        begin = time.monotonic()
        self.ground.refused(code, *says)
        self.assertLess(time.monotonic() - begin, SECONDS_MAX)
        self.assertGreater(server.sent, 0, "the endless answer was never asked for")
        self.assertLess(server.sent, most + ON_THE_WAY, "it listened too long")


# --- control connections ----------------------------------------------------------------------------------------------
class Chatter(Ftp):
    """Its reply to `word` goes on and on: `piece` and `piece`; to no word: its greeting."""

    def __init__(self, word, piece):
        self.word, self.piece, self.sent = word, piece, 0
        super().__init__()

    def speak(self, control, lines):
        if not self.word:
            self.chat(control)
        super().speak(control, self.until(control, lines))

    def until(self, control, lines):
        for line in lines:
            if line.split()[0].decode("latin-1") == self.word:
                self.chat(control)
            yield line

    def chat(self, control):
        while True:
            control.sendall(self.piece)
            self.sent += len(self.piece)


class Replies(unittest.TestCase):
    def test_without_end(self):
        """Most of the time is the pauses between attempts: all at once."""
        pieces = {"lines": b"220-more\r\n" * 6000, "one line": b"2" * 65536, "replies": b"100 wait\r\n" * 6000}
        cases = [(word, name) for word in ("", "USER", "EPSV", "SIZE", "RETR", "MLSD") for name in pieces]
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            running = [(case, pool.submit(self.check, case[0], pieces[case[1]])) for case in cases]
            for (word, name), future in running:
                with self.subTest(word or "greeting", piece=name):
                    future.result()

    def check(self, word, piece):
        server, ground = Chatter(word, piece), Ground(self)
        self.addCleanup(server.stop)
        path, kind = ("/d/", "file_list") if word == "MLSD" else ("/f", "file")
        ground.recipe("bad", ground.fragment(server.url(path), kind))
        begin = time.monotonic()
        result = ground.fetch("bad")
        self.assertIn(result.exit, (4, 6), result)
        ground.clean(result)
        self.assertIn(server.url("/"), result.err)
        self.assertLess(time.monotonic() - begin, SECONDS_MAX)
        self.assertGreater(server.sent, 0, "the endless reply was never asked for")
        self.assertLess(server.sent, 8 * HEAD_MAX + 2 * ON_THE_WAY, "it listened too long")


if __name__ == "__main__":
    main()
