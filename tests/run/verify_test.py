#!/usr/bin/python3
"""No run begins on bytes that are not what was verified; and no run changes the bytes that the next one reads."""

import json
import os
import pathlib
import shutil
import subprocess
import unittest

from runs import Runs, main, place
from support.content import fragment, read_tree, snapshot

READ = ["python3", "-c", "import sys; print(open(sys.argv[1], 'rb').read(3))", "{dataset.main}"]


class Verify(Runs):
    def setUp(self):
        super().setUp()
        self.model(READ, ["touch", "launched"])
        self.view = pathlib.Path(self.fetch("data")["path"])

    def tamper(self, file, same_time=True):
        """One byte differs; size and time of change are as before, as far as anybody but the kernel can do that."""
        status = file.stat()
        file.chmod(0o644)
        with file.open("r+b") as stream:
            stream.write(bytes([self.data[0] ^ 1]))
        file.chmod(0o444)
        if same_time:
            os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))

    def test_tampered_data_are_refused(self):
        self.tamper(self.view / "f.bin")
        done = self.expect(self.sabath.run("run", "--run-dir", self.run_directory, "model"), 7)
        self.assertIn("f.bin", done.err)
        self.assertIn("sabath fetch data", done.err)
        self.assertFalse(self.run_directory.exists())
        self.assertEqual(list(self.home.rglob("launched")), [])

    def test_but_not_where_nobody_wants_to_know(self):
        self.tamper(self.view / "f.bin")
        self.launch("model", "--no-verify")
        self.assertEqual(self.record()["assets"][1]["verified_by"], "not verified")
        self.assertEqual(self.output().strip(), repr(bytes([self.data[0] ^ 1]) + self.data[1:3]))

    def test_after_a_fetch_all_is_well(self):
        self.tamper(self.view / "f.bin")
        self.expect(self.sabath.run("run", "model"), 7)
        self.fetch("data")
        self.launch("model")

    def test_a_full_reading_on_request(self):
        self.launch("model", "--verify", "full")
        self.assertEqual(self.record()["assets"][1]["verified_by"], "read and hashed for this run")
        self.tamper(self.view / "f.bin")
        self.expect(self.sabath.run("run", "model", "--verify", "full"), 7)
        self.expect(self.sabath.run("run", "model", "--verify", "full", "--no-verify"), 2)

    def test_what_was_purged_is_fetched_again(self):
        for file in (self.view / "f.bin", *(self.sabath.store / "objects").rglob("*")):
            if file.is_file():
                file.unlink()
        self.expect(self.sabath.run("run", "model", "--no-fetch"), 9)
        self.launch("model")
        self.assertFalse(self.record()["assets"][1]["warm"])

    def expect_to_be_kept(self, *arguments, **options):
        """A run that waits in its middle; a collection that would take everything takes nothing that it reads."""
        self.model(["python3", "{source}/train.py", "4", "gate"], READ)
        collect = ("gc", "--max-size", "0", "--force-local", "--grace", "0s", "--window", "0s", "--now", *arguments)
        process = self.start("model", *options.pop("run", ()), **options)
        self.addCleanup(process.kill)
        self.wait_for_output("waiting", process)
        self.expect(self.sabath.run(*collect))
        place(self.run_directory / "work/go", b"")
        _, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn(repr(self.data[:3]), self.output())
        return collect

    def test_what_a_run_reads_is_not_collected(self):
        collect = self.expect_to_be_kept()
        self.assertTrue(self.view.exists())
        self.assertEqual(list((self.sabath.store / "leases").iterdir()), [])
        self.expect(self.sabath.run(*collect))  # the same collection without the run
        self.assertFalse(self.view.exists())

    def test_nor_what_it_has_fetched_itself(self):
        shutil.rmtree(self.sabath.store, ignore_errors=True)
        self.expect_to_be_kept()
        self.assertFalse(self.record()["assets"][1]["warm"])

    def test_nor_what_was_staged(self):
        node = self.stage()
        held = lambda: sum(file.is_file() for file in (node / ".sabath/views").rglob("*"))  # noqa: E731
        collect = self.expect_to_be_kept("--store", node / ".sabath", run=("--at", node))
        self.assertEqual(held(), 1)
        self.expect(self.sabath.run(*collect))
        self.assertEqual(held(), 0)

    def test_nothing_is_fetched_where_that_is_not_wanted(self):
        shutil.rmtree(self.sabath.store, ignore_errors=True)
        for flag in ("--no-fetch", "--offline"):
            self.expect(self.sabath.run("run", "model", flag), 9)
        self.assertEqual(list(self.home.rglob("launched")), [])

    def stage(self):
        """What `stage` leaves at a node: a store of its own, and the view under the asset's name."""
        node = self.home / "node"
        self.expect(self.sabath.run("fetch", "data", "--store", node / ".sabath"))
        view = self.sabath.run("path", "data", "--store", node / ".sabath").lines[0]
        (node / "data").mkdir()
        os.link(pathlib.Path(view) / "f.bin", node / "data/f.bin")
        return node

    def test_staged_data(self):
        node = self.stage()
        self.launch("model", "--at", node)
        asset = self.record()["assets"][1]
        self.assertEqual((asset["path"], asset["warm"]), (str(node / "data"), True))
        self.assertTrue(asset["manifest"].startswith("sha256:"))
        self.run_directory = self.home / "second"
        self.launch("model", SABATH_STAGE=str(node))
        self.assertEqual(self.record()["assets"][1]["path"], str(node / "data"))
        self.tamper(node / "data/f.bin")
        self.expect(self.sabath.run("run", "model", "--at", node), 7)
        (node / "data/f.bin").unlink()
        self.expect(self.sabath.run("run", "model", "--at", node), 9)
        self.expect(self.sabath.run("run", "model", "--at", self.home / "nowhere"), 9)

    def test_what_staging_took(self):
        node, file = self.stage(), self.home / "staged.json"
        manifest = self.sabath.run("info", "data", "--json").record
        self.launch("model", "--at", node)
        root = self.record()["assets"][1]["manifest"]
        self.assertIn(root, json.dumps(manifest))
        for number, (text, code) in enumerate((
            ({"assets": [{"name": "data", "manifest": root, "seconds": 2.5}]}, 0), ({"assets": []}, 12), ([], 12),
            ({"assets": [{"name": "data", "manifest": "sha256:" + "0" * 64, "seconds": 2.5}]}, 12),
            ({"assets": [{"name": "data", "manifest": root, "seconds": "x"}]}, 12), ({"assets": [1, None]}, 12),
        )):  # fmt: skip
            with self.subTest(text):
                file.write_text(json.dumps(text))
                self.run_directory = self.home / f"record-{number}"
                self.launch("model", "--at", node, "--stage-record", file, code=code)
        self.run_directory = self.home / "record-0"
        self.assertEqual(self.record()["times"]["stage"], 2.5)
        log = self.expect(self.sabath.run("report", self.run_directory, "--format", "mlperf")).out
        keys = [json.loads(line[9:])["key"] for line in log.splitlines()]
        self.assertEqual([key for key in keys if key.startswith("staging")], ["staging_start", "staging_stop"])
        self.expect(self.sabath.run("run", "model", "--stage-record", self.home / "none"), 2)

    @unittest.skipUnless(shutil.which("git"), "there is no git program")
    def test_an_originals_recipe_that_edits_its_source(self):
        """Shell steps, `sed -i` in {source}, {dataset.main.dir}, git: the cached tree is the same before and after."""
        work, identity = self.home / "work", ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        place(work / "train.sh", b"DATA=unknown\nwc -c < $DATA/f.bin\n")
        for command in (["init", "-q", "."], ["add", "-A"], [*identity, "commit", "-q", "-m", "one"]):
            subprocess.run(["git", *command], cwd=work, check=True, env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"})
        root = self.home / "root/var/sabath/assets/sabath"
        origin = fragment(f"file://{self.home}/origin/f.bin")
        place(root / "datasets/p/part.json", json.dumps(
            {"name": "part", "fragments": [{"id": "main", "url": origin["urls"][0], "type": "file"}]}).encode())
        steps = ["sed -i 's!DATA=.*!DATA=\"{dataset.main.dir}\"!' {source}/train.sh", "cd {source} && git log --format=%s",
                 "cd {source} && git status --porcelain", "sh {source}/train.sh > {config.out}; cat {config.out}"]
        place(root / "models/o/Old.json", json.dumps(
            {"name": "Old", "git": {"origin": f"file://{work}"}, "run": {"other_key": steps}}).encode())
        arguments = ("--root", self.home / "root", "Old", "part", "--set", "out=size")
        self.launch(*arguments)
        self.assertEqual(self.output(), "one\n M train.sh\n200000\n")
        self.assertRegex(self.record()["source"]["commit"], "^[0-9a-f]{40}$")
        cached = pathlib.Path(self.record()["assets"][0]["path"])
        self.assertEqual(read_tree(cached)["train.sh"].split(b"\n")[0], b"DATA=unknown")
        before = snapshot(self.sabath.store / "objects"), read_tree(cached)
        self.run_directory = self.home / "second"
        self.launch(*arguments)
        self.assertEqual((snapshot(self.sabath.store / "objects"), read_tree(cached)), before)
        self.expect(self.sabath.run("verify"))

    @unittest.skipUnless(shutil.which("git"), "there is no git program")
    def test_submodules_are_what_git_makes_of_them(self):
        """`git submodule update --init --recursive` finds its work done, though the origins are gone."""
        def repository(name, **links):
            at, identity = self.home / "origins" / name, ["-c", "user.name=A", "-c", "user.email=a@example.org"]
            git = lambda *words: subprocess.run(  # noqa: E731
                ["git", *identity, *words], cwd=at, check=True, stdout=subprocess.PIPE, text=True,
                env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}).stdout.strip()  # fmt: skip
            place(at / f"{name}.txt", f"{name}\n".encode())
            place(at / ".gitmodules", "".join(
                f'[submodule "{link}"]\n\tpath = parts/{link}\n\turl = ../{link}\n' for link in links).encode())
            git("init", "-q", ".")
            for link, commit in links.items():
                git("update-index", "--add", "--cacheinfo", f"160000,{commit},parts/{link}")
            git("add", ".gitmodules", f"{name}.txt")
            git("commit", "-q", "-m", f"the {name}")
            return git("rev-parse", "HEAD")

        inner = repository("inner")
        outer = repository("outer", inner=inner)
        repository("whole", outer=outer)
        steps = ["cd {source} && git submodule update --init --recursive && git submodule status --recursive",
                 "git -C {source}/parts/outer/parts/inner log --format=%s", "git -C {source} status --porcelain"]
        place(self.home / "root/var/sabath/assets/sabath/models/w/Whole.json", json.dumps(
            {"name": "Whole", "git": {"origin": f"file://{self.home}/origins/whole"}, "run": {"main": steps}}).encode())
        root = ("--root", self.home / "root")
        origin = fragment(f"file://{self.home}/origin/f.bin")
        place(self.home / "root/var/sabath/assets/sabath/datasets/p/part.json", json.dumps(
            {"name": "part", "fragments": [{"id": "main", "url": origin["urls"][0], "type": "file"}]}).encode())
        self.expect(self.sabath.run("fetch", *root, "--model", "Whole", "--dataset", "part"))
        shutil.rmtree(self.home / "origins")
        self.launch(*root, "Whole", "part")
        said = self.output()
        for commit, path in ((outer, "parts/outer"), (inner, "parts/outer/parts/inner")):
            self.assertRegex(said, f"(?m)^ {commit} {path}( .*)?$")
        self.assertTrue(said.endswith("the inner\n"), said)


if __name__ == "__main__":
    main()
