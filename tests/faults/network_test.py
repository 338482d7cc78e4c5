"""Sources that break off, stall, refuse, or cannot be trusted: exit 6, and 4 where a person has to log in."""
import collections
import gzip
import pathlib
import shutil
import socket
import threading

from support.ground import FaultCase, checksums, main, seeded_bytes
from support.certificate import Certificate
from support.spoken import Spoken, page

SIZE = 100_000
DATA = seeded_bytes(SIZE)
Case = collections.namedtuple("Case", "name target exit says hint keys", defaults=("", {}))

# Faults of the server, and the user's messages. Each recipe has a size and a checksum, unless `keys` take them away.
SERVER_CASES = [
    Case("body cut", "/trunc", 6, ["/trunc", "truncated"]),
    Case("body cut, nothing known of it", "/trunc", 6, ["/trunc", "truncated"], keys={"size": None, "checksum": None}),
    Case("chunked body cut", "/chunkcut", 6, ["/chunkcut", "truncated"]),
    Case("body without a length ends early", f"/closedelim?size={SIZE // 2}", 6, ["50000", "100000 were expected"]),
    Case("reset mid-way", "/rst", 6, ["/rst", "reset"]),
    Case("closed without an answer", "/drop", 6, ["/drop", "Empty reply"]),
    Case("stall mid-way", "/stall", 6, ["/stall", "no byte"]),
    Case("no answer at all", "/silent", 6, ["/silent", "no byte"]),
    Case("404", "/status/404", 6, ["/status/404", "HTTP 404"], "check the path"),
    Case("410", "/status/410", 6, ["/status/410", "HTTP 410"], "check the path"),
    Case("401", "/status/401", 4, ["/status/401", "HTTP 401"], "~/.netrc"),
    Case("403", "/status/403", 4, ["/status/403", "HTTP 403"], "docs/credentials.md"),
    Case("202", "/status/202", 6, ["/status/202", "not ready yet"], "the same command"),
    Case("503, come back tomorrow", "/retry-after?value=86400", 6, ["HTTP 503", "come back in 1 h"], "another mirror"),
    Case("403, come back tomorrow", "/retry-after?value=86400&code=403", 6, ["HTTP 403", "come back in 1 h"], "limits"),
    Case("407", "/status/407", 4, ["/status/407", "HTTP 407"], "https_proxy"),
    Case("429", "/status/429", 6, ["/status/429", "HTTP 429"], "overloaded"),
    Case("500", "/status/500", 6, ["/status/500", "HTTP 500"], "another mirror"),
    Case("503, come back in a second", "/retry-after?value=1", 6, ["/retry-after", "HTTP 503"], "another mirror"),
    Case("redirects in a circle", "/loop", 6, ["/loop", "redirect"]),
    Case("redirects without end", "/endless", 6, ["/endless", "redirect"]),
    Case("redirect to a file", "/redirect?to=file:///etc/passwd", 6, ["/redirect", "file:"]),
    Case("content encoding that nobody asked for, and no proof of what is meant", "/gzip", 6, ["/gzip", "gzip"],
         "checksum or size", keys={"size": None, "checksum": None}),
    Case("a link-local address", "http://169.254.7.7/f", 6, ["169.254.7.7", "link-local"], "near_hosts"),
    Case("redirect to where a cloud tells a machine its secrets", "/redirect?to=http://100.100.100.200/latest", 6,
         ["100.100.100.200"], "near_hosts"),
    Case("two lengths", "/2cl", 6, ["/2cl", "two lengths"]),
    Case("escape sequences in the status line", "/ansi", 6, ["/ansi", "404", "\\x1b[31mowned\\x07"]),
]


class ServerFaults(FaultCase):
    def test_each_is_told_apart_and_leaves_no_trace(self):
        def check(case):
            ground = self.new_ground()
            known = {"size": SIZE, "checksum": checksums(DATA), **case.keys}
            url = case.target if case.target.startswith("http:") else self.server.url(case.target)
            ground.recipe("bad", ground.fragment(url, **known))
            ground.refused(case.exit, *case.says, hint=case.hint)
            ground.recipe("bad", ground.fragment(self.server.url("/ok"), **known))  # the source was mended
            ground.succeeds("bad", DATA)

        self.side_by_side(SERVER_CASES, check)

    def test_who_may_not_read_is_told_what_to_do(self):
        steps = ["Register at https://data.example/register", "Put the token into ~/.netrc"]
        known = {"access": {"kind": "login", "steps": steps}, "licence": "CC-BY-NC-4.0"}
        for path in ("/status/401", "/status/403"):
            self.ground.recipe("bad", self.ground.fragment(self.server.url(path)), **known)
            for step in (*steps, "CC-BY-NC-4.0"):
                self.ground.refused(4, path, hint=step)

    def test_what_passes_is_waited_for(self):
        """The same faults, twice only: the fetch goes on and ends well."""
        cases = [Case(name, target, 0, []) for name, target in (
            ("cut", "/trunc/once"), ("chunked cut", "/chunkcut/once"), ("reset", "/rst/once"), ("drop", "/drop/once"),
            ("stall", "/stall/once"), ("500", "/status/500/once/500"), ("503", "/retry-after/once"),
            ("202", "/status/202/once/202"), ("403 for a while", "/retry-after/403?code=403"))]

        def check(case):
            ground = self.new_ground()
            url = self.server.url(f"{case.target}{'&' if '?' in case.target else '?'}times=2&value=1")
            ground.recipe("bad", ground.fragment(url, size=SIZE, checksum=checksums(DATA)))
            result = ground.succeeds("bad", DATA)
            (source,) = result.sources().values()
            self.assertEqual((source["failures"], source["requests"]), (2, 3), result)

        self.side_by_side(cases, check)

    def test_ranges_that_are_ignored_or_wrong_are_done_without(self):
        size = 9_000_000  # three chunks: asked for in parts once their hashes are known
        cases = [Case(kind, f"/{kind}", 0, []) for kind in ("norange", "badrange", "nocrange", "shortrange")]

        self.ground.recipe("good", self.ground.fragment(self.server.url(f"/ok?size={size}"), size=size))
        root = self.ground.succeeds("good").record["assets"][0]["manifest"]

        def check(case):
            ground = self.new_ground()
            shutil.copytree(self.ground.store / "manifests", ground.store / "manifests", dirs_exist_ok=True)
            ground.recipe("bad", ground.fragment(self.server.url(f"{case.target}?size={size}"), size=size),
                          manifest={"digest": root, "urls": []})
            result = ground.succeeds("bad")
            self.assertGreaterEqual(result.record["assets"][0]["fetched_bytes"], size, result)
            ground.verified()

        self.side_by_side(cases, check)


class Connections(FaultCase):
    def check(self, url, exit_code, *says, **keys):
        self.ground.recipe("bad", self.ground.fragment(url, checksum=checksums(DATA)))
        self.ground.refused(exit_code, *says, **keys)
        self.ground.recipe("bad", self.ground.fragment(self.server.url("/ok"), checksum=checksums(DATA)))
        self.ground.succeeds("bad", DATA)

    def test_nobody_listens(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))  # bound, never listening: no other process can take it meanwhile
            port = unused.getsockname()[1]
            self.check(f"http://127.0.0.1:{port}/f", 6, f"127.0.0.1:{port}", hint="no server listens there")

    def test_no_such_host(self):
        self.check("http://no-such-host.invalid/f", 6, "no-such-host.invalid", "resolve", hint="name service")

    def test_no_such_scheme(self):
        self.check("gopher://127.0.0.1/f", 6, "gopher", hint="sabath fetchers")


class Tls(FaultCase):
    def serve(self, certificate, pages=None):
        origin = Spoken(pages or {"/f": DATA}, certificate=certificate)
        self.addCleanup(origin.stop)
        return origin

    def check(self, url, *says, **keys):
        self.ground.recipe("bad", self.ground.fragment(url))
        self.ground.refused(6, *says, **keys)
        self.ground.config.pop("ca_file", None)
        self.ground.recipe("bad", self.ground.fragment(self.server.url("/ok")))
        self.ground.succeeds("bad", DATA)

    def test_certificate_of_another_name(self):
        certificate = Certificate(self.ground.directory, "other.example")
        self.ground.config["ca_file"] = str(certificate.file)
        self.check(self.serve(certificate).url("/f"), "127.0.0.1", "certificate", hint="host name")

    def test_self_signed(self):
        certificate = Certificate(self.ground.directory, "127.0.0.1")
        self.check(self.serve(certificate).url("/f"), "self-signed certificate", hint="`ca_file`")

    def test_expired(self):
        certificate = Certificate(self.ground.directory, "127.0.0.1", end="20200201000000Z")
        self.ground.config["ca_file"] = str(certificate.file)
        self.check(self.serve(certificate).url("/f"), "certificate has expired", hint="clock")

    def test_downgrade_by_redirect(self):
        certificate = Certificate(self.ground.directory, "127.0.0.1")
        self.ground.config["ca_file"] = str(certificate.file)
        away = self.serve(certificate, {"/f": page("", 302, Location=self.server.url("/ok"))})
        self.check(away.url("/f"), "https", "http:", hint="")

    def test_good_tls_is_trusted_on_first_use(self):
        certificate = Certificate(self.ground.directory, "127.0.0.1")
        self.ground.config["ca_file"] = str(certificate.file)
        self.ground.recipe("good", self.ground.fragment(self.serve(certificate).url("/f")))
        result = self.ground.succeeds("good", DATA)
        self.assertEqual(result.record["assets"][0]["trusted_by"], "first use over TLS")


class Machines(Spoken):
    """One name, two machines in turn: the same bytes (or `others` from the second), each with versions of its own."""

    def __init__(self, data, others=None, strict=True, cuts=0):
        self.contents, self.strict, self.cuts = (data, others or data), strict, cuts
        self.turn, self.lock = 0, threading.Lock()
        super().__init__({"*": self.answer})

    def answer(self, request):
        with self.lock:
            self.turn ^= 1
            turn = self.turn
            cut = self.cuts > 0
            self.cuts -= cut
        data, tag = self.contents[turn], f'"machine{turn}"'
        wanted = request.headers.get("If-Match")
        if self.strict and wanted not in (None, tag):
            return page(b"", 412, ETag=tag)
        request.cut = cut
        return page(data, ETag=tag, Accept_Ranges="bytes")


class OneNameManyMachines(FaultCase):
    data = seeded_bytes(20_000_000, 5)

    def fetched(self, origin, exit_code=0, **keys):
        self.addCleanup(origin.stop)
        self.ground.recipe("bad", self.ground.fragment(origin.url("/f"), **keys))
        result = self.ground.fetch("bad")
        self.assertEqual(result.exit, exit_code, result)
        return result

    def held(self, result):
        return (pathlib.Path(result.record["assets"][0]["path"]) / "f.bin").read_bytes()

    def test_the_checksum_decides_and_not_a_version(self):
        known = {"checksum": {"sha256": checksums(self.data)["sha256"]}}
        for name, options, keys in (("refuses", {}, known), ("says", {"strict": False}, known), ("cut", {"cuts": 1}, known),
                                    ("size known", {}, {**known, "size": len(self.data)})):
            with self.subTest(name):
                ground, self.ground = self.ground, self.new_ground()
                result = self.fetched(Machines(self.data, **options), **keys)
                self.assertEqual(self.held(result), self.data)
                self.assertLess(result.record["assets"][0]["fetched_bytes"], 1.9 * len(self.data), "what came is kept")
                self.ground = ground

    def test_without_a_checksum_one_whole_answer_is_of_one_version(self):
        others = bytes(byte ^ 1 for byte in self.data)
        for cuts in (0, 1):
            with self.subTest(cuts=cuts):
                ground, self.ground = self.ground, self.new_ground()
                self.assertIn(self.held(self.fetched(Machines(self.data, others, cuts=cuts))), (self.data, others))
                self.ground = ground

    def test_machines_that_differ_are_found_out(self):
        """By the checksum: the file is one machine's, or none. Samples are equal; it differs in its middle."""
        other = bytearray(self.data)
        other[5_000_000:15_000_000] = bytes(10_000_000)
        right = {"size": len(self.data), "checksum": {"sha256": checksums(self.data)["sha256"]}}
        origin = Machines(self.data, bytes(other))
        self.addCleanup(origin.stop)
        self.ground.recipe("bad", self.ground.fragment(origin.url("/f"), **right))
        for _ in range(20):  # until the whole is asked of the right one
            result = self.ground.fetch("bad")
            if result.exit == 0:
                break
            self.assertEqual(result.exit, 7, result)
        self.assertEqual(self.held(result), self.data)
        wrong = {"size": len(self.data), "checksum": {"sha256": "0" * 64}}
        self.ground = self.new_ground()
        self.fetched(Machines(self.data, bytes(other)), 7, **wrong)


class Codings(FaultCase):
    """What is packed or unpacked on the way: the checksum says which bytes are the file."""

    plain = b"some,rows\n" * 600_000
    packed = gzip.compress(seeded_bytes(5_000_000, 3), 1)

    def serve(self, pages):
        origin = Spoken(pages)
        self.addCleanup(origin.stop)
        return origin

    def fetches(self, url, data, **keys):
        self.ground.recipe("good", self.ground.fragment(url, **keys))
        self.ground.succeeds("good", data)
        shutil.rmtree(self.ground.store)

    def test_the_stored_bytes_first(self):
        origin = self.serve({f"/{name}.gz": page(body, Content_Encoding="x-gzip") for name, body in
                             (("large", self.packed), ("small", self.packed[:9999]))})
        for name, body in (("large", self.packed), ("small", self.packed[:9999])):
            sums = {"sha256": checksums(body)["sha256"]}
            for keys in ({"checksum": sums}, {"size": len(body)}, {"size": len(body), "checksum": sums}, {}):
                with self.subTest(name, keys=keys):
                    self.fetches(origin.url(f"/{name}.gz"), body, **keys)

    def test_then_the_unpacked_ones(self):
        for name, data in (("large", self.plain), ("small", self.plain[:50_000])):
            origin = self.serve({"/f": page(gzip.compress(data), Content_Encoding="gzip")})
            sums = {"sha256": checksums(data)["sha256"]}
            for keys in ({"checksum": sums}, {"size": len(data)}, {"size": len(data), "checksum": sums}):
                with self.subTest(name, keys=keys):
                    self.fetches(origin.url("/f"), data, **keys)

    def test_neither_is_said(self):
        origin = self.serve({"/f": page(gzip.compress(self.plain), Content_Encoding="gzip")})
        for size in (None, 77, len(self.plain)):
            self.ground.recipe("bad", self.ground.fragment(origin.url("/f"), size=size, checksum={"sha256": "1" * 64}))
            self.ground.refused(7, "Content-Encoding gzip")

    def test_what_a_server_unpacked_is_asked_for_as_it_is_stored(self):
        stored = gzip.compress(self.plain)

        def transcode(request):
            fields = {"X_Goog_Stored_Content_Encoding": "gzip"}
            if "gzip" in request.headers.get("Accept-Encoding", ""):
                return page(stored, Content_Encoding="gzip", **fields)
            del request.headers["Range"]
            return page(self.plain, Warning="214 UploadServer gunzipped", **fields)

        origin = self.serve({"*": transcode})
        for keys in ({"size": len(stored)}, {"checksum": {"sha256": checksums(stored)["sha256"]}}):
            self.fetches(origin.url("/f.csv.gz"), stored, **keys)
        self.fetches(origin.url("/f.csv"), self.plain, checksum={"sha256": checksums(self.plain)["sha256"]})


class Cookies(FaultCase):
    def test_of_one_chain_of_redirects_and_of_no_other_host(self):
        """A site that gives a cookie and redirects to the same URL, and then to another host."""
        far = Spoken({"/f": DATA})

        def lead(request):
            if "terms=read" not in request.headers.get("Cookie", ""):
                return page(b"", 302, Location=request.path, Set_Cookie="terms=read; Path=/")
            return page(b"", 302, Location=far.url("/f", "localhost"))

        site = Spoken({"*": lead})
        for origin in (far, site):
            self.addCleanup(origin.stop)
        self.ground.recipe("good", self.ground.fragment(site.url("/f"), size=SIZE, checksum=checksums(DATA)))
        self.ground.succeeds("good", DATA)
        self.assertEqual([headers.get("Cookie") for _, headers, _ in far.requests], [None], "a cookie belongs to who gave it")
        self.assertEqual(len(site.requests), 2)


if __name__ == "__main__":
    main()
