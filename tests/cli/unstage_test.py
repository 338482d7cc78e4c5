#!/usr/bin/python3
"""`sabath unstage`: what stage made goes, and nothing else does."""

import os

from support.case import Case, main
from support.content import fragment, seeded
from support.origin import poll
from support.program import interrupt


class Unstage(Case):
    def setUp(self):
        super().setUp()
        self.to = self.home / "disk"

    def stage(self, *arguments):
        data = seeded(300_000)
        (self.home / "data").write_bytes(data)
        self.sabath.add("set", [fragment(f"file://{self.home}/data", data, path="f")])
        self.expect(self.sabath.run("stage", "set", "--to", self.to, *arguments))

    def unstage(self, *arguments, code=0, to=None):
        return self.expect(self.sabath.run("unstage", *arguments, "--to", to or self.to), code)

    def test_the_name_goes_and_the_content_stays(self):
        self.stage("--mode", "shard")
        self.assertEqual(sorted(os.listdir(self.to)), [".sabath", "set", "set.plan.json"])
        self.unstage("set")
        self.assertEqual(os.listdir(self.to), [".sabath"])
        self.unstage("set", code=3)
        again = self.expect(self.sabath.run("stage", "set", "--to", self.to, "--mode", "shard"))
        self.assertIn("nothing moved", again.err)

    def test_a_name_goes_with_its_view(self):
        self.stage()
        (self.to / "mine").symlink_to("nowhere")
        for place in (self.to / ".sabath", f"{self.to}/.sabath/"):
            self.expect(self.sabath.run("gc", "--store", place))
            self.assertEqual((self.to / "set/f").stat().st_size, 300_000, "nothing says that it may go")
        gc = ("gc", "--json", "--max-size", "0", "--force-local", "--now", "--store", self.to / ".sabath")
        self.assertEqual(len(self.expect(self.sabath.run(*gc)).record["collected"]), 1)
        self.assertEqual(sorted(os.listdir(self.to)), [".sabath", "mine"])
        self.stage()
        self.assertEqual((self.to / "set/f").stat().st_size, 300_000)

    def test_all_goes_and_what_is_not_ours_stays(self):
        self.stage()
        (self.to / "mine").write_text("mine")
        (self.to / "link").symlink_to(self.home)
        self.unstage("--all")
        self.assertEqual(sorted(os.listdir(self.to)), ["link", "mine"])
        self.unstage("--all")

    def test_what_is_no_view_is_refused_before_anything_goes(self):
        self.stage()
        (self.to / "file").write_text("mine")
        (self.to / "link").symlink_to(self.home / "data")
        (self.to / "almost").symlink_to(f".sabath/views/../../../{'0' * 64}")
        for name in ("file", "link", "almost", "../disk", ".sabath", ""):
            self.unstage("set", name, code=2)
        self.assertTrue((self.to / "set/f").exists())
        self.unstage(code=2)
        self.expect(self.sabath.run("unstage", "set"), 2)
        self.unstage("set", code=2, to="auto")
        self.unstage("set", code=2, to="/x/{oops}")

    def test_a_store_behind_a_symlink_is_left_alone(self):
        elsewhere = self.home / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "format").write_text("{}")
        self.to.mkdir()
        (self.to / ".sabath").symlink_to(elsewhere)
        self.unstage("--all", code=2)
        self.assertEqual(os.listdir(elsewhere), ["format"])

    def test_a_store_in_use_is_left_alone(self):
        self.stage()
        store = self.to / ".sabath"
        server = self.serve({"big": seeded(3_000_000)}, extra="limit_rate 20k;")
        self.sabath.add("slow", [fragment(server.url("big"), path="big")])
        process = self.sabath.start("fetch", "slow", "--store", store)
        try:
            self.assertTrue(poll(lambda: list(store.glob("leases/*"))), "no lease")
            self.assertIn("in use", self.unstage("--all", code=70).err)
            self.assertTrue((self.to / "set/f").exists())
        finally:
            interrupt(process)
        self.unstage("--all")


if __name__ == "__main__":
    main()
