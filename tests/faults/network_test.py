"""Sources that break off, stall, refuse, or cannot be trusted: exit 6, and 4 where a person has to log in."""
import collections
import shutil
import socket

from ground import FaultCase, checksums, main, seeded_bytes
from origin import Certificate, Origin, Page

SIZE = 100_000
DATA = seeded_bytes(SIZE)
Case = collections.namedtuple("Case", "name target exit says hint keys", defaults=("", {}))

# What the server does wrong, and what its user is told. Each recipe knows its size and checksum unless `keys` say not.
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
    Case("401", "/status/401", 4, ["/status/401", "HTTP 401"], "log in"),
    Case("403", "/status/403", 4, ["/status/403", "HTTP 403"], "permission"),
    Case("407", "/status/407", 4, ["/status/407", "HTTP 407"], "https_proxy"),
    Case("429", "/status/429", 6, ["/status/429", "HTTP 429"], "overloaded"),
    Case("500", "/status/500", 6, ["/status/500", "HTTP 500"], "another mirror"),
    Case("503, come back in a second", "/retry-after?value=1", 6, ["/retry-after", "HTTP 503"], "another mirror"),
    Case("redirects in a circle", "/loop", 6, ["/loop", "redirect"]),
    Case("redirects without end", "/endless", 6, ["/endless", "redirect"]),
    Case("redirect to a file", "/redirect?to=file:///etc/passwd", 6, ["/redirect", "file:"]),
    Case("content encoding that nobody asked for", "/gzip", 6, ["/gzip", "gzip"]),
    Case("two lengths", "/2cl", 6, ["/2cl", "two lengths"]),
    Case("escape sequences in the status line", "/ansi", 6, ["/ansi", "404", "\\x1b[31mowned\\x07"]),
]


class ServerFaults(FaultCase):
    def test_each_is_told_apart_and_leaves_no_trace(self):
        def check(case):
            ground = self.new_ground()
            known = {"size": SIZE, "checksum": checksums(DATA), **case.keys}
            ground.recipe("bad", ground.fragment(self.server.url(case.target), **known))
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
            ("stall", "/stall/once"), ("500", "/status/500/once/500"), ("503", "/retry-after/once"))]

        def check(case):
            ground = self.new_ground()
            url = self.server.url(f"{case.target}?times=2&value=1")
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
            unused.bind(("127.0.0.1", 0))  # bound, never listening: nobody else can take it meanwhile
            port = unused.getsockname()[1]
            self.check(f"http://127.0.0.1:{port}/f", 6, f"127.0.0.1:{port}", hint="https_proxy")

    def test_no_such_host(self):
        self.check("http://no-such-host.invalid/f", 6, "no-such-host.invalid", "resolve", hint="name service")

    def test_no_such_scheme(self):
        self.check("gopher://127.0.0.1/f", 6, "gopher", hint="sabath fetchers")


class Tls(FaultCase):
    def serve(self, certificate, pages=None):
        origin = Origin(pages or {"/f": Page(DATA)}, certificate)
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
        self.check(self.serve(certificate).url("/f"), "self-signed certificate", hint="CA file")

    def test_expired(self):
        certificate = Certificate(self.ground.directory, "127.0.0.1", end="20200201000000Z")
        self.ground.config["ca_file"] = str(certificate.file)
        self.check(self.serve(certificate).url("/f"), "certificate has expired", hint="clock")

    def test_downgrade_by_redirect(self):
        certificate = Certificate(self.ground.directory, "127.0.0.1")
        self.ground.config["ca_file"] = str(certificate.file)
        away = self.serve(certificate, {"/f": Page("", 302, Location=self.server.url("/ok"))})
        self.check(away.url("/f"), "https", "http:", hint="")

    def test_good_tls_is_trusted_on_first_use(self):
        certificate = Certificate(self.ground.directory, "127.0.0.1")
        self.ground.config["ca_file"] = str(certificate.file)
        self.ground.recipe("good", self.ground.fragment(self.serve(certificate).url("/f")))
        result = self.ground.succeeds("good", DATA)
        self.assertEqual(result.record["assets"][0]["trusted_by"], "first use over TLS")


if __name__ == "__main__":
    main()
