#!/usr/bin/python3
"""`sabath serve` as a service: the bounds of docs/serving.md one by one, its log, its end, and SIGHUP."""

import concurrent.futures
import json
import os
import re
import signal
import socket
import time
import urllib.request

from serving import ServeCase
from support.case import main
from support.certificate import Certificate

TOKEN = "a-token-of-this-test"


class Reload(ServeCase):
    """SIGHUP, and the files that a service is given anew."""

    def setUp(self):
        super().setUp()
        self.token = self.write("token", TOKEN)
        self.path = "/v1/objects/" + self.object("small")

    def write(self, name, text):
        file = self.home / name
        file.write_text(text)
        file.chmod(0o600)
        return file

    def reload(self, server):
        """What the server says of a SIGHUP."""
        server.send_signal(signal.SIGHUP)
        return server.stderr.readline()

    def status(self, token=TOKEN, *options, **more):
        return self.ask(self.path, "-H", f"Authorization: Bearer {token}", *options, **more)[0]

    def test_a_new_token(self):
        server = self.start("--token", self.token)
        with socket.create_connection(("127.0.0.1", self.port)) as kept:
            def ask(token):
                kept.sendall(f"HEAD {self.path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
                return kept.recv(65536).split()[1]
            self.assertEqual(ask(TOKEN), b"200")
            self.write("token", "another\n")
            self.assertEqual(self.status(), 200)  # nothing was asked of the server yet
            self.assertIn("were read again", self.reload(server))
            self.assertEqual((self.status(), self.status("another")), (401, 200))
            self.assertEqual((ask(TOKEN), ask("another")), (b"401", b"200"))
        self.assertEqual(self.end(server)[0], 0)

    def test_bad_ones_leave_the_old(self):
        server = self.start("--token", self.token)
        for text, mode, words in (("two words\n", 0o600, "holds no token"), ("another", 0o644, "others may read it")):
            self.write("token", text).chmod(mode)
            said = self.reload(server)
            self.assertIn("stay as they were: ", said)
            self.assertIn(words, said)
            self.assertEqual((self.status(), self.status("another")), (200, 401))
        self.token.unlink()
        self.assertIn("there is no file", self.reload(server))
        self.assertEqual(self.status(), 200)

    def test_a_new_certificate(self):
        old, new = Certificate(self.home / "old", "127.0.0.1"), Certificate(self.home / "new", "127.0.0.1")
        files = {"cert": self.write("cert", old.file.read_text()), "key": self.write("key", old.key.read_text())}
        server = self.start("--token", self.token, "--tls-cert", files["cert"], "--tls-key", files["key"], "--limit-rate", "6M")
        def trusts(certificate):
            return self.status(TOKEN, "--cacert", str(certificate.file), scheme="https") == 200
        self.assertEqual((trusts(old), trusts(new)), (True, False))
        with concurrent.futures.ThreadPoolExecutor(1) as pool:  # an answer on its way ends as it began
            on_its_way = pool.submit(self.ask, "/v1/objects/" + self.object("f.bin"), "-H", f"Authorization: Bearer {TOKEN}",
                                     "--cacert", str(old.file), scheme="https")
            self.write("cert", new.file.read_text())
            self.assertIn("cannot start the server with this certificate and key", self.reload(server))
            self.assertEqual((trusts(old), trusts(new)), (True, False))
            self.write("key", new.key.read_text())
            self.assertIn("were read again", self.reload(server))
            self.assertEqual((trusts(old), trusts(new)), (False, True))
            self.assertTrue(on_its_way.result()[2] == self.data["f.bin"])
        for _ in range(12):  # more than may stand beside the newest
            self.assertIn("were read again", self.reload(server))
        self.assertTrue(trusts(new))
        self.assertEqual(self.end(server)[0], 0)


class Bounds(ServeCase):
    def test_settings_that_make_no_sense(self):
        (self.home / "open").write_text(TOKEN)
        (self.home / "open").chmod(0o644)
        for code, words, *arguments in ((2, "others can reach", "--listen", "0.0.0.0:0"), (2, "HOST:PORT", "--listen", "x"),
                                        (6, "cannot listen", "--anonymous", "--listen", "192.0.2.1:0"), (4, "others may read", "--token", "open"),
                                        (2, "certificate", "--tls-cert", "absent", "--tls-key", "open")):
            result = self.expect(self.sabath.run("serve", *arguments), code)
            self.assertIn(words, result.err)
        self.assertIn("there is no store", self.expect(self.sabath.run("serve", SABATH_CACHE=str(self.home / "no")), 2).err)

    def test_a_head(self):
        """16 KiB of it, to the byte."""
        self.start()
        begin, end = b"GET /v1/ HTTP/1.1\r\nHost: h\r\nConnection: close\r\nX: ", b"\r\n\r\n"
        for size, status in ((16 * 1024, b"200"), (16 * 1024 + 1, b"431")):
            answer = self.raw(begin + b"y" * (size - len(begin + end)) + end)
            self.assertEqual(answer.split()[1], status, size)

    def test_clients_of_one_address(self):
        """128 of 256 places: one more takes the place of the oldest that says nothing. Another address has the others."""
        server = self.start(listen="127.0.0.1:0")
        held = [socket.create_connection(("127.0.0.1", self.port), timeout=60) for _ in range(128)]
        self.addCleanup(lambda: [each.close() for each in held])
        held[-1].sendall(b"GET /v1/ HTTP/1.1\r\nHost: h\r\n\r\n")
        self.assertTrue(held[-1].recv(100).startswith(b"HTTP/1.1 200"))
        self.assertEqual(self.ask("/v1/")[0], 200)
        self.assertEqual(held[0].recv(100), b"")
        self.assertEqual(self.ask("/v1/", "--interface", "127.0.0.2")[0], 200)
        _, out, _ = self.end(server)
        self.assertRegex(out, r"(?m)^\S+Z 127.0.0.1:\d+ - - - 0 \d+\.\d+ silent$")

    def test_the_rate_of_a_client(self):
        self.start("--limit-rate", "9M")
        begin = time.monotonic()
        self.assertEqual(self.ask("/v1/objects/" + self.object("f.bin"))[0], 200)
        self.assertGreater(time.monotonic() - begin, 0.9)

    def test_heads_without_end(self):
        self.start()
        answer = self.raw(b"GET /v1/ HTTP/1.1\r\nHost: h\r\n" + b"X: " + b"y" * 200_000 + b"\r\n\r\n")
        self.assertRegex(answer[:40], rb"^(HTTP/1.1 4|$)")
        self.assertEqual(self.ask("/v1/")[0], 200)

    def test_noise(self):
        self.start()
        for noise in (b"\r\n\r\n", b"\0" * 1000 + b"\r\n\r\n", b"GET\r\n\r\n", os.urandom(3000) + b"\r\n\r\n",
                      b"GET /v1/ HTTP/9.9\r\n\r\n", b"GET /v1/ HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", self.port), timeout=10) as client:
                client.sendall(noise)
                client.shutdown(socket.SHUT_WR)
                while client.recv(65536):
                    pass
        self.assertEqual(self.ask("/v1/")[0], 200)

    def test_more_clients_than_places(self):
        """Those that say nothing give way. While all are being answered, others wait."""
        self.start("--connections", "2", "--limit-rate", "6M")
        held = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(6)]
        self.addCleanup(lambda: [each.close() for each in held])
        path = "/v1/objects/" + self.object("f.bin")
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: self.ask(path)[2], range(4)))
        self.assertTrue(all(body == self.data["f.bin"] for body in answers))

    def test_many_at_once(self):
        self.start()
        path = "/v1/objects/" + self.object("f.bin")
        def one(_):
            return urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=300).read() == self.data["f.bin"]
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            self.assertTrue(all(pool.map(one, range(32))))

    def test_the_log(self):
        server = self.start()
        self.ask("/v1/objects/" + self.object("small"))
        self.raw(b"GET /\x1b[31m%0a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        code, out, _ = self.end(server)
        self.assertEqual(code, 0)
        self.assertNotRegex(out, r"[\x00-\x09\x0b-\x1f\x7f]")
        self.assertRegex(out, rf"(?m)^20\d\d-\d\d-\d\dT\S+Z 127.0.0.1:\d+ GET /v1/objects/{self.object('small')} 200 1000 \d+\.\d+ ok$")

    def test_what_was_no_request(self):
        """Each has a line, once: what the HTTP library refuses, what ends in its middle, and nothing where all was answered."""
        server = self.start("--json")
        head = b"GET /v1/ HTTP/1.1\r\nHost: h\r\n"
        broken = [b"GET\r\n\r\n", b"GET /v1/ HTTP/1.1\r\n\r\n", b"GET /v1/ HTTP/9.9\r\n\r\n", head, b"GET /v1/\r\n\r\n"]
        for text in broken:
            with socket.create_connection(("127.0.0.1", self.port), timeout=10) as client:
                if text is broken[-1]:  # on a connection that was good for something before
                    client.sendall(head + b"\r\n")
                    client.recv(65536)
                client.sendall(text)
                client.shutdown(socket.SHUT_WR)
                while client.recv(65536):
                    pass
        socket.create_connection(("127.0.0.1", self.port)).close()  # a monitor's look
        self.assertEqual(self.ask("/v1/")[0], 200)
        record = json.loads(self.end(server)[1])
        self.assertEqual((record["requests"], record["unanswered"]), (2, 5))

    def test_what_tls_refuses(self):
        """A client without TLS, and one that does not trust the certificate, have a line each; a good one has its own."""
        certificate = Certificate(self.home / "tls", "127.0.0.1")
        server = self.start("--tls-cert", certificate.file, "--tls-key", certificate.key)
        self.assertEqual(self.raw(b"GET /v1/ HTTP/1.1\r\nHost: h\r\n\r\n"), b"")
        self.assertEqual(self.ask("/v1/", scheme="https")[0], 0)
        self.assertEqual(self.ask("/v1/", "--cacert", str(certificate.file), scheme="https")[0], 200)
        lines = self.end(server)[1].splitlines()
        self.assertEqual(sorted(line.split()[-1] for line in lines), ["broken", "broken", "ok"], lines)

    def test_a_reader_that_is_too_slow(self):
        server = self.start()
        request = b"HEAD /v1/ HTTP/1.1\r\nHost: h\r\n\r\n"
        count = 14_000  # a pipe's 64 KiB and 10,000 lines are fewer
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as client:
            for _ in range(count // 100):
                client.sendall(request * 100)
                got = b""
                while got.count(b"HTTP/1.1 200") < 100 or not got.endswith(b"\r\n\r\n"):
                    got += client.recv(1 << 20)
        _, out, err = self.end(server)
        dropped = int(re.search(r"(\d+) lines of the log were dropped: their reader was too slow", err).group(1))
        self.assertEqual(len(out.splitlines()) + dropped, count)

    def test_json(self):
        server = self.start("--json")
        self.ask("/v1/objects/" + self.object("small"))
        code, out, _ = self.end(server)
        self.assertEqual(code, 0)
        record = json.loads(out)
        self.assertEqual((record["requests"], record["bytes"], record["cut"], record["exit"]), (1, 1000, 0, 0))

    def test_sigterm_lets_answers_end(self):
        server = self.start("--limit-rate", "6M")
        path = "/v1/objects/" + self.object("f.bin")
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            answer = urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=300)
            rest = pool.submit(answer.read)
            server.send_signal(signal.SIGTERM)
            self.assertTrue(rest.result() == self.data["f.bin"])
        server.communicate(timeout=300)
        self.assertEqual(server.returncode, 0)

    def test_sigterm_does_not_wait_for_ever(self):
        server = self.start("--limit-rate", "100k", "--grace", "0")
        path = "/v1/objects/" + self.object("f.bin")
        answer = urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=300)
        begin = time.monotonic()
        server.send_signal(signal.SIGTERM)
        out, err = server.communicate(timeout=300)
        answer.close()
        self.assertLess(time.monotonic() - begin, 60)
        self.assertEqual(server.returncode, 0)
        self.assertIn("cut off", err)
        self.assertIn(" cut\n", out)


if __name__ == "__main__":
    main()
