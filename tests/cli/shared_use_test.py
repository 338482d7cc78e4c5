#!/usr/bin/python3
"""What members of a shared store use together can be freed: use is a live lease or a young mark, and a view of another
member is removed by root alone."""

import os
import shlex
import time

from support.accounts import BIG, GROUP, OwnProgram
from support.case import main, place
from support.content import fragment, seeded
from support.origin import poll
from support.program import finish

ALICE, BOB, CAROL = 64001, 64002, 64003
DAY = 86_400
FILES = {"f.bin": BIG, "small": b"y" * 1000}


class SharedUse(OwnProgram):
    def setUp(self):
        super().setUp()
        for recipe in (self.sabath.recipes / "datasets").iterdir():  # of the same content
            recipe.unlink()
        parts = [fragment(self.server.url(path), data, name=path[0]) for path, data in FILES.items()]
        self.sabath.add("both", parts)
        self.as_user(ALICE, "init", "--shared")

    def prefix(self, user):
        home = self.home / f"home-{user}"
        if not home.exists():
            home.mkdir()
            os.chown(home, user, GROUP)
        return ["setpriv", f"--reuid={user}", f"--regid={GROUP}", "--clear-groups", "--"], str(home)

    def as_user(self, user, *arguments, code=0, **variables):
        prefix, home = self.prefix(user)
        result = self.sabath.run(*arguments, prefix=prefix, HOME=home, SABATH_CACHE=str(self.store), **variables)
        return self.expect(result, code)

    def as_root(self, *arguments, code=0):
        return self.expect(self.sabath.run(*arguments, SABATH_CACHE=str(self.store)), code)

    def fetch_as(self, user, name="both"):
        return self.as_user(user, "fetch", "--json", name).asset

    def views(self, user=None):
        return sorted(str(view.relative_to(self.store)) for view in self.store.glob(f"views.{user or '*'}/*"))

    def objects(self):
        return [p for p in (self.store / "objects").rglob("*") if p.is_file()]

    def age(self, days):
        """As if no member had used anything since."""
        then = time.time() - days * DAY
        signs = [p for room in ("used", "manifests", "refs.*") for top in self.store.glob(room) for p in top.rglob("*")]
        for sign in [*signs, *self.store.glob("views.*/*")]:
            os.utime(sign, (then, then))

    def gc(self, user, *arguments):
        run = self.as_root if user == 0 else lambda *a: self.as_user(user, *a)
        return run("gc", "--json", "--now", "--grace", "0s", *arguments).record

    def test_a_member_lets_his_own_go_and_the_last_one_frees_the_bytes(self):
        for user in (ALICE, BOB):
            self.fetch_as(user)
        before = self.views(BOB)
        said = self.as_user(ALICE, "rm", "both").err
        end = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 30 * DAY))
        self.assertIn(f"your name of it are gone; 9.01 MB stay, in use by user {BOB} until {end}", said)
        self.assertEqual((self.views(ALICE), self.views(BOB)), ([], before))
        self.as_user(ALICE, "path", "both", code=9)
        self.assertFalse(os.path.lexists(self.store / f"by-name.{ALICE}/both"))
        self.expect_tree(self.as_user(BOB, "path", "both").out.strip(), FILES)
        self.as_user(BOB, "verify", "both")
        record = self.as_user(BOB, "rm", "--json", "both").record
        self.assertGreater(record["assets"][0]["freed_bytes"], len(BIG))
        self.assertEqual((self.views(), self.objects()), ([], []))

    def test_what_rm_left_is_fetched_again_without_a_byte(self):
        for user in (ALICE, BOB):
            self.fetch_as(user)
        asset = self.as_user(ALICE, "rm", "--json", "both").asset
        self.assertEqual((asset["users"], asset["used_bytes"] > len(BIG), asset["kept"]), ([BOB], True, None))
        self.assertAlmostEqual(asset["until"], time.time() + 30 * DAY, delta=600)
        again = self.fetch_as(ALICE)
        self.assertEqual(again["fetched_bytes"], 0)
        self.expect_tree(again["path"], FILES)

    def test_root_frees_views_of_all_when_no_member_has_used_them(self):
        for user in (ALICE, BOB):
            self.fetch_as(user)
        for arguments in (("--max-size", "1"), ("--max-size", "1", "--force-local"), ("--max-size", "1", "--older-than", "1d")):
            record = self.gc(0, *arguments)
            self.assertEqual((record["collected"], len(self.views())), ([], 2), arguments)
            (kept,) = [asset for asset in record["kept"] if asset["name"] == "both"]
            self.assertEqual(kept["why"], f"in use by users {ALICE} and {BOB}")
            self.assertAlmostEqual(kept["until"], time.time() + (1 if "--older-than" in arguments else 30) * DAY, delta=600)
        self.age(31)
        self.as_user(BOB, "path", "both")  # a mark of anybody counts for all
        self.assertEqual(self.gc(0, "--max-size", "1")["collected"], [])
        self.age(31)
        self.assertIn("would go", self.as_root("gc", "--max-size", "1", "-n").out.lower())
        self.assertEqual(len(self.views()), 2)
        record = self.gc(0, "--max-size", "1")
        self.assertIn("both", [asset["name"] for asset in record["collected"]])
        self.assertEqual((self.views(), self.objects()), ([], []))
        for user in (ALICE, BOB):
            self.assertFalse(os.path.lexists(self.store / f"by-name.{user}/both"))
            self.as_user(user, "path", "both", code=9)
        self.as_root("verify")

    def test_roots_collection_is_taken_back_whole(self):
        paths = {user: self.fetch_as(user)["path"] for user in (ALICE, BOB)}
        self.age(31)
        self.as_root("gc", "--max-size", "1")
        self.assertEqual(self.views(), [])
        self.as_root("gc", "--undo")
        for user, path in paths.items():
            self.expect_tree(path, FILES)
            self.assertEqual(os.stat(path).st_uid, user)
            self.as_user(user, "path", "both")

    def test_a_member_is_told_whose_view_keeps_how_much_and_roots_line_works(self):
        for user in (ALICE, BOB):
            self.fetch_as(user)
        self.age(31)
        told = self.as_user(CAROL, "gc", "--max-size", "5MB")
        for user in (ALICE, BOB):
            self.assertIn(f"user {user} keeps 9.00 MB of 1 asset, of them 9.00 MB that no member uses", told.err)
        record = self.gc(ALICE, "--max-size", "5MB")  # the store's owner
        self.assertEqual((self.views(ALICE), len(self.views(BOB))), ([], 1))
        (keeper,) = record["keepers"]
        self.assertEqual((keeper["user"], keeper["assets"]), (BOB, 1))
        self.assertGreater(keeper["unused_bytes"], len(BIG))
        (line,) = [line for line in self.as_user(ALICE, "gc", "--max-size", "5MB").err.splitlines() if "root's to remove" in line]
        command = shlex.split(line.partition(": ")[2].partition(": ")[2])
        self.assertEqual(command[:4], ["sabath", "gc", "--store", str(self.store)])
        self.expect(self.sabath.run(*command[1:], "--now"))
        self.assertEqual((self.views(), self.objects()), ([], []))

    def test_the_last_members_collection_frees_the_bytes(self):
        for user in (ALICE, BOB):
            self.fetch_as(user)
        self.age(31)
        self.gc(ALICE, "--max-size", "1")
        self.assertEqual((self.views(ALICE), len(self.views(BOB)), len(self.objects())), ([], 1, 2))
        self.gc(BOB, "--max-size", "1")
        self.assertEqual((self.views(), self.objects()), ([], []))

    def test_a_time_to_come_keeps_nothing(self):
        """A member may set the times of his own files to any time: only what he renews counts as use."""
        self.fetch_as(ALICE)
        self.fetch_as(BOB)
        far = time.time() + 3650 * DAY
        for path in [*(self.store / "used").iterdir(), *self.store.glob("views.*/*")]:
            os.utime(path, (far, far))
        self.gc(0, "--older-than", "0s")
        self.assertEqual((self.views(), self.objects()), ([], []))

    def test_a_running_job_keeps_what_it_uses_for_all(self):
        """A live lease of another member: one's own view goes, his job reads on."""
        slow = self.serve({"slow.bin": seeded(8 << 20, 7)}, name="slow", extra="limit_rate 100k;")
        self.sabath.add("slow", [fragment(slow.url("slow.bin"))])
        for user in (ALICE, BOB):
            self.fetch_as(user)
        self.age(31)
        prefix, home = self.prefix(BOB)
        job = self.sabath.start("fetch", "both", "slow", prefix=prefix, HOME=home, SABATH_CACHE=str(self.store))
        self.assertTrue(poll(lambda: any(self.store.glob(f"partial.{BOB}/*/**/data"))))
        try:
            self.assertEqual(self.gc(0, "--max-size", "1", "--older-than", "1d")["collected"], [])
            said = self.as_user(ALICE, "rm", "both").err
            self.assertIn(f"in use by user {BOB}: ", said)
            self.assertEqual((self.views(ALICE), len(self.views(BOB))), ([], 1))
            self.assertIn("both is in use by ", self.as_user(BOB, "rm", "both", code=70).err)
        finally:
            job.kill()
            finish(job)

    def test_a_member_removes_nothing_of_anothers(self):
        """Root alone removes another's view."""
        self.fetch_as(ALICE)
        for arguments in (("rm", "--now", "both"), ("gc", "--max-size", "1", "--now"), ("gc", "--older-than", "0s", "--force-local")):
            self.fetch_as(BOB)
            self.age(3650)
            before = {p: p.lstat().st_ino for p in self.store.glob(f"*.{ALICE}/**/*")}
            self.as_user(BOB, *arguments)
            self.assertEqual({p: p.lstat().st_ino for p in before}, before)
        self.as_user(ALICE, "verify", "both")


if __name__ == "__main__":
    main()
