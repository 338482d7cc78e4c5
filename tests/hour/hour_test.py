#!/usr/bin/python3
"""A newcomer's first hour: all that README.md, docs/daily.md and docs/tutorial.md tell their reader to type, on a bare machine.

As root and as an ordinary user, on terminals of 60 and of 200 columns and on none, in several locales. SABATH_HOUR=all
tries every combination (scripts/test --part hour); otherwise each value is tried once.
"""

import base64
import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import unittest

from support import program
from support.bare import READER, TREE, entered, possible
from support.case import Case, main
from support.content import seeded
from support.origin import answers, free_port, poll
from support.page import Shell, blocks, commands, fits, indented_commands

TUTORIAL, README, DAILY = TREE / "docs/tutorial.md", TREE / "README.md", TREE / "docs/daily.md"
PORT = "8765"  # on the page
SECONDS = 600  # of one page
FAILED = ("Traceback", "command not found", "terminate called")

USERS = {"root": 0, "reader": READER}
LOCALES = {"none": {}, "C": {"LANG": "C"}, "UTF-8": {"LANG": "C.UTF-8"}}
WIDTHS = (None, 60, 200)
EVERY = list(itertools.product(USERS, LOCALES, WIDTHS))
SAMPLE = [("root", "none", None), ("reader", "C", 60), ("reader", "UTF-8", 200)]
CASES = EVERY if os.environ.get("SABATH_HOUR") == "all" else SAMPLE

# Lines of README.md and docs/daily.md that no test machine can run, by how they begin, and why.
LEFT_OUT = {
    "scripts/quickstart": "it is a test of its own: house.quickstart",
    "scripts/package": "tests/package",
    "tar -xf build/package": "tests/package",
    "cmake --install": "tests/week/install_test.py",
    "srun ": "Slurm: tests/slurm",
    "sabath serve --listen 0.0.0.0": "it listens to the world; tests/cli/serve_test.py runs it on loopback",
}
# Commands that a line needs before it, as the text around it says.
BEFORE = {
    "sabath export climate": "cd && sabath fetch climate",
    "sabath demo": "rm -rf sabath-demo || { chmod -R u+w sabath-demo && rm -rf sabath-demo; }",
    "sabath run cosmoflow-nano --at": "sabath stage cosmoflow-nano --to /local/$USER",
    "sabath compare RUN_A": "set -- $(ls -dtr run_cosmoflow-nano_*); ln -s $1 RUN_A; ln -s $2 RUN_B",
    "mpirun sabath stage": "export SABATH_LOCAL_DIR=/local/$USER",
}
TRAIN = """
import pathlib, sys
size = sum(file.stat().st_size for file in pathlib.Path(sys.argv[1]).rglob("*") if file.is_file())
for epoch in range(1, 4):
    print(f"epoch={epoch} val_loss={size * float(sys.argv[2]) / epoch:.6f}", flush=True)
"""
LOG = "".join(f"epoch={epoch} val_mae={0.4 / epoch:.3f}\n" for epoch in range(1, 6))


def recipes(place, code_of_cosmoflow, files):
    """The assets that the two pages name, under their names, with small content of this machine."""
    for kind in ("datasets", "models"):
        (place / kind).mkdir(parents=True)
    for name, file in files.items():
        fragment = {"id": "main", "type": "file", "path": f"{name}.bin", "urls": [f"file://{file}"]}
        text = {"schema": 1, "kind": "dataset", "name": name, "fragments": [fragment]}
        (place / f"datasets/{name}.json").write_text(json.dumps(text))
    for name in ("cosmoflow", "cosmoflow-nano"):
        run = {f"{name}-data": [{"argv": ["python3", "{source}/train.py", "{dataset}", "{config.lr}"]}]}
        code = {"source": name} if name.endswith("nano") else {"git": {"origin": "file:///tmp/code"}}
        text = {"schema": 1, "kind": "model", "name": name, "default_dataset": f"{name}-data",
                "config": {"lr": 0.1, "epochs": 3}, "run": run, **code}  # fmt: skip
        (place / f"models/{name}.json").write_text(json.dumps(text))
    for directory in (place / "models/cosmoflow-nano", code_of_cosmoflow):
        directory.mkdir()
        (directory / "train.py").write_text(TRAIN)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@a.example", "-C", code_of_cosmoflow]
    for command in (["init", "-q"], ["add", "train.py"], ["commit", "-qm", "code"]):
        subprocess.run([*git, *command], check=True)


@unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
class Hour(Case):
    def setUp(self):
        super().setUp()
        if why := possible():
            self.skipTest(why)
        signal.alarm(SECONDS)
        self.addCleanup(signal.alarm, 0)
        self.root = self.home / "machine"
        self.root.mkdir()

    def shell(self, user, locale, columns, **more):
        home = "/root" if user == "root" else "/home/reader"
        path = f"{home}/bin:{pathlib.Path(program.BINARY).parent}:/usr/bin:/bin"
        environment = {"HOME": home, "USER": user, "PATH": path, "TERM": "xterm" if columns else "dumb", **LOCALES[locale],
                       **more, **{name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}}  # fmt: skip
        command = entered(self.root, USERS[user], environment, ["bash", "--norc"])
        shell = Shell(command, columns)
        self.addCleanup(shell.stop)
        shell.run("cd")
        return shell

    def type(self, shell, command):
        code, lines = shell.run(command)
        said = f"$ {command}\n" + "\n".join(lines)
        self.assertEqual(code, 0, said)
        for line in lines:
            self.assertFalse(any(word in line for word in FAILED), said)
        return lines

    def tutorial(self, user, locale, columns):
        port = str(free_port())
        shell = self.shell(user, locale, columns)
        typed = 0
        for name, body in blocks(TUTORIAL.read_text().replace(PORT, port)):
            if name != "console":
                shell.run(f"cat >{name} <<'END OF FILE'\n{body}END OF FILE")
                continue
            for command, expected in commands(body):
                lines = self.type(shell, command)
                if expected and not columns:
                    said = f"$ {command}\n" + "\n".join(lines)
                    self.assertTrue(fits(expected, lines), f"{said}\n--- the page says:\n" + "\n".join(expected))
                if command.endswith("&"):
                    self.assertTrue(poll(lambda: answers(int(port))), "no server")
                typed += 1
        self.assertGreater(typed, 20)

    def readme(self, user, locale, columns):
        # Open MPI takes what this machine has cores for, and no root: docs/tutorial.md says so.
        shell = self.shell(user, locale, columns, OMPI_MCA_rmaps_base_oversubscribe="1", SABATH_RECIPES="/tmp/recipes",
                           OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")  # fmt: skip
        self.prepare(shell)
        typed = left_out = 0
        for line in [*indented_commands(README.read_text()), *indented_commands(DAILY.read_text())]:
            if any(line.startswith(begin) for begin in LEFT_OUT):
                left_out += 1
                continue
            for begin, needed in BEFORE.items():
                if line.startswith(begin):
                    self.type(shell, needed)
            self.type(shell, line)
            typed += 1
        self.assertGreater(typed, 20)
        self.assertEqual(left_out, len(LEFT_OUT))

    def prepare(self, shell):
        """Recipes, a log and a host named `cluster`, which is this machine with another store."""
        made = self.home / "made"
        if not made.exists():
            recipes(made / "recipes", made / "code", {name: f"/tmp/data/{name}.bin" for name in
                                       ("nanoconfinement_4050", "climate", "cosmoflow-data", "cosmoflow-nano-data")})  # fmt: skip
            (made / "data").mkdir()
            for file in ("nanoconfinement_4050", "climate", "cosmoflow-data", "cosmoflow-nano-data"):
                (made / f"data/{file}.bin").write_bytes(seeded(1000, file))
            (made / "ssh").write_text('#!/bin/sh\nshift\nSABATH_CACHE=$HOME/cluster exec "$@"\n')
            (made / "ssh").chmod(0o755)
            (made / "train.log").write_text(LOG)
        packed = shutil.make_archive(str(self.home / "made"), "tar", made)
        text = pathlib.Path(packed).read_bytes()
        shell.run(f"mkdir -p bin && base64 -d <<'END OF FILE' | tar -x -C /tmp\n{base64.encodebytes(text).decode()}\nEND OF FILE")
        shell.run("cp /tmp/ssh bin/ && cp /tmp/train.log .")

    def test_tutorial(self):
        for case in CASES:
            with self.subTest(case):
                self.tutorial(*case)

    def test_readme(self):
        for case in CASES:
            with self.subTest(case):
                self.readme(*case)


if __name__ == "__main__":
    main()
