#!/usr/bin/python3
"""`sabath demo`: the whole story, what it leaves out where something is missing, and that nothing stays running."""

import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

from support.case import Case, main
from support.content import read_tree
from support.origin import poll
from support.program import interrupt

try:
    import h5py
except ImportError:
    h5py = None

CHECK = pathlib.Path(__file__).resolve().parents[2] / "scripts/make-cosmouniverse"
NAME = "cosmouniverse_quickstart"


def running_below(directory):
    """Processes that work in this directory, or name it."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            inside = os.readlink(process / "cwd").startswith(str(directory)) or str(directory) in line
        except OSError:
            continue
        if inside and line and "demo -o" not in line:
            found.append(line)
    return found


def has_science():
    return subprocess.run(["python3", "-c", "import numpy, h5py"], capture_output=True, check=False).returncode == 0


class Demo(Case):
    def setUp(self):
        super().setUp()
        self.place = self.home / "demo"

    def demo(self, *arguments, code=0, **variables):
        return self.expect(self.sabath.run("demo", "-o", self.place, *arguments, **variables), code)

    def only(self, *names):
        """A PATH with these programs and no other."""
        tools = self.home / "tools"
        tools.mkdir()
        for name in names:
            (tools / name).symlink_to(shutil.which(name))
        return str(tools)

    def test_the_story(self):
        (self.home / "none").mkdir(mode=0o555)
        record = self.demo("--json", HOME=str(self.home / "none"), SABATH_CACHE="/nowhere", SABATH_OFFLINE="1").record
        made = read_tree(self.place / "lab/universes")
        self.assertEqual((len(made), sum(map(len, made.values()))), (record["universes"], record["bytes"]))
        for counted in ("fetched_bytes", "served_bytes", "bytes_from_shared"):
            self.assertEqual(record[counted], record["bytes"], counted)
        self.assertEqual(record["again_bytes"], 0)
        self.assertEqual(record["nodes"], 4 if record["launcher"] else 1)
        for node in range(record["nodes"]):
            self.expect_tree(self.place / f"nodes/{node}/{NAME}", made)
        recipe = json.loads((self.place / f"recipes/datasets/{NAME}.json").read_text())
        published = {part["path"]: part["checksum"]["sha256"] for part in recipe["fragments"]}
        self.assertEqual(published, {name: hashlib.sha256(data).hexdigest() for name, data in made.items()})
        self.assertEqual(bool(record["figure"]), "run" not in record["left_out"])
        if record["figure"]:
            self.assertIn("<svg", pathlib.Path(record["figure"]).read_text())
        elif shutil.which("python3") and has_science():
            self.fail(f"the model was left out: {record['left_out']}")
        self.assertEqual(running_below(self.place), [])
        if h5py:
            self.check_universes()

    def check_universes(self):
        """make-cosmouniverse, which shares no code with the program, finds the structure of the originals in them."""
        files = sorted((self.place / "lab/universes").iterdir())
        said = subprocess.run([sys.executable, CHECK, "--check", *files], capture_output=True, text=True, check=False)
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertEqual(said.stdout.count("structure is right"), 64)
        for file in files[:8]:
            with h5py.File(file) as universe:
                spread = universe["full"][:].astype(float).reshape(-1, 4).std(axis=0)
            self.assertTrue(all(spread[:-1] > spread[1:]), "structure has not grown with time")

    def test_without_a_launcher(self):
        """Said, and not failed. The system's Python is found without PATH."""
        result = self.demo(PATH=self.only())
        self.assertIn("there is no mpirun and no mpiexec in PATH: so one rank stages to one node", result.out)
        self.assertEqual((self.place / "run").exists(), "left out  run" not in result.out)
        self.assertTrue((self.place / f"nodes/0/{NAME}").is_dir())

    def test_a_place_with_content_is_refused(self):
        self.place.mkdir()
        (self.place / "mine").write_text("mine")
        self.assertIn("has content", self.demo(code=2).err)
        self.assertEqual(read_tree(self.place), {"mine": b"mine"})

    def test_a_signal_ends_all_of_it(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)):
            process = self.sabath.start("demo", "-o", self.place, "--json")
            self.assertTrue(poll(lambda: running_below(self.place)), "no server has run")
            self.assertEqual(interrupt(process, number).exit, code)
            self.assertTrue(poll(lambda: not running_below(self.place)), running_below(self.place))
            shutil.rmtree(self.place, ignore_errors=True)
            subprocess.run(["chmod", "-R", "u+w", self.home], check=True)
            shutil.rmtree(self.place, ignore_errors=True)


if __name__ == "__main__":
    main()
