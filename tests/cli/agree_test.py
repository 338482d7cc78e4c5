#!/usr/bin/python3
"""`plan`, `fetch --dry-run` and `fetch` agree on what moves, in a hundred states of a store."""

import random

from support.case import Case, main
from support.content import fragment, seeded

CASES, SEED = 100, 2026
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
        self.sabath.add(name, fragments)

    def lose_something(self, choose):
        objects = sorted(path for path in (self.sabath.store / "objects").rglob("*") if path.is_file())
        for path in choose.sample(objects, min(len(objects), choose.randint(1, 3))):
            path.unlink()

    def moves(self, name, *options):
        """What each of the three says, the last one having done it."""
        plan = self.expect(self.sabath.run("plan", "--json", "-d", name, *options)).record
        self.assertTrue(plan["sizes_known"], plan)
        dry = self.expect(self.sabath.run("fetch", "--json", "-n", "-d", name, *options)).record["assets"][0]
        done = self.fetch("-d", name, *options)
        return plan["bytes_to_fetch"], dry["to_fetch_bytes"], done["fetched_bytes"]

    def test_a_hundred_states(self):
        choose = random.Random(SEED)
        for number in range(CASES):
            name = f"case{number}" if number < 10 or choose.random() < 0.6 else f"case{choose.randrange(number)}"
            if not (self.home / f"recipes/datasets/{name}.json").exists():
                self.make_recipe(name, choose)
            if number > 5 and choose.random() < 0.4:
                self.lose_something(choose)
            options = ["--force"] if choose.random() < 0.1 else []
            recipe = (self.home / f"recipes/datasets/{name}.json").read_text()
            with self.subTest(number=number, name=name, options=options, recipe=recipe):
                planned, dry, moved = self.moves(name, *options)
                self.assertGreaterEqual(moved, planned)
                self.assertLess(moved, 1.05 * planned + 1)  # of a large file the end of a late chunk may come twice
                if dry is not None:  # it asks no server for sizes
                    self.assertEqual(dry, planned)


if __name__ == "__main__":
    main()
