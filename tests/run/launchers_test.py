#!/usr/bin/python3
"""Launchers and containers that no Debian package brings, and srun outside a cluster: stand-ins that take the options
of the manuals and no others, start the ranks, and label their lines as those do. (mpirun, srun in a Slurm, Charliecloud
and podman are run for real: nano, nodes and containers_test.)
"""

import json
import sys

from runs import Runs, main, place

# Reads NAME's command line by its manual, then starts COMMAND once for each task: the labels are the manual's, too.
STAND_IN = """#!{python}
import argparse, json, pathlib, subprocess, sys, threading
name = pathlib.Path(sys.argv[0]).name
words = sys.argv[1:]
verb = words.pop(0) if name != "srun" else None
assert verb == {{"flux": "run", "apptainer": "exec"}}.get(name), verb
parser = argparse.ArgumentParser(prog=name, allow_abbrev=False, add_help=False)
if name == "flux":  # flux-run(1)
    parser.add_argument("-l", "--label-io", action="store_true", dest="label")
elif name == "srun":  # srun(1)
    parser.add_argument("-l", "--label", action="store_true", dest="label")
    parser.add_argument("-K", "--kill-on-bad-exit", type=int, choices=[0, 1])
else:  # apptainer-exec(1)
    parser.add_argument("-B", "--bind", action="append")
    parser.add_argument("--pwd", "--cwd", dest="pwd")
    parser.add_argument("image")
parser.add_argument("-N", "--nodes", type=int, default=1)
parser.add_argument("-n", "--ntasks", type=int, default=1)
parser.add_argument("command", nargs=argparse.REMAINDER)
said = parser.parse_args(words)
with open("{log}", "a") as log:
    log.write(json.dumps([name, vars(said)]) + "\\n")
def task(rank):
    done = subprocess.run(said.command, stdout=subprocess.PIPE, text=True, cwd=getattr(said, "pwd", None))
    front = f"{{rank}}: " if getattr(said, "label", False) else ""
    for line in done.stdout.splitlines():
        print(front + line, flush=True)
    codes.append(done.returncode)
codes = []
tasks = [threading.Thread(target=task, args=(rank,)) for rank in range(said.ntasks)]
for one in tasks: one.start()
for one in tasks: one.join()
sys.exit(max(codes))
"""


class Launchers(Runs):
    def setUp(self):
        super().setUp()
        for name in ("flux", "srun", "apptainer"):
            file = self.home / "bin" / name
            place(file, STAND_IN.format(python=sys.executable, log=self.home / "log").encode())
            file.chmod(0o755)
        self.sabath.environment["PATH"] = f"{self.home}/bin:{self.sabath.environment['PATH']}"
        self.model({"argv": ["python3", "{source}/train.py", "2"], "parallel": True}, ["echo", "0: alone"])

    def calls(self):
        return [json.loads(line) for line in (self.home / "log").read_text().splitlines()]

    def check_ranks(self, name, **variables):
        self.launch("model", "--ranks", "2", "--nodes", "2", *([] if variables else ["--launcher", name]), **variables)
        ((called, said),) = self.calls()
        self.assertEqual((called, said["nodes"], said["ntasks"], said["label"]), (name, 2, 2, True))
        self.assertEqual(said["command"][-3:-1], [sys.executable, f"{self.run_directory}/source/train.py"])
        self.assertEqual(self.record()["launcher"], name)
        # Each rank's lines are in its own file, and its values have its rank. What no launcher starts has no labels.
        self.assertEqual(self.output("stdout.0"), self.output("stdout.1"))
        self.assertEqual(self.output(), "0: alone\n")
        losses = sorted((m["rank"], m["epoch"]) for m in self.metrics() if m["name"] == "loss")
        self.assertEqual(losses, [(0, 1), (0, 2), (1, 1), (1, 2)])

    def test_flux(self):
        self.check_ranks("flux")

    def test_srun(self):
        self.check_ranks("srun")

    def test_inside_a_flux_instance_nobody_has_to_say_so(self):
        self.check_ranks("flux", FLUX_URI="local:///run/flux/local")

    def test_inside_a_slurm_job_neither(self):
        self.check_ranks("srun", SLURM_JOB_ID="7")

    def test_a_rank_that_fails(self):
        self.model({"argv": ["sh", "-c", "exit 3"], "parallel": True})
        self.launch("model", "--launcher", "flux", "--ranks", "2", code=11)
        self.assertEqual(self.record()["exit"], 3)

    def test_apptainer_in_a_launcher(self):
        """The launcher starts the containers, and the image's digest is known before."""
        place(self.home / "image.sif", b"an image")
        self.model({"argv": ["echo", "{dataset.main}"], "parallel": True})
        self.launch("model", "--container", "apptainer:image.sif", "--launcher", "flux", "--ranks", "2")
        (outer, flux), *inner = self.calls()
        self.assertEqual((outer, flux["command"][:2], len(inner)), ("flux", ["apptainer", "exec"], 2))
        data = self.record()["assets"][1]["path"]
        for name, said in inner:
            self.assertEqual((name, said["image"]), ("apptainer", "image.sif"))
            self.assertEqual((said["bind"], said["pwd"]), ([str(self.run_directory), data], f"{self.run_directory}/work"))
        self.assertEqual(self.output("stdout.1"), f"{data}/f.bin\n")
        container = self.record()["environment"]["container"]
        self.assertEqual((container["kind"], container["image"]), ("apptainer", "image.sif"))
        self.assertRegex(container["digest"], "^sha256:[0-9a-f]{64}$")


if __name__ == "__main__":
    main()
