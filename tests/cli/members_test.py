#!/usr/bin/python3
"""A shared store and the accounts of its group: all read all of it, and no private file comes into it unasked."""

import contextlib
import grp
import json
import os
import pwd
import shutil
import stat
import subprocess

from support.accounts import BIG, OwnProgram, object_of
from support.case import main, place
from support.content import fragment, read_tree, seeded
from support.origin import body_bytes

CHUNK = 4 << 20


class Accounts(OwnProgram):
    """Members as a machine has them: accounts with groups of their own, who share one group besides."""

    NAMES = ("sabtest0", "sabtest1")
    PROJECT = "sabtestp"

    def setUp(self):
        super().setUp()
        if not shutil.which("useradd") or not shutil.which("groupadd"):
            self.skipTest("needs useradd, to make accounts")
        self.forget_accounts()
        self.addCleanup(self.forget_accounts)
        self.call("groupadd", self.PROJECT)
        for name in self.NAMES:
            self.call("useradd", "-M", "-N", "-g", "nogroup", "-G", self.PROJECT, "-s", "/bin/sh", name)
        self.group = grp.getgrnam(self.PROJECT).gr_gid
        self.shared.chmod(0o777)

    def call(self, *command):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def forget_accounts(self):
        for kind, names in (("userdel", self.NAMES), ("groupdel", (self.PROJECT,))):
            for name in names:
                subprocess.run([kind, name], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def home_of(self, name):
        home = self.home / f"home-{name}"
        if not home.exists():
            home.mkdir(mode=0o700)
            os.chown(home, pwd.getpwnam(name).pw_uid, -1)
        return home

    def as_account(self, name, *arguments, umask="022", code=0, store=None, **variables):
        prefix = ["setpriv", f"--reuid={name}", "--regid=nogroup", "--init-groups", "--",
                  "sh", "-c", f'umask {umask}; exec "$@"', "sh"]  # fmt: skip
        store = str(store or self.store)
        result = self.sabath.run(*arguments, prefix=prefix, HOME=str(self.home_of(name)), SABATH_CACHE=store, **variables)
        return self.expect(result, code)

    def fetch_as(self, name, asset="one", **options):
        return self.as_account(name, "fetch", "--json", asset, **options).asset

    def add_others(self):
        """What becomes objects, a pack with its list, an executable of an archive, and a git source."""
        names = [f"n/{i:04}" for i in range(1100)]
        many = self.serve({"list.txt": "\n".join(names).encode()}, name="many", extra='location /n/ { return 200 "$uri"; }')
        self.sabath.add("many", [fragment(many.url("list.txt"), kind="file_list")])
        tree = self.home / "tree"
        place(tree / "d/run.sh", b"#!/bin/sh\n")
        (tree / "d/run.sh").chmod(0o755)
        self.call("tar", "-C", str(tree), "-cf", str(self.server.root / "t.tar"), "d")
        self.sabath.add("tar", [fragment(self.server.url("t.tar"), kind="archive")])
        git = self.home / "code"
        self.call("git", "init", "-q", "-b", "main", str(git))
        place(git / "x.py", b"1\n")
        self.call("git", "-C", str(git), "add", ".")
        self.call("git", "-C", str(git), "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "1")
        self.call("git", "-C", str(git), "update-server-info")
        self.call("cp", "-r", str(git / ".git"), str(self.server.root / "code.git"))
        self.sabath.add("code", kind="model", git={"origin": self.server.url("code.git"), "branch": "main"})
        return ("one", "pinned", "many", "tar", "code")

    def expect_open(self):
        """Who is a member reads all that is shared, and writes into its directories, but for the notes of another."""
        own = [room for kind in ("refs", "alias", "verified", "arrivals") for room in self.store.glob(f"{kind}.*")]
        self.assertEqual(len(own), 4 * len(self.NAMES))
        for path in [p for room in own for p in [room, *room.rglob("*")]]:
            status = path.lstat()
            shown = f"{path} {oct(status.st_mode)} {status.st_gid}"
            self.assertEqual((status.st_gid, status.st_uid), (self.group, int(path.relative_to(self.store).parts[0].split(".")[1])), shown)
            self.assertEqual(status.st_mode & 0o777, 0o755 if path.is_dir() else 0o644, shown)
        self.assertEqual([p.name for p in self.store.iterdir() if p.name in ("refs", "alias", "verified", "arrivals")], [])
        rooms = ("objects", "packs", "manifests", "records", "format")
        for path in [p for room in rooms for p in [self.store / room, *(self.store / room).rglob("*")] if p.exists()]:
            status = path.lstat()
            shown = f"{path} {oct(status.st_mode)} {status.st_gid}"
            self.assertEqual(status.st_gid, self.group, shown)
            self.assertEqual(status.st_mode & 0o040, 0o040, shown)
            if path.is_dir():
                self.assertEqual(stat.S_IMODE(status.st_mode), 0o3775 if path == self.store else 0o2775, shown)

    def test_whatever_the_umask_every_member_reads(self):
        assets = self.add_others()
        for umask, acl in (("022", True), ("027", False), ("077", False)):
            with self.subTest(umask=umask, acl=acl):
                shutil.rmtree(self.store, ignore_errors=True)
                self.as_account(self.NAMES[0], "init", "--shared", "--group", self.PROJECT, umask=umask)
                if not acl:  # as on a filesystem that has none
                    for directory in [self.store, *self.store.rglob("*")]:
                        with contextlib.suppress(OSError):
                            os.removexattr(directory, "system.posix_acl_default")
                trees = {}
                for name in self.NAMES:
                    for asset in assets:
                        path = self.fetch_as(name, asset, umask=umask)["path"]
                        if asset == "many":  # kept in packs
                            path = self.as_account(name, "view", "many", umask=umask).out.strip()
                        tree = read_tree(path)
                        self.assertTrue(tree)
                        self.assertEqual(trees.setdefault(asset, tree), tree)
                self.as_account(self.NAMES[1], "verify", umask=umask)
                self.expect_open()
                found = self.as_account(self.NAMES[1], "doctor", "--json", umask=umask).record["checks"]
                self.assertEqual([c["state"] for c in found if c["name"] == "members"], ["ok"])

    def test_what_a_member_locked_away_is_told_and_costs_a_fetch(self):
        self.as_account(self.NAMES[0], "init", "--shared", "--group", self.PROJECT)
        self.fetch_as(self.NAMES[0])
        locked = object_of(self.store, len(BIG))
        locked.chmod(0o400)  # as an older program left it
        found = self.sabath.run("doctor", "--json", SABATH_CACHE=str(self.store))
        (check,) = [c for c in found.record["checks"] if c["name"] == "members"]
        self.assertEqual((check["state"], found.exit != 0), ("fail", True))
        self.assertIn(str(locked), check["text"])
        self.assertIn("chmod", check["remedy"])
        self.expect_tree(self.fetch_as(self.NAMES[1])["path"], {"f.bin": BIG, "small": b"y" * 1000})
        self.assertEqual(stat.S_IMODE(object_of(self.store, len(BIG)).stat().st_mode), 0o444)

    def test_a_members_stray_files_fail_no_verify(self):
        self.as_account(self.NAMES[0], "init", "--shared", "--group", self.PROJECT)
        self.fetch_as(self.NAMES[0])
        stranger = pwd.getpwnam(self.NAMES[1]).pw_uid
        fan = sorted((self.store / "objects").iterdir())[0]
        strays = [fan / "notes.txt", self.store / "objects" / "mine", fan / f"{'0' * 62}.5"]
        for stray in strays:
            stray.mkdir(mode=0o700) if stray.name == "mine" else stray.write_bytes(b"mine\n")
            os.chown(stray, stranger, self.group)
            stray.chmod(0o700)
        found = self.as_account(self.NAMES[0], "verify", "--json")
        self.assertEqual(found.asset["bad"], [])
        paths = sorted(str(stray.relative_to(self.store)) for stray in strays)
        self.assertEqual(sorted((s["path"], s["owner"]) for s in found.asset["strays"]), [(p, stranger) for p in paths])
        self.assertTrue(all(stray.exists() for stray in strays))
        said = self.as_account(self.NAMES[0], "verify").err
        self.assertIn(f"note: {paths[0]}, of user {stranger}, is no object: it was left where it is", said)
        self.as_account(self.NAMES[0], "gc", "--grace", "0s")
        self.as_account(self.NAMES[0], "du")

    def test_a_members_names_and_content_are_his_own(self):
        """A name is known to users who trust the member; what another member has a view of is not removed."""
        one, other = self.NAMES
        self.as_account(one, "init", "--shared", "--group", self.PROJECT)
        data = self.shared / "data"
        place(data / "f", b"data\n")
        self.as_account(one, "adopt", data, "--name", "ours")
        room = self.store / f"recipes.{pwd.getpwnam(one).pw_uid}"
        for path in (room, room / "datasets"):
            self.assertEqual(stat.S_IMODE(path.stat().st_mode) & 0o022, 0, path)
        self.as_account(one, "fetch", "ours")
        self.as_account(other, "path", "ours", code=3)
        trusting = self.home / "trusting.json"
        trusting.write_text(json.dumps({"trusted_owners": [one]}))
        self.as_account(other, "fetch", "ours", "--offline", SABATH_CONFIG=str(trusting))
        place(data / "g", b"more\n")
        self.as_account(other, "adopt", data, "--name", "ours", code=7, SABATH_CONFIG=str(trusting))
        self.as_account(other, "adopt", data, "--name", "ours")  # of a member whom he does not trust he knows nothing
        for name in (one, other):
            self.fetch_as(name)
        (self.sabath.recipes / "datasets/pinned.json").unlink()  # the same content
        said = self.as_account(one, "rm", "one").err
        self.assertIn(f" stay, in use by user {other} until ", said)
        self.as_account(one, "path", "one", code=9)
        self.as_account(other, "path", "one")

    def secret(self, name, data=b"a key\n", mode=0o600, group=-1, directory=0o755):
        """A file of a member's, in a directory of his."""
        place(self.home_of(name) / "d" / "key", data)
        file = self.home_of(name) / "d" / "key"
        file.chmod(mode)
        for path in (file.parent, file):
            os.chown(path, pwd.getpwnam(name).pw_uid, group)
        file.parent.chmod(directory)
        self.home_of(name).chmod(0o755)
        return file

    def add_private(self, url, name="stranger", **more):
        self.sabath.add(name, [fragment(url, name="f", path=more.pop("path", "f"), **more)])

    def test_a_strangers_recipe_gives_no_private_file_to_the_group(self):
        me = self.NAMES[0]
        self.as_account(me, "init", "--shared", "--group", self.PROJECT)
        key = self.secret(me)
        (self.home / "link").symlink_to(key)
        os.link(key, self.home / "hard")
        (self.home / "list.txt").write_text(f"file://{key}\n")
        open_file = self.home / "open"
        open_file.write_bytes(b"for all\n")
        locked = self.home_of(self.NAMES[1]) / "x"  # readable by its mode, in a directory that is not
        place(locked, b"behind a door\n")
        os.chown(locked, pwd.getpwnam(self.NAMES[1]).pw_uid, -1)
        sources = {"key": key, "link": self.home / "link", "hard": self.home / "hard", "list": self.home / "list.txt"}
        for name, file in sources.items():
            kind = "file_list" if name == "list" else "file"
            self.sabath.add(name, [fragment(f"file://{file}", kind=kind)])
            with self.subTest(name):
                result = self.as_account(me, "fetch", name, code=4)
                self.assertIn("--path", result.err)
        self.sabath.add("locked", [fragment(f"file://{locked}")])
        self.as_account(self.NAMES[1], "fetch", "locked", code=4)
        self.assertEqual([p for p in (self.store / "objects").rglob("*") if p.is_file() and p.stat().st_size < 20
                          and p.read_bytes() in (b"a key\n", b"behind a door\n")], [])  # fmt: skip
        # What may be read is fetched; who names the very file has said so; and one's own store is one's own.
        self.sabath.add("open", [fragment(f"file://{open_file}")])
        self.fetch_as(me, "open")
        mine = self.home_of(me) / "store"
        self.fetch_as(me, "key", store=mine)
        self.as_account(me, "fetch", "key", "--path", str(key))

    def test_git_repositories_and_adopted_and_imported_files_are_sources_too(self):
        me = self.NAMES[0]
        self.as_account(me, "init", "--shared", "--group", self.PROJECT)
        repository = self.home_of(me) / "code"
        git = ["setpriv", f"--reuid={me}", "--regid=nogroup", "--init-groups", "--", "git", "-c", "user.name=a", "-c", "user.email=a@b"]
        self.call(*git, "init", "-q", "-b", "main", str(repository))
        self.call(*git, "-C", str(repository), "commit", "-q", "--allow-empty", "-m", "1")
        self.sabath.add("code", kind="model", git={"origin": f"file://{repository}", "branch": "main"})
        self.as_account(me, "fetch", "code", code=4)  # its home is closed
        self.secret(me)
        self.fetch_as(me, "code")  # it is open now
        self.as_account(me, "adopt", "--name", "mine", str(self.home_of(me) / "d"), code=4)
        mine = self.home_of(me) / "store"
        self.fetch_as(me, store=mine)
        self.as_account(me, "export", "one", "-o", str(self.home_of(me) / "bundle"), umask="077", store=mine)
        self.as_account(me, "import", str(self.home_of(me) / "bundle"), code=4)
        (self.home_of(me) / "bundle").chmod(0o644)
        self.as_account(me, "import", str(self.home_of(me) / "bundle"))

    def test_what_the_group_alone_may_read_stays_with_the_group(self):
        me = self.NAMES[0]
        self.as_account(me, "init", "--shared", "--group", self.PROJECT)
        key = self.secret(me, mode=0o640, group=self.group)
        self.sabath.add("ours", [fragment(f"file://{key}")])
        self.fetch_as(me, "ours")
        self.assertEqual(stat.S_IMODE(object_of(self.store, 6).stat().st_mode), 0o440)
        self.assertEqual(read_tree(self.fetch_as(self.NAMES[1], "ours")["path"]), {"key": b"a key\n"})

    def test_what_the_group_alone_may_read_stays_so_whoever_publishes_it(self):
        """The first process reads two chunks of it, and a wrong third one; the next has that from elsewhere."""
        me = self.NAMES[0]
        data = seeded(3 * CHUNK)
        self.as_account(me, "init", "--shared", "--group", self.PROJECT)
        key = self.secret(me, data[:-1] + bytes([data[-1] ^ 1]), mode=0o640, group=self.group)
        place(self.server.root / "true/key", data)
        self.expect(self.sabath.run("manifest", "create", self.server.root / "true", "-o", self.home / "m"))
        pin = {"digest": self.sabath.run("manifest", "show", "--json", self.home / "m").record["manifest"],
               "urls": [f"file://{self.home}/m"]}  # fmt: skip
        self.sabath.add("ours", [fragment(f"file://{key}", path="key")], manifest=pin)
        self.as_account(me, "fetch", "ours", "--lanes", "1", code=7)  # one after the other
        self.sabath.add("ours", [fragment(self.server.url("true/key"), path="key")], manifest=pin)
        self.assertEqual(self.fetch_as(me, "ours")["reused"]["partial"], 2 * CHUNK)
        self.assertEqual(stat.S_IMODE(object_of(self.store, len(data)).stat().st_mode), 0o440)

    def test_a_private_store_beside_a_shared_one_is_not_emptied_into_it(self):
        me = self.NAMES[0]
        self.as_account(me, "init", "--shared", "--group", self.PROJECT)
        mine = self.home_of(me) / "store"
        self.fetch_as(me, store=mine)
        shutil.rmtree(mine / "views")  # or it would be used where it stands
        seen = self.server.log()
        self.fetch_as(me, store=f"{self.store}:{mine}", umask="077")
        self.assertGreater(body_bytes(self.server.new_requests(seen)), len(BIG) - 1)
        self.assertFalse(object_of(self.store, len(BIG)).is_symlink())
        self.expect_tree(self.fetch_as(self.NAMES[1])["path"], {"f.bin": BIG, "small": b"y" * 1000})


if __name__ == "__main__":
    main()
