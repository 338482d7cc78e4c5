#!/usr/bin/python3
"""Several stores and several users: what one store has another does not fetch, and no user is given wrong bytes."""

import ctypes
import ctypes.util
import json
import os
import pathlib
import shutil
import stat
import struct

from support.accounts import BIG, GROUP, OwnProgram, object_of
from support.case import Case, main
from support.content import fragment, sha256

ALICE, BOB, MALLORY = 64001, 64002, 64003


def xxh3(data):
    """By the library that the product uses."""
    library = ctypes.CDLL(ctypes.util.find_library("xxhash"))
    library.XXH3_64bits.restype = ctypes.c_uint64
    return library.XXH3_64bits(bytes(data), ctypes.c_size_t(len(data)))


class Stores(Case):
    def setUp(self):
        super().setUp()
        self.first, self.second = self.home / "mine", self.home / "site"

    def source(self, name="one", data=BIG):
        server = self.serve({"f.bin": data, "small": b"x" * 1000}, name="origin-" + name)
        self.sabath.add(name, [fragment(server.url("f.bin"), data), fragment(server.url("small"), name="s")])
        return server

    def stores(self, *stores):
        return {"SABATH_CACHE": ":".join(map(str, stores))}

    def drop_views(self, store):
        for view in (store / "views").iterdir():
            shutil.rmtree(view)

    def test_content_of_another_store_is_not_fetched(self):
        server = self.source()
        self.fetch("one", **self.stores(self.second))
        self.drop_views(self.second)
        seen = server.log()
        for _ in range(2):  # the first store is there, or is not
            planned = self.expect(self.sabath.run("plan", "one", "--json", **self.stores(self.first, self.second))).record
            self.assertEqual((planned["bytes_to_fetch"], planned["store_bytes"]), (0, 0))
            self.expect(self.sabath.run("init", **self.stores(self.first)))
        asset = self.fetch("one", **self.stores(self.first, self.second))
        self.assertEqual((asset["fetched_bytes"], server.new_requests(seen)), (0, []))
        self.assertTrue(asset["path"].startswith(str(self.first)))
        self.expect_tree(asset["path"], {"f.bin": BIG, "small": b"x" * 1000})
        ours, theirs = object_of(self.first, len(BIG)), object_of(self.second, len(BIG))
        self.assertTrue(os.path.samefile(ours, theirs))
        # Both stores still know what they hold, and know it without reading.
        for store in (self.first, self.second):
            self.expect(self.sabath.run("verify", **self.stores(store)))

    def test_a_view_of_another_store_is_used_where_it_stands(self):
        server = self.source()
        made = self.fetch("one", **self.stores(self.second))
        server.stop()
        asset = self.fetch("one", **self.stores(self.first, self.second))
        self.assertEqual((asset["path"], asset["fetched_bytes"]), (made["path"], 0))
        self.assertEqual(list((self.first / "objects").rglob("*.*")), [])
        path = self.expect(self.sabath.run("path", "one", **self.stores(self.first, self.second)))
        self.assertEqual(path.out.strip(), made["path"])

    def test_many_small_files_come_in_packs(self):
        names = [f"n/{i:05}" for i in range(1200)]
        server = self.serve({"list.txt": "\n".join(names).encode()}, extra='location /n/ { return 200 "$uri"; }')
        self.sabath.add("many", [fragment(server.url("list.txt"), kind="file_list")])
        self.fetch("many", **self.stores(self.second))
        server.stop()
        self.assertTrue(any((self.second / "packs").iterdir()))
        both = self.stores(self.first, self.second)
        self.assertEqual(self.fetch("many", **both)["fetched_bytes"], 0)
        self.expect(self.sabath.run("verify", "many", **both))  # reads the first
        self.assertLess(len([p for p in self.first.rglob("*") if p.is_file()]), 100)

    def test_chunks_of_a_damaged_other_store_are_fetched(self):
        server = self.source()
        self.fetch("one", **self.stores(self.second))
        self.drop_views(self.second)
        theirs = object_of(self.second, len(BIG))
        theirs.chmod(0o644)
        with open(theirs, "r+b") as file:
            file.seek(5_000_000)
            file.write(b"rot")
        theirs.chmod(0o444)
        asset = self.fetch("one", **self.stores(self.first, self.second))
        self.expect_tree(asset["path"], {"f.bin": BIG, "small": b"x" * 1000})
        self.assertGreater(asset["fetched_bytes"], 0)

    def test_the_list_in_the_configuration(self):
        config = self.home / "config.json"
        config.write_text(json.dumps({"stores": [str(self.first), str(self.second)], "trusted_owners": ["root", "64001"]}))
        del self.sabath.environment["SABATH_CACHE"]
        shown = self.expect(self.sabath.run("config", "--json", SABATH_CONFIG=str(config))).record
        self.assertIn(str(self.first), json.dumps(shown))
        config.write_text(json.dumps({"stores": [str(self.first)], "store": str(self.second)}))
        self.expect(self.sabath.run("config", SABATH_CONFIG=str(config)), 12)
        config.write_text(json.dumps({"trusted_owners": ["nobody of this name"]}))
        self.expect(self.sabath.run("config", SABATH_CONFIG=str(config)), 2)

    def test_only_one_store_is_written(self):
        self.source()
        self.fetch("one", **self.stores(self.second))
        self.drop_views(self.second)
        names = sorted(p for p in self.second.rglob("*") if "verified" not in p.parts and "tmp" not in p.parts)
        self.fetch("one", **self.stores(self.first, self.second, self.home / "absent"))
        after = sorted(p for p in self.second.rglob("*") if "verified" not in p.parts and "tmp" not in p.parts)
        self.assertEqual(after, names)
        self.assertFalse((self.home / "absent").exists())


class Users(OwnProgram):
    """As real users of one group; root can be any of them."""

    def as_user(self, user, *arguments, code=0, store=None, **variables):
        home = self.home / f"home-{user}"
        if not home.exists():
            home.mkdir()
            os.chown(home, user, GROUP)
        prefix = ["setpriv", f"--reuid={user}", f"--regid={GROUP}", "--clear-groups", "--"]
        store = store or self.store
        result = self.sabath.run(*arguments, prefix=prefix, HOME=str(home), SABATH_CACHE=str(store), **variables)
        return self.expect(result, code)

    def fetch_as(self, user, name="one", **options):
        return self.as_user(user, "fetch", "--json", name, **options).asset

    def make_shared(self):
        self.as_user(ALICE, "init", "--shared")

    def test_half_of_a_shared_store_is_not_one(self):
        for store in (self.store, self.home / f"home-{ALICE}/new"):
            self.as_user(ALICE, "init", "--shared", "--group", str(GROUP + 99), code=70, store=store)
            self.assertFalse((store / "format").exists())
            made = self.as_user(ALICE, "init", "--shared", store=store)
            self.assertEqual(made.out.strip(), str(store))
            self.assertIn('to believe a member, name him by "trusted_owners": ["USER"] in the configuration', made.err)
            self.as_user(ALICE, "init", "--shared", store=store, code=2)

    def test_a_shared_store_is_writable_for_its_group_and_nothing_published_is(self):
        self.make_shared()
        self.fetch_as(ALICE)
        self.fetch_as(BOB, "pinned", SABATH_CONFIG=self.trusting(ALICE))
        for path in self.store.rglob("*"):
            status = path.lstat()
            self.assertEqual(status.st_gid, GROUP, path)
            if "objects" in path.parts and path.is_dir():
                self.assertEqual(stat.S_IMODE(status.st_mode) & 0o2775, 0o2775, path)
            if stat.S_ISREG(status.st_mode) and "objects" in path.parts:
                self.assertEqual(stat.S_IMODE(status.st_mode), 0o444, path)
            if stat.S_ISREG(status.st_mode):
                writable = path.parts[-2] in ("leases", "pins", "used") or "used" in path.parts
                self.assertTrue(writable or status.st_mode & 0o022 == 0, f"{path} {oct(status.st_mode)}")

    def trusting(self, *users):
        config = self.home / "config.json"
        config.write_text(json.dumps({"trusted_owners": [str(user) for user in users]}))
        config.chmod(0o644)
        return str(config)

    def test_two_users_fetch_once(self):
        self.make_shared()
        self.fetch_as(ALICE, "pinned")
        seen = self.server.log()
        for options in ({}, {"SABATH_CONFIG": self.trusting(ALICE)}):
            asset = self.fetch_as(BOB, "pinned", **options)
            self.assertEqual((asset["fetched_bytes"], self.server.new_requests(seen)), (0, []))
            self.expect_tree(asset["path"], {"f.bin": BIG, "small": b"y" * 1000})
        path = self.fetch_as(ALICE, "pinned")["path"]
        self.expect_tree(path, {"f.bin": BIG, "small": b"y" * 1000})

    def test_a_file_that_is_not_trusted_is_copied_and_not_linked(self):
        self.make_shared()
        self.fetch_as(ALICE, "pinned")
        view = pathlib.Path(self.fetch_as(BOB, "pinned")["path"])
        self.assertEqual((view / "f.bin").lstat().st_uid, BOB)
        ours = object_of(self.store, len(BIG))
        ours.chmod(0o644)  # as its owner may
        with open(ours, "r+b") as file:
            file.write(b"poison")
        self.assertEqual((view / "f.bin").read_bytes(), BIG)

    def poison(self, data, wrong):
        """Mallory, of the same group, puts other bytes under a right name."""
        target = object_of(self.store, len(data))
        target.unlink()
        target.write_bytes(wrong)
        target.chmod(0o444)
        os.chown(target, MALLORY, GROUP)

    def test_wrong_bytes_under_a_right_name(self):
        self.make_shared()
        self.fetch_as(ALICE, "pinned")
        wrong = b"z" * len(BIG)
        self.poison(BIG, wrong)
        asset = self.fetch_as(BOB, "pinned")
        self.expect_tree(asset["path"], {"f.bin": BIG, "small": b"y" * 1000})
        self.poison(BIG, wrong)
        asset = self.fetch_as(ALICE, "pinned")
        self.expect_tree(asset["path"], {"f.bin": BIG, "small": b"y" * 1000})

    def forge_evidence(self, path, digest):
        """A fact that says that the file holds what its name says."""
        status = path.stat()
        body = bytes.fromhex(digest) + struct.pack(
            "<QQqqq", status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns, 0
        )
        record = struct.pack("<Q", xxh3(body) ^ int.from_bytes(b"sabevid1", "little")) + body
        self.as_mallory(self.store / "verified" / "forged.log", record)

    def as_mallory(self, file, data):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        os.chown(file, MALLORY, GROUP)

    def test_forged_evidence(self):
        self.make_shared()
        self.fetch_as(ALICE, "pinned")
        digest = object_of(self.store, 1000).parent.name + object_of(self.store, 1000).name.split(".")[0]
        for trusted in (False, True):
            with self.subTest(trusted=trusted):
                self.poison(b"y" * 1000, b"!" * 1000)
                self.forge_evidence(object_of(self.store, 1000), digest)
                options = {"SABATH_CONFIG": self.trusting(MALLORY)} if trusted else {}
                found = self.as_user(BOB, "fetch", "--json", "pinned", **options).asset
                self.assertEqual(found["fetched_bytes"], 0 if trusted else 1000)  # trusted: the forgery is a good one
                if not trusted:
                    self.expect_tree(found["path"], {"f.bin": BIG, "small": b"y" * 1000})

    def test_forged_aliases(self):
        self.make_shared()
        evil = b"#" * 1000
        server = self.serve({"evil": evil}, name="evil")
        self.sabath.add("evil", [fragment(server.url("evil"))])
        self.fetch_as(MALLORY, "evil")
        good = sha256(b"y" * 1000)
        text = f"sha256:{sha256(evil)} 1000"
        rest = f"alias/sha256/{good[:2]}/{good[2:]}\n{text} {xxh3(text.encode()):016x}\n".encode()
        note = f"sabath note 1 {xxh3(rest):016x} ".encode() + rest
        self.sabath.add("wanted", [fragment(self.server.url("small"), b"y" * 1000)])
        for user in (MALLORY, BOB):
            self.as_mallory(self.store / f"alias.{MALLORY}" / "sha256" / good[:2] / good[2:], note)
            asset = self.fetch_as(user, "wanted", code=0)
            content = (pathlib.Path(asset["path"]) / "small").read_bytes()
            self.assertEqual(content, evil if user == MALLORY else b"y" * 1000)  # it fools its maker alone

    def test_refs_and_logs_of_others_are_not_believed(self):
        """Mallory fetches another thing honestly, and then says that it is what Bob's source gives."""
        self.make_shared()
        evil = self.serve({"f.bin": b"evil" * 1000, "small": b"y" * 1000}, name="evil")
        recipe = json.loads((self.sabath.recipes / "datasets/one.json").read_text())
        # The same source, as far as the recipe's text goes; a rewrite leads Mallory elsewhere.
        for part in recipe["fragments"]:
            part.pop("size", None), part.pop("checksum", None)
        self.sabath.add("free", recipe["fragments"])
        config = self.home / "mallory.json"
        rule = {"from": self.server.url(), "to": evil.url()}
        config.write_text(json.dumps({"rewrites": [rule]}))
        config.chmod(0o644)
        self.fetch_as(MALLORY, "free", SABATH_CONFIG=str(config))
        asset = self.fetch_as(BOB, "free")
        self.expect_tree(asset["path"], {"f.bin": BIG, "small": b"y" * 1000})

    def test_what_a_checksum_proves_is_not_fetched_again(self):
        self.make_shared()
        parts = [fragment(self.server.url(name), data, name=name) for name, data in self.tree().items()]
        self.sabath.add("sure", parts)
        first = self.fetch_as(ALICE, "sure")
        seen = self.server.log()
        second = self.fetch_as(BOB, "sure")
        self.assertEqual((second["fetched_bytes"], self.server.new_requests(seen)), (0, []))
        self.assertEqual(second["trusted_by"], "checksum")
        self.both_are_right("sure", {ALICE: first, BOB: second})
        self.poison(BIG, b"z" * len(BIG))  # a right name does not help
        shutil.rmtree(self.store / f"views.{BOB}")
        self.expect_tree(self.fetch_as(BOB, "sure")["path"], self.tree())

    def tree(self):
        return {"f.bin": BIG, "small": b"y" * 1000}

    def both_are_right(self, name, assets):
        for user, asset in assets.items():
            self.assertEqual(self.as_user(user, "path", name).out.strip(), asset["path"])
            self.as_user(user, "verify", name)

    def test_what_another_has_learnt_is_named_and_not_taken(self):
        self.make_shared()
        self.sabath.add("free", [fragment(self.server.url("small"))])
        first = self.fetch_as(ALICE, "free")
        seen = self.server.log()
        refused = self.as_user(BOB, "fetch", "free", "--offline", code=9)
        said = f"another member (uid {ALICE}) has this and is not trusted: to believe what that member learnt, put "
        said += f'"{ALICE}" into `trusted_owners` of the configuration'
        self.assertIn(f"; {said}", refused.err)
        (self.server.root / "small").write_bytes(b"Y" * 999)  # its source has gone on
        learnt = self.as_user(BOB, "fetch", "--json", "free")
        self.assertIn(f"main: {said}; until then its sources are asked again", learnt.err)
        self.assertEqual(len(self.server.new_requests(seen)), 1)
        self.both_are_right("free", {ALICE: first, BOB: learnt.asset})
        self.expect_tree(first["path"], {"small": b"y" * 1000})
        self.expect_tree(learnt.asset["path"], {"small": b"Y" * 999})
        seen = self.server.log()
        for user in (ALICE, BOB):  # each knows what it has
            self.assertEqual(self.fetch_as(user, "free")["fetched_bytes"], 0)
        third = self.fetch_as(MALLORY, "free", SABATH_CONFIG=self.trusting(ALICE))
        self.expect_tree(third["path"], {"small": b"y" * 1000})
        self.assertEqual(self.server.new_requests(seen), [])

    def test_a_site_store_is_read_in_place(self):
        site = self.home / "site"
        self.expect(self.sabath.run("fetch", "pinned", SABATH_CACHE=str(site)))  # root's
        site.chmod(0o755)  # as `init` says
        shutil.rmtree(site / "views")
        mine = self.home / f"home-{BOB}" / "store"
        seen = self.server.log()
        asset = self.fetch_as(BOB, "pinned", store=f"{mine}:{site}")
        self.assertEqual((asset["fetched_bytes"], self.server.new_requests(seen)), (0, []))
        self.assertTrue(object_of(mine, len(BIG)).is_symlink())
        self.expect_tree(asset["path"], {"f.bin": BIG, "small": b"y" * 1000})
        # Gone from there, it is missing here, and fetched.
        object_of(site, len(BIG)).unlink()
        seen = self.server.log()
        asset = self.fetch_as(BOB, "pinned", store=f"{mine}:{site}")
        self.expect_moved(asset, len(BIG), self.server.new_requests(seen))

    def test_a_store_of_a_stranger_is_copied_from(self):
        other = self.home / f"home-{MALLORY}" / "store"
        self.fetch_as(MALLORY, "pinned", store=other)
        other.chmod(0o755)
        shutil.rmtree(other / "views")
        mine = self.home / f"home-{BOB}" / "store"
        seen = self.server.log()
        self.as_user(BOB, "init", store=mine)
        planned = self.as_user(BOB, "plan", "pinned", "--json", store=f"{mine}:{other}").record
        self.assertEqual(planned["bytes_to_fetch"], 0)
        self.assertGreaterEqual(planned["store_bytes"], len(BIG))  # it is copied
        asset = self.fetch_as(BOB, "pinned", store=f"{mine}:{other}")
        self.assertEqual((asset["fetched_bytes"], self.server.new_requests(seen)), (0, []))
        self.assertEqual(object_of(mine, len(BIG)).lstat().st_uid, BOB)
        # Wrong bytes there, with every time and size as they were: nothing of it comes here.
        theirs, before = object_of(other, len(BIG)), object_of(other, len(BIG)).stat()
        theirs.chmod(0o644)
        theirs.write_bytes(b"q" * len(BIG))
        os.utime(theirs, ns=(before.st_atime_ns, before.st_mtime_ns))
        third = self.home / f"home-{ALICE}" / "store"
        seen = self.server.log()
        asset = self.fetch_as(ALICE, "pinned", store=f"{third}:{other}")
        self.expect_tree(asset["path"], {"f.bin": BIG, "small": b"y" * 1000})
        self.expect_moved(asset, len(BIG), self.server.new_requests(seen))


if __name__ == "__main__":
    main()
