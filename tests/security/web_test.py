#!/usr/bin/python3
"""Hostile web servers, in a network where a redirect from a public address to a private one is a real one, and the
private server's log is the witness."""
import base64
import pathlib
import re
import shutil
import threading
import unittest

from support.ground import Ground, checksums, main, seeded_bytes
from hostile import Hostile, body, broken_off, endless, redirect
from namespace import NEAR, OTHER, PUBLIC, enter_namespace
from support.certificate import Certificate

DATA = seeded_bytes(100_000)
TOKEN = "canary-token-8c1f"


class WebCase(unittest.TestCase):
    def setUp(self):
        self.ground = Ground(self)
        self.ground.config |= {"stall_timeout_s": 2, "connect_timeout_s": 2}

    def serve(self, answers=None, host=PUBLIC, tls=None):
        server = Hostile(answers, host, tls)
        self.addCleanup(server.stop)
        return server

    def say(self, url, **keys):
        keys = keys or {"size": len(DATA), "checksum": checksums(DATA)}
        self.ground.recipe("bad", self.ground.fragment(url, **keys))


class Redirects(WebCase):
    def test_never_nearer(self):
        for host in NEAR:
            with self.subTest(host=host):
                if host.startswith("fe80"):
                    continue  # a link-local one needs a zone, which a URL cannot say
                near = self.serve({"/f": body(DATA)}, host)
                far = self.serve({"/f": redirect(near.url("/f"))})
                self.say(far.url("/f"))
                own = host.startswith("169.254.")  # where a machine's own secrets are
                self.ground.refused(6, *(["link-local"] if own else ["farther away", "private address"]),
                                    hint="near_hosts" if own else "name the target itself")
                self.assertEqual(near.heads, [], "the private server was asked")
                if own:
                    self.say(near.url("/f"))  # not even if it is named itself
                    self.ground.refused(6, host, "link-local", hint="near_hosts")
                    self.assertEqual(near.heads, [])
                    self.ground.config["near_hosts"] = [host]
                if host == "127.0.0.1":
                    for name in ("localhost", "127.1", "2130706433", "0x7f000001", "0.0.0.0", "[::ffff:127.0.0.1]"):
                        far.answers["/f"] = redirect(f"http://{name}:{near.port}/f")
                        self.assertNotEqual(self.ground.fetch("bad").exit, 0, name)
                        self.assertEqual(near.heads, [], name)
                self.say(near.url("/f"))  # named itself: allowed
                self.ground.succeeds("bad", DATA)
                shutil.rmtree(self.ground.store)
                if ":" not in host:
                    far.answers["/f"] = redirect(near.url("/f"))
                    self.say(far.url("/f"))
                    self.ground.config["near_hosts"] = [host]  # its host named: allowed, too
                    self.ground.succeeds("bad", DATA)
                    shutil.rmtree(self.ground.store)
                    del self.ground.config["near_hosts"]

    def test_from_near_to_near_and_to_far(self):
        near, far = self.serve({"/f": body(DATA)}, "127.0.0.1"), self.serve({"/f": body(DATA)})
        for target in (near, far):
            first = self.serve({"/f": redirect(target.url("/f"))}, "127.0.0.1")
            self.say(first.url("/f"))
            self.ground.succeeds("bad", DATA)
            shutil.rmtree(self.ground.store)

    def test_never_to_another_kind_of_source(self):
        secret = self.ground.directory / "secret"
        secret.write_bytes(DATA)
        secret_urls = (f"file://{secret}", f"file:{secret}", "ftp://127.0.0.1/f", "sftp://127.0.0.1/f", "s3://b/k", "dict://h:1/x",
                       "gopher://h/x", "sabath://127.0.0.1/v1/", "//", "http://", "http://user:pw@h/", "javascript:1", "\x1b[31m")
        far = self.serve({})
        for target in secret_urls:
            with self.subTest(target=target):
                far.answers["/f"] = redirect(target)
                self.say(far.url("/f"))
                self.ground.refused(6, "refused")

    def test_loops_and_chains(self):
        far = self.serve({})
        far.answers = {"/f": redirect("/g"), "/g": redirect("/f")}
        self.say(far.url("/f"))
        self.ground.refused(6, "loop")
        far.answers = {"/f": redirect("/0"), **{f"/{n}": redirect(f"/{n + 1}") for n in range(100)}}
        far.heads.clear()
        self.ground.refused(6, "in a row")
        self.assertLess(len(far.heads), 15)


class Credentials(WebCase):
    def setUp(self):
        super().setUp()
        self.far, self.other = self.serve({}), self.serve({"/f": body(DATA)}, OTHER)
        (self.ground.directory / "token").write_text(TOKEN)
        (self.ground.directory / "token").chmod(0o600)
        self.ground.config["tokens"] = [{"origin": self.far.url(""), "file": "token"}]

    def test_sent_where_it_belongs(self):
        self.far.answers = {"/f": redirect("/g"), "/g": body(DATA)}
        self.say(self.far.url("/f"))
        self.ground.succeeds("bad", DATA)
        self.assertEqual([f"Bearer {TOKEN}" in head for head in self.far.heads], [True, True])

    def test_a_hostile_redirect_learns_nothing(self):
        self.far.answers = {"/f": redirect(self.other.url("/f?" + "a=b"))}
        self.say(self.far.url("/f"))
        self.ground.succeeds("bad", DATA)
        (head,) = self.other.heads
        for word in (TOKEN, "Authorization", "Cookie", "Referer", PUBLIC):
            self.assertNotIn(word.lower(), head.lower())

    def test_another_port_is_another_origin(self):
        same_host = self.serve({"/f": body(DATA)})
        self.far.answers = {"/f": redirect(same_host.url("/f"))}
        self.say(self.far.url("/f"))
        self.ground.succeeds("bad", DATA)
        self.assertNotIn(TOKEN, same_host.heads[0])

    def test_netrc_not_without_tls(self):
        netrc = self.ground.directory / ".netrc"
        netrc.write_text(f"default login any password {TOKEN}\nmachine {OTHER} login me password {TOKEN}\n")
        netrc.chmod(0o600)
        self.say(self.other.url("/f"))
        self.ground.succeeds("bad", DATA)
        self.assertNotIn("Authorization", self.other.heads[0])

    def test_from_the_environment_and_from_a_program(self):
        keyring = self.ground.directory / "keyring"
        keyring.write_text(f"#!/bin/sh\necho {TOKEN}\n")
        keyring.chmod(0o700)
        self.far.answers = {"/f": body(DATA)}
        plain = self.ground.environment
        for tokens, variables in (([], {"SABATH_TOKEN": f"{self.far.url('')} {TOKEN}"}),
                                  ([{"origin": self.far.url(""), "command": [str(keyring)]}], {})):
            self.ground.config["tokens"] = tokens
            self.ground.environment = lambda v=variables: {**plain(), **v}
            self.far.heads.clear()
            self.say(self.far.url("/f"))
            self.ground.succeeds("bad", DATA)
            self.assertIn(f"Bearer {TOKEN}", self.far.heads[0])
            shutil.rmtree(self.ground.store)

    def test_never_shown(self):
        """Neither in what is printed, nor in what is kept, nor in any process's arguments."""
        seen, stop = set(), threading.Event()

        def sample():
            while not stop.is_set():
                for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
                    try:
                        seen.add(entry.read_bytes())
                    except OSError:
                        pass

        sampler = threading.Thread(target=sample)
        sampler.start()
        shown = ""
        try:
            for answer in (body(DATA), body(b"", status="401 Unauthorized"), body(TOKEN.encode(), status=f"403 {TOKEN[:3]}"),
                           redirect(self.other.url("/f")), endless(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65536)):
                self.far.answers = {"/f": answer}
                self.say(self.far.url("/f?sig=" + TOKEN))
                result = self.ground.fetch("bad", "-v")
                shown += result.out + result.err
                if result.exit == 0:
                    self.assertNotIn(TOKEN.encode(), b"".join(self.kept()))
                    shutil.rmtree(self.ground.store)
            for verb in (["config"], ["config", "--json"], ["doctor", "--json"], ["fetchers", "--json"], ["info", "bad"]):
                out = self.ground.run(*verb)
                shown += (out.out + out.err) if verb[0] != "info" else out.err
        finally:
            stop.set()
            sampler.join()
        self.assertNotIn(TOKEN, shown)
        self.assertNotIn(TOKEN.encode(), b"".join(self.kept()))
        self.assertFalse([line for line in seen if TOKEN.encode() in line])
        self.assertTrue(any(b"fetch" in line for line in seen), "the sampler saw nothing")

    def kept(self):
        return [path.read_bytes() for path in self.ground.store.rglob("*") if path.is_file() and not path.is_symlink()]


class Netrc(WebCase):
    """A login of one host, by name and password: it arrives there over TLS, and nowhere else."""

    sent = "Authorization: Basic " + base64.b64encode(f"me:{TOKEN}".encode()).decode()

    def setUp(self):
        super().setUp()
        certificate = Certificate(self.ground.directory, PUBLIC, OTHER)
        tls, self.ground.config["ca_file"] = certificate.tls(), str(certificate.file)
        self.named, self.other = self.serve({"/f": body(DATA)}, tls=tls), self.serve({"/f": body(DATA)}, OTHER, tls)
        self.netrc = self.ground.directory / ".netrc"
        self.netrc.write_text(f"machine {PUBLIC} login me password {TOKEN}\ndefault login you password {TOKEN}\n")
        self.netrc.chmod(0o600)

    def heads(self, url, servers, **keys):
        """What these servers were asked by a fetch of `url`, which succeeds and never shows the password."""
        self.say(url, **keys)
        result = self.ground.fetch("bad", "-v")
        self.assertEqual(result.exit, 0, result)
        self.assertNotIn(TOKEN, result.out + result.err)
        self.assertNotIn(self.sent.split()[-1], result.out + result.err)
        shutil.rmtree(self.ground.store)
        for server in servers:
            self.assertTrue(server.heads)
        return [head.split("\r\n") for server in servers for head in server.heads]

    def test_it_arrives(self):
        for head in self.heads(self.named.url("/f"), [self.named]):
            self.assertEqual([line for line in head if line.lower().startswith("authorization")], [self.sent])

    def test_in_listings_and_after_redirects_within_the_host(self):
        self.named.answers |= {"/d/": body(b"<a href=f>f</a>", "Content-Type: text/html"), "/d/f": redirect("/f")}
        for head in self.heads(self.named.url("/d/"), [self.named], kind="file_list"):
            self.assertIn(self.sent, head)
        self.assertEqual({head.split()[1] for head in self.named.heads}, {"/d/", "/d/f", "/f"})

    def test_nowhere_else(self):
        plain = self.serve({"/f": body(DATA)})  # the same host, without TLS
        self.named.answers["/g"] = redirect(self.other.url("/f"))
        for url, servers in ((self.other.url("/f"), [self.other]), (plain.url("/f"), [plain]), (self.named.url("/g"), [self.other])):
            with self.subTest(url):
                for head in self.heads(url, servers):
                    self.assertEqual([line for line in head if line.lower().startswith("authorization") or TOKEN in line], [])
        self.assertIn(self.sent, self.named.heads[0])

    def test_not_to_who_only_says_that_it_is_the_host(self):
        """A certificate that no user trusts: the handshake fails before anything is said."""
        del self.ground.config["ca_file"]
        self.say(self.named.url("/f"))
        self.ground.refused(6, "certificate")
        self.assertEqual(self.named.heads, [])

    def test_not_out_of_a_file_that_others_may_read(self):
        self.netrc.chmod(0o644)
        self.say(self.named.url("/f"))
        self.ground.refused(4, ".netrc", hint="chmod 600")
        self.assertEqual(self.named.heads, [])


class Headers(WebCase):
    def test_no_header_by_a_url(self):
        far = self.serve({})
        for path in ("/f%0d%0aX-Evil:%201", "/f%0aX-Evil:1", "/%00", "/f%20HTTP/1.0%0d%0a"):
            self.say(far.url(path))
            self.assertNotEqual(self.ground.fetch("bad").exit, 0)
        for path in ("/f\r\nX-Evil: 1", "/f\nX-Evil: 1", "/f X-Evil"):
            self.say(far.url(path))
            self.ground.refused(12)
        for head in far.heads:
            self.assertFalse([line for line in head.split("\r\n")[1:] if line.lower().startswith("x-evil")], head)

    def test_no_header_by_a_token(self):
        far = self.serve({"/f": body(DATA)})
        token = self.ground.directory / "token"
        token.write_text("a\r\nX-Evil: 1")
        token.chmod(0o600)
        self.ground.config["tokens"] = [{"origin": far.url(""), "file": "token"}]
        self.say(far.url("/f"))
        self.ground.refused(2, "holds no token")
        self.assertEqual(far.heads, [])

    def conditions(self, *fields):
        """The heads of a fetch that is broken off once by a server that calls its version so, and what makes them conditional."""
        data = seeded_bytes(9_000_000)
        far = self.serve({"/f": broken_off(data, *fields)})
        self.say(far.url("/f"), size=len(data), checksum=checksums(data))
        self.ground.succeeds("bad", data)
        shutil.rmtree(self.ground.store)
        self.assertGreater(len(far.heads), 1, "it was not broken off")
        names = ("if-match", "if-range", "if-unmodified-since")
        return far.heads, [line for head in far.heads for line in head.split("\r\n") if line.lower().startswith(names)]

    def test_no_header_by_a_validator(self):
        """What a server calls its version is sent back to it, but never as another header."""
        date = "Thu, 01 Jan 2026 00:00:00 GMT"
        for name, good in (("ETag", '"a"'), ("Last-Modified", date)):
            _, sent = self.conditions(f"{name}: {good}")
            self.assertTrue(sent, "no condition is sent at all: the rest of this test would say nothing")
            self.assertEqual({line.partition(": ")[2] for line in sent}, {good})
            for bad in (good[:-1] + "\rX-Evil: 1" + good[-1], "\rX-Evil: 1"):
                with self.subTest(name=name, bad=bad):
                    for head in self.conditions(f"{name}: {bad}")[0]:
                        self.assertEqual([line for line in re.split("[\r\n]", head) if line.startswith("X-Evil")], [])

    def test_server_words_on_the_terminal(self):
        for answer in (body(b"", status="500 \x1b[31m\x07red\x9b31m"), body(b"", status="404 \x1b]0;title\x07"),
                       redirect("http://h/\x1b[2J"), b"\x1b[31mHTTP/9\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: \x1b[1m\r\n\r\n",
                       body(b"<html>\x1b[31m", "Content-Type: text/html\x1b[31m")):
            far = self.serve({"/f": answer})
            self.say(far.url("/f"))
            result = self.ground.fetch("bad", "-v")
            self.assertNotEqual(result.exit, 0)
            self.ground.clean(result)


class WithoutEnd(WebCase):
    def test_bodies(self):
        for name, first, piece in (("no length", b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65536),
                                   ("chunked", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b"x" * 65536 + b"\r\n"),
                                   ("error page", b"HTTP/1.1 404 No\r\n\r\n", b"x" * 65536)):
            with self.subTest(name):
                far = self.serve({"/f": endless(first, piece)})
                self.say(far.url("/f"))
                result = self.ground.refused(6 if name == "error page" else 7)
                received = sum(source["bytes"] for source in result.sources().values())
                self.assertLess(received, 16 << 20, "it listened too long")

    def test_heads(self):
        for name, first, piece in (("fields", b"HTTP/1.1 200 OK\r\n", b"X-A: " + b"y" * 1000 + b"\r\n"),
                                   ("one field", b"HTTP/1.1 200 OK\r\nX-A: ", b"y" * 65536),
                                   ("first line", b"HTTP/1.1 200 ", b"O" * 65536),
                                   ("interim heads", b"", b"HTTP/1.1 100 Continue\r\nX: y\r\n\r\n"),
                                   ("trailers", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X-A: b\r\n")):
            with self.subTest(name):
                far = self.serve({"/f": endless(first, piece)})
                self.say(far.url("/f"))
                self.assertIn(self.ground.fails(6 if name != "trailers" else self.any_code(far)).exit, (6, 7))

    def any_code(self, far):
        return self.ground.fetch("bad").exit

    def test_encodings_that_explode(self):
        import gzip
        bomb = gzip.compress(b"\0" * (64 << 20), 9)
        for fields in (["Content-Encoding: gzip"], ["Content-Encoding: gzip, gzip"], ["Content-Encoding: br"]):
            far = self.serve({"/f": body(bomb, *fields)})
            self.say(far.url("/f"))
            result = self.ground.refused(7, "ncod")  # what it says is undone, as far as the file is long
            self.assertLess(sum(source["bytes"] for source in result.sources().values()), 1 << 20)

    def test_lists(self):
        """A list that never ends, of names and of what are none; one whose size the recipe says; one that says its own."""
        plain = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
        longer = b"HTTP/1.1 200 OK\r\nContent-Length: 300000000\r\n\r\n"
        for name, first, piece, size, code, words in (
                ("no names", plain, b"\x1b[31m/../" * 8192 + b"\n", None, 12, "is longer than 268 MB"),
                ("names", plain, b"".join(b"%06d.bin\n" % n for n in range(8192)), None, 12, "is longer than 268 MB"),
                ("a head that says so", longer, b"x\n" * 8192, None, 12, "is longer than 268 MB"),
                ("a size", plain, b"a\n" * 8192, 1 << 20, 7, "is longer than the 1048576 bytes")):
            with self.subTest(name):
                far = self.serve({"/l": endless(first, piece)})
                self.ground.recipe("bad", self.ground.fragment(far.url("/l"), "file_list", **({"size": size} if size else {})))
                result = self.ground.refused(code, words, hint="split the list" if code == 12 else None)
                self.assertEqual([head.split()[1] for head in far.heads], ["/l"], "it was not asked")
                received = sum(source["bytes"] for source in result.sources().values())
                self.assertLess(received, (size or (0 if first == longer else 256 << 20)) + (16 << 20), "it listened too long")


if __name__ == "__main__":
    enter_namespace()
    main()
