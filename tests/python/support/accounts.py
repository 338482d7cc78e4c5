"""A case of several users: a copy of the program that all can run, and a directory for what they share."""

import json
import os
import pathlib
import shutil

from support import program
from support.case import Case, place
from support.content import fragment, seeded

BIG = seeded(9_000_000, 7)
GROUP, OWNER = 64000, 64001


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
