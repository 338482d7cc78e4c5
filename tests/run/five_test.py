#!/usr/bin/python3
"""The five benchmarks of the original, run for real by their shipped recipes and by the original's own.

Only the addresses of their sources are replaced (with sizes, checksums and commits, which follow from the content), as
those are on the internet: commands, templates and environment are the recipes' own. What -n prints is what the programs
are called with, and the cached source is the same before and after.
"""

import collections
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import unittest

from five import BENCHMARKS, make_programs, make_repository, read_calls
from runs import Runs, main, place
from support.content import read_tree, snapshot

SHIPPED = pathlib.Path(__file__).resolve().parents[2] / "recipes"
ORIGINAL = os.environ.get("SABATH_TEST_DATA", "") and pathlib.Path(os.environ["SABATH_TEST_DATA"], "original-sabath/sabath")
LOGS = ("leases/", "records/")
MISSING = [name for name in ("git", "mpirun", "make") if not shutil.which(name)]


def recipe_of(catalogue, kind, name):
    for file in sorted((catalogue / kind).rglob("*.json")):
        recipe = json.loads(file.read_text())
        if recipe["name"] == name:
            return file.relative_to(catalogue), recipe
    raise AssertionError(f"{catalogue} has no recipe of {name}")


def commands_of(argv, programs):
    """What of a step's command the programs of the test must have received."""
    if argv[:2] != ["/bin/sh", "-c"]:
        begins = [i for i, word in enumerate(argv) if os.path.basename(word) in programs]
        return [(os.path.basename(argv[i]), *argv[i + 1:]) for i in begins if i == 0 or argv[0] == "mpirun"]
    parts = [shlex.split(part) for part in argv[2].split(" && ")]
    parts = [part[:part.index(">")] if ">" in part else part for part in parts]
    return [tuple(part) for part in parts if part[0] in programs]


@unittest.skipIf(MISSING, f"there is no {', '.join(MISSING)}")
class Five(Runs):
    def setUp(self):
        super().setUp()
        self.programs, self.calls = self.home / "programs", self.home / "calls"
        self.calls.mkdir()
        make_programs(self.programs, self.calls)
        self.sabath.environment.update(
            PATH=f"{self.programs}:{os.environ['PATH']}", SABATH_PYTHON=str(self.programs / "python3"),
            SABATH_RECIPES=str(self.home / "redirected"), GIT_CONFIG_COUNT="3",
            GIT_CONFIG_KEY_0="protocol.file.allow", GIT_CONFIG_VALUE_0="always",
            GIT_CONFIG_KEY_1=f"url.file://{self.home}/origin/.insteadOf", GIT_CONFIG_VALUE_1="git@github.com:mrnorman/",
            GIT_CONFIG_KEY_2=f"url.file://{self.home}/origin/.insteadOf", GIT_CONFIG_VALUE_2="ssh://git@github.com/mrnorman/",
        )  # fmt: skip

    def redirect(self, catalogue, to, benchmark, which):
        """Both recipes with sources on this machine; the rest of them stays as it is."""
        commit = make_repository(self.home / "origin/code", benchmark.repository, benchmark.submodule)
        file, model = recipe_of(catalogue, "models", self.model_called)
        model["git"]["origin"] = f"file://{self.home}/origin/code"
        if "commit" in model["git"]:
            model["git"]["commit"] = commit
        place(to / file, json.dumps(model).encode())
        file, data = recipe_of(catalogue, "datasets", benchmark.data[which])
        for part in data["fragments"]:
            self.replace_source(part, benchmark.files)
        place(to / file, json.dumps(data).encode())

    def replace_source(self, part, files):
        old = part["urls"][0] if "urls" in part else part["url"]
        name = old.rpartition("/")[2]
        content = files.get(part["id"])
        if part["type"] == "file_list":
            for file, data in files.items():
                place(self.home / "origin/arrays" / file, data)
            content = "".join(f"file://{self.home}/origin/arrays/{file}\n" for file in files).encode()
        place(self.home / "origin" / part["id"] / name, content)
        url = f"file://{self.home}/origin/{part['id']}/{name}"
        part.update({"urls": [url]} if "urls" in part else {"url": url})
        if part.get("size") is not None:
            part["size"] = len(content)
        if part.get("checksum"):
            part["checksum"] = {kind: hashlib.new(kind, content).hexdigest() for kind in part["checksum"]}

    def check(self, name, which, catalogue, to, *more):
        benchmark = BENCHMARKS[name]
        self.model_called, arguments = benchmark.arguments[which][0], [*more, *benchmark.arguments[which]]
        self.redirect(catalogue, to, benchmark, which)
        self.expect(self.sabath.run("fetch", *more, "--model", self.model_called, "--dataset", benchmark.data[which]))
        before = snapshot(self.home)
        shown = self.expect(self.sabath.run("run", "-n", "--json", "--run-dir", self.run_directory, *arguments)).record
        self.assertEqual(snapshot(self.home), before)
        cached = self.cached()
        self.launch("--checks", "none", *arguments)  # of Horovod, which the program in Python's place does not have
        self.assertEqual(self.cached(), cached)
        self.assertEqual(self.expect(self.sabath.run("verify", "--json")).record["exit"], 0)
        self.check_commands(shown["runs"][0])
        self.check_record(benchmark, which)

    def cached(self):
        """The content of all that the store holds, repositories too; of objects also what a write and its undoing change."""
        kept = {path: hashlib.sha256(data).hexdigest() for path, data in read_tree(self.sabath.store).items()}
        for name in list(kept):
            if name.startswith((*LOGS, "indexes/")):  # a run notes what it found in the data of a list
                del kept[name]
        return kept, snapshot(self.sabath.store / "objects")

    def check_commands(self, shown):
        steps = [step["argv"] for step in shown["steps"]]
        self.assertEqual(steps, [step["argv"] for step in self.record()["steps"]])
        programs = [file.name for file in self.programs.iterdir()]
        received = collections.Counter(read_calls(self.calls))
        for step in steps:
            commands = commands_of(step, programs)
            self.assertTrue(commands or "cmakescript.sh" in step[-1] or step[0].endswith("driver"), step)
            for command in commands:
                self.assertGreater(received[command], 0, (command, *received))

    def check_record(self, benchmark, which):
        said = "".join(file.read_text() for file in sorted((self.run_directory / "output").glob("stdout*")))
        for text in benchmark.says:
            self.assertIn(text, said)
        for name, values in benchmark.metrics.items():
            self.assertEqual(self.values(name), values if which == "shipped" or not benchmark.by_pattern else [])
        self.assertEqual([asset["verified_by"] for asset in self.record()["assets"]], ["unchanged since it was hashed"] * 2)
        # The run's own copy is what was changed.
        cached = read_tree(self.record()["assets"][0]["path"])
        self.assertIn("README.md", cached)
        copied = read_tree(self.run_directory / "source")
        self.assertNotIn("README.md", copied)
        changed = [path for path, data in copied.items() if data.endswith(b"# changed by the run")]
        self.assertEqual(sorted(set(cached) - {"README.md"} - set(changed)), [])


def shipped(name):
    return lambda self: self.check(name, "shipped", SHIPPED, self.home / "redirected")


def original(name):
    def test(self):
        root = self.home / "root"
        self.check(name, "original", ORIGINAL, root / "var/sabath/assets/sabath", "--root", root)

    return unittest.skipUnless(ORIGINAL, "SABATH_TEST_DATA does not name a directory with original-sabath")(test)


for benchmark in BENCHMARKS:
    setattr(Five, f"test_shipped_{benchmark}", shipped(benchmark))
    setattr(Five, f"test_original_{benchmark}", original(benchmark))


if __name__ == "__main__":
    main()
