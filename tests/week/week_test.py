#!/usr/bin/python3
"""An administrator's week with two members of a group: from an empty prefix to an empty prefix, and no byte lost."""

import json
import os
import re
import shutil
import signal

from installation import InstallCase, paths_below
from support import program
from support.case import main
from support.content import fragment, seeded
from support.mounts import enter_own_namespace, mount_memory, need_own_namespace

GROUP, ALICE, BOB, SERVICE = 64010, 64011, 64012, 64013
MIB = 1 << 20
SIZES = {"climate": 16 * MIB + 1, "ocean": 16 * MIB + 2, "ice": 20 * MIB + 3}


class Week(InstallCase):
    def setUp(self):
        super().setUp()
        need_own_namespace(self)
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("needs root and setpriv, to be several users")
        self.home.chmod(0o755)
        self.addCleanup(setattr, program, "BINARY", program.BINARY)
        program.BINARY = str(self.prefix / "bin/sabath")
        self.disk = self.home / "project"
        mount_memory(self, self.disk, 48)
        self.disk.chmod(0o777)
        self.store = self.disk / "cache"
        for name in ("SABATH_CACHE", "SABATH_RECIPES"):  # the site's configuration has them
            del self.sabath.environment[name]
        self.data = {name: seeded(size, size) for name, size in SIZES.items()}
        self.origin = self.serve({**self.data, "small": b"s" * 1000})
        for name, data in self.data.items():
            self.sabath.add(name, [fragment(self.origin.url(name), data), fragment(self.origin.url("small"), name="s", path="s")])

    def as_user(self, user, *arguments, code=0, start=False, **variables):
        home = self.home / f"home-{user}"
        if not home.exists():
            home.mkdir(mode=0o700)
            os.chown(home, user, GROUP)
        prefix = ["setpriv", f"--reuid={user}", f"--regid={GROUP}", "--clear-groups", "--"] if user else []
        if start:
            return self.sabath.start(*arguments, prefix=prefix, HOME=str(home), **variables)
        return self.expect(self.sabath.run(*arguments, prefix=prefix, HOME=str(home), **variables), code)

    def fetch_as(self, user, name, **options):
        return self.as_user(user, "fetch", "--json", name, **options).asset

    def configure(self, **more):
        config = self.prefix / "etc/sabath/config.json"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(json.dumps({"store": str(self.store), "recipes": [str(self.sabath.recipes)], **more}))

    def test_the_week(self):
        self.install()
        self.configure(trusted_owners=[str(ALICE)])
        self.make_the_store()
        self.share()
        self.fill_the_disk()
        self.give_it_to_others()
        self.upgrade()
        self.remove()

    def make_the_store(self):
        self.as_user(ALICE, "init", "--shared")
        self.assertEqual((self.store.stat().st_gid, oct(self.store.stat().st_mode & 0o7777)), (GROUP, "0o3775"))
        checks = self.as_user(BOB, "doctor", "--json").record["checks"]
        self.assertEqual([c["state"] for c in checks if c["name"] == "members"], ["ok"])

    def share(self):
        """One member's bytes are the other's, without a request; also what no checksum names, because the owner is trusted."""
        alices = self.fetch_as(ALICE, "climate")
        seen = self.origin.log()
        bobs = self.fetch_as(BOB, "climate")
        self.assertEqual((bobs["fetched_bytes"], self.origin.new_requests(seen)), (0, []))
        self.assertNotEqual(alices["path"], bobs["path"])
        for asset in (alices, bobs):
            self.expect_tree(asset["path"], {"climate": self.data["climate"], "s": b"s" * 1000})
        self.fetch_as(BOB, "ocean")

    def fill_the_disk(self):
        """What does not fit is refused before its first byte; the administrator makes room, and the same command goes on."""
        seen = self.origin.log()
        result = self.as_user(BOB, "fetch", "ice", code=5)
        self.assertIn(f" in {self.store}, and 16.7 MB (", result.err)
        self.assertFalse([request for request in self.origin.new_requests(seen) if request.uri == "/ice"])
        self.as_user(ALICE, "keep", "climate")
        told = self.as_user(0, "gc", "--max-size", "20M", "--now", "--dry-run").out
        self.assertRegex(told, rf"(?m)^ocean .*stays: in use by user {BOB} until [-0-9]{{10}}$")
        self.as_user(BOB, "gc", "--max-size", "20M", "--now")  # runuser -u bob
        self.fetch_as(BOB, "ice")
        self.as_user(BOB, "verify")
        self.as_user(BOB, "path", "ocean", code=9)

    def give_it_to_others(self):
        """A service with a token, which is changed without a restart, and a client at another site."""
        token, theirs = self.home / "token", self.home / "their-token"
        def write(file, text, owner):
            file.write_text(text)
            file.chmod(0o600)
            os.chown(file, owner, -1)
        write(token, "monday", SERVICE)
        server = self.as_user(SERVICE, "serve", "--listen", "127.0.0.1:0", "--token", token, start=True)
        self.addCleanup(lambda: (server.kill(), server.communicate()))
        url = re.search(r"as (sabath://\S+) ", server.stderr.readline()).group(1)
        self.sabath.add("again", [fragment(url, self.data["climate"], path="c")])
        config = self.home / "theirs.json"
        config.write_text(json.dumps({"tokens": [{"origin": url, "file": str(theirs)}]}))
        site = {"SABATH_CONFIG": str(config), "SABATH_CACHE": str(self.home / "theirs")}
        write(theirs, "friday", 0)
        self.assertIn("401", self.as_user(0, "fetch", "again", code=4, **site).err)
        write(token, "friday", SERVICE)
        server.send_signal(signal.SIGHUP)
        self.assertIn("were read again", server.stderr.readline())
        self.expect_tree(self.fetch_as(0, "again", **site)["path"], {"c": self.data["climate"]})
        server.terminate()
        out, _ = server.communicate(timeout=300)
        self.assertEqual(server.returncode, 0)
        self.assertRegex(out, r"(?m) 401 .* ok$")

    def upgrade(self):
        """Another version over this one, while a member's run reads what the store holds."""
        old = self.prefix / "share/sabath/shipped/datasets/gone.json"
        old.write_text("{}")
        with open(self.prefix / "share/sabath/installed/program.txt", "a", encoding="utf-8") as names:
            names.write("share/sabath/shipped/datasets/gone.json\n")
        path = self.as_user(ALICE, "path", "climate").out.strip()
        os.utime(self.prefix / "bin/sabath", (0, 0))  # not of this build
        self.assertIn("Removing: ", self.install())
        self.assertFalse(old.exists())
        self.assertGreater((self.prefix / "bin/sabath").stat().st_mtime, 0)
        self.assertEqual(self.as_user(ALICE, "path", "climate").out.strip(), path)
        seen = self.origin.log()
        self.fetch_as(BOB, "climate")
        self.assertEqual(self.origin.new_requests(seen), [])

    def remove(self):
        held = paths_below(self.store / "objects")
        self.uninstall()
        self.assertEqual([p for p in paths_below(self.prefix) if (self.prefix / p).is_file()], ["etc/sabath/config.json"])
        self.assertEqual(paths_below(self.store / "objects"), held)


if __name__ == "__main__":
    enter_own_namespace()
    main()
