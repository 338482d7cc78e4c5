#!/usr/bin/python3
"""Ranks, nodes and launcher of a record are those of what ran; what is not known is null, and no figure shows it."""

import json

from runs import Runs, main, place


class Ranks(Runs):
    def setUp(self):
        super().setUp()
        launchers = {"plain": {"argv": ["env", "RANKS={ranks}"]}, "told": {"argv": ["env", "NODES={nodes}"]}}
        place(self.home / "here.json", json.dumps({"schema": 1, "name": "here", "launchers": launchers}).encode())
        self.sabath.environment["SABATH_SITE"] = str(self.home / "here.json")

    def spread(self, *arguments, code=0):
        self.run_directory = self.home / f"record-{len(list(self.home.glob('record-*')))}"
        self.launch("model", *arguments, code=code)
        record = self.record()
        return record["launcher"], record["ranks"], record["nodes"], [step["ranks"] for step in record["steps"]]

    def title(self):
        return self.expect(self.sabath.run("report", self.run_directory, "--format", "svg")).out

    def test_ranks_that_no_step_would_have(self):
        self.model(["echo", "epoch=1 loss=0.5"])
        for arguments, option in ((("--ranks", "2"), "--ranks"), (("--nodes", "2"), "--nodes")):
            for dry in ((), ("-n",)):
                refused = self.launch("model", *arguments, *dry, code=2)
                self.assertIn("no step of its recipe is parallel", refused.err)
                self.assertIn(option, refused.err)
                self.assertFalse(self.run_directory.exists())
        self.assertEqual(self.spread("--launcher", "plain"), ("direct", 1, 1, [1]))
        self.assertNotIn(" ranks", self.title())

    def test_a_parallel_step_among_others(self):
        self.model(["true"], {"argv": ["echo", "epoch=1 loss=0.5"], "parallel": True}, ["true"])
        self.assertEqual(self.spread("--ranks", "3", "--launcher", "told"), ("told", 3, 1, [1, 3, 1]))
        self.assertIn("3 ranks on 1 node", self.title())
        self.assertEqual(self.spread("--ranks", "4", "--nodes", "2", "--launcher", "told"), ("told", 4, 2, [1, 4, 1]))
        self.assertIn("4 ranks on 2 nodes", self.title())

    def test_nodes_that_the_launcher_does_not_say(self):
        self.model({"argv": ["echo", "epoch=1 loss=0.5"], "parallel": True})
        for more in ((), ("--nodes", "2")):
            self.assertEqual(self.spread("--ranks", "4", "--launcher", "plain", *more), ("plain", 4, None, [4]))
            self.assertIn("4 ranks", self.title())
            self.assertNotIn("node", self.title())

    def test_a_step_that_starts_ranks_by_itself(self):
        self.model(["echo", "epoch={ranks} loss=0.5"])
        self.assertEqual(self.spread("--ranks", "4"), ("direct", None, None, [1]))
        self.assertNotIn(" ranks", self.title())

    def test_a_parallel_step_that_never_came(self):
        self.model(["false"], {"argv": ["true"], "parallel": True})
        self.assertEqual(self.spread("--ranks", "2", "--launcher", "told", code=11)[:3], ("direct", 1, 1))


if __name__ == "__main__":
    main()
