#!/usr/bin/python3
"""`sabath job --answer`: a call from another machine. It names recipes and profiles of that side by name only, what it
brings is nowhere that user's own, and it writes neither into hidden places nor where SABATH reads."""

import hashlib
import json
import os
import subprocess
import time

from support import program
from support.case import Case, main, place
from support.content import fragment

NONCE = "0123456789abcdef" * 2
RECORD = {"schema": 1, "id": "r", "state": "finished", "environment": {"modules": []}}


class Calls(Case):
    def setUp(self):
        super().setUp()
        place(self.home / "origin/f.bin", b"abc")
        self.sabath.add("data", [fragment(f"file://{self.home}/origin/f.bin", b"abc")])
        self.mark = self.home / "mark"
        self.sabath.add("own", kind="model", default_dataset="data", run={"data": [{"argv": ["true"]}]})
        self.evil = json.dumps({"schema": 1, "kind": "model", "name": "net", "default_dataset": "data",
                                "run": {"data": [{"argv": ["touch", str(self.mark)]}]}})  # fmt: skip
        place(self.home / "bin/sbatch", b"#!/bin/sh\nfor s; do :; done\ncat \"$s\" >>$HOME/submitted\necho 77\n")
        place(self.home / "bin/squeue", b"#!/bin/sh\necho '77|RUNNING|None'\n")
        for file in (self.home / "bin").iterdir():
            file.chmod(0o755)
        self.sabath.environment["PATH"] = f"{self.home}/bin:/usr/bin:/bin"
        self.sent = self.home / ".local/state/sabath/sent"

    def answer(self, code, words="", recipes=(), lock=None, **request):
        call = {"schema": 1, "version": "0", "request": request}
        if recipes:
            call["recipes"] = list(recipes)
        if lock is not None:
            call["lock"] = lock
        body = json.dumps(call).encode()
        with subprocess.Popen([program.BINARY, "job", "--answer"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=self.sabath.environment, cwd=self.home) as asked:  # fmt: skip
            asked.stdin.write(f"sabath-job-call {NONCE} {len(body)}\n".encode() + body)
            asked.stdin.flush()  # and it stays open: its end is a stop request
            said = asked.stdout.read().decode()
            self.assertEqual(asked.wait(), code, said)
        self.assertIn(words, said)
        return said

    def recipe(self, text, role="model", name="net", kind="model"):
        return {"role": role, "kind": kind, "name": name, "digest": "sha256:" + hashlib.sha256(text.encode()).hexdigest(), "text": text}

    def kept(self):
        return sorted(str(p.relative_to(self.sent)) for p in self.sent.rglob("*") if p.is_file() and p.name != "subscription.json")

    def submitted(self):
        return (self.home / "submitted").exists()

    def test_an_own_recipe_by_its_name_runs_and_by_a_path_does_not(self):
        self.answer(0, "77", model="own", submit=True)
        (self.home / "submitted").unlink()
        place(self.home / "net.json", self.evil.encode())
        for name in (str(self.home / "net.json"), "./net.json", "net.json", "recipes/models/own.json", f"file://{self.home}/net.json"):
            self.answer(2, "by its name, and no file", model=name, submit=True)
            self.answer(2, "by its name, and no file", model="own", dataset=name, submit=True)
            self.answer(2, "by its name, and no file", model="own", **{"from": name}, submit=True)
            self.answer(2, "by its name, and no file", model="own", site=name, submit=True)
        self.assertFalse(self.submitted())

    def test_a_lock_is_a_record_and_goes_with_its_call(self):
        for text in (self.evil, "{}", "x", "[" * 5000):
            self.answer(12, "the lock of the call", model="own", lock=text)
            self.assertEqual(self.kept(), [])
        self.answer(3, "software", model="own", lock=json.dumps({**RECORD, "environment": {"modules": ["gcc/12"]}}))
        self.assertEqual(self.kept(), [])

    def test_what_was_sent_is_asked_about_by_its_path_too(self):
        self.answer(4, "not trusted", model="net", submit=True, recipes=[self.recipe(self.evil)])
        (file,) = self.sent.rglob("net.json")
        place(self.home / "data.json", b"")
        for named in (file, os.path.relpath(file, self.home)):
            result = self.expect(self.sabath.run("run", named, "data", "--run-dir", self.home / "r"), 4)
            self.assertIn("others may have written it", result.err)
        profile = json.dumps({"schema": 1, "name": "x", "launchers": {"evil": {"argv": ["touch", str(self.mark)]}}})
        place(file.parent.parent / "locks/x.json", profile.encode())
        self.expect(self.sabath.run("run", "own", "--site", file.parent.parent / "locks/x.json", "--launcher", "evil",
                                    "--run-dir", self.home / "r"), 4)  # fmt: skip
        self.assertFalse(self.mark.exists())

    def test_a_call_brings_no_image(self):
        place(self.home / "image.sif", b"x")
        self.expect(self.sabath.fetch("data"))
        for image in ("docker://evil.example/x", "image.sif", str(self.home / "absent.sif")):
            self.answer(4, "cannot bring the image", model="own", container=f"apptainer:{image}")
        self.answer(0, "image.sif", model="own", container=f"apptainer:{self.home}/image.sif")
        (self.home / "image.sif").chmod(0o666)
        self.answer(4, "cannot bring the image", model="own", container=f"apptainer:{self.home}/image.sif")

    def test_no_job_stands_where_sabath_reads(self):
        for name in (".config/sabath/jobs/slurm", ".config/sabath/sites", ".local/share/sabath/x", ".local/state/sabath/x"):
            self.answer(2, "is hidden", model="own", submit=True, job_dir=str(self.home / name))
            self.expect(self.sabath.run("job", "own", "--submit", "--job-dir", self.home / name), 2)
            self.assertFalse((self.home / name).exists())
        for name in ("store/x", "recipes/models/x"):
            self.answer(2, "SABATH reads what is in", model="own", submit=True, job_dir=str(self.home / name))
        (self.home / ".ssh").mkdir()
        (self.home / "plain").symlink_to(".ssh")
        for name in (".ssh/x", "plain/x", "x/../.ssh/y"):
            self.answer(2, "is hidden", model="own", submit=True, job_dir=str(self.home / name))
            self.answer(2, "is hidden", model="own", stage_to=str(self.home / name))
            self.answer(2, "is hidden", model="own", set_from=str(self.home / name))
        self.assertFalse(self.submitted())
        self.answer(0, "77", model="own", submit=True, job_dir=str(self.home / "jobs/x"))

    def test_what_was_sent_has_a_bound_and_an_end(self):
        text = json.dumps({"schema": 1, "kind": "model", "name": "net", "run": {"data": [{"argv": ["true"]}]}})
        old = self.sent / ("0" * 24)
        place(old / "catalogues/sent/models/net.json", b"{}")
        os.utime(old, (time.time() - 200 * 86400,) * 2)
        self.answer(4, "not trusted", model="net", submit=True, dataset="data", recipes=[self.recipe(text)])
        self.assertFalse(old.exists())
        self.answer(4, "not trusted", model="net", submit=True, dataset="data", recipes=[self.recipe(text)])
        self.assertEqual(len(self.kept()), 1)
        for number in range(1000):
            (self.sent / f"{number:024x}").mkdir()
        other = text.replace("true", "false")
        self.answer(5, "has recipes of 1001 calls", model="net", submit=True, dataset="data", recipes=[self.recipe(other)])
        self.answer(4, "not trusted", model="net", submit=True, dataset="data", recipes=[self.recipe(text)])


if __name__ == "__main__":
    main()
