#!/usr/bin/python3
"""A model's source tree: from a repository, into the store, never changed afterwards."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import unittest

from support.case import Case, main, place

IDENTITY = {
    "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z",
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
}  # fmt: skip


@unittest.skipUnless(shutil.which("git"), "there is no git program")
class Git(Case):
    def setUp(self):
        super().setUp()
        self.work = self.home / "work"
        self.bare = self.home / "model.git"
        self.git("init", "-q", "-b", "main", self.work, cwd=self.home)
        place(self.work / "train.py", b"print('v1')\n")
        place(self.work / "lib/empty", b"")
        (self.work / "run.sh").write_bytes(b"#!/bin/sh\n")
        (self.work / "run.sh").chmod(0o755)
        (self.work / "link").symlink_to("lib/empty")
        self.first = self.commit("one")
        self.git("tag", "-a", "v1", "-m", "v1")
        place(self.work / "train.py", b"print('v2')\n")
        self.second = self.commit("two")
        self.git("clone", "-q", "--bare", self.work, self.bare, cwd=self.home)

    def git(self, *arguments, cwd=None):
        done = subprocess.run(
            ["git", *map(str, arguments)], cwd=cwd or self.work, check=True, capture_output=True, text=True,
            env={**os.environ, **IDENTITY},
        )  # fmt: skip
        return done.stdout.strip()

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def model(self, **which):
        self.sabath.add("model", kind="model", git={"origin": f"file://{self.bare}", **which})

    def expect_version(self, asset, number):
        path = pathlib.Path(asset["path"])
        self.assertEqual((path / "train.py").read_text(), f"print('v{number}')\n")
        self.assertTrue(os.access(path / "run.sh", os.X_OK))
        self.assertFalse((path / "train.py").stat().st_mode & 0o111)
        self.assertEqual(os.readlink(path / "link"), "lib/empty")
        self.assertFalse((path / ".git").exists())

    def test_branch_tag_and_commit(self):
        for which, commit, version in (
            ({}, self.second, 2),
            ({"branch": "main"}, self.second, 2),
            ({"tag": "v1"}, self.first, 1),
            ({"commit": self.first}, self.first, 1),
            ({"commit": self.first[:10]}, self.first, 1),
        ):
            with self.subTest(which):
                self.model(**which)
                asset = self.fetch("-m", "model")
                self.assertEqual(asset["trusted_by"], f"git commit {commit}")
                self.expect_version(asset, version)

    def test_again_asks_nobody(self):
        self.model(branch="main")
        first = self.fetch("-m", "model")
        shutil.rmtree(self.bare)
        again = self.fetch("-m", "model")
        self.assertEqual((again["path"], again["fetched_bytes"]), (first["path"], 0))
        self.assertFalse([source for source in again["sources"] if source["requests"]])

    def test_refresh_sees_a_new_commit(self):
        self.model(branch="main")
        first = self.fetch("-m", "model")
        place(self.work / "train.py", b"print('v3')\n")
        self.commit("three")
        self.git("push", "-q", self.bare, "main")
        self.assertEqual(self.fetch("-m", "model")["path"], first["path"])
        self.expect_version(self.fetch("-m", "model", "--refresh"), 3)
        self.expect_version(first, 2)

    def test_tree_is_read_only(self):
        self.model(tag="v1")
        path = pathlib.Path(self.fetch("-m", "model")["path"])
        self.assertEqual([p for p in path.rglob("*") if p.is_file() and p.stat().st_mode & 0o222], [])

    def test_hooks_of_the_repository_do_not_run(self):
        """And neither do filters that a repository names: nothing of it is executed."""
        place(self.work / ".gitattributes", b"* filter=evil\n")
        self.commit("attributes")
        self.git("push", "-q", self.bare, "main")
        witness = self.home / "ran"
        config = self.home / ".gitconfig"
        config.write_text(f'[filter "evil"]\n smudge = "touch {witness}; cat"\n clean = cat\n')
        self.model(branch="main")
        self.fetch("-m", "model")
        self.assertFalse(witness.exists())

    def test_no_such_branch(self):
        self.model(branch="nowhere")
        asset = self.fetch("-m", "model", code=6)
        self.assertIn("nowhere", asset["failures"][0]["message"])
        self.assertEqual(self.sabath.visible(), [])

    def test_no_such_repository(self):
        self.sabath.add("model", kind="model", git={"origin": f"file://{self.home}/none.git"})
        self.fetch("-m", "model", code=6)

    def submodule(self, path, url, commit):
        for key, value in (("path", path), ("url", url)):
            self.git("config", "--file", self.work / ".gitmodules", f"submodule.{path}.{key}", value)
        self.git("add", ".gitmodules")
        self.git("update-index", "--add", "--cacheinfo", f"160000,{commit},{path}")
        self.git("commit", "-q", "-m", "submodule")
        self.git("push", "-q", self.bare, "main")

    def test_submodules(self):
        """Their files stand in the tree, and what cannot be had fails by its path."""
        self.git("clone", "-q", "--bare", self.work, self.home / "lib.git", cwd=self.home)
        self.submodule("third_party/lib", "../lib.git", self.first)
        self.model(branch="main")
        path = pathlib.Path(self.fetch("-m", "model")["path"])
        self.assertEqual((path / "third_party/lib/train.py").read_text(), "print('v1')\n")
        self.submodule("third_party/none", "../none.git", self.first)
        asset = self.fetch("-m", "model", "--refresh", code=6)
        self.assertIn("third_party/none", asset["failures"][0]["message"])
        self.assertNotIn("third_party/lib", asset["failures"][0]["message"])
        self.assertIn("--path", asset["failures"][0]["hint"])

    def test_a_submodule_that_has_moved(self):
        """Where its server leads is asked in our own way, and never a metadata address."""
        self.git("clone", "-q", "--bare", self.work, self.home / "lib.git", cwd=self.home)
        redirects = """location /moved/ { rewrite ^/moved/(.*)$ /$1 permanent; }
            location /inwards/ { return 302 http://169.254.169.254$request_uri; }"""
        server = self.serve(root=self.home, extra=redirects)
        self.sabath.add("model", kind="model", git={"origin": server.url("model.git"), "branch": "main"})
        for name, code in (("moved", 0), ("inwards", 6)):
            self.submodule(f"third_party/{name}", server.url(f"{name}/lib.git"), self.first)
            for bare in (self.bare, self.home / "lib.git"):
                self.git("update-server-info", cwd=bare)
            asset = self.fetch("-m", "model", "--refresh", code=code)
            if code == 0:
                path = pathlib.Path(asset["path"])
                self.assertEqual((path / "third_party/moved/train.py").read_text(), "print('v1')\n")
        self.assertIn("third_party/inwards", asset["failures"][0]["message"])
        self.assertIn("metadata", asset["failures"][0]["message"])

    def annex(self, backend, digest, data, name="big.h5"):
        key = f"{backend}-s{len(data)}--{digest}"
        (self.work / name).symlink_to(f".git/annex/objects/1k/Zq/{key}/{key}")
        place(self.work / f"unlocked-{name}", f"/annex/objects/{key}\n".encode())
        self.commit("annexed")
        self.git("push", "-q", self.bare, "main")
        return pathlib.Path(f"annex/objects/1k/Zq/{key}/{key}")

    def test_git_annex(self):
        """What it keeps elsewhere is named; a clone that has the content gives it, by the key's own checksum."""
        data = b"content" * 1000
        file = self.annex("SHA512E", hashlib.sha512(data).hexdigest() + ".h5", data)
        self.model(branch="main")
        asset = self.fetch("-m", "model", code=6)
        self.assertIn("big.h5, unlocked-big.h5", asset["failures"][0]["message"])
        self.assertEqual(self.sabath.visible(), [])
        for content, code in ((data[::-1], 7), (data, 0)):
            place(self.work / ".git" / file, content)
            asset = self.fetch("-m", "model", "--path", self.work, code=code)
        path = pathlib.Path(asset["path"])
        for name in ("big.h5", "unlocked-big.h5"):
            self.assertFalse((path / name).is_symlink())
            self.assertEqual((path / name).read_bytes(), data)

    def test_a_clone_by_hand(self):
        """--path takes a clone for a repository that cannot be reached."""
        self.sabath.add("model", kind="model", git={"origin": "https://git.invalid/model.git", "tag": "v1"})
        self.expect_version(self.fetch("-m", "model", "--path", self.bare), 1)


if __name__ == "__main__":
    main()
