#!/usr/bin/python3
"""search: words, expressions and keys, the best answers first, by an index that is never wrong."""

from support.case import Case, main
from support.content import fragment


class Search(Case):
    def setUp(self):
        super().setUp()
        self.add("cosmoflow", title="Cosmology", licence="BSD-3-Clause", metadata={"seed9": 12109763, "task": "regression"})
        self.add("climate", title="About cosmoflow", licence="MIT")
        self.add("weather", abstract="not of cosmoflow", licence="MIT")

    def add(self, name, **more):
        self.sabath.add(name, [fragment(f"file://{self.home}/{name}.h5", b"x" * 1000)], **more)

    def find(self, *arguments, code=0):
        return self.expect(self.sabath.run("search", "--names", *arguments), code).lines

    def test_the_best_answer_comes_first(self):
        self.assertEqual(self.find("cosmoflow"), ["cosmoflow", "climate", "weather"])
        self.assertEqual(self.find("COSMO.*w$"), ["cosmoflow", "climate", "weather"])
        self.assertEqual(self.find("cosmoflow", "about"), ["climate"])
        one = self.expect(self.sabath.run("search", "cosmoflow", "--limit", "1", "--json")).record
        self.assertEqual(([asset["name"] for asset in one["assets"]], one["found"]), (["cosmoflow"], 3))

    def test_keys(self):
        self.assertEqual(self.find("--licence", "mit"), ["climate", "weather"])
        self.assertEqual(self.find("--tag", "task=regression"), ["cosmoflow"])
        self.assertEqual(self.find("--tag", "seed9"), ["cosmoflow"])
        self.assertEqual(self.find("seed9=12109763"), ["cosmoflow"])
        self.assertEqual(len(self.find("--format", "hdf5", "--min-size", "1k")), 3)
        self.find("--min-size", "2k", code=3)
        self.find("(", code=2)

    def test_the_index_is_never_wrong(self):
        index = self.home / ".cache/sabath-catalogue"
        for _ in range(2):
            self.assertEqual(self.find("cosmology"), ["cosmoflow"])
        self.add("climate", title="Cosmology")
        self.assertEqual(self.find("cosmology"), ["climate", "cosmoflow"])
        (self.sabath.recipes / "datasets/cosmoflow.json").unlink()
        self.assertEqual(self.find("cosmology"), ["climate"])
        for file in index.glob("*"):
            file.write_bytes(b"\xff" * 5000)
        self.assertEqual(self.find("cosmology"), ["climate"])
        for file in index.glob("*"):
            file.unlink()
        index.rmdir()
        index.write_text("in its place")
        self.assertEqual(self.find("cosmology"), ["climate"])


if __name__ == "__main__":
    main()
