#!/usr/bin/python3
"""Many small files from a server that speaks HTTP/2: by few connections, and everything else as ever."""
import collections
import os
import signal
import subprocess
import time
import unittest

from support.certificate import Certificate
from support.origin import Nginx, find
from support.ground import Ground, main, seeded_bytes

FILES = 600
FORMAT = "log_format short '$connection $server_protocol $status $body_bytes_sent $uri';"
LINE = collections.namedtuple("LINE", "connection protocol status bytes path")


class Streams(unittest.TestCase):
    def setUp(self):
        if not find("nginx"):
            self.skipTest("nginx is not installed")
        self.ground = Ground(self)
        self.files = self.ground.directory / "files"
        self.files.mkdir()
        self.ground.directory.chmod(0o755)
        for i in range(FILES):
            (self.files / f"f{i}").write_bytes(self.content(i))
        (self.files / "list.txt").write_text("".join(f"f{i}\n" for i in range(FILES)))
        self.certificate = Certificate(self.ground.directory, "127.0.0.1", "localhost")
        self.ground.config |= {"ca_file": str(self.certificate.file), "stall_timeout_s": 20}

    @staticmethod
    def content(i):
        return seeded_bytes(500 + 17 * i, i)

    def serve(self, extra="", http="", **options):
        self.log = self.ground.directory / "nginx/short.log"
        server = Nginx(self.ground.directory / "nginx", self.files, f"access_log {self.log} short; {extra}",
                       http=FORMAT + http, certificate=self.certificate, **options)
        self.addCleanup(server.stop)
        self.ground.recipe("many", self.ground.fragment(f"https://127.0.0.1:{server.port}/list.txt", "file_list"))
        return server

    def lines(self, count):
        """What the server logs when an answer is sent, maybe a moment after we have it."""
        deadline = time.monotonic() + 10
        while len(lines := self.log.read_text().splitlines()) < count and time.monotonic() < deadline:
            time.sleep(0.02)
        return [LINE(*line.split(" ", 4)) for line in lines]

    def fetched(self, *options):
        result = self.ground.fetch("many", *options)
        self.assertEqual(result.exit, 0, result)
        asset, = result.record["assets"]
        for i in range(FILES):
            with open(os.path.join(asset["path"], f"f{i}"), "rb") as file:
                self.assertEqual(file.read(), self.content(i), f"f{i}")
        return asset

    def logged(self):
        """What the server says of a fetch, which the record agrees with."""
        asset, lines = self.fetched(), self.lines(FILES + 1)
        self.assertEqual(sum(source["requests"] for source in asset["sources"]), len(lines))
        self.assertEqual(asset["fetched_bytes"], sum(int(line.bytes) for line in lines))
        return lines

    def test_few_connections(self):
        self.serve(http2=True)
        lines = self.logged()
        self.assertEqual({line.protocol for line in lines}, {"HTTP/2.0"})
        self.assertLessEqual(len({line.connection for line in lines}), 4)

    def test_without_http2(self):
        self.serve()
        lines = self.logged()
        self.assertEqual({line.protocol for line in lines}, {"HTTP/1.1"})
        self.assertLessEqual(len({line.connection for line in lines}), 65)

    def test_one_large_file_has_connections_of_its_own(self):
        (self.files / "large").write_bytes(seeded_bytes(40_000_000))
        server = self.serve(http2=True)
        self.ground.recipe("one", self.ground.fragment(f"https://127.0.0.1:{server.port}/large", size=40_000_000))
        self.assertEqual(self.ground.fetch("one").exit, 0)
        self.assertEqual({line.protocol for line in self.lines(1)}, {"HTTP/1.1"})

    def test_a_limit_of_bytes_a_second(self):
        self.serve(http2=True)
        begun = time.monotonic()
        size = sum(len(self.content(i)) for i in range(FILES))
        self.fetched("--limit-rate", "1M")
        self.assertGreater(time.monotonic() - begun, 0.7 * size / 1e6)

    def test_a_server_that_has_too_many_of_us(self):
        self.serve("limit_req zone=rate burst=30 nodelay; limit_req_status 429;", http2=True,
                   http="limit_req_zone $binary_remote_addr zone=rate:1m rate=150r/s;")
        self.assertIn("429", {line.status for line in self.logged()})

    def test_stopped(self):
        self.serve("limit_rate 1000;", http2=True)  # each of them: seconds
        running = subprocess.Popen([os.environ["SABATH_BINARY"], "fetch", "many", "-q"], env=self.ground.environment(),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.lines(20)
        running.send_signal(signal.SIGINT)
        begun = time.monotonic()
        self.assertEqual(running.wait(timeout=300), 130)
        self.assertLess(time.monotonic() - begun, 60)


if __name__ == "__main__":
    main()
