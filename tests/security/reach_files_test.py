#!/usr/bin/python3
"""Where strangers may lead by repositories and catalogues, and which files of this machine they may name."""
import hashlib
import json
import os
import shutil
import subprocess

from support.ground import main
from hostile import body, redirect
from namespace import enter_namespace
from reach import DATA, HOSTS, ReachCase


class Repositories(ReachCase):
    """Git is told the address that was judged, follows no redirect by itself, and neither do submodules."""

    def setUp(self):
        super().setUp()
        if not shutil.which("git"):
            self.skipTest("git is not installed")
        self.ground.recipes.joinpath("models/m.json").write_text(json.dumps(
            {"schema": 1, "kind": "model", "name": "m", "git": {"origin": self.far_url("/r"), "branch": "main"}}))

    def git(self, *words, cwd=None):
        made = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
        subprocess.run(["git", "-c", "init.defaultBranch=main", "-c", "maintenance.auto=false", *words], cwd=cwd, check=True, capture_output=True,
                       env={**os.environ, **made, "HOME": str(self.ground.directory)})

    def repository(self, files):
        """As a dumb server has it: path below /r -> bytes."""
        tree = self.ground.directory / "tree"
        self.git("init", "--quiet", str(tree))
        for name, text in files.items():
            (tree / name).write_text(text)
        self.git("add", ".", cwd=tree)
        if ".gitmodules" in files:
            self.git("update-index", "--add", "--cacheinfo", "160000," + "1" * 40 + ",sub", cwd=tree)
        self.git("commit", "--quiet", "-m", "x", cwd=tree)
        top = self.ground.directory / "bare"  # no work of git's own is going on in it
        shutil.rmtree(top, ignore_errors=True)
        self.git("clone", "--quiet", "--bare", str(tree), str(top))
        self.git("update-server-info", cwd=top)
        return {f"/r/{path.relative_to(top)}": body(path.read_bytes(), "Content-Type: text/plain")
                for path in top.rglob("*") if path.is_file()}

    def test_redirect(self):
        for name, server in self.near.items():
            server.answers = {"/r/info/refs": body(b"x")}
            self.far.answers = {"/r/info/refs": redirect(server.url("/r/info/refs", name))}
            result = self.ground.fetch("m")
            self.assertNotEqual(result.exit, 0, result)
            self.assertIn("near_hosts", result.err)
            self.assertEqual(self.asked(), [])

    def test_redirect_to_a_public_host(self):
        other = self.serve(HOSTS["other.example"], self.repository({"f": "x"}))
        self.far.answers = {"/r/info/refs": redirect(other.url("/r/info/refs", "other.example"))}
        result = self.ground.fetch("m")
        self.assertEqual(result.exit, 0, result)

    def test_submodule(self):
        for name, server in self.near.items():
            with self.subTest(name):
                shutil.rmtree(self.ground.directory / "tree", ignore_errors=True)
                url = server.url("/s", name)
                self.far.answers = self.repository({"f": name, ".gitmodules": f'[submodule "s"]\n\tpath = sub\n\turl = {url}\n'})
                result = self.ground.fetch("m")
                self.assertNotEqual(result.exit, 0, result)
                self.assertIn("private address", result.err)
                self.assertEqual(self.asked(), [])
                self.forget()

    def test_by_ssh(self):
        """A submodule's host is not asked by ssh, which would look up the address by itself."""
        bin_dir = self.ground.directory / "bin"
        bin_dir.mkdir()
        (bin_dir / "ssh").write_text(f"#!/bin/sh\necho \"$@\" >> {self.ground.directory}/ssh.log\nexit 1\n")
        (bin_dir / "ssh").chmod(0o755)
        self.ground.variables["PATH"] = f"{bin_dir}:{os.environ['PATH']}"
        recipe = {"schema": 1, "kind": "model", "name": "m", "git": {"origin": "ssh://git@other.example/r"}}
        for reach, asked in (("public", False), (None, True)):
            self.ground.recipes.joinpath("models/m.json").write_text(json.dumps({**recipe, "reach": reach}))
            self.assertNotEqual(self.ground.fetch("m").exit, 0)
            self.assertEqual((self.ground.directory / "ssh.log").exists(), asked)


class Catalogues(ReachCase):
    def publish(self, urls, server=None, host="far.example"):
        server = server or self.far
        recipe = json.dumps({"schema": 1, "kind": "dataset", "name": "d", "fragments": [
            {"id": "m", "type": "file", "path": "f.bin", "urls": urls}]}).encode()
        index = {"schema": 1, "catalogue": "sabath", "tombstones": [],
                 "assets": [{"kind": "dataset", "name": "d", "version": None, "title": None, "id": None, "licence": None,
                             "recipe": "datasets/d.json", "document": "datasets/d.json"}],
                 "files": [{"path": "datasets/d.json", "size": len(recipe), "sha256": hashlib.sha256(recipe).hexdigest()}]}
        server.answers |= {"/c/index.json": body(json.dumps(index).encode()), "/c/datasets/d.json": body(recipe)}
        done = self.ground.run("catalogue", "subscribe", server.url("/c/index.json", host), "--as", "lab")
        self.assertEqual(done.exit, 0, done)

    def test_names_no_file(self):
        key = self.ground.directory / "key"
        key.write_text("PRIVATE")
        self.publish([f"file://{key}"])
        result = self.ground.fetch("lab/d")
        self.assertEqual(result.exit, 4, result)
        self.assertIn("names no file of this machine", result.err)
        self.assertFalse(list((self.ground.store / "objects").rglob("*.7")))

    def test_leads_no_nearer(self):
        site = self.near["site.example"]
        site.answers = {"/f.bin": body(DATA)}
        self.publish([site.url("/f.bin", "site.example")])
        for name in ("lab/d", str(self.ground.recipes / "catalogues/lab/datasets/d.json")):
            result = self.ground.fetch(name)
            self.assertEqual(result.exit, 6, result)
            self.assertIn("near_hosts", result.err)
        self.assertEqual(self.asked(), [])

    def test_of_the_site_leads_within_the_site(self):
        site = self.near["site.example"]
        site.answers = {"/f.bin": body(DATA)}
        self.publish([site.url("/f.bin", "site.example")], site, "site.example")
        self.assertEqual(self.ground.fetch("lab/d").exit, 0)


class OthersRecipes(ReachCase):
    """A recipe of another user names only files that he could read himself."""

    OTHER_USER = 64007

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("needs root, to be two users")
        self.theirs = self.ground.directory / "theirs"
        self.theirs.mkdir()
        self.ground.directory.chmod(0o755)
        self.mine = self.ground.directory / "mine"
        self.mine.write_bytes(DATA)

    def fetch(self, url):
        recipe = self.ground.recipe("bad", self.ground.fragment(url))
        place = self.theirs / "r.json"
        shutil.move(recipe, place)
        for path in (self.theirs, place):
            os.chown(path, self.OTHER_USER, self.OTHER_USER)
        return self.ground.fetch(place)

    def test_what_he_could_read(self):
        for mode, code in ((0o600, 4), (0o644, 0)):
            self.mine.chmod(mode)
            result = self.fetch(f"file://{self.mine}")
            self.assertEqual(result.exit, code, result)
        self.forget()
        self.mine.chmod(0o644)
        hidden = self.ground.directory / "hidden"
        hidden.mkdir(mode=0o700)
        shutil.copy(self.mine, hidden / "f")
        self.assertEqual(self.fetch(f"file://{hidden}/f").exit, 4)

    def test_by_a_symlink_beside_it_and_by_a_list(self):
        self.mine.chmod(0o600)
        (self.theirs / "link").symlink_to(self.mine)
        self.assertEqual(self.fetch(f"file://{self.theirs}/link").exit, 4)
        list_file = self.theirs / "l.txt"
        list_file.write_text(f"file://{self.mine}\n")
        os.chown(list_file, self.OTHER_USER, self.OTHER_USER)
        self.ground.recipe("own", {"id": "l", "type": "file_list", "urls": [f"file://{list_file}"]})
        result = self.ground.fetch("own")
        self.assertEqual(result.exit, 4, result)
        self.assertIn("could not read it", result.err)

    def refused(self, *recipe):
        result = self.ground.fetch(*recipe)
        self.assertEqual(result.exit, 4, result)
        self.assertIn("could not read it", result.err)

    def test_by_a_list_of_mine(self):
        """His recipe stays his word, also where I wrote the list that it names."""
        self.mine.chmod(0o600)
        mine = self.ground.directory / "l.txt"
        mine.write_text(f"file://{self.mine}\n")
        recipe = self.ground.recipe("bad", {"id": "l", "type": "file_list", "urls": [f"file://{mine}"]})
        self.assertEqual(self.ground.fetch("bad").exit, 0)
        self.forget()
        place = self.theirs / "r.json"
        shutil.move(recipe, place)
        for path in (self.theirs, place):
            os.chown(path, self.OTHER_USER, self.OTHER_USER)
        self.refused(place)

    def test_by_what_he_leads_to(self):
        """Where he decides what stands at a name, its content is his word, also if it lies in a file of mine."""
        self.mine.chmod(0o600)
        copy = self.ground.directory / "copy"
        copy.write_text(f"file://{self.mine}\n")
        his = self.theirs / "l.txt"
        os.chown(self.theirs, self.OTHER_USER, self.OTHER_USER)
        self.ground.recipe("own", {"id": "l", "type": "file_list", "urls": [f"file://{his}"]})
        his.symlink_to(copy)
        self.refused("own")
        recipe = self.ground.recipe("bad", self.ground.fragment(f"file://{self.mine}"))
        (self.theirs / "r.json").symlink_to(recipe)
        self.refused(self.theirs / "r.json")

    def test_by_a_list_that_all_may_write(self):
        self.mine.chmod(0o600)
        listing = self.ground.directory / "l.txt"
        listing.write_text(f"file://{self.mine}\n")
        listing.chmod(0o666)
        self.ground.recipe("own", {"id": "l", "type": "file_list", "urls": [f"file://{listing}"]})
        self.refused("own")

    def test_a_repository(self):
        if not shutil.which("git"):
            self.skipTest("git is not installed")
        repository = self.ground.directory / "repository"
        subprocess.run(["git", "init", "--quiet", "--bare", str(repository)], check=True)
        repository.chmod(0o700)
        place = self.theirs / "r.json"
        place.write_text(json.dumps({"schema": 1, "kind": "model", "name": "m", "git": {"origin": f"file://{repository}"}}))
        for path in (self.theirs, place):
            os.chown(path, self.OTHER_USER, self.OTHER_USER)
        result = self.ground.fetch(place)
        self.assertEqual(result.exit, 4, result)
        self.assertIn("could not read it", result.err)


class LocalDocument(ReachCase):
    def test_a_symlink_beside_it(self):
        place = self.ground.directory / "doc"
        place.mkdir()
        secret = self.ground.directory / "secret"
        secret.mkdir()
        (secret / "f.bin").write_bytes(DATA)
        (place / "data").symlink_to(secret)
        document = {"@context": {"@vocab": "https://schema.org/"}, "@type": "sc:Dataset", "name": "c",
                    "conformsTo": "http://mlcommons.org/croissant/1.0",
                    "distribution": [{"@type": "cr:FileObject", "@id": "f", "name": "f", "contentUrl": "data/f.bin"}]}
        (place / "c.json").write_text(json.dumps(document))
        result = self.ground.fetch(place / "c.json")
        self.assertEqual(result.exit, 12, result)
        self.assertIn("symlink", result.err)


if __name__ == "__main__":
    enter_namespace(HOSTS)
    main()
