#!/usr/bin/python3
"""Hostile names and URLs in every format by which a source says what it holds: each is refused, or harmless.

The witness is the file system: outside of the store nothing is written, and inside it no name but in the asset's own view.
SABATH_LISTINGS_TABLE=1 prints a line for each case.
"""
import concurrent.futures
import hashlib
import os
import pathlib
import shutil
import stat
import sys
import tempfile
import unittest

from formats import DATA, FORMATS, World, bag_fetch, dataverse, html, metalink_described, metalink_list, webdav, zenodo, figshare
from support.ground import Ground, main
from support.program import INSTRUMENTED

FINE = b"fine.bin"
SECRET = b"what only this machine's user may read\n"
UP = b"../" * 12
# No file may be called so, in any format that can say it.
REFUSED = {
    "up": b"../canary", "far up": UP + b"canary", "into the temporary directory": UP + b"tmp/canary", "down and up": b"a/../../canary",
    "down, up and down": b"a/../canary", "up at the end": b"a/..", "absolute": b"/canary", "absolute twice": b"//canary",
    "absolute here": b"{ABSOLUTE}", "this directory": b".", "the one above": b"..", "no name": b"", "from here": b"./canary",
    "here below": b"a/./canary", "no directory": b"a//canary", "slash at the end": b"canary/",
    "NUL": b"canary\0.bin", "NUL alone": b"\0", "escape": b"\x1b[31mcanary", "title": b"\x1b]0;canary\x07", "bell": b"canary\x07",
    "C1": b"canary\xc2\x9b31m", "C1 raw": b"canary\x9b31m", "delete": b"canary\x7f", "new line": b"canary\nx", "return": b"canary\rx",
    "tab": b"canary\tx", "backspace": b"canary\x08", "no UTF-8": b"canary\xff", "overlong slash": b"..\xc0\xafcanary",
    "overlong dots": b"\xc0\xae\xc0\xae/canary", "half a surrogate": b"canary\xed\xa0\x80", "name of 256 bytes": b"n" * 256,
    "path of 4,096 bytes": b"/".join([b"n" * 240] * 17) + b"canary", "path of 129 names": b"/".join([b"n"] * 128) + b"/canary",
}
# Odd, and names of one file each: they stand in the view as they are.
HARMLESS = {
    "encoded up": b"..%2fcanary", "encoded dots": b"%2e%2e%2fcanary", "upper and lower case": b"%2E%2e%2Fcanary",
    "encoded twice": b"..%252fcanary", "encoded NUL": b"canary%00", "encoded line": b"canary%0a", "backslashes": b"..\\..\\canary",
    "a drive": b"C:\\canary", "full width": "．．／canary".encode(), "three dots": b"...", "option": b"-rf canary", "dots": b"..canary",
    "shell": b"$(touch canary)", "markup": b"<canary>&\"'", "query": b"canary?a=b#c", "name of 255 bytes": b"n" * 255, "home": b"~",
    "device": b"canary:stream",
}
TWICE = {"twice": [b"canary", b"canary"], "file and directory": [b"canary", b"canary/below"],
         "directory and file": [b"canary/below", b"canary"], "below twice": [b"canary", b"canary/a/b"]}
# What a format cannot say, or means otherwise: then it must only be harmless, and not even that for what is refused here.
LINKS = {"html_links", "webdav_links", "list_of_urls"}  # a reference: "..", "//host", "%2f" and '?' have their meaning in it
LINES = {"list_of_paths", "ftp_mlsd", "ftp_list_unix", "ftp_list_dos"}  # a line ends where the name says so
OTHERWISE = {
    **dict.fromkeys(((f, n) for f in ("html_encoded", "webdav_encoded") for n in ("no name",)), "the directory itself"),
    ("html_encoded", "path of 4,096 bytes"): "no URL: it would have 12 KB",
    ("bag_tags", "from here"): "some writers put it before each path",
    ("dataverse_directory", "no name"): "the directory itself",
    **dict.fromkeys((("list_of_paths", n) for n in ("no name", "return", "tab")), "blanks and what is no line"),
    **dict.fromkeys((("s3_plain", "slash at the end"), ("s3_encoded", "slash at the end")), "stands for a directory"),
    **dict.fromkeys((("s3_plain", "no name"), ("s3_encoded", "no name"), ("hf_directory", "no name")), "the directory itself"),
}
OWN = {b"list.txt", b"list.meta4", b"bagit.txt", b"manifest-sha256.txt", b"tagmanifest-sha256.txt", b"fetch.txt"}  # a list's
WHOLE = os.environ.get("SABATH_INJECTION_STRIDE") == "1" or "SABATH_LISTINGS_TABLE" in os.environ
URLS = ("file://{SECRET}", "file:{SECRET}", "FILE://{SECRET}", "file://localhost{SECRET}", "s3://bucket/k", "sftp://127.0.0.1/f",
        "scp://127.0.0.1/f", "oci://127.0.0.1/x:y", "hf://a/b/c", "javascript:alert(1)", "//", "http://", "", "-oProxyCommand=x",
        "http://u:s3cret@127.0.0.1:1/", "http://127.0.0.1:99999/f?sig=s3cret", "http://127.0.0.1:1/\x1b[31m", "http://127.0.0.1:1/\r\nX-Evil: 1", "http://127.0.0.1:1/ f",
        "ext::sh -c canary", "http://" + "a" * 20_000 + "/")


def tried(cases, format_name):
    """A third, another one for the next format, so that each is tried by many; a tenth where all takes several times as long."""
    every = 1 if WHOLE else 10 if INSTRUMENTED else 3
    first = sorted([*FORMATS, format_name]).index(format_name) % every
    return list(cases)[first::every]


def snapshot(top, but):
    """Every name below `top` that does not stand below `but`, and what it is."""
    found = {}
    for directory, names, files in os.walk(top):
        names[:] = [name for name in names if pathlib.Path(directory, name) != but]
        for name in names + files:
            path = pathlib.Path(directory, name)
            facts = path.lstat()
            content = path.read_bytes() if stat.S_ISREG(facts.st_mode) else b""
            found[str(path)] = (facts.st_mode, facts.st_ino, hashlib.sha256(content).hexdigest())
    return found


class Case:
    """A user's world, four directories deep, in a directory that is watched."""

    def __init__(self, test):
        self.test = test
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="sabath-listings-"))
        test.addCleanup(shutil.rmtree, self.top, ignore_errors=True)
        home = self.top / "a/b/c/home"
        home.mkdir(parents=True)
        (home / "secret").write_bytes(SECRET)
        self.ground = Ground(test, home)
        self.world = World(home)
        test.addCleanup(self.world.stop)
        self.ground.variables |= self.world.variables

    def filled(self, words):
        return words.replace("{SECRET}", str(self.ground.directory / "secret"))

    def fetch(self, url):
        """The result, and the bytes of the names in the asset's view; any other fault is a failure."""
        test, ground = self.test, self.ground
        name = "asset"
        ground.recipe(name, ground.fragment(url, "file_list"))
        ground.config |= self.world.config
        ground.environment()  # writes the configuration
        outside, inside = snapshot(self.top, ground.store), ground.visible()
        result = ground.fetch(name, "--refresh")  # one URL says something else each time
        ground.clean(result)
        test.assertNotIn("s3cret", result.out + result.err)
        after = snapshot(self.top, ground.store)
        test.assertEqual({p for p in after if after[p] != outside.get(p)} | (outside.keys() - after.keys()), set(), "outside of the store")
        test.assertFalse(any(os.path.lexists(place) for place in ("/canary", "/tmp/canary")), "outside of everything")
        view = pathlib.Path(result.record["assets"][0]["path"]) if result.exit == 0 else None
        names = {os.fsencode(os.path.relpath(pathlib.Path(d, f), view)) for d, _, files in os.walk(view) for f in files} if view else set()
        new = {place for place in ground.visible() if place not in inside}
        if view is None:
            test.assertEqual(new, set(), result)
        own = () if view is None else (str(view.relative_to(ground.store)) + "/", str(view.resolve().relative_to(ground.store)) + "/")
        test.assertEqual({place for place in new if "canary" in place and not place.startswith(own)}, set(), "in the store")
        names -= OWN
        for one in names:
            real = pathlib.Path(os.fsdecode(bytes(str(view), "utf-8") + b"/" + one)).resolve()
            test.assertTrue(real.is_relative_to(ground.store), real)
            test.assertEqual(real.read_bytes(), DATA, one)
        return result, names


class Listings(unittest.TestCase):
    def each_format(self, check, formats=FORMATS):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            running = [(name, pool.submit(check, name, formats[name])) for name in formats]
            for name, future in running:
                with self.subTest(name):
                    wrong = future.result()
                    self.assertEqual(wrong, [])

    def judge(self, case, format_name, what, url, expected):
        """A sentence about what is wrong, or none. `expected`: exit codes, and the names for an exit of 0."""
        codes, wanted = expected
        try:
            result, names = case.fetch(url)
        except AssertionError as error:
            return [f"{format_name}, {what}: {error}"]
        if os.environ.get("SABATH_LISTINGS_TABLE"):
            said = result.failures[0][1] if result.failures else b", ".join(sorted(names)).decode("utf-8", "backslashreplace")
            print(f"{format_name} | {what} | {result.exit} | {said[:150]}", file=sys.stderr)
        if result.exit not in codes:
            return [f"{format_name}, {what}: {result}"]
        if result.exit == 0 and wanted is not None and names != wanted:
            return [f"{format_name}, {what}: the view holds {names}, and not {wanted}"]
        return []

    def placed(self, format_name, name):
        """Where a format's files stand in the view."""
        prefix = b"data/" if format_name.startswith("bag_") and format_name != "bag_tags" else b""
        return prefix + name + (b"/f" if format_name == "dataverse_directory" else b"")

    def names(self, format_name, files):
        """What a view holds, but for a list's own files."""
        return {self.placed(format_name, name) for name in files} | ({b"data/f"} if format_name == "bag_tags" else set())

    def test_each_format_is_spoken(self):
        """Without this, "refused" would also be true of a server that no fetcher understands."""
        def check(name, say):
            case = Case(self)
            url = say(case.world, [FINE])
            if name == "metalink_described":
                self.assertIn("metalink", case.world.web.table["/d/f"][1]["Link"])
            return self.judge(case, name, "fine", url, ({0}, self.names(name, [FINE])))

        self.each_format(check)

    def test_names(self):
        def check(name, say):
            case, wrong = Case(self), []
            for what, text in tried(REFUSED.items(), name):
                text = text.replace(b"{ABSOLUTE}", bytes(case.ground.directory / "canary"))
                otherwise = name in LINKS or (name, what) in OTHERWISE or (name in LINES and what == "new line")
                codes = {0, 6, 12} if otherwise else {12}
                wrong += self.judge(case, name, what, say(case.world, [FINE, text]), (codes, None))
            wrong += [f"{name}: the store is not whole"] if case.ground.run("verify", "--json").exit else []
            return wrong

        self.each_format(check)

    def test_odd_names(self):
        def check(name, say):
            case, wrong = Case(self), []
            for what, text in tried(HARMLESS.items(), name):
                url = say(case.world, [FINE, text])
                means_else = name in LINKS or (name, what) in OTHERWISE
                codes = {0, 6, 12} if means_else else {12} if name == "bag_fetch_alone" else {0}
                wrong += self.judge(case, name, what, url, (codes, None if means_else else self.names(name, [FINE, text])))
            return wrong

        self.each_format(check)

    def test_a_name_twice(self):
        def check(name, say):
            case, wrong = Case(self), []
            for what, several in TWICE.items():
                # An index page may link twice to one place, and a manifest say twice what it says. The names are of
                # directories, or of directories that do not count.
                merged = (name in ("html_links", "html_encoded") or (name.startswith("bag_") and what == "twice")
                          or (name in ("dataverse_directory", "list_of_urls") and what != "twice"))
                wrong += self.judge(case, name, what, say(case.world, several), ({0, 12} if merged else {12}, None))
            return wrong

        self.each_format(check)

    def test_urls(self):
        """What a listing may not name, it names; also with a good file beside it, nothing is taken."""
        def check(name, say):
            case, wrong = Case(self), []
            for words in tried(URLS, name):
                # A reference that begins with '-', and in a list what has no scheme://, is a file's name beside it.
                is_name = words.startswith("-") if name in ("html", "webdav") else "://" not in words
                codes = {0, 6, 12} if is_name and name in ("html", "webdav", "list") else {6, 12}
                wrong += self.judge(case, name, words[:60], say(case.world, case.filled(words)), (codes, None))
            return wrong

        def in_bag(world, url):
            return bag_fetch(world, [FINE], url)

        self.each_format(check, {
            "zenodo": lambda world, url: zenodo(world, [FINE], url), "figshare": lambda world, url: figshare(world, [FINE], url),
            "metalink": lambda world, url: metalink_list(world, [FINE], url), "bag_fetch": in_bag, "datacite": datacite,
            "described": described, "html": lambda world, url: html(world, [url.encode()]),
            "webdav": lambda world, url: webdav(world, [url.encode()]), "list": listed, "redirect": redirected})


def datacite(world, url):
    dataverse(world, [{"label": "f"}])
    world.say("/doi.org/10.7910/x", {"url": url})
    return "doi:10.7910/x"


def described(world, url):
    """Where the metalink is said to be."""
    return metalink_described(world, [FINE], url)


def listed(world, url):
    world.say("/d/list.txt", url.encode() + b"\n", "text/plain")
    return world.web.url("d/list.txt")


def redirected(world, url):
    world.say("/d/", b"", "text/html", 302, Location=url.replace("\r", "").replace("\n", ""))
    return world.web.url("d/")


if __name__ == "__main__":
    main()
