#!/usr/bin/python3
"""Bounds on the requests to a host: its own quota, the recipe's, the configuration's. The witness is the server."""

import json
import socket
import time
import unittest

from support.case import Case, main
from support.content import fragment, seeded
from support.gate import Gate
from support.metered import Metered
from support.traced import have_strace, opened, traced


class Limits(Case):
    def files(self, count, size=20000):
        return {f"f{i}": seeded(size + i, i) for i in range(count)}

    def meter(self, *arguments, **options):
        server = Metered(*arguments, **options)
        self.addCleanup(server.stop)
        return server

    def add(self, name, server, files, **more):
        self.sabath.add(name, [fragment(server.url(n), data, name=n, path=n) for n, data in files.items()], **more)

    def test_as_many_as_help_without_a_limit(self):
        files = self.files(60)
        server = self.meter(files)
        self.add("free", server, files)
        self.expect_tree(self.fetch("free")["path"], files)
        self.assertGreater(server.most, 4)

    @unittest.skipUnless(have_strace(), "strace is not installed")
    def test_a_name_is_not_looked_up_for_each_connection(self):
        """But by the eight that begin together. The witness is how often the resolver opened its file."""
        name = socket.gethostname()  # `localhost` is never looked up
        try:
            here = socket.gethostbyname(name) == "127.0.0.1"
        except OSError:
            here = False
        if not here:
            self.skipTest(f"{name} is not 127.0.0.1 here")
        files = self.files(200)
        server = self.meter(files, hold=0.03)
        urls = {n: server.url(n).replace("127.0.0.1", name) for n in files}
        self.sabath.add("named", [fragment(urls[n], data, name=n, path=n) for n, data in files.items()])
        log = self.home / "strace"
        self.expect_tree(self.fetch("named", prefix=traced(log, "openat"), ASAN_OPTIONS="detect_leaks=0")["path"], files)
        self.assertGreater(server.connections, 10)
        self.assertGreaterEqual(opened(log, "/etc/hosts"), 1)
        self.assertLessEqual(opened(log, "/etc/hosts"), 8)

    def test_connections_by_the_recipe(self):
        files = self.files(60)
        server = self.meter(files)
        self.add("meek", server, files, limits={"connections": 2})
        self.expect_tree(self.fetch("meek")["path"], files)
        self.assertEqual(server.most, 2)

    def test_connections_by_the_configuration(self):
        """The least of what recipe, user and site say."""
        files = self.files(60)
        server = self.meter(files)
        self.add("meek", server, files, limits={"connections": 5})
        config = self.home / "config.json"
        # On a busy machine files so small do not always fill five; that it is more than three tells the rules apart.
        for host, may_be in (("127.0.0.1", (3,)), ("*.0.0.1", (3,)), ("other", (4, 5)), ("27.0.0.1", (4, 5))):
            with self.subTest(host):
                server.most = 0
                config.write_text(json.dumps({"hosts": [{"host": host, "connections": 3}]}))
                self.fetch("meek", "--config", config, "--force")
                self.assertIn(server.most, may_be)

    def test_bytes_a_second(self):
        files = self.files(8, 250_000)
        server = self.meter(files)
        self.add("slow", server, files, limits={"limit_rate": "1M"})
        begin = time.monotonic()
        self.fetch("slow")
        self.assertGreater(time.monotonic() - begin, 1.7)  # of 2 s, a tenth of one may be saved up

    def test_a_quota_is_kept_to(self):
        files = self.files(100)
        for headers in ("draft", "x"):
            with self.subTest(headers):
                server = self.meter(files, quota=(40, 4), headers=headers)
                self.add("many", server, files)
                self.expect_tree(self.fetch("many", "--force")["path"], files)
                self.assertEqual(server.requests_while_used_up(1.5), [])
                self.assertLess(server.refused(), 64)  # what was on its way as it ended, twice

    def test_a_server_that_takes_one_connection(self):
        """It refuses the others, and does not say until when: it is asked by fewer. However busy we are, two begin."""
        data = seeded(20_000_000)
        for status in (429, 503):
            with self.subTest(status):
                limits = f"limit_conn all 1; limit_conn_status {status}; limit_rate 6m;"
                server = self.serve({"f": data}, name=str(status), extra=limits)
                self.add("meek", server, {"f": data})
                self.expect_tree(self.fetch("meek", "--force")["path"], {"f": data})
                refused = sum(request.status == status for request in server.log())
                self.assertIn(refused, range(1, 21))

    def gate(self, files, limit, others):
        gate = Gate(self.serve(files, extra="limit_rate 6m;").port, limit, others)
        self.addCleanup(gate.stop)
        return gate

    def through_gate(self, limit, others, stall_timeout_s):
        """Fetches 20 MB. What others were to bring comes by those that pass, not after many a stall timeout."""
        data = seeded(20_000_000)
        gate = self.gate({"f": data}, limit, others)
        self.add(others, gate, {"f": data})
        config = self.home / "config.json"
        config.write_text(json.dumps({"stall_timeout_s": stall_timeout_s}))
        begin = time.monotonic()
        self.expect_tree(self.fetch(others, "--config", config)["path"], {"f": data})
        self.assertLess(time.monotonic() - begin, 120)
        return gate.turned_away

    def test_connections_that_are_never_answered(self):
        """A firewall takes a few."""
        if self.through_gate(2, "mute", 200) == 0:
            self.skipTest("our cores were busy: a third connection was never wanted")

    def test_connections_that_wait_for_others_to_end(self):
        """A server has one worker. Two connections begin, however busy we are."""
        self.assertGreater(self.through_gate(1, "wait", 20), 0)

    def test_connections_that_are_reset(self):
        """After the second time it is asked by fewer."""
        files = self.files(40, 500_000)
        gate = self.gate(files, 2, "reset")
        self.add("reset", gate, files)
        self.expect_tree(self.fetch("reset")["path"], files)
        self.assertIn(gate.turned_away, range(1, 18))

    def test_limits_that_are_none(self):
        for limits, word in (({"connections": 0}, "connections"), ({"limit_rate": "fast"}, "limit_rate"),
                             ({"rate": 1}, "rate"), ({"connections": 5000}, "1024")):  # fmt: skip
            with self.subTest(limits):
                self.sabath.add("bad", [fragment("http://127.0.0.1:1/f", seeded(10), path="f")], limits=limits)
                result = self.sabath.run("fetch", "bad")
                self.assertEqual(result.exit, 12, result.err)
                self.assertIn(word, result.err)


if __name__ == "__main__":
    main()
