#!/usr/bin/python3
"""Assets by their names: registered by adopt and import, listed with sizes, linked for people, removed."""

import json
import os
import pathlib
import shutil
import subprocess

from support import program
from support.case import Case, main, place
from support.content import fragment, seeded, small_tree, tar_bytes
from support.origin import poll
from support.program import Sabath

MIB = 1 << 20
ROOMS = ("object_bytes", "pack_bytes", "view_bytes", "trash_bytes", "partial_bytes")


class Names(Case):
    def setUp(self):
        super().setUp()
        self.data = self.home / "data"
        self.tree = {name: data for name, data in small_tree().items()}
        for name, data in self.tree.items():
            place(self.data / name, data)

    def adopt(self, *arguments, code=0):
        return self.expect(self.sabath.run("adopt", self.data, "--name", "mine", *arguments), code)

    def test_a_registered_name_is_known_to_every_verb(self):
        adopted = self.adopt()
        self.assertIn("all who use this store know it as mine: `sabath path mine` prints where it is", adopted.err)
        root = json.loads(adopted.out)["manifest"]["digest"]
        again = self.adopt()  # nothing new
        self.assertEqual(again.out, adopted.out)
        self.assertIn("mine", self.expect(self.sabath.run("list", "--names")).lines)
        self.assertIn("mine", self.expect(self.sabath.run("search", "mine")).out)
        self.assertIn(root, self.expect(self.sabath.run("info", "mine")).out)
        path = self.expect(self.sabath.run("path", "mine")).lines[-1]  # at once: nothing fetched it
        self.expect_tree(path, self.tree)
        self.assertEqual(self.expect(self.sabath.run("list", "--stored", "--names")).lines, ["mine"])
        self.assertEqual(os.path.realpath(self.sabath.store / "by-name/mine"), os.path.realpath(path))
        for verb in (("fetch", "mine", "--offline"), ("view", "mine")):
            self.assertEqual(self.expect(self.sabath.run(*verb)).lines[-1], path)
        self.sabath.add("reader", kind="model", run={"mine": [{"argv": ["ls", "{dataset}"]}]})
        self.expect(self.sabath.run("run", "reader", "mine", "--no-fetch", "--run-dir", self.home / "run"))
        other = Sabath(self.home / "other")  # another user of the store, with recipes of his own
        other.environment["SABATH_CACHE"] = str(self.sabath.store)
        self.assertEqual(self.expect(other.run("path", "mine")).lines, [path])

    def test_what_the_store_holds_is_found_without_its_recipe(self):
        """Tomorrow, in another shell: by its name, and the text says where the recipe stood."""
        server = self.serve({"f.bin": b"content"})
        recipe = self.sabath.add("sea", [fragment(server.url("f.bin"))], version="1")
        self.sabath.add("net", [fragment(server.url("f.bin"), path="w.bin")], kind="model", run={"sea": [{"argv": ["true"]}]})
        path = self.fetch("sea")["path"]
        self.fetch("-m", "net")
        notes = sorted((self.sabath.store / "recipes/held").rglob("*.json"))
        self.assertEqual([note.name for note in notes], ["sea.json", "net.json"])
        written = [note.stat().st_mtime_ns for note in notes]
        self.fetch("sea")
        self.assertEqual([note.stat().st_mtime_ns for note in notes], written)  # all is right: nothing is written
        other = Sabath(self.home / "other")
        other.environment["SABATH_CACHE"] = str(self.sabath.store)
        for name in ("sea", "sea@1"):
            self.assertEqual(self.expect(other.run("path", name)).lines, [path])
        listed = self.expect(other.run("list")).out
        self.assertRegex(listed, rf"(?m)^sea +dataset +1 .* yes +\(its recipe was at {recipe}\)$")
        self.assertIn("sea", self.expect(other.run("list", "--stored", "--names")).lines)
        self.expect(other.run("verify", "sea"))
        self.expect(other.run("fetch", "sea", "--offline"))
        self.expect(other.run("stage", "sea", "--to", self.home / "node"))
        other.add("reader", kind="model", run={"sea": [{"argv": ["ls", "{dataset}"]}]})
        self.expect(other.run("run", "reader", "sea", "--no-fetch", "--run-dir", self.home / "run"))
        refused = self.expect(other.run("run", "net"), 3).err
        self.assertIn(f"the store holds net, and not how it runs: its recipe was at {self.sabath.recipes}/models/net.json", refused)
        self.expect(other.run("adopt", self.data, "--name", "sea"))  # it stands in no other's way
        self.expect(other.run("rm", "--forget", "sea"))
        for verb in (("verify",), ("gc", "--dry-run"), ("doctor",)):
            self.expect(other.run(*verb))
        self.expect(self.sabath.run("rm", "net"))
        self.assertEqual([note.name for note in (self.sabath.store / "recipes/held").rglob("*.json")], ["sea.json"])
        self.expect(other.run("path", "net"), 3)
        if os.geteuid() == 0:  # a note of another user counts for nothing
            os.chown(notes[0], 64001, -1)
            self.expect(other.run("path", "sea"), 3)

    def test_the_recipe_of_a_url_stands_where_it_was_written(self):
        server = self.serve({"f.bin": b"content"})
        self.expect(self.sabath.run("fetch", server.url("f.bin")))
        (recipe,) = self.sabath.recipes.rglob("f.bin.json")
        other = Sabath(self.home / "other")
        other.environment["SABATH_CACHE"] = str(self.sabath.store)
        self.assertIn(f"(its recipe was at {recipe})", self.expect(other.run("list")).out)

    def test_an_empty_directory_is_a_store_that_holds_nothing(self):
        self.sabath.add("sea", [fragment("http://data.example/f.bin")])
        self.sabath.store.mkdir()
        for verb in (("list",), ("search", "sea"), ("info", "sea")):
            self.expect(self.sabath.run(*verb))
        self.assertEqual(list(self.sabath.store.iterdir()), [])
        (self.sabath.store / "thesis.tex").write_text("x")  # that is none
        self.assertIn("there is no store", self.expect(self.sabath.run("list"), 3).err)

    def test_a_list_of_nothing_says_why(self):
        """Nothing on standard output, for scripts; where it looked, and the next step, for people."""
        bare = self.home / "bare"  # no recipes lie beside this program
        bare.mkdir()
        shutil.copy(program.BINARY, bare / "sabath")
        (self.home / "no recipes").mkdir()
        self.sabath.environment.update(SABATH_RECIPES=f"{self.home}/no recipes:{self.home}/gone")

        def told(*arguments):
            done = subprocess.run([bare / "sabath", "list", *arguments], env=self.sabath.environment, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, ""))
            return done.stderr

        self.assertIn(f"there are no recipes: SABATH looked in {self.home}/no recipes, {self.home}/gone (not there); "
                      "name a directory that has some in SABATH_RECIPES", told())  # fmt: skip
        self.assertIn(f"{self.sabath.store} holds nothing that a recipe names", told("--stored"))
        self.assertIn("no recipe is of this sort: `sabath list` shows all", told("--kind", "model"))
        self.assertNotIn("there are no recipes", told("-q"))

    def test_the_same_name_with_another_root_is_refused_with_both_shown(self):
        old = json.loads(self.adopt().out)["manifest"]["digest"]
        place(self.data / "more", b"1")
        refused = self.adopt(code=7)
        new = json.loads(self.expect(self.sabath.run("adopt", self.data, "--json")).out)["manifest"]
        self.assertIn(old, refused.err)
        self.assertIn(new, refused.err)
        self.assertIn("`sabath rm --forget mine`", refused.err)
        freed = self.expect(self.sabath.run("rm", "--forget", "mine"))
        self.assertIn("mine: the name is free", freed.err)
        self.assertEqual(json.loads(self.adopt().out)["manifest"]["digest"], new)
        self.expect(self.sabath.run("rm", "--forget", "nothing"), 3)
        self.assertTrue((self.data / "more").exists())

    def test_a_recipe_in_a_directory_shadows_a_registered_one(self):
        self.adopt()
        server = self.serve({"f": b"another"})
        self.sabath.add("mine", [fragment(server.url("f"))])
        self.expect_tree(self.fetch("mine")["path"], {"f": b"another"})
        said = self.adopt().err
        self.assertIn("another recipe has the name mine and does not pin this", said)
        self.expect(self.sabath.run("rm", "--forget", "mine"))

    def test_the_documented_line_with_a_redirection_works(self):
        recipe = self.sabath.recipes / "datasets/mine.json"
        line = f"{program.BINARY} adopt {self.data} --name mine > {recipe}"
        for _ in range(2):
            subprocess.run(["sh", "-c", line], env=self.sabath.environment, check=True, capture_output=True)
            self.assertEqual(json.loads(recipe.read_text())["name"], "mine")
        recipe.write_bytes(b"")  # a command that failed
        self.expect_tree(self.fetch("mine")["path"], self.tree)
        listed = self.expect(self.sabath.run("list"))
        self.assertIn(f"left out: {recipe} is empty", listed.err)
        (self.sabath.recipes / "datasets/empty.json").write_bytes(b"")
        self.assertIn("empty.json is empty", self.expect(self.sabath.run("fetch", "empty"), 12).err)

    def test_import_registers_and_says_what_is_next(self):
        self.adopt()
        tar = self.home / "mine.tar"
        self.expect(self.sabath.run("export", "mine", "-o", tar))
        other = Sabath(self.home / "other")
        for _ in range(2):
            taken = self.expect(other.run("import", tar))
            self.assertIn("next: `sabath path mine` prints where it is", taken.err)
        path = self.expect(other.run("fetch", "mine", "--offline")).lines[-1]
        self.expect_tree(path, self.tree)
        self.assertEqual(self.expect(other.run("import", tar, "--json")).record["assets"][0]["known"], True)
        third = Sabath(self.home / "third")
        place(self.data / "more", b"1")
        self.expect(third.run("adopt", self.data, "--name", "mine"))
        refused = self.expect(third.run("import", tar), 7)
        self.assertEqual(refused.err.count("sha256:"), 2, refused.err)
        third.add("mine", [fragment("http://a.example/f")])
        taken = self.expect(third.run("import", tar))
        self.assertIn(f"next: `sabath import {tar} mine` trusts the bundle for it", taken.err)

    def test_names_that_are_none_are_refused_before_the_work(self):
        for name in ("../up", "a/b", ".hidden", "x" * 200, "a b"):
            refused = self.expect(self.sabath.run("adopt", self.data, "--name", name), 2)
            self.assertIn("is no name", refused.err)
        self.assertFalse(self.sabath.store.exists())

    def test_a_strangers_file_among_the_registered_names_is_not_believed(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to own a file as another user")
        self.adopt()
        file = self.sabath.store / "recipes/datasets/mine.json"
        os.chown(file, 64001, -1)
        (file.parent / "link.json").symlink_to(file)
        refused = self.expect(self.sabath.run("path", "mine"), 3)
        self.assertIn("is no trusted user's file", refused.err)


class Room(Case):
    def setUp(self):
        super().setUp()
        self.server = self.serve()

    def add(self, name, data, kind="file", **more):
        place(self.server.root / name, data)
        self.sabath.add(name, [fragment(self.server.url(name), data, kind=kind, **more)])

    def add_many(self):
        names = [f"n/{i:04}" for i in range(1200)]
        many = self.serve({"list.txt": "\n".join(names).encode()}, name="lists", extra='location /n/ { return 200 "$uri"; }')
        self.sabath.add("many", [fragment(many.url("list.txt"), kind="file_list")])

    def usage(self):
        record = self.expect(self.sabath.run("du", "--json")).record
        return sum(record[room] for room in ROOMS)

    def expect_freed(self, name, *arguments):
        before = self.usage()
        gone = self.expect(self.sabath.run("rm", name, "--json", *arguments)).asset
        self.assertEqual(gone["freed_bytes"], before - self.usage())
        return gone

    def test_what_was_freed_is_what_du_shows(self):
        self.add("one", seeded(3 * MIB, 1))
        self.add("tree", tar_bytes({"a": seeded(2 * MIB, 2), "b/c": seeded(5000, 3)}), kind="archive")
        self.add_many()
        empty = self.usage()
        for name in ("one", "tree", "many"):
            with self.subTest(name):
                self.fetch(name, "--view")
                shown = self.expect(self.sabath.run("du", name, "--json")).record["assets"][0]
                gone = self.expect_freed(name)
                self.assertEqual(self.usage(), empty)
                self.assertEqual((gone["trash_bytes"], gone["shared_bytes"], gone["kept"]), (0, 0, None))
                if name != "many":  # a pack has an index, too
                    self.assertEqual(gone["freed_bytes"], shown["alone_bytes"] + shown["view_bytes"])
                self.assertFalse((self.sabath.store / "by-name" / name).is_symlink())
                self.assertEqual(self.expect(self.sabath.run("path", name), 9).out, "")
                self.expect(self.sabath.run("rm", name), 9)
                self.expect(self.sabath.run("verify"))
        seen = self.server.log()
        self.assertEqual(self.fetch("one")["fetched_bytes"], 3 * MIB)  # the recipe is there
        self.assertTrue(self.server.new_requests(seen))
        said = self.expect(self.sabath.run("rm", "one")).err
        self.assertEqual(said, "one: 3.15 MB freed\n")

    def test_what_others_need_stays(self):
        both = seeded(MIB, 5)
        for name in ("left", "right"):
            data = tar_bytes({"both": both, name: seeded(MIB, len(name))})
            self.add(name, data, kind="archive")
            self.fetch(name)
        gone = self.expect_freed("left")
        self.assertGreaterEqual(gone["shared_bytes"], MIB)
        self.assertLess(gone["freed_bytes"], 2 * MIB)
        self.expect(self.sabath.run("verify", "right"))
        self.expect(self.sabath.run("path", "right"))
        data = tar_bytes({"same": both})
        for name in ("a", "b"):
            self.add(name, data, kind="archive")
            self.fetch(name)
        kept = self.expect_freed("a")["kept"]
        self.assertRegex(kept, "^another asset is the same content: `sabath rm sha256:[0-9a-f]{64}` removes it under all its names$")
        self.expect(self.sabath.run(*kept.split("`")[1].split()[1:]))
        self.expect(self.sabath.run("path", "b"), 9)

    def test_files_of_one_pack_that_another_asset_needs_stay(self):
        files = {f"{i:04}": seeded(300, i) for i in range(2400)}
        names = list(files)
        self.add("low", tar_bytes({n: files[n] for n in names[:1400]}), kind="archive")
        self.add("high", tar_bytes({n: files[n] for n in names[1000:]}), kind="archive")
        for name in ("low", "high"):
            self.fetch(name)
        gone = self.expect_freed("low")
        self.assertGreater(gone["shared_bytes"], 0)
        self.expect_tree(self.fetch("high", "--offline", "--view")["path"], {n: files[n] for n in names[1000:]})

    def test_what_may_not_go_is_refused(self):
        self.add("one", seeded(MIB, 1))
        self.fetch("one")
        self.expect(self.sabath.run("keep", "one"))
        refused = self.expect(self.sabath.run("rm", "one"), 2)
        self.assertIn("one is kept", refused.err)
        self.assertIn("`sabath unkeep one` lets it go", refused.err)
        self.expect(self.sabath.run("path", "one"))
        self.expect(self.sabath.run("unkeep", "one"))
        self.sabath.add("sleeper", kind="model", run={"one": [{"argv": ["sh", "-c", "echo up; exec sleep 60"]}]})
        process = self.sabath.start("run", "sleeper", "one", "--run-dir", self.home / "run")
        poll(lambda: any("up" in f.read_text() for f in (self.home / "run").glob("output/stdout*")) or process.poll())
        in_use = self.expect(self.sabath.run("rm", "one"), 70)
        process.terminate()
        process.communicate()
        self.assertIn("one is in use by", in_use.err)
        self.expect_freed("one")
        self.expect(self.sabath.run("rm", "nothing"), 3)

    def test_what_no_source_can_restore_goes_to_the_trash(self):
        file = self.home / "mine.bin"
        place(file, seeded(2 * MIB, 9))
        self.sabath.add("mine", [fragment(f"file://{file}")])
        self.fetch("mine")
        gone = self.expect(self.sabath.run("rm", "mine"))
        self.assertIn("mine: 2.10 MB moved to the trash, as no source can restore it", gone.err)
        left = self.expect(self.sabath.run("du", "--json")).record
        self.assertEqual((left["object_bytes"], left["trash_bytes"] >= 2 * MIB), (0, True))
        self.expect(self.sabath.run("gc", "--undo"))
        self.expect(self.sabath.run("path", "mine"))
        self.assertTrue((self.sabath.store / "by-name/mine").exists())
        self.assertGreaterEqual(self.expect_freed("mine", "--now")["freed_bytes"], 2 * MIB)

    def test_sizes_in_lists_and_links_by_name(self):
        self.add("one", seeded(3 * MIB, 1))
        self.add("tree", tar_bytes({"a": seeded(1000, 2), "b/c": seeded(5000, 3)}), kind="archive")
        self.add_many()
        for name in ("one", "tree", "many"):
            self.fetch(name)
        listed = {a["name"]: a for a in self.expect(self.sabath.run("list", "--json")).record["assets"]}
        self.assertEqual([(listed[n]["stored_bytes"], listed[n]["packed"]) for n in ("one", "tree")],
                         [(3 * MIB, False), (6000, False)])  # fmt: skip
        self.assertTrue(listed["many"]["packed"])
        self.assertIn("packed", self.expect(self.sabath.run("list", "--stored")).out)
        by_name = self.sabath.store / "by-name"
        self.assertEqual((by_name / "one").read_bytes(), seeded(3 * MIB, 1))  # one file: itself
        self.assertEqual(sorted(os.listdir(by_name / "tree")), ["a", "b"])
        self.assertFalse(os.path.isabs(os.readlink(by_name / "tree")))
        self.assertFalse((by_name / "many").is_symlink())
        self.expect(self.sabath.run("view", "many"))
        self.assertTrue((by_name / "many").is_dir())
        moved = self.home / "moved"
        shutil.move(self.sabath.store, moved)
        self.assertTrue((moved / "by-name/many").is_dir())
        shutil.move(moved, self.sabath.store)
        (by_name / "one").unlink()
        (by_name / "one").symlink_to("/etc/passwd")  # SABATH never follows it
        self.assertEqual(pathlib.Path(self.fetch("one")["path"], "one").read_bytes(), seeded(3 * MIB, 1))
        self.assertEqual((by_name / "one").read_bytes(), seeded(3 * MIB, 1))
        self.expect(self.sabath.run("gc", "--older-than", "0s", "--now"))
        self.assertEqual(list(by_name.iterdir()), [])

    def test_a_model_leaves_the_name_of_a_dataset(self):
        """Also where the dataset's recipe is broken: it is that dataset's name all the same."""
        place(self.home / "w.bin", b"weights")
        self.sabath.add("net", [fragment(f"file://{self.home}/w.bin", path="w.bin")], kind="model")
        broken = self.sabath.recipes / "datasets/net.json"
        link = self.sabath.store / "by-name/net"
        for text, linked in (('{"schema": 1,', False), (None, True)):
            broken.write_text(text) if text else broken.unlink()
            self.expect(self.sabath.run("fetch", "-m", "net"))
            self.assertEqual(link.is_symlink(), linked, text)


if __name__ == "__main__":
    main()
