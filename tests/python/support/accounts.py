"""A case of several users: a copy of the program that all can run, and a directory for what they share."""

import json
import os
import pathlib
import shutil
import subprocess

from support import program
from support.bare import TREE
from support.case import Case, place
from support.content import fragment, seeded

BIG = seeded(9_000_000, 7)
GROUP, OWNER = 64000, 64001
ALICE, MALLORY = 64001, 64003


def object_of(store, data_size):
    """The object of this length."""
    (found,) = [p for p in (store / "objects").rglob(f"*.{data_size}")]
    return found


class OwnProgram(Case):
    """A copy of it that other users can run, and a directory for the files that they share."""

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("needs root and setpriv, to be several users")
        self.home.chmod(0o755)
        self.program = self.home / "program/bin/sabath"
        place(self.program, pathlib.Path(program.BINARY).read_bytes())
        self.program.chmod(0o755)
        for plugins in pathlib.Path(program.BINARY).parents[1].glob("lib*/sabath"):
            shutil.copytree(plugins, self.home / "program" / plugins.parent.name / "sabath")
        self.addCleanup(setattr, program, "BINARY", program.BINARY)
        program.BINARY = str(self.program)
        self.shared = self.home / "project"
        self.shared.mkdir()
        os.chown(self.shared, OWNER, GROUP)
        self.server = self.serve({"f.bin": BIG, "small": b"y" * 1000})
        self.sabath.add("one", [fragment(self.server.url("f.bin"), BIG), fragment(self.server.url("small"), name="s")])
        made = self.expect(self.sabath.run("manifest", "create", self.server.root, "-o", self.home / "m", "--json"))
        recipe = json.loads((self.sabath.recipes / "datasets/one.json").read_text())
        self.sabath.add("pinned", recipe["fragments"], manifest={"digest": made.record["manifest"], "urls": []})
        self.store = self.shared / "store"


class Members(OwnProgram):
    """A shared store that Alice made, and another member of its group, Mallory."""

    def setUp(self):
        super().setUp()
        shutil.copytree(TREE / "etc/sites", self.home / "program/share/sabath/sites")
        self.as_user(ALICE, "init", "--shared")

    def as_user(self, user, *arguments, code=0, **variables):
        home = self.home / f"home-{user}"
        if not home.exists():
            home.mkdir()
            os.chown(home, user, GROUP)
        prefix = ["setpriv", f"--reuid={user}", f"--regid={GROUP}", "--clear-groups", "--"]
        result = self.sabath.run(*arguments, prefix=prefix, HOME=str(home), **{"SABATH_CACHE": str(self.store), **variables})
        if code is not None:
            self.expect(result, code)
        return result

    def as_mallory(self, script, *arguments):
        """Python that works in the store, as it stands there."""
        prefix = ["setpriv", f"--reuid={MALLORY}", f"--regid={GROUP}", "--clear-groups", "--", "/usr/bin/python3", "-c"]
        subprocess.run([*prefix, script, *map(str, arguments)], cwd=self.store, check=True)
