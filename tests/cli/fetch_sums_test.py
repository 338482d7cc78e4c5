#!/usr/bin/python3
"""Lists of checksums as lists: what SHA256SUMS and its like name is fetched, and each file must have its sum."""

import hashlib
import subprocess

from support.case import Case, main, place
from support.content import fragment, seeded

TREE = {"a.h5": seeded(5_000_000, 1), "sub/b c.txt": b"text", "sub/deep/empty": b""}
ODD = "sub/back\\slash.txt"


def sums(kind, tree, line="{hex}  {name}\n"):
    return "".join(line.format(hex=hashlib.new(kind, data).hexdigest(), name=name) for name, data in tree.items()).encode()


class Sums(Case):
    def setUp(self):
        super().setUp()
        self.server = self.serve({f"set/{name}": data for name, data in TREE.items()})

    def publish(self, name, text, below="set/"):
        place(self.server.root / below / name, text)
        return self.server.url(below + name)

    def test_of_the_real_tools(self):
        """What coreutils write, in both of their styles, with a name that they escape, and of the list itself."""
        place(self.server.root / "set" / ODD, b"odd")
        names = [*TREE, ODD]
        for number, (tool, more) in enumerate((("sha256sum", []), ("sha512sum", ["--binary"]), ("md5sum", ["--tag"]), ("sha1sum", ["--tag"]))):
            with self.subTest(tool):
                listed = f"{tool.upper()}S" if number % 2 else f"{tool}.txt"
                run = subprocess.run([tool, *more, "./a.h5", *names[1:]], cwd=self.server.root / "set", capture_output=True, check=True)
                empty = hashlib.new(tool[:-3], b"").hexdigest()
                asset = self.fetch(self.publish(listed, run.stdout + f"{empty}  {listed}\n".encode()))
                self.expect_tree(asset["path"], {**TREE, ODD: b"odd"})

    def test_of_a_distribution(self):
        """BSD's style with comments, in a signed text."""
        text = b"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n# a.h5: 5000000 bytes\n"
        text += sums("sha256", TREE, "SHA256 ({name}) = {hex}\n") + b"-----BEGIN PGP SIGNATURE-----\n\niQIz\n-----END PGP SIGNATURE-----\n"
        self.expect_tree(self.fetch(self.publish("Set-1.0-x86_64-CHECKSUM", text))["path"], TREE)

    def test_of_openssl(self):
        """One file, by its own list; and one sum without a name."""
        data = TREE["a.h5"]
        asset = self.fetch(self.publish("a.h5.sha384", b"SHA2-384(a.h5)= " + hashlib.sha384(data).hexdigest().encode()))
        self.expect_tree(asset["path"], {"a.h5": data})
        asset = self.fetch(self.publish("a.h5.sha256", hashlib.sha256(data).hexdigest().upper().encode() + b"\r\n"))
        self.expect_tree(asset["path"], {"a.h5": data})

    def test_of_mlcommons(self):
        """NAME.uri has the address, NAME.md5 the sums."""
        lists = self.serve(name="lists")
        place(lists.root / "metadata/set one.uri", (self.server.url("set") + "\n").encode())
        place(lists.root / "metadata/set one.md5", sums("md5", TREE, "{hex}  ./{name}\n"))
        asset = self.fetch(lists.url("metadata/set%20one.uri"))
        self.expect_tree(asset["path"], TREE)
        self.expect_tree(self.fetch(lists.url("metadata/set%20one.uri"), "--sample", "1")["path"], {"a.h5": TREE["a.h5"]})

    def test_in_a_recipe(self):
        """A list of any name: known by what stands in it, and kept beside its files."""
        text = sums("sha224", TREE)
        self.publish("files.lst", text)
        self.sabath.add("set", [fragment(self.server.url("set/files.lst"), text, kind="file_list")])
        self.expect_tree(self.fetch("set")["path"], {**TREE, "files.lst": text})
        place(self.server.root / "set/sub/b c.txt", b"tExt")
        self.publish("files.lst", sums("sha224", {**TREE, "sub/b c.txt": b"other"}))
        self.sabath.add("other", [fragment(self.server.url("set/files.lst"), kind="file_list")])
        failures = self.fetch("other", "--refresh", code=7)["failures"]
        self.assertEqual([failure["path"] for failure in failures], ["sub/b c.txt"])
        self.assertIn("its sha224 is", failures[0]["message"])

    def test_a_wrong_sum_names_its_file(self):
        """The others are there."""
        wrong = {**TREE, "a.h5": b"another one"}
        for kind in ("md5", "sha1", "sha256", "sha512"):
            with self.subTest(kind):
                failures = self.fetch(self.publish(f"{kind}sum.txt", sums(kind, wrong)), code=7)["failures"]
                self.assertEqual([failure["path"] for failure in failures], ["a.h5"])
                self.assertIn(f"its {kind} is", failures[0]["message"])

    def test_what_is_not_computed_here_is_said(self):
        asset = self.fetch(self.publish("B2SUMS", sums("blake2b", TREE)))
        self.assertIn("publishes hashes that are not computed here and not checked: blake2", asset["err"])
        self.expect_tree(asset["path"], TREE)

    def test_hostile_lists_are_refused(self):
        good = hashlib.sha256(b"text").hexdigest()
        for number, text in enumerate((
            f"{good}  ../../etc/passwd\n", f"{good}  /etc/passwd\n", f"{good}  a\0b\n", f"{good}  a//b\n", f"{good}  .\n",
            f"\\{good}  a\\nb\n", f"{good}  {'x' * 20_000}\n", f"{good}  {'y/' * 3000}z\n", f"SHA256 (../x) = {good}\n",
            f"{good}  b\nno line of a list\n", f"{good}  b\n{good[::-1]}  b\n", f"SHA256 (b) = {good[2:]}\n", "", "# nothing\n",
            f"{good}  b\n{good}  b/c\n", f"{good}  \x1b[31m\n", f"{good}  \udcff\n",
        )):  # fmt: skip
            with self.subTest(number, text=text[:100]):
                url = self.publish(f"{number}-SHA256SUMS", text.encode(errors="surrogateescape"))
                seen = len(self.server.log())
                result = self.expect(self.sabath.fetch(url), 12)
                self.assertNotIn("\x1b", result.err)
                self.assertEqual([request.uri for request in self.server.log()[seen:]], [f"/set/{number}-SHA256SUMS"])

    def test_hostile_addresses_are_refused(self):
        place(self.server.root / "set/x.md5", sums("md5", TREE))
        for text, code in ((b"file:///etc/\n", 12), (b"two words\n", 12), (b"", 12), (b"scp://a.example/x\n", 12), (b"z" * 20_000, 12)):
            with self.subTest(text[:40]):
                self.assertNotEqual(code, 0)
                self.expect(self.sabath.fetch(self.publish("x.uri", text), "--refresh"), code)


if __name__ == "__main__":
    main()
