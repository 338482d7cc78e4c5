#!/usr/bin/python3
"""Directories on servers, as one fragment: what is below them, what a pattern chooses, and what is refused."""

from urllib.parse import parse_qsl, quote

from support.case import Case, main, place
from support.certificate import RSA, Certificate
from support.clear_data import ClearDataFtps
from support.content import fragment, seeded
from support.listings import VSFTPD_TLS, Apache, OldFtp, Pyftpdlib, Vsftpd
from support.spoken import Spoken

TREE = {
    "a.h5": seeded(100, 1),
    "b c.h5": seeded(70_000, 2),
    "notes.txt": b"text",
    "empty.h5": b"",
    "sub/d&e.h5": seeded(10, 3),
    "sub/deep/ü#%.h5": seeded(5_000_000, 4),
}
H5 = {name: data for name, data in TREE.items() if name.endswith(".h5")}
TOP_H5 = {name: data for name, data in H5.items() if "/" not in name}
HTML = {"Content-Type": "text/html"}


class Directories(Case):
    def fetch_all_ways(self, url):
        """The whole of a directory, one level of it by a pattern, and all levels by another."""
        for name, pattern, tree in (("all", "", TREE), ("top", "*.h5", TOP_H5), ("deep", "**/*.h5", H5)):
            with self.subTest(pattern):
                self.sabath.add(name, [fragment(url + pattern, kind="file_list")])
                asset = self.fetch(name)
                self.expect_tree(asset["path"], tree)
                self.assertEqual(asset["files"], len(tree))
                self.assertEqual(asset["resolved"], [{"url": url + pattern, "version": None}])
        again = self.fetch("deep")
        self.assertEqual((again["fetched_bytes"], again["sources"]), (0, []))

    def start(self, kind, extra="", tree=None):
        if reason := kind.unavailable_because():
            self.skipTest(reason)
        self.home.chmod(0o755)
        server = kind(self.home / kind.__name__.lower(), extra)
        self.addCleanup(server.stop)
        for path, data in (tree or {}).items():
            place(server.root / path, data)
        return server

    def test_nginx_html(self):
        server = self.serve({f"d/{n}": d for n, d in TREE.items()}, extra="autoindex on;")
        self.fetch_all_ways(server.url("d/"))

    def test_nginx_json(self):
        server = self.serve({f"d/{n}": d for n, d in TREE.items()}, extra="autoindex on; autoindex_format json;")
        self.fetch_all_ways(server.url("d/"))
        self.sabath.add("some", [fragment(server.url("d/**"), kind="file_list", limit=2, path="x/y")])
        asset = self.fetch("some")
        self.expect_tree(asset["path"], {f"x/y/{name}": TREE[name] for name in sorted(TREE)[:2]})

    def test_the_record_counts_listings_too(self):
        server = self.serve({f"d/{n}": d for n, d in TREE.items()}, extra="autoindex on;")
        self.sabath.add("all", [fragment(server.url("d/"), kind="file_list")])
        asset, requests = self.fetch("all"), server.log()
        self.assertEqual(sum(source["requests"] for source in asset["sources"]), len(requests))
        files = [request.body_bytes for request in requests if not request.uri.endswith("/")]
        self.assertEqual(sum(files), sum(map(len, TREE.values())))  # nginx counts the framing of its pages, too

    def test_apache_html(self):
        server = self.start(Apache, "IndexOptions FancyIndexing IconsAreLinks", {f"d/{n}": d for n, d in TREE.items()})
        self.fetch_all_ways(server.url("d/"))

    def test_webdav(self):
        server = self.start(Apache, "Dav On", {f"d/{n}": d for n, d in TREE.items()})
        self.fetch_all_ways(server.url("d/").replace("http:", "dav:"))

    def test_ftp(self):
        server = self.start(Vsftpd, tree={f"d/{n}": d for n, d in TREE.items()})
        self.fetch_all_ways(server.url("d/"))

    def test_ftp_with_facts(self):
        server = self.start(Pyftpdlib, tree={f"d/{n}": d for n, d in TREE.items()})
        self.fetch_all_ways(server.url("d/"))
        output = (self.home / "pyftpdlib/output").read_text()
        self.assertIn("<- MLSD", output)
        self.assertNotIn("<- LIST", output)

    def test_ftp_of_old(self):
        """Names in Latin-1 beside others, links that the server does not follow, and a LIST that takes no argument."""
        files = {b"/pub/a.h5": seeded(300_000), b"/pub/caf\xe9.nc": b"c", b"/pub/two  blanks.nc": b"b", b"/pub/sub x/b.h5": b"d"}
        link = b"lrwxrwxrwx   1 ftp ftp         4 Nov  2  2025 latest.h5 -> a.h5"
        server = OldFtp(files, {b"/pub/": [link]})
        self.addCleanup(server.stop)
        self.sabath.add("h5", [fragment(server.url("pub/**/*.h5"), kind="file_list")])
        data = files[b"/pub/a.h5"]
        self.expect_tree(self.fetch("h5")["path"], {"a.h5": data, "latest.h5": data, "sub x/b.h5": b"d"})
        self.sabath.add("nc", [fragment(server.url("pub/*.nc"), kind="file_list")])
        self.assertIn("caf\\xe9.nc", self.fetch("nc", code=12)["failures"][0]["message"])
        self.sabath.add("blanks", [fragment(server.url("pub/two*"), kind="file_list")])
        self.expect_tree(self.fetch("blanks")["path"], {"two  blanks.nc": b"b"})
        self.sabath.add("none", [fragment(server.url("elsewhere/"), kind="file_list")])
        self.fetch("none", code=6)

    def certify(self, directory):
        """A certificate of 127.0.0.1 in `directory`, which SABATH trusts."""
        Certificate(directory, "127.0.0.1", kind=RSA)
        config = self.home / ".config/sabath/config.json"
        place(config, f'{{"ca_file": "{directory}/cert.pem"}}'.encode())

    def test_ftps(self):
        self.certify(self.home / "vsftpd")
        server = self.start(Vsftpd, VSFTPD_TLS, {f"d/{n}": d for n, d in TREE.items()})
        self.sabath.add("all", [fragment(server.url("d/").replace("ftp:", "ftps:"), kind="file_list")])
        asset = self.fetch("all")
        self.expect_tree(asset["path"], TREE)
        self.assertEqual(asset["trusted_by"], "first use over TLS")

    def expect_from_few_users(self, scheme, extra):
        """At most two at a time: who is refused tries again, with fewer connections."""
        files = {f"f{i}": seeded(50_000 + i, i) for i in range(12)} | {"large": seeded(30_000_000, 12)}
        server = self.start(Vsftpd, extra + "max_per_ip=2\n", files)
        url = server.url("").replace("ftp:", scheme + ":")
        self.sabath.add("few", [fragment(url + n, data, name=n, path=n) for n, data in files.items()])
        self.expect_tree(self.fetch("few")["path"], files)

    def test_ftp_for_few_users(self):
        self.expect_from_few_users("ftp", "")

    def test_ftps_for_few_users(self):
        """It says so before it speaks TLS."""
        self.certify(self.home / "vsftpd")
        self.expect_from_few_users("ftps", VSFTPD_TLS)

    def test_ftps_whose_data_would_come_in_clear(self):
        """No checksum is known: nothing but the encryption says whose bytes they are."""
        directory = self.home / "clear"
        self.certify(directory)
        server = ClearDataFtps(seeded(100_000), directory / "cert.pem", directory / "key.pem")
        self.addCleanup(server.stop)
        self.sabath.add("clear", [fragment(server.url("f"), path="f")])
        asset = self.fetch("clear", code=6)
        self.assertIn("PROT P", server.commands, "it was not even asked for")
        self.assertEqual((server.sent, asset["path"]), (0, None))
        self.assertIn("ftps://127.0.0.1", asset["failures"][0]["message"])

    def test_a_directory_linked_into_itself(self):
        server = self.serve({"d/f.h5": b"1"}, extra="autoindex on;")
        (server.root / "d/again").symlink_to(".")
        self.sabath.add("loop", [fragment(server.url("d/"), kind="file_list")])
        asset = self.fetch("loop", code=12)
        self.assertIn("deeper than 32", asset["failures"][0]["message"])
        self.sabath.add("top", [fragment(server.url("d/*"), kind="file_list")])
        self.expect_tree(self.fetch("top")["path"], {"f.h5": b"1"})

    def test_links_that_do_not_say_that_they_are_directories(self):
        """The server leads from d/train to d/train/, and its pages name the former."""
        def lead(path):
            return 301, {"Location": path + "/"}, b""

        server = Spoken({"/d/": (200, HTML, b'<a href="train">t</a><a href="v1.0">v</a><a href="README">r</a>'),
                         "/d/train": lead("/d/train"), "/d/v1.0": lead("/d/v1.0"),
                         "/d/train/": (200, HTML, b'<a href="a.h5">a</a>'), "/d/v1.0/": (200, HTML, b'<a href="b.h5">b</a>'),
                         "/d/README": b"text", "/d/train/a.h5": b"one", "/d/v1.0/b.h5": b"two"})
        self.addCleanup(server.stop)
        both = {"train/a.h5": b"one", "v1.0/b.h5": b"two"}
        for pattern, tree in (("", {"README": b"text"} | both), ("**/*.h5", both), ("t*/*.h5", {"train/a.h5": b"one"})):
            with self.subTest(pattern):
                self.sabath.add("led", [fragment(server.url("d/" + pattern), kind="file_list")])
                self.expect_tree(self.fetch("led")["path"], tree)

    def test_names_that_no_file_may_have_beside_others(self):
        """The pattern is asked first: what it leaves out is no matter, what it matches is named."""
        page = b'<a href="a.h5">a</a><a href="%E9t%E9.nc">e</a><a href="x%0ay.nc">x</a>'
        json_page = b'[{"name":"a.h5","type":"file"},{"name":"\xe9t\xe9.nc","type":"file"}]'
        for kind, body in (("text/html", page), ("application/json", json_page)):
            server = Spoken({"/d/": (200, {"Content-Type": kind}, body), "/d/a.h5": b"one"})
            self.addCleanup(server.stop)
            with self.subTest(kind):
                self.sabath.add("odd", [fragment(server.url("d/*.h5"), kind="file_list")])
                self.expect_tree(self.fetch("odd")["path"], {"a.h5": b"one"})
                self.sabath.add("none", [fragment(server.url("d/*.nc"), kind="file_list")])
                self.assertIn(".nc", self.fetch("none", code=12)["failures"][0]["message"])

    def test_offline(self):
        self.sabath.add("all", [fragment("http://127.0.0.1:1/d/", kind="file_list")])
        self.fetch("all", "--offline", code=9)

    def test_mirrors(self):
        """The first one that answers says what there is."""
        server = self.serve({"d/f": b"1"}, extra="autoindex on;")
        self.sabath.add("two", [fragment([server.url("none/"), server.url("d/")], kind="file_list")])
        self.expect_tree(self.fetch("two")["path"], {"f": b"1"})


class Private(Case):
    def test_the_token_of_an_origin_is_for_its_listings_too(self):
        def guarded(body, kind):
            said = (200, {"Content-Type": kind}, body)
            return lambda request: said if request.headers.get("Authorization") == "Bearer T0K" else (401, {}, b"")

        server = Spoken({"/d/": guarded(b'<a href="f">f</a>', "text/html"), "/d/f": guarded(b"data", "x/y")})
        elsewhere = Spoken({"/e/": (200, HTML, b'<a href="g">g</a>'), "/e/g": b"more"})
        for one in (server, elsewhere):
            self.addCleanup(one.stop)
        server.table["/r/"] = (302, {"Location": elsewhere.url("e/")}, b"")
        self.sabath.add("private", [fragment(server.url("d/"), kind="file_list")])
        self.sabath.add("moved", [fragment(server.url("r/"), kind="file_list")])
        self.fetch("private", code=4)
        self.sabath.environment["SABATH_TOKEN"] = server.url().rstrip("/") + " T0K"
        self.expect_tree(self.fetch("private")["path"], {"f": b"data"})
        self.expect_tree(self.fetch("moved")["path"], {"g": b"more"})
        self.assertEqual([h for _, h, _ in elsewhere.requests if "Authorization" in h], [])


class Buckets(Case):
    """Pages of two keys; a server that verifies signatures is in tests/contract."""

    def setUp(self):
        super().setUp()
        self.keys = {f"run/{name}": data for name, data in TREE.items()}
        self.server = Spoken({"/bkt": self.page, "/bkt/": self.page})
        self.addCleanup(self.server.stop)
        for key, data in self.keys.items():
            self.server.table["/bkt/" + quote(key)] = data
        self.sabath.environment["AWS_ENDPOINT_URL_S3"] = self.server.url().rstrip("/")

    def page(self, request):
        query = dict(parse_qsl(request.path.partition("?")[2]))
        begin = int(query.get("continuation-token", 0))
        keys = sorted(key for key in self.keys if key.startswith(query.get("prefix", "")))
        entry = "<Contents><Key>{}</Key><Size>{}</Size></Contents>"
        entries = "".join(entry.format(quote(k), len(self.keys[k])) for k in keys[begin : begin + 2])
        more = begin + 2 < len(keys)
        token = f"<NextContinuationToken>{begin + 2}</NextContinuationToken>" if more else ""
        return (f"<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>{str(more).lower()}</IsTruncated>"
                f"{token}{entries}</ListBucketResult>").encode()

    def test_pages_and_patterns(self):
        text = {"run/notes.txt": b"text"}
        for url, tree in (("s3://bkt/run/", TREE), ("s3://bkt/run/*.h5", TOP_H5), ("s3://bkt/**/*.txt", text)):
            with self.subTest(url):
                self.sabath.add("b", [fragment(url, kind="file_list")])
                self.expect_tree(self.fetch("b")["path"], tree)

    def test_the_urls_own_endpoint_gets_no_keys(self):
        """It stands in the URL as Arrow has it; the user's keys are for the user's endpoint."""
        elsewhere = Spoken({"/bkt": self.page, "/bkt/": self.page, **{key: data for key, data in self.server.table.items() if "run" in key}})
        self.addCleanup(elsewhere.stop)
        self.sabath.environment.update(AWS_ACCESS_KEY_ID="AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY="secret")
        at = f"endpoint_override={elsewhere.url()[7:-1]}&scheme=http"
        self.sabath.add("b", [fragment(f"s3://bkt/run/?{at}", kind="file_list")])
        self.expect_tree(self.fetch("b")["path"], TREE)
        self.assertEqual(self.server.requests, [])
        self.assertGreater(len(elsewhere.requests), len(TREE))
        self.assertEqual([line for line, headers, _ in elsewhere.requests if "Authorization" in headers], [])
        self.assertEqual(self.fetch(f"s3://bkt/run/notes.txt?{at}")["bytes"], len(TREE["notes.txt"]))

    def test_hostile_keys(self):
        for key in ("run/../x", "run//x", "run/\x1b[31m", "run/a\n", "run/./x"):
            with self.subTest(key):
                self.keys = {"run/ok": b"1", key: b"1"}
                self.sabath.add("b", [fragment("s3://bkt/run/", kind="file_list")])
                self.fetch("b", code=12)


class Hostile(Case):
    def say(self, body, headers=HTML, path="/d/", scheme="http", status=200):
        server = Spoken({path: (status, headers, body), "/d/ok": b"data", "/d/x": b"data"})
        self.addCleanup(server.stop)
        self.sabath.add("x", [fragment(server.url("d/").replace("http:", f"{scheme}:"), kind="file_list")])
        return server

    def refused(self, body, code=12, **options):
        server = self.say(body, **options)
        asset = self.fetch("x", code=code)
        self.assertIsNone(asset["path"])
        self.assertNotIn("\x1b", asset["err"])
        return server, asset

    def test_html(self):
        for href in ("%2e%2e/", "..%2f..%2fetc%2fpasswd", "a%00b", "a%0ab", "%1b[31m", "a%c3%28", "%2fetc"):
            with self.subTest(href):
                self.refused(f'<a href="{href}">x</a><a href="ok">ok</a>'.encode())

    def test_links_elsewhere_are_not_followed(self):
        elsewhere = Spoken({"*": b"secret"})
        self.addCleanup(elsewhere.stop)
        links = ["../", "../../etc/passwd", "/", "/etc/passwd", "?C=N;O=D", "#top", "file:///etc/passwd", "java:x",
                 elsewhere.url("d/y"), "//127.0.0.1:1/d/z", "sub/deep", "./", "mailto:a@b", "\x01"]
        page = "".join(f'<A class=x HREF="{link}">x</A>' for link in links)
        page += "<!-- <a href=hidden> --><a href='ok'>ok</a>"
        server = self.say(page.encode())
        asset = self.fetch("x")
        self.expect_tree(asset["path"], {"ok": b"data"})
        self.assertEqual(elsewhere.requests, [])
        self.assertEqual({line.split()[1] for line, _, _ in server.requests}, {"/d/", "/d/ok"})

    def test_json(self):
        headers = {"Content-Type": "application/json"}
        for text in (
            '[{"name":"../x","type":"file"}]',
            '[{"name":"/etc/passwd","type":"file","size":1}]',
            '[{"name":"..","type":"directory"}]',
            '[{"name":"a\\u0000","type":"file"}]',
            '[{"name":"x","type":',
            '[{"name":"x","type":"file"},{"name":"x","type":"file"}]',
            "[" * 100_000,
        ):
            with self.subTest(text[:40]):
                self.refused(text.encode(), headers=headers)
        self.refused(b'{"a":1}', headers=headers, code=6)

    def test_webdav(self):
        entry = "<D:response><D:href>{}</D:href><D:propstat><D:prop><D:resourcetype/></D:prop>"
        entry += "<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"
        whole = '<?xml version="1.0"?><D:multistatus xmlns:D="DAV:">{}</D:multistatus>'
        away = ("/etc/passwd", "/d/%2e%2e", "/d/../x", "/d/a/b", "http://127.0.0.1:1/e/x", "/d/..%2fx", "file:///d/x/y")
        for href in away:
            with self.subTest(href):
                self.refused(whole.format(entry.format(href)).encode(), scheme="dav", status=207)
        bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>' + whole.format(entry.format("/d/&b;"))
        external = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + whole.format(entry.format("/d/&a;"))
        for text in (bomb, external, "<a>" * 100_000, whole.format("")[:-3], whole.format(entry.format("/d/&a;"))):
            with self.subTest(text[:40]):
                self.refused(text.encode(), code=6, scheme="dav", status=207)

    def test_no_listing_at_all(self):
        self.refused(b"<html>please log in</html>", code=6)
        self.refused(b"data", headers={"Content-Type": "application/octet-stream"}, code=6)
        self.refused(b"", status=401, code=4)
        self.refused(b"", status=404, code=6)

    def test_a_page_without_end(self):
        self.refused(b'<a href="x">' * (6 << 20))

    def test_names_in_messages_are_harmless(self):
        _, asset = self.refused(b'<a href="%1b[31mred">x</a>')
        self.assertIn("\\x1b[31m", asset["failures"][0]["message"].lower())


if __name__ == "__main__":
    main()
