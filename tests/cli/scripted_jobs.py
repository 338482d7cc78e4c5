"""Jobs whose scheduler is made of scripts that note how they were called."""

import json

from support.case import Case, place
from support.content import fragment

NOTE = '#!/bin/sh\necho "$(basename "$0") $*" >>{calls}\n'


class ScriptedJobs(Case):
    def setUp(self):
        super().setUp()
        place(self.home / "origin/f.bin", b"abc")
        self.sabath.add("data", [fragment(f"file://{self.home}/origin/f.bin", b"abc")])
        self.model()
        self.calls = self.home / "calls"
        self.calls.touch()
        self.path = self.home / "bin"
        self.sabath.environment["PATH"] = f"{self.path}:/usr/bin:/bin"
        self.program("sbatch", "echo 77")
        self.program("squeue", "echo '77|RUNNING|None'")
        self.program("scancel", "exit 0")

    def model(self, **facts):
        place(self.sabath.recipes / "models/net/train.py", b"")
        run = {"data": [{"argv": ["python3", "{source}/train.py"], "parallel": True}]}
        self.sabath.add("net", kind="model", source="net", run=run, config={"lr": "1"}, metadata=facts)

    def program(self, name, script):
        place(self.path / name, (NOTE.format(calls=self.calls) + script + "\n").encode())
        (self.path / name).chmod(0o755)

    def called(self, name):
        return [line for line in self.calls.read_text().splitlines() if line.startswith(name)]

    def job(self, *arguments, code=0):
        return self.expect(self.sabath.run("job", "--json", "net", *arguments), code)

    def submit(self, *arguments, code=0):
        return self.job("--submit", "--job-dir", self.home / "job", *arguments, code=code)

    def written(self):
        return json.loads((self.home / "job/job.json").read_text())
