#!/usr/bin/python3
"""Places that another account may write: no store, plug-in, configuration or staged content is taken there."""

import json
import os
import shutil
import subprocess

from support import program
from support.accounts import OwnProgram
from support.case import main

MINE, THEIRS = 61001, 61002


class Accounts(OwnProgram):
    """Two accounts by number, and a directory that all may write, sticky as /tmp is."""

    def setUp(self):
        super().setUp()
        self.common = self.home / "common"
        self.common.mkdir()
        self.common.chmod(0o1777)
        self.mine, self.theirs = self.of(MINE), self.of(THEIRS)

    def of(self, uid):
        home = self.home / f"home-{uid}"
        home.mkdir(mode=0o700)
        os.chown(home, uid, GROUP)
        return home

    def shell(self, uid, command, **variables):
        """What this account's shell does; umask 022."""
        home = self.home / f"home-{uid}"
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "SABATH_RECIPES": str(self.sabath.recipes),
                       "SABATH_CACHE": str(home / "store"), "SABATH": program.BINARY, **variables}
        words = ["setpriv", "--reuid", str(uid), "--regid", str(GROUP), "--clear-groups", "sh", "-c", "umask 022; " + command]
        return subprocess.run(words, env=environment, cwd=home, capture_output=True, text=True, timeout=300, check=False)

    def done(self, uid, command, code=0, **variables):
        result = self.shell(uid, command, **variables)
        self.assertEqual(result.returncode, code, result)
        return result


GROUP = 61000


class Staging(Accounts):
    def stage(self, code=0, **variables):
        return self.done(MINE, "$SABATH stage one --to auto --alone", code, USER=f"sabath-test-{os.getpid()}", **variables)

    def test_places_of_auto(self):
        self.done(MINE, "$SABATH fetch one")
        usual = f"/tmp/sabath-test-{os.getpid()}"
        self.addCleanup(shutil.rmtree, usual, True)
        evil = self.common / "evil"
        self.done(THEIRS, f"mkdir -m 777 {evil} && mkdir {evil}/below && ln -s {self.mine} {self.common}/link")
        mine = self.common / "mine"
        for place, words in ((evil, "owned by uid"), (f"{evil}/new", "its directory"), (f"{self.common}/link", "link"),
                             (self.common, "others may write it")):
            with self.subTest(place=place):
                if os.path.exists("/local") or os.path.exists("/mnt/bb"):
                    self.skipTest("a usual place before /tmp is here")
                self.done(THEIRS, f"rm -rf {usual} && mkdir -m 777 {usual}")
                result = self.stage(70, TMPDIR=str(place))
                self.assertIn(words, result.stderr)
                self.assertFalse(os.path.lexists(f"{usual}/one"))
                self.done(THEIRS, f"rm -rf {usual}")
        self.assertEqual(self.stage(TMPDIR=str(mine)).stdout.strip(), f"{mine}/one")
        self.assertEqual(mine.stat().st_mode & 0o777, 0o700)
        self.assertTrue(self.stage(TMPDIR=str(self.common)).stdout.startswith(usual), "and the usual one is made, where it is free")


class Stores(Accounts):
    def test_a_store_is_private_at_its_top(self):
        (self.mine / "secret").write_text("secret of the test\n")
        os.chown(self.mine / "secret", MINE, GROUP)
        (self.mine / "secret").chmod(0o600)
        scratch = self.common / "scratch"
        self.sabath.add("private", [{"id": "m", "type": "file", "path": "s", "urls": [f"file://{self.mine}/secret"]}])
        self.done(MINE, f"$SABATH fetch private --store {scratch}")
        self.assertEqual(scratch.stat().st_mode & 0o777, 0o700)
        self.assertNotIn("secret of", self.shell(THEIRS, f"cat $(find {scratch} -type f)").stdout)
        made = self.done(MINE, f"$SABATH init --store '{self.common}/a store'")
        self.assertIn(f"`chmod 755 '{self.common}/a store'`", made.stderr)
        (self.common / "there").mkdir()
        os.chown(self.common / "there", MINE, GROUP)
        self.done(MINE, f"$SABATH init --store {self.common}/there")
        self.assertEqual((self.common / "there").stat().st_mode & 0o777, 0o755)


class Programs(Accounts):
    """What says which code runs."""

    def test_a_configuration(self):
        url = self.server.url("small")
        self.sabath.add("small", [{"id": "m", "type": "file", "path": "s", "urls": [url]}])
        ran, config = self.mine / "ran", self.mine / "config.json"
        keys = {"tokens": [{"origin": url.rsplit("/", 1)[0], "command": ["touch", str(ran)]}], "fetchers": ["d"], "ssh_config": "c",
                "trusted_owners": ["root"]}
        for key, value in keys.items():
            config.write_text(json.dumps({key: value}))
            os.chown(config, MINE, GROUP)
            config.chmod(0o666)
            said = self.done(MINE, f"$SABATH fetch small --config {config}", 4).stderr
            self.assertIn(f"its `{key}` decides what runs as you", said)
            self.assertIn("others may write it (mode 666)", said)
        self.assertFalse(ran.exists())
        config.write_text(json.dumps({"lanes": 2}))  # it names no program
        self.done(MINE, f"$SABATH fetch small --config {config}")
        loose = self.home / "loose"  # a directory above it
        loose.mkdir()
        loose.chmod(0o777)
        (loose / "c.json").write_text(json.dumps({"tokens": keys["tokens"]}))
        os.chown(loose / "c.json", MINE, GROUP)
        said = self.done(MINE, f"$SABATH fetch small --config {loose}/c.json", 4).stderr
        self.assertIn(f"its directory {loose}", said)

    def test_a_description(self):
        fetchers = self.common / "loose" / "sabath" / "fetchers"
        fetchers.mkdir(parents=True)
        (self.common / "loose").chmod(0o777)
        (fetchers / "x.json").write_text("{}")
        said = self.done(MINE, "$SABATH fetchers", 4, XDG_DATA_HOME=str(self.common / "loose")).stderr
        self.assertIn("says what to run, and is not believed: its directory", said)

    def test_a_plug_in(self):
        loose = self.common / "loose"
        directory = loose / "sabath" / "mpi"
        directory.mkdir(parents=True)
        for name in ("openmpi", "mpich"):
            (directory / f"libsabath-mpi-{name}.so").write_bytes(b"")
        loose.chmod(0o777)
        said = self.shell(MINE, "$SABATH doctor", XDG_DATA_HOME=str(loose)).stdout
        if str(directory) not in said:
            self.skipTest("no MPI is here")
        self.assertIn(f"its directory {loose}: others may write it (mode 777)", said)


if __name__ == "__main__":
    main()
