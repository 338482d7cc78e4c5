#!/usr/bin/python3
"""gc, keep and unkeep as people use them: names and sizes, what stays, and taking it back."""

import os
import pathlib
import signal
import time

from support.case import Case, main
from support.content import fragment, read_tree, seeded
from support.origin import body_bytes, poll
from support.program import finish

MIB = 1 << 20


class Collect(Case):
    def setUp(self):
        super().setUp()
        self.files = {f"{name}.bin": seeded(MIB, number) for number, name in enumerate(("one", "two", "three"))}
        self.server = self.serve(self.files)
        for name in ("one", "two", "three"):
            self.sabath.add(name, [fragment(self.server.url(f"{name}.bin"), self.files[f"{name}.bin"])])

    def fetch_all(self):
        """The first is the one that was not used for longest."""
        paths = {}
        for age, name in ((3, "one"), (2, "two"), (1, "three")):
            asset = self.fetch(name)
            paths[name] = pathlib.Path(asset["path"])
            mark = self.sabath.store / "used" / asset["manifest"].removeprefix("sha256:")
            then = mark.stat().st_mtime - age * 86400
            os.utime(mark, (then, then))
        return paths

    def gc(self, *arguments, code=0, **options):
        return self.expect(self.sabath.run("gc", "--json", *arguments, **options), code).record

    def test_a_fetch_leaves_no_lease(self):
        self.fetch_all()
        self.assertEqual(list((self.sabath.store / "leases").iterdir()), [])

    def test_the_least_recently_used_go(self):
        paths = self.fetch_all()
        record = self.gc("--max-size", "2MiB", "--dry-run")
        self.assertEqual([asset["name"] for asset in record["collected"]], ["one"])
        self.assertEqual(record["collected"][0]["freed_bytes"], MIB)
        self.assertTrue(all(path.exists() for path in paths.values()))
        text = self.expect(self.sabath.run("gc", "--max-size", "2MiB", "--dry-run"))
        self.assertRegex(text.out, r"one +1.05 MB +1.05 MB +3 days ago +least recently used")
        record = self.gc("--max-size", "2MiB", "--low", "1MiB")
        self.assertEqual(record["collected_bytes"], 2 * MIB)
        self.assertEqual([name for name, path in paths.items() if path.exists()], ["three"])
        self.expect(self.sabath.run("path", "one"), 9)
        self.expect(self.sabath.run("path", "three"))

    def test_undo(self):
        paths = self.fetch_all()
        requests = self.server.log()
        self.gc("--older-than", "0s")
        self.assertFalse(any(path.exists() for path in paths.values()))
        self.expect(self.sabath.run("gc", "--undo"))
        for name, path in paths.items():
            self.expect_tree(path, {f"{name}.bin": self.files[f"{name}.bin"]})
            self.assertEqual(self.fetch(name)["fetched_bytes"], 0)
        self.assertEqual(self.server.log(), requests)
        self.expect(self.sabath.run("verify"))

    def test_a_fetch_takes_its_bytes_back_from_the_trash(self):
        self.fetch_all()
        self.gc("--older-than", "0s")
        before = body_bytes(self.server.log())
        asset = self.fetch("one")
        self.expect_tree(asset["path"], {"one.bin": self.files["one.bin"]})
        self.assertEqual(body_bytes(self.server.log()), before)

    def test_now_frees_the_room(self):
        self.fetch_all()
        record = self.gc("--older-than", "0s", "--now")
        self.assertEqual(record["deleted_batches"], 1)
        self.assertGreaterEqual(record["deleted_bytes"], 3 * MIB)
        self.assertEqual(read_tree(self.sabath.store / "trash"), {})
        self.assertEqual(self.sabath.run("du", "--json").record["object_bytes"], 0)
        asset = self.fetch("two")
        self.assertEqual(asset["fetched_bytes"], MIB)

    def test_what_is_kept_stays(self):
        paths = self.fetch_all()
        self.expect(self.sabath.run("keep", "one", "two"))
        listed = self.expect(self.sabath.run("keep", "--json")).record["kept"]
        self.assertEqual([pin["name"] for pin in listed], ["one", "two"])
        record = self.gc("--older-than", "0s")
        self.assertEqual({asset["name"] for asset in record["kept"]}, {"one", "two"})
        self.assertEqual({asset["why"] for asset in record["kept"]}, {"kept"})
        self.assertEqual([name for name, path in paths.items() if path.exists()], ["one", "two"])
        self.expect(self.sabath.run("unkeep", "one"))
        self.expect(self.sabath.run("unkeep", listed[1]["manifest"]))
        self.expect(self.sabath.run("unkeep", "one"), 3)
        self.gc("--older-than", "0s")
        self.assertFalse(any(path.exists() for path in paths.values()))

    def test_two_names_of_one_content_are_kept_each(self):
        self.sabath.add("twin", [fragment(self.server.url("one.bin"), self.files["one.bin"])])
        root = self.fetch("one")["manifest"]
        self.assertEqual(self.fetch("twin")["manifest"], root)
        self.expect(self.sabath.run("keep", "one"))
        self.expect(self.sabath.run("keep", "twin"))
        listed = self.expect(self.sabath.run("keep", "--json")).record["kept"]
        self.assertEqual([(pin["name"], pin["manifest"]) for pin in listed], [("one", root), ("twin", root)])
        self.assertEqual({one["why"] for one in self.gc("--older-than", "0s")["kept"]}, {"kept"})
        self.assertIn("unkeep one twin", self.expect(self.sabath.run("rm", "one"), 2).err)
        self.expect(self.sabath.run("unkeep", "one"))
        listed = self.expect(self.sabath.run("keep", "--json")).record["kept"]
        self.assertEqual([pin["name"] for pin in listed], ["twin"])
        self.gc("--older-than", "0s")
        self.expect(self.sabath.run("path", "twin"))
        self.expect(self.sabath.run("keep", "one"))
        gone = self.expect(self.sabath.run("unkeep", "--json", root)).record["unkept"]
        self.assertEqual([pin["name"] for pin in gone], ["one", "twin"])

    def test_keep_what_is_not_there(self):
        self.expect(self.sabath.run("keep", "one"), 9)
        self.fetch("one")
        self.expect(self.sabath.run("keep", "two"), 9)
        self.expect(self.sabath.run("keep", "nosuch"), 3)
        self.expect(self.sabath.run("keep", "sha256:" + 64 * "0"), 9)
        self.expect(self.sabath.run("keep", "sha256:zz"), 12)
        self.assertEqual(self.expect(self.sabath.run("keep", "--json")).record["kept"], [])

    def test_local_copies_are_not_lost(self):
        local = self.home / "mine.bin"
        local.write_bytes(seeded(MIB, 9))
        self.sabath.add("mine", [fragment(self.server.url("gone.bin"))])
        path = pathlib.Path(self.fetch("mine", "--path", local)["path"])
        local.unlink()
        (kept, *more) = self.gc("--older-than", "0s")["kept"]
        self.assertIn("no source can restore it", {kept["why"], *(one["why"] for one in more)})
        self.expect_tree(path, {"gone.bin": seeded(MIB, 9)})
        self.assertEqual(self.gc("--older-than", "0s", "--force-local")["collected_bytes"], MIB)
        self.assertFalse(path.exists())

    def test_a_stopped_fetch_keeps_what_it_works_on(self):
        """Its lease stands as long as the process does, however silent; when it is killed the lease is over at once."""
        slow = self.serve({"slow.bin": seeded(8 * MIB, 7)}, name="slow", extra="limit_rate 1m;")
        self.sabath.add("slow", [fragment(slow.url("slow.bin"), seeded(8 * MIB, 7))])
        process = self.sabath.start("fetch", "slow", SLURM_JOB_ID="77")
        leases = self.sabath.store / "leases"
        partial = self.sabath.store / "partial"
        self.assertTrue(poll(lambda: any(partial.glob("*/**/data"))))
        process.send_signal(signal.SIGSTOP)
        (lease,) = leases.iterdir()
        self.assertIn("slurm 77", lease.read_text())
        then = time.time() - 86400
        os.utime(lease, (then, then))
        self.assertEqual(self.gc("--partials", "0s", "--grace", "0s")["partials"], 0)
        self.assertTrue(lease.exists())
        process.kill()
        finish(process)
        record = self.gc("--partials", "0s", "--grace", "0s", "--now")
        self.assertEqual(record["partials"], 1)
        self.assertFalse(lease.exists())
        self.assertEqual(list(partial.iterdir()), [])

    def test_bad_arguments(self):
        self.fetch("one")
        for arguments in (("--older-than", "soon"), ("--older-than", "-1d"), ("--max-size", "x"), ("--low", "1G"),
                          ("--max-size", "1G", "--low", "2G"), ("--grace", "9999999999w"), ("--undo", "extra"), ("--undo", "--dry-run")):  # fmt: skip
            self.expect(self.sabath.run("gc", *arguments), 2)
        self.sabath.environment["SABATH_CACHE"] = str(self.home / "nosuch")
        self.expect(self.sabath.run("gc"), 9)
        self.assertFalse((self.home / "nosuch").exists())


if __name__ == "__main__":
    main()
