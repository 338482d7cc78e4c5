#!/usr/bin/python3
"""`sabath job --host` with another side that means harm: what it says is shown without hidden characters, and has an end."""

import json

from support.case import Case, main, place
from support.content import fragment


class FarSide(Case):
    """A program that stands for ssh: the other side."""

    def setUp(self):
        super().setUp()
        self.far = self.home / "far"
        self.far.mkdir()
        place(self.home / "origin/f.bin", b"abc")
        self.sabath.add("data", [fragment(f"file://{self.home}/origin/f.bin", b"abc")])
        self.sabath.add("net", kind="model", run={"data": [{"argv": ["true"]}]})

    def stand_in(self, text):
        place(self.home / "bin/ssh", f"#!/bin/sh\n{text}\n".encode())
        (self.home / "bin/ssh").chmod(0o755)
        self.sabath.environment["PATH"] = f"{self.home}/bin:/usr/bin:/bin"

    def job(self, *arguments, code=0):
        return self.expect(self.sabath.run("job", "--json", "net", "--host", "login", *arguments), code)

    def test_what_the_other_side_says_hides_nothing(self):
        record = {"schema": 1, "directory": "/x\u202ey", "scheduler": "slurm", "ids": ["7"], "fetch_id": None, "scripts": [
                  {"file": "/x\u200b", "text": "#!/bin/bash\n\techo a\u202eb \u2066\n"}], "tasks": [], "never": None,
                  "code": None, "exit": 0}  # fmt: skip
        self.stand_in(f"read -r a nonce b; echo \"sabath-job-answer $nonce 9.9\"; cat {self.far}/answer")
        place(self.far / "answer", json.dumps({"record": record}).encode() + b"\n")
        out = self.expect(self.sabath.run("job", "net", "--host", "login")).out
        self.assertEqual(out, "#!/bin/bash\n\techo a\\u202eb \\u2066\n")
        out = self.expect(self.sabath.run("job", "net", "--host", "login", "--submit")).out
        self.assertEqual(out, "login:/x\\u202ey\n")
        self.assertEqual(self.job().record["directory"], "/x\\u202ey")

    def test_complaints_without_an_end_have_one(self):
        self.stand_in("read -r a nonce b; echo \"sabath-job-answer $nonce 9.9\"; yes >&2")
        result = self.job(code=11)
        self.assertIn("complains without an end", result.err)
        self.assertLess(len(result.err), 100_000)


if __name__ == "__main__":
    main()
