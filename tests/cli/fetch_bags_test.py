#!/usr/bin/python3
"""Lists that bring their own checksums: metalinks, mirrors told in headers, bags; and the same written."""

import base64
import hashlib
import os
import subprocess

from support.case import Case, main, place
from support.content import fragment, seeded, sha256
from support.origin import find
from support.spoken import Spoken

TREE = {"a.h5": seeded(5_000_000, 1), "sub/b c.txt": b"text", "empty": b""}
META = "<?xml version='1.0' encoding='UTF-8'?>\n<metalink xmlns='urn:ietf:params:xml:ns:metalink'>{}</metalink>"


def metalink(files):
    """files: name -> (data, urls in order)."""
    text = ""
    for name, (data, urls) in files.items():
        pieces = "".join(f"<hash>{sha256(data[i : i + 65536])}</hash>" for i in range(0, len(data), 65536))
        text += f"<file name='{name}'><size>{len(data)}</size>"
        text += f"<hash type='sha-256'>{sha256(data)}</hash>"
        text += f"<hash type='sha-512'>{hashlib.sha512(data).hexdigest()}</hash>"
        text += f"<pieces length='65536' type='sha-256'>{pieces}</pieces>"
        text += "<metaurl mediatype='torrent'>http://x/t</metaurl>"
        # Written from the last to the first: the priority decides.
        for i, url in reversed(list(enumerate(urls))):
            text += f"<url priority='{i + 1}'>{url}</url>"
        text += "</file>"
    return META.format(text).encode()


class Metalink(Case):
    def setUp(self):
        super().setUp()
        self.server = self.serve({f"d/{n}": d for n, d in TREE.items()})
        self.other = self.serve({f"d/{n}": d for n, d in TREE.items()}, name="other")

    def publish(self, text, **more):
        place(self.server.root / "all.meta4", text)
        self.sabath.add("m", [fragment(self.server.url("all.meta4"), kind="file_list", **more)])

    def urls(self, name):
        return [server.url("d/" + name.replace(" ", "%20")) for server in (self.other, self.server)]

    def test_mirrors_sizes_and_hashes(self):
        text = metalink({name: (data, self.urls(name)) for name, data in TREE.items()})
        self.publish(text, checksum={"sha256": sha256(text)}, size=len(text))
        asset = self.fetch("m")
        self.expect_tree(asset["path"], {**TREE, "all.meta4": text})
        self.assertEqual(asset["trusted_by"], "checksum")

    def test_each_hash_is_checked(self):
        """Each published hash, alone or beside a right one; two that differ are refused."""
        data = seeded(5000, 3)
        place(self.server.root / "d/x", data)
        right = f"<hash type='sha-256'>{sha256(data)}</hash>"
        for type_, name in (("sha-512", "sha512"), ("SHA-384", "sha384"), ("sha-224", "sha224"), ("sha-1", "sha1")):
            good, bad = (f"<hash type='{type_}'>{hashlib.new(name, d).hexdigest()}</hash>" for d in (data, data[1:]))
            for hashes, code in ((bad, 7), (right + bad, 7), (good, 0), (good + bad, 12)):
                with self.subTest(type_, hashes=len(hashes), code=code):
                    url = self.server.url("d/x")
                    self.publish(META.format(f"<file name='x'><size>5000</size>{hashes}<url>{url}</url></file>").encode())
                    asset = self.fetch("m", "--refresh", code=code)
                    if code == 7:
                        self.assertIn(f"its {name} is", asset["failures"][0]["message"])

    def test_a_stronger_hash_is_asked_of_what_is_here(self):
        """Content that a weaker one finds in the store has to answer to the stronger one as well."""
        data = seeded(5000, 4)
        place(self.server.root / "d/y", data)
        md5 = hashlib.md5(data).hexdigest()
        self.sabath.add("here", [fragment(self.server.url("d/y"), checksum={"md5": md5})])
        self.fetch("here")
        for sha512, code in ((hashlib.sha512(data).hexdigest(), 0), ("0" * 128, 7)):
            sums = {"md5": md5, "sha512": sha512}
            self.sabath.add("there", [fragment(self.server.url(f"d/y?{code}"), path="y", checksum=sums)])
            self.assertEqual(self.fetch("there", code=code)["fetched_bytes"] == 0, code == 0)

    def test_a_hash_that_is_not_computed_is_told(self):
        url = self.urls("a.h5")[0]
        self.publish(META.format(f"<file name='a.h5'><hash type='sha3-256'>00</hash><url>{url}</url></file>").encode())
        done = self.expect(self.sabath.run("fetch", "m"))
        self.assertIn("not checked: sha3-256", done.err)

    def test_a_mirror_that_lies(self):
        place(self.other.root / "d/sub/b c.txt", b"lies")
        self.publish(metalink({name: (data, self.urls(name)) for name, data in TREE.items()}))
        for number in range(20):  # until it is asked for what it lies about
            asset = self.fetch("m")
            self.expect_tree(asset["path"], {**TREE, "all.meta4": (self.server.root / "all.meta4").read_bytes()})
            if any("b%20c" in request.uri for request in self.other.log()):
                break
            self.sabath.environment["SABATH_CACHE"] = str(self.home / f"store-{number}")
        self.assertIn(True, [source["demoted"] for source in asset["sources"]])

    def test_pieces_tell_who_lies(self):
        """A wrong byte in the middle of each chunk: found when the first one lands, not when all is there."""
        right = seeded(24 << 20, 5)
        wrong = bytearray(right)
        for middle in range(2 << 20, len(right), 4 << 20):
            wrong[middle] ^= 1
        place(self.other.root / "d/f", bytes(wrong))
        honest = self.serve({"d/f": right}, name="honest", extra="limit_rate 4m;")  # so slow that the other is asked
        text = metalink({"f": (right, [server.url("d/f") for server in (self.other, honest)])})
        self.publish(text)
        asset = self.fetch("m")
        self.expect_tree(asset["path"], {"f": right, "all.meta4": text})
        (liar,) = [source for source in asset["sources"] if source["demoted"]]
        self.assertIn(str(self.other.port), liar["url"])
        self.assertRegex(liar["reason"], r"chunk \d+ .* does not match its hash")

    def test_a_public_list_names_no_private_place(self):
        """By its words: the list is a file that says where it came from by a rewrite rule."""
        for target in ("http://127.0.0.1:1/x", "http://[fe80::1]/x", "http://[::ffff:10.0.0.1]/x", "http://0.0.0.0/x",
                       "http://2130706433/x", "http://0x7f000001/x", "http://169.254.169.254/latest", "http://192.168.1.1/x",
                       "http://[::1]/x", "http://localhost/x", "http://0177.1/x"):
            with self.subTest(target):
                text = META.format(f"<file name='x'><url>{target}</url></file>").encode()
                for name, text in (("l.meta4", text), ("l.txt", target.encode())):
                    place(self.server.root / name, text)
                    self.sabath.add("m", [fragment(f"http://lists.example/{name}", kind="file_list")])
                    asset = self.fetch("m", "--rewrite", f"http://lists.example/={self.server.url('')}", code=6)
                    self.assertIn("private address", asset["failures"][0]["message"])

    def test_refused(self):
        url = self.urls("a.h5")[0]
        good = f"<file name='x'><url>{url}</url></file>"
        for text in (
            good.replace("'x'", "'../x'"), good.replace("'x'", "'/etc/x'"), good.replace("'x'", "'a/../b'"),
            good.replace("'x'", "''"), good + good, good + good.replace("'x'", "'x/y'"),
            good.replace(url, "file:///etc/passwd"), good.replace(url, "magnet:?x"), good.replace(url, "no url"),
            good.replace("<url>", "<size>-1</size><url>"),
            good.replace("<url>", "<hash type='sha-256'>xyz</hash><url>"),
            good.replace("<url>", "<size>10</size><pieces length='4' type='sha-256'></pieces><url>"), "",
        ):
            with self.subTest(text[:60]):
                self.publish(META.format(text).encode())
                self.fetch("m", code=12)
        bombs = (
            '<!DOCTYPE m [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;">]>' + META.format(good.replace("x", "&b;"))[39:],
            META.format("<file>" * 1000),
            META.format(good)[:-12],
        )
        for text in bombs:
            with self.subTest(text[:60]):
                self.publish(text.encode())
                self.assertIn("/all.meta4 is refused", self.fetch("m", code=12)["failures"][0]["message"])
        self.publish(META.format(good).replace("ietf", "other").encode())
        self.fetch("m", code=6)  # another kind of metalink, which another mirror of the list may not be

    def test_export(self):
        """What is written is read again, here and by others."""
        self.sabath.add("set", [fragment(self.server.url("d/" + name.replace(" ", "%20")), path=name, name=f"f{i}")
                                for i, name in enumerate(TREE)])
        self.fetch("set")
        file = self.server.root / "out.meta4"
        self.expect(self.sabath.run("manifest", "export", "set", "--metalink", file, "--url", self.server.url("d/")))
        self.sabath.add("again", [fragment(self.server.url("out.meta4"), kind="file_list")])
        asset = self.fetch("again", "--force")
        self.expect_tree(asset["path"], {**TREE, "out.meta4": file.read_bytes()})
        if find("aria2c"):
            subprocess.run(["aria2c", "-q", "-d", self.home / "aria", "-M", file], check=True, timeout=300)
            self.expect_tree(self.home / "aria", TREE)


class Headers(Case):
    def add(self, headers, table=None, status=200):
        data = TREE["a.h5"]
        self.mirror = Spoken({"/m/a.h5": data})
        self.server = Spoken({"/f/a.h5": (status, headers, b"wrong" if status != 200 else data), **(table or {})})
        for server in (self.mirror, self.server):
            self.addCleanup(server.stop)
        self.sabath.add("h", [fragment("metalink+" + self.server.url("f/a.h5"), kind="file_list")])

    def test_duplicates_and_digest(self):
        digest = base64.b64encode(hashlib.sha256(TREE["a.h5"]).digest()).decode()
        self.add({"Digest": f"MD5=xyz,SHA-256={digest}"})
        self.server.table["/f/a.h5"][1]["Link"] = f'<{self.mirror.url("m/a.h5")}>; rel=duplicate; pri=1; geo="de"'
        asset = self.fetch("h")
        self.expect_tree(asset["path"], {"a.h5": TREE["a.h5"]})
        self.assertGreater(len(self.mirror.requests), 0)

    def test_the_newer_header_and_a_longer_digest(self):
        for header, text in (("Repr-Digest", "sha-512=:{}:"), ("Digest", "SHA-512={}")):
            for data, code in ((TREE["a.h5"], 0), (b"other", 7)):
                with self.subTest(header, code=code):
                    digest = base64.b64encode(hashlib.sha512(data).digest()).decode()
                    self.add({header: text.format(digest)})
                    self.fetch("h", code=code)

    def test_written(self):
        """What `manifest export` writes is what a server has to say."""
        self.add({})
        self.sabath.add("set", [fragment(self.mirror.url("m/a.h5"), path="a.h5")])
        self.fetch("set")
        file = self.home / "headers"
        self.expect(self.sabath.run("manifest", "export", "set", "--links", file, "--url", self.mirror.url("m/"),
                                    "--url", self.server.url("f/")))  # fmt: skip
        name, *lines = file.read_text().splitlines()
        self.assertEqual(name, "a.h5")
        digest, first, second, empty = lines
        self.assertTrue(second.endswith("/f/a.h5>; rel=duplicate; pri=2"), second)
        self.assertEqual(empty, "")
        self.server.table["/f/a.h5"][1].update(line.split(": ", 1) for line in (digest, first))
        asked = len(self.mirror.requests)
        self.expect_tree(self.fetch("h", "--force")["path"], {"a.h5": TREE["a.h5"]})
        self.assertGreater(len(self.mirror.requests), asked)

    def test_without_a_digest_a_mirror_is_not_asked(self):
        self.add({})
        self.server.table["/f/a.h5"][1]["Link"] = f'<{self.mirror.url("m/a.h5")}>; rel="duplicate"'
        self.expect_tree(self.fetch("h")["path"], {"a.h5": TREE["a.h5"]})
        self.assertEqual(self.mirror.requests, [])

    def test_described_by_a_metalink(self):
        link = '</f/a.meta4>; rel=describedby; type="application/metalink4+xml"'
        self.add({"Link": link, "Location": "http://127.0.0.1:1/"}, status=302)
        self.server.table["/f/a.meta4"] = metalink({"a.h5": (TREE["a.h5"], [self.mirror.url("m/a.h5")])})
        self.expect_tree(self.fetch("h")["path"], {"a.h5": TREE["a.h5"]})


def bag(tree, fetch=(), algorithm="sha256"):
    """A bag's files, written as RFC 8493 says; those in `fetch` (name -> URL) are elsewhere."""
    def sums(files):
        return "".join(f"{hashlib.new(algorithm, data).hexdigest()}  {name}\n" for name, data in files.items()).encode()

    payload = {f"data/{name}": data for name, data in tree.items()}
    octets = sum(map(len, tree.values()))
    tags = {
        "bagit.txt": b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n",
        "bag-info.txt": f"Source-Organization: Lab\nPayload-Oxum: {octets}.{len(tree)}\n".encode(),
        f"manifest-{algorithm}.txt": sums(payload),
    }
    if fetch:
        tags["fetch.txt"] = "".join(f"{url} {len(tree[name])} data/{name}\n" for name, url in fetch.items()).encode()
    tags[f"tagmanifest-{algorithm}.txt"] = sums(tags)
    return {**tags, **{name: data for name, data in payload.items() if name.removeprefix("data/") not in fetch}}


class Bags(Case):
    def get(self, files, code=0, **options):
        name = f"origin{len(os.listdir(self.home))}"
        self.server = self.serve({f"bag/{n}": d for n, d in files.items()}, name=name)
        self.sabath.add("bag", [fragment(self.server.url("bag/bagit.txt"), kind="file_list")])
        return self.fetch("bag", code=code, **options)

    def test_whole(self):
        for algorithm in ("sha512", "sha384", "sha256", "sha224", "sha1", "md5"):
            with self.subTest(algorithm):
                files = bag(TREE, algorithm=algorithm)
                asset = self.get(files)
                self.expect_tree(asset["path"], files)

    def test_each_manifest_is_checked(self):
        """Two say a file's sums: both have to be right."""
        files = bag(TREE)
        lie = b"".join(
            hashlib.sha512(data + (b"x" if name == "empty" else b"")).hexdigest().encode() + f"  data/{name}\n".encode()
            for name, data in TREE.items()
        )
        asset = self.get({**files, "manifest-sha512.txt": lie}, code=7)
        self.assertIn("its sha512 is", asset["failures"][0]["message"])
        self.assertEqual([f["path"] for f in asset["failures"]], ["data/empty"])

    def test_a_manifest_that_is_not_checked_is_told(self):
        files = bag(TREE)
        other = b"00  data/empty\n"
        files["manifest-blake2b.txt"] = other
        files["tagmanifest-sha256.txt"] += f"{sha256(other)}  manifest-blake2b.txt\n".encode()
        self.get(files)
        done = self.expect(self.sabath.run("fetch", "bag", "--force", "--refresh"))
        self.assertIn("not checked: blake2b", done.err)

    def test_encodings(self):
        """Tag files are in the encoding that bagit.txt names, byte order mark or not; names become UTF-8."""
        tree = {"d\u00e4t\u00e4 .h5": b"text", "ends in a space ": b"more"}
        for encoding, mark in (("ISO-8859-1", b""), ("UTF-16", b""), ("UTF-16LE", b"\xff\xfe"), ("utf-8", b"\xef\xbb\xbf")):
            with self.subTest(encoding):
                files = bag(tree)
                for name in files:
                    if name.endswith(".txt") and name != "bagit.txt" and not name.startswith("tagmanifest"):
                        files[name] = mark + files[name].decode().encode(encoding)
                files["bagit.txt"] = f"BagIt-Version: 1.0\nTag-File-Character-Encoding: {encoding}\n".encode()
                tags = [name for name in files if not name.startswith(("data/", "tagmanifest"))]
                sums = "".join(f"{sha256(files[name])}  {name}\n" for name in tags)
                files["tagmanifest-sha256.txt"] = mark + sums.encode(encoding)
                self.expect_tree(self.get(files)["path"], files)
        for encoding in ("KLINGON-8", "UTF-8//IGNORE", "../x", ""):
            with self.subTest(encoding):
                text = f"BagIt-Version: 1.0\nTag-File-Character-Encoding: {encoding}\n".encode()
                self.get({**bag(tree), "bagit.txt": text}, code=12)
        broken = {**bag(tree), "bagit.txt": b"BagIt-Version: 1.0\nTag-File-Character-Encoding: US-ASCII\n"}
        self.assertIn("not in us-ascii", self.get(broken, code=12)["failures"][0]["message"])

    def test_fetch_txt(self):
        elsewhere = self.serve({"x": TREE["a.h5"]}, name="elsewhere")
        files = bag(TREE, {"a.h5": elsewhere.url("x")})
        asset = self.get(files)
        self.expect_tree(asset["path"], {**files, "data/a.h5": TREE["a.h5"]})

    def test_wrong_content(self):
        files = bag(TREE)
        files["data/sub/b c.txt"] = b"TEXT"
        asset = self.get(files, code=7)
        self.assertEqual([f["path"] for f in asset["failures"]], ["data/sub/b c.txt"])

    def test_refused(self):
        files, sum_ = bag(TREE), sha256(b"")
        for name, text in (
            ("manifest-sha256.txt", f"{sum_}  data/../../x\n"), ("manifest-sha256.txt", f"{sum_}  /etc/passwd\n"),
            ("manifest-sha256.txt", f"{sum_}  ../data/x\n"), ("manifest-sha256.txt", "xyz  data/x\n"),
            ("manifest-sha256.txt", f"{sum_}  data/a%0Ab\n"), ("manifest-sha256.txt", f"{sum_}  bagit.txt\n"),
            ("bagit.txt", "BagIt-Version: 7\n"), ("bag-info.txt", "Payload-Oxum: 1.99\n"),
            ("fetch.txt", "file:///etc/passwd - data/a.h5\n"), ("fetch.txt", "http://x/ 1 data/none\n"),
            ("fetch.txt", "http://x/ 1 bagit.txt\n"),
        ):
            with self.subTest(text):
                self.get({**files, name: text.encode()}, code=12)
        self.get({name: data for name, data in files.items() if not name.startswith("manifest-")}, code=6)

    def test_export(self):
        """A bag that is written is valid: for sha256sum, for us, and for its own tool where that is installed."""
        server = self.serve({f"d/{n}": d for n, d in TREE.items()}, extra="autoindex on;")
        self.sabath.add("set", [fragment(server.url("d/"), kind="file_list")])
        self.fetch("set")
        directory = self.home / "bag"
        self.expect(self.sabath.run("manifest", "export", "set", "--bag", directory))
        for sums in ("manifest", "tagmanifest"):
            for name in ("sha256", "sha512"):
                subprocess.run([f"{name}sum", "--quiet", "-c", f"{sums}-{name}.txt"], cwd=directory, check=True)
        files = {str(p.relative_to(directory)): p.read_bytes() for p in directory.rglob("*") if p.is_file()}
        self.assertEqual({n[5:]: d for n, d in files.items() if n.startswith("data/")}, TREE)
        asset = self.get(files)
        self.expect_tree(asset["path"], files)
        self.expect(self.sabath.run("manifest", "export", "set", "--bag", directory), 2)
        tool = find("bagit.py") or find("bagit")
        if tool:
            subprocess.run([tool, "--validate", directory], check=True, capture_output=True)

    def test_export_of_what_is_elsewhere(self):
        server = self.serve({f"d/{n}": d for n, d in TREE.items()}, extra="autoindex on;")
        self.sabath.add("set", [fragment(server.url("d/"), kind="file_list")])
        self.fetch("set")
        directory = self.home / "holey"
        self.expect(self.sabath.run("manifest", "export", "set", "--bag", directory, "--url", server.url("d/")))
        files = {str(p.relative_to(directory)): p.read_bytes() for p in directory.rglob("*") if p.is_file()}
        self.assertEqual([name for name in files if name.startswith("data/")], [])
        asset = self.get(files)
        self.expect_tree(asset["path"], {**files, **{f"data/{n}": d for n, d in TREE.items()}})


if __name__ == "__main__":
    main()
