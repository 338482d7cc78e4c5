#!/usr/bin/python3
"""The MUSTs of RFC 9110 and RFC 9112 that an origin server meets, one request each; and what a client owes them."""

import http.server
import re
import socket
import threading

from serving import ServeCase
from support.case import Case, main


class Musts(ServeCase):
    """Each row: where it stands, what it says, the request (without the end of its head), what must come back."""

    def setUp(self):
        super().setUp()
        self.start()
        self.path = "/v1/objects/" + self.object("small")
        _, head, _ = self.ask(self.path)
        self.etag = head["etag"].upper() if head["etag"].startswith("W/") else head["etag"]

    def table(self):
        path, tag = self.path, self.etag
        get, end = f"GET {path} HTTP/1.1\r\nHost: h\r\n", "Connection: close\r\n\r\n"
        other = '"0123456789abcdef"'
        return (
            ("9112 3.2", "no Host", f"GET {path} HTTP/1.1\r\n", 400),
            ("9112 3.2", "two Host fields", get + "Host: h\r\n", 400),
            ("9112 3.2", "a Host that is none", f"GET {path} HTTP/1.1\r\nHost: a b\r\n", 400),
            ("9112 3.2", "HTTP/1.0 needs no Host", f"GET {path} HTTP/1.0\r\n", 200),
            ("9112 3.2.2", "absolute form", f"GET http://h{path} HTTP/1.1\r\nHost: h\r\n", 200),
            ("9112 3.2.2", "absolute form, another Host", f"GET http://h{path} HTTP/1.1\r\nHost: other\r\n", 200),
            ("9112 3.2.2", "absolute form in capitals", f"GET HTTP://h{path} HTTP/1.1\r\nHost: h\r\n", 200),
            ("9112 3", "a target that is too long", f"GET /{'x' * 40_000} HTTP/1.1\r\nHost: h\r\n", 414),
            ("9112 2.2", "space before the first field", f"GET {path} HTTP/1.1\r\n Host: h\r\nHost: h\r\n", (200, 400)),
            ("9112 5.1", "space before the colon", get + "Range : bytes=0-1\r\n", 400),
            ("9112 5.2", "a folded line is one value, or refused", get + "Range: bytes=0-\r\n 9\r\n", (200, 400)),
            ("9112 6.1", "a last coding that is not chunked", get + "Transfer-Encoding: gzip\r\n", (400, 501)),
            ("9112 6.1", "a coding and a length", get + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n", 400),
            ("9112 6.3", "two lengths", get + "Content-Length: 0\r\nContent-Length: 5\r\n", 400),
            ("9112 6.3", "a length that is none", get + "Content-Length: x\r\n", 400),
            ("9112 2.3", "a minor version of later", f"GET {path} HTTP/1.2\r\nHost: h\r\n", (200, 505)),
            ("9110 5.5", "NUL in a value", get + "X: a\0b\r\n", (200, 400)),
            ("9110 9.1", "a method that is not there", f"BREW {path} HTTP/1.1\r\nHost: h\r\n", (405, 501)),
            ("9110 9.3.2", "HEAD", f"HEAD {path} HTTP/1.1\r\nHost: h\r\n", 200),
            ("9110 14.2", "a range of HEAD means nothing", f"HEAD {path} HTTP/1.1\r\nHost: h\r\nRange: bytes=0-1\r\n", 200),
            ("9110 15.5.6", "405 has Allow", f"POST {path} HTTP/1.1\r\nHost: h\r\n", 405),
            ("9110 13.1.1", "If-Match compares strongly", get + f"If-Match: W/{tag}\r\n", 412),
            ("9110 13.1.1", "If-Match: *", get + "If-Match: *\r\n", 200),
            ("9110 13.1.1", "a list in two lines", get + f"If-Match: {other}\r\nIf-Match: {tag}\r\n", 200),
            ("9110 13.1.2", "If-None-Match compares weakly", get + f"If-None-Match: W/{tag}\r\n", 304),
            ("9110 13.1.2", "If-None-Match: *", get + "If-None-Match: *\r\n", 304),
            ("9110 13.1.2", "a list in two lines", get + f"If-None-Match: {other}\r\nIf-None-Match: {tag}\r\n", 304),
            ("9110 13.1.3", "no date here: If-Modified-Since is nothing",
             get + "If-Modified-Since: Fri, 01 Jan 2038 00:00:00 GMT\r\n", 200),
            ("9110 13.1.4", "nor is If-Unmodified-Since", get + "If-Unmodified-Since: Fri, 01 Jan 1971 00:00:00 GMT\r\n", 200),
            ("9110 13.2.1", "conditions of what is not there", f"GET /v1/none HTTP/1.1\r\nHost: h\r\nIf-Match: {other}\r\n", 404),
            ("9110 13.2.2", "If-Match comes first", get + f"If-Match: {other}\r\nIf-None-Match: {tag}\r\n", 412),
            ("9110 13.1.5", "If-Range without Range", get + f"If-Range: {other}\r\n", 200),
            ("9110 13.1.5", "If-Range compares strongly", get + f"Range: bytes=0-1\r\nIf-Range: W/{tag}\r\n", 200),
            ("9110 13.1.5", "If-Range with this tag", get + f"Range: bytes=0-1\r\nIf-Range: {tag}\r\n", 206),
            ("9110 14.2", "a unit that is not there", get + "Range: lines=0-1\r\n", 200),
            ("9110 14.1", "units are one in capitals", get + "Range: BYTES=0-1\r\n", 206),
            ("9110 15.5.17", "a range beyond the end", get + "Range: bytes=5000-\r\n", 416),
            ("9110 10.1.1", "a body is announced, and waited for", get + "Expect: 100-continue\r\nContent-Length: 3\r\n", 413),
        ), end

    def test_each(self):
        rows, end = self.table()
        for place, what, request, status in rows:
            with self.subTest(f"RFC {place}: {what}"):
                answer = self.raw((request + end).encode())
                heads = re.findall(rb"HTTP/1\.1 (\d+)", answer.split(b"\r\n\r\n")[-2 if b"100 Continue" in answer else 0])
                self.assertTrue(heads, answer[:200])
                self.assertIn(int(heads[0]), status if isinstance(status, tuple) else (status,), answer[:300])

    def answered(self, request):
        """(status, head, body) as bytes."""
        head, _, body = self.raw(request.encode()).partition(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        return int(head.split()[1]), fields, body

    def test_what_answers_must_have(self):
        rows, end = self.table()
        get = f"GET {self.path} HTTP/1.1\r\nHost: h\r\n"
        for request in (get, get + "Range: bytes=0-1\r\n", get + f"If-None-Match: {self.etag}\r\n", get + "If-Match: \"x\"\r\n"):
            self.assertIn(b"date", self.answered(request + end)[1])  # RFC 9110 6.6.1
        status, whole, body = self.answered(get + end)
        self.assertEqual((status, len(body)), (200, 1000))
        status, head, body = self.answered(get.replace("GET", "HEAD") + end)  # RFC 9110 9.3.2, 8.6
        self.assertEqual((status, body, head[b"content-length"]), (200, b"", b"1000"))
        status, head, body = self.answered(get + "Range: bytes=2-3\r\n" + end)  # RFC 9110 15.3.7
        self.assertEqual((status, head[b"content-range"], len(body)), (206, b"bytes 2-3/1000", 2))
        for name in (b"etag", b"cache-control"):
            self.assertEqual(head[name], whole[name])
        status, head, body = self.answered(get + f"If-None-Match: {self.etag}\r\n" + end)  # RFC 9110 15.4.5, 8.6
        self.assertEqual((status, body, head[b"etag"]), (304, b"", whole[b"etag"]))
        self.assertIn(head.get(b"content-length", b"1000"), (b"1000",))
        status, head, _ = self.answered(get + "Range: bytes=5000-\r\n" + end)
        self.assertEqual((status, head[b"content-range"]), (416, b"bytes */1000"))
        self.assertEqual(self.answered(get.replace("GET", "POST") + end)[1][b"allow"], b"get, head")

    def test_connections(self):
        """RFC 9112 9.3, 9.6: kept unless one says close."""
        get = f"HEAD {self.path} HTTP/1.1\r\nHost: h\r\n"
        answer = self.raw((get + "\r\n" + get + "Connection: close\r\n\r\n" + get + "\r\n").encode())
        self.assertEqual(answer.count(b"HTTP/1.1 200"), 2)


class Strangers(ServeCase):
    """A client that says nothing keeps no other one out."""

    def connect(self, source="127.0.0.1"):
        client = socket.create_connection(("127.0.0.1", self.port), timeout=60, source_address=(source, 0))
        self.addCleanup(client.close)
        return client

    def head(self, client, question):
        client.sendall(question)
        head = b""
        while not head.endswith(b"\r\n\r\n") and (piece := client.recv(1)):
            head += piece
        return head

    def is_open(self, client):
        client.setblocking(False)
        try:
            return client.recv(1) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def test_silent_ones_go_first(self):
        token = self.home / "token"
        token.write_text("secret-of-the-test\n")
        token.chmod(0o600)
        self.start("--token", token, "--connections", "8")
        question = b"HEAD /v1/ HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer secret-of-the-test\r\n\r\n"
        holder = self.connect("127.0.0.9")
        self.assertIn(b"200", self.head(holder, question))
        wrong = self.connect("127.0.0.3")  # without the token
        self.assertIn(b"401", self.head(wrong, b"HEAD /v1/ HTTP/1.1\r\nHost: h\r\n\r\n"))
        silent = [self.connect(f"127.0.0.{4 + i % 2}") for i in range(20)]
        self.assertIn(b"200", self.head(holder, question))  # a client that has asked for what it may have keeps its place
        self.assertIn(b"200", self.head(self.connect("127.0.0.8"), question))
        self.assertFalse(self.is_open(silent[0]), "the oldest of them is put out")
        self.assertTrue(self.is_open(silent[-1]))


class Folded(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/f":
            self.wfile.write(b"HTTP/1.1 302 Found\r\nLocation:\r\n /g\r\nContent-Length: 0\r\n\r\n")
        else:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain;\r\n\tcharset=x\r\nContent-Length: 4\r\n\r\ndata")

    def log_message(self, *_):
        pass


class Client(Case):
    def test_folded_lines(self):
        """RFC 9112 5.2: a user agent reads a folded field as one line."""
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Folded)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        url = f"http://127.0.0.1:{server.server_address[1]}/f"
        self.sabath.add("folded", [{"id": "m", "type": "file", "path": "f", "urls": [url]}])
        self.fetch("folded")


if __name__ == "__main__":
    main()
