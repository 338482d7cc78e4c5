#!/usr/bin/python3
"""search: words, expressions and keys, the best answers first, by an index that is never wrong."""

from support.case import Case, main
from support.content import fragment


class Search(Case):
    """Recipes of words that no shipped one has."""

    def setUp(self):
        super().setUp()
        self.add("qqflow", title="Qqology", licence="BSD-3-Clause", metadata={"seed9": 12109763, "task": "regression"})
        self.add("qqclimate", title="About qqflow", licence="MIT")
        self.add("qqweather", abstract="not of qqflow", licence="MIT")

    def add(self, name, **more):
        self.sabath.add(name, [fragment(f"file://{self.home}/{name}.h5", b"x" * 1000)], **more)

    def find(self, *arguments, code=0):
        return self.expect(self.sabath.run("search", "--names", *arguments), code).lines

    def test_the_best_answer_comes_first(self):
        self.assertEqual(self.find("qqflow"), ["qqflow", "qqclimate", "qqweather"])
        self.assertEqual(self.find("QQFL.*w$"), ["qqflow", "qqclimate", "qqweather"])
        self.assertEqual(self.find("qqflow", "about"), ["qqclimate"])
        one = self.expect(self.sabath.run("search", "qqflow", "--limit", "1", "--json")).record
        self.assertEqual(([asset["name"] for asset in one["assets"]], one["found"]), (["qqflow"], 3))

    def test_keys(self):
        self.assertEqual(self.find("qqflow", "--licence", "mit"), ["qqclimate", "qqweather"])
        self.assertEqual(self.find("qq", "--tag", "task=regression"), ["qqflow"])
        self.assertEqual(self.find("qq", "--tag", "seed9"), ["qqflow"])
        self.assertEqual(self.find("seed9=12109763"), ["qqflow"])
        self.assertEqual(len(self.find("qq", "--format", "hdf5", "--min-size", "1k")), 3)
        self.find("qq", "--min-size", "2k", code=3)
        self.find("(", code=2)
        self.find(code=2)

    def test_the_index_is_never_wrong(self):
        index = self.home / ".cache/sabath-catalogue"
        for _ in range(2):
            self.assertEqual(self.find("qqology"), ["qqflow"])
        self.add("qqclimate", title="Qqology")
        self.assertEqual(self.find("qqology"), ["qqclimate", "qqflow"])
        (self.sabath.recipes / "datasets/qqflow.json").unlink()
        self.assertEqual(self.find("qqology"), ["qqclimate"])
        for file in index.glob("*"):
            file.write_bytes(b"\xff" * 5000)
        self.assertEqual(self.find("qqology"), ["qqclimate"])
        for file in index.glob("*"):
            file.unlink()
        index.rmdir()
        index.write_text("in its place")
        self.assertEqual(self.find("qqology"), ["qqclimate"])


if __name__ == "__main__":
    main()
