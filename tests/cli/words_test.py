#!/usr/bin/python3
"""Failures whose cause a person cannot guess: each is caused for real, and the words name it and its remedy."""

import json

from support.case import Case, main, place
from support.content import fragment


class Words(Case):
    def told(self, result, code, *says):
        """The failure's text, which must have these words."""
        self.expect(result, code)
        for text in says:
            self.assertIn(text, result.err)
        return result.err

    def fetched(self, url, code, *says, kind="file", **variables):
        self.sabath.add("asset", [fragment(url, kind=kind)])
        return self.told(self.sabath.run("fetch", "asset", **variables), code, *says)


class Documents(Words):
    """Keys that a person writes from memory."""

    def recipe(self, *says, hint="", fragments=None, **keys):
        document = {"schema": 1, "kind": "dataset", "name": "asset", "fragments": fragments, **keys}
        text = json.dumps({key: value for key, value in document.items() if value is not None})
        place(self.sabath.recipes / "datasets/asset.json", text.encode())
        for verb in ("info", "fetch", "plan"):
            err = self.told(self.sabath.run(verb, "asset"), 12, "asset.json:1: ", *says)
            self.assertIn(hint, err.partition("hint: ")[2])

    def test_of_a_recipe(self):
        one = {"id": "a", "type": "file", "urls": ["http://127.0.0.1:9/f"]}
        without = {"id": "a", "type": "file"}
        self.recipe('unknown key "url" (did you mean "urls"?)', fragments=[{**without, "url": ["http://h/f"]}])
        self.recipe('"urls" must be an array, not a string', hint="in brackets", fragments=[{**without, "urls": "http://h/f"}])
        self.recipe('"urls" must name at least one URL', fragments=[without])
        self.recipe('unknown key "fragment" (did you mean "fragments"?)', fragment=[one])
        self.recipe('unknown key "typ" (did you mean "type"?)', fragments=[{"id": "a", "typ": "file", "urls": one["urls"]}])
        self.recipe('"sha256" stands outside of "checksum"', hint='"checksum": {"sha256": "..."}',
                    fragments=[{**one, "sha256": "00"}])  # fmt: skip
        self.recipe('"kind" is of schema 1, and the recipe does not say "schema": 1', hint='begin the recipe with "schema": 1',
                    fragments=[one], schema=None)  # fmt: skip
        self.recipe('unknown key "shema" (did you mean "schema"?)', fragments=[one], schema=None, kind=None, shema=1)
        self.recipe('unknown key "urls" (did you mean "url"?)', fragments=[one], schema=None, kind=None)
        self.recipe('unknown key "nme" (did you mean "name"?)', fragments=[one], name=None, nme="asset")

    def test_of_the_configuration(self):
        for text, says in (({"recipe": ["/x"]}, 'unknown key "recipe" (did you mean "recipes"?)'),
                           ({"recipes": "/x"}, '"recipes" must be an array, not a string'),
                           ({"tokens": [{"orgin": "https://h", "file": "x"}]}, 'unknown key "orgin" (did you mean "origin"?)'),
                           ({"hosts": [{"hots": "h"}]}, 'unknown key "hots" (did you mean "host"?)'),
                           ({"trusted_owner": ["root"]}, 'unknown key "trusted_owner" (did you mean "trusted_owners"?)')):  # fmt: skip
            place(self.home / "config.json", json.dumps(text).encode())
            self.told(self.sabath.run("list", SABATH_CONFIG=str(self.home / "config.json")), 12, "config.json:1: ", says)


if __name__ == "__main__":
    main()
