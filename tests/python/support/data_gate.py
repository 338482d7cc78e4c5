"""What the gate before data that are loaded says of files."""

import os
import re

from support.case import Case, place
from support.content import fragment


class Evil:
    def __reduce__(self):
        return os.system, ("true",)


class GateCase(Case):
    """A model, before whose data the gate stands."""

    def setUp(self):
        super().setUp()
        self.others = self.home / "others"
        self.others.mkdir()
        self.others.chmod(0o777)
        self.sabath.add("model", kind="model", run={"set": [{"argv": ["true"]}]})

    def told(self, files):
        """What the gate says of these files: path -> line."""
        for name, data in files.items():
            place(self.others / name, data)
        self.sabath.add("set", [fragment(f"file://{self.others}/{name}", data, name=f"f{i}", path=name)
                                for i, (name, data) in enumerate(files.items())])  # fmt: skip
        self.expect(self.sabath.run("fetch", "set"))
        run = self.expect(self.sabath.run("run", "model", "set", "-n", "--json")).record["runs"][0]
        told = {}
        for line in run["assets"][-1].get("loads", {}).get("found", []):
            name = re.split("[,:]", line)[0]
            told[name] = told.get(name, "") + line + "\n"
        for name in files:
            (self.others / name).unlink()
        return told
