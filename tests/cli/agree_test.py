#!/usr/bin/python3
"""`plan`, `fetch --dry-run` and `fetch` agree on what moves, in many states of a store."""

import json
import random

from support.case import Case, main
from support.content import fragment, seeded, tar_bytes
from support.program import INSTRUMENTED

CASES, SEED = 15 if INSTRUMENTED else 100, 2026
SIZES = (0, 1, 5_000, 70_000, 300_000, (4 << 20) + 5, 9 << 20)


class Agree(Case):
    def setUp(self):
        super().setUp()
        contents = [seeded(size, number) for number, size in enumerate(SIZES)]
        # The same content under several names is what a store saves.
        self.files = {f"{number}-{copy}.bin": data for number, data in enumerate(contents) for copy in range(2)}
        self.server = self.serve(self.files)
        self.other = self.serve(self.files, name="other")

    def make_recipe(self, name, choose):
        fragments = []
        for file in choose.sample(sorted(self.files), choose.randint(1, 5)):
            data = self.files[file] if choose.random() < 0.7 else None  # with size and checksum, or neither
            one = fragment(self.server.url(file), data, name=file)
            if choose.random() < 0.3:
                one["urls"].append(self.other.url(file))
            if data is not None and choose.random() < 0.3:
                one["checksum"] = None
            fragments.append(one)
        if choose.random() < 0.2:
            (self.server.root / f"{name}.list").write_text("".join(
                f"{self.server.url(file)}\n" for file in choose.sample(sorted(self.files), 3)))  # fmt: skip
            fragments.append(fragment(self.server.url(f"{name}.list"), kind="file_list", name="list", path="listed"))
        if choose.random() < 0.15:
            packed = tar_bytes({"a": seeded(30_000, len(name)), "b": b"the same in all"})
            (self.server.root / f"{name}.tar").write_bytes(packed)
            fragments.append(fragment(self.server.url(f"{name}.tar"), packed, "archive", name="tar", path="unpacked"))
        self.sabath.add(name, fragments)

    def lose_something(self, choose):
        objects = sorted(path for path in (self.sabath.store / "objects").rglob("*") if path.is_file())
        for path in choose.sample(objects, min(len(objects), choose.randint(1, 3))):
            path.unlink()

    def moves(self, name, *options):
        """What each of the three says, the last one having done it; and whether all sizes were known before."""
        dry = self.expect(self.sabath.run("fetch", "--json", "-n", "-d", name, *options)).record["assets"][0]
        planned, known = dry["to_fetch_bytes"], dry["to_fetch_bytes"] is not None
        if options != ("--refresh",):  # of which a plan knows nothing
            plan = self.expect(self.sabath.run("plan", "--json", "-d", name, *options)).record
            planned, known = plan["bytes_to_fetch"], plan["sizes_known"]
        done = self.fetch("-d", name, "--lanes", 1, *options)  # several lanes may bring the end of a file twice
        return planned, dry["to_fetch_bytes"], done["fetched_bytes"], known

    def choose_options(self, choose, recipe):
        kind = choose.random()
        if kind < 0.1:
            return ["--force"]
        if kind < 0.25:
            return ["--refresh"]
        if kind < 0.35:
            return ["--select", choose.choice([one["id"] for one in recipe if one["type"] == "file"])]
        return []

    def test_many_states(self):
        choose = random.Random(SEED)
        for number in range(CASES):
            name = f"case{number}" if number < 10 or choose.random() < 0.6 else f"case{choose.randrange(number)}"
            if not (self.home / f"recipes/datasets/{name}.json").exists():
                self.make_recipe(name, choose)
            if number > 5 and choose.random() < 0.4:
                self.lose_something(choose)
            recipe = json.loads((self.home / f"recipes/datasets/{name}.json").read_text())["fragments"]
            kinds = {one["type"] for one in recipe}
            options = self.choose_options(choose, recipe)
            with self.subTest(number=number, name=name, options=options, recipe=recipe):
                planned, dry, moved, known = self.moves(name, *options)
                if kinds == {"file"} and options != ["--refresh"]:  # others name more than is known before they are here
                    self.assertTrue(known)
                if planned is not None:
                    self.assertGreaterEqual(moved, planned)
                # An archive comes whole, even if one file was lost. The begin of an answer tells its version.
                if known and "archive" not in kinds and options != ["--refresh"]:
                    self.assertLess(moved, 1.05 * planned + 1)  # a second mirror gives samples first
                if dry is not None:  # it asks no server for sizes
                    self.assertEqual(dry, planned)


if __name__ == "__main__":
    main()
