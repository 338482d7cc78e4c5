#!/usr/bin/python3
"""Samples of what a run uses: of its own node and of every other one, accelerators among them.

Nodes are pretended by SLURMD_NODENAME, here by a launcher of the test's and, where a Slurm can be started, by four
slurmds on this machine. The GPU programs are fakes: they answer as the manuals say that the real ones do.
"""

import json
import os
import sys
import unittest

from runs import Runs, main, place
from support.origin import poll

from support.cluster import Cluster, why_not

BUSY = "import time; end = time.monotonic() + 1.5\nwhile time.monotonic() < end: sum(range(1000))"
LAUNCHER = """#!/bin/sh
for node in a a b c; do SLURMD_NODENAME=$node "$@" & done
wait
"""
NVIDIA = '#!/bin/sh\ncase "$*" in *utilization*) printf "37, 1024\\n[N/A], 2048\\n" ;; *) echo "Fake GPU, 8 GiB, 1" ;; esac\n'
ROCM = """#!/bin/sh
case "$*" in
*--showuse*) printf 'device,GPU use (%%),VRAM Total Memory (B),VRAM Total Used Memory (B)\\ncard0,12,17163091968,7655424\\n' ;;
*) printf 'device,Card series\\ncard0,Fake GPU\\n' ;;
esac
"""


class Nodes(Runs):
    def tool(self, name, text):
        file = self.home / "bin" / name
        place(file, text.encode())
        file.chmod(0o755)
        self.sabath.environment["PATH"] = f"{self.home}/bin:{os.environ['PATH']}"
        return file

    def samples(self, name="resources.jsonl"):
        return [json.loads(line) for line in (self.run_directory / name).read_text().splitlines()]

    def launch_on_nodes(self, step=BUSY):
        profile = {"schema": 1, "name": "here", "launchers": {"mine": {"argv": [str(self.tool("launch", LAUNCHER))]}}}
        place(self.home / "here.json", json.dumps(profile).encode())
        self.model({"argv": ["python3", "-c", step], "parallel": True})
        self.launch("model", "--site", self.home / "here.json", "--launcher", "mine", "--nodes", "3", SLURMD_NODENAME="a")

    def test_every_node_has_its_samples(self):
        self.launch_on_nodes()
        directory = self.run_directory / "resources/1"
        self.assertEqual(sorted(file.name for file in directory.iterdir()), ["a.jsonl", "b.jsonl", "c.jsonl"])
        self.assertEqual((directory / "a.jsonl").resolve(), self.run_directory / "resources.jsonl")
        for node in "abc":
            with self.subTest(node):
                file = f"resources/1/{node}.jsonl"
                self.assertTrue(poll(lambda file=file: self.samples(file)))
                self.assertEqual({sample["node"] for sample in self.samples(file)}, {node})
                self.assertGreater(self.samples(file)[0]["memory_bytes"], 1 << 20)
        self.assertGreater(max(sample.get("run_cpu_seconds", 0) for sample in self.samples()), 0.1)
        self.assertGreaterEqual(max(s.get("run_processes", 0) for s in self.samples("resources/1/b.jsonl")), 4)

    def test_programs_do_not_notice(self):
        """The same process, streams and arguments; no child that it does not know, no file that it has not opened."""
        self.launch_on_nodes("import os; files = sorted(os.listdir('/proc/self/fd'))\n"
                             "try: word = str(os.wait())\nexcept ChildProcessError: word = 'alone'\n"
                             "os.write(1, (str(files) + ' ' + word + '\\n').encode())")  # fmt: skip
        self.assertEqual(self.output(), "['0', '1', '2', '3'] alone\n" * 4)

    def test_a_directory_that_cannot_be_written_ends_nothing(self):
        place(self.home / "file", b"")
        done = self.expect(self.sabath.run("sample", "--to", self.home / "file/x", "--", "echo", "here"))
        self.assertEqual(done.out, "here\n")
        self.expect(self.sabath.run("sample", "--to", self.home / "d", "--", "no-such-program"), 11)
        self.expect(self.sabath.run("sample", "--to", self.home / "d"), 2)

    def test_a_node_without_sabath(self):
        """What the launcher starts there runs the program all the same."""
        self.model({"argv": ["echo", "two words", "$HOME"], "parallel": True})
        (run,) = self.expect(self.sabath.run("run", "-n", "--json", "model", "--nodes", "2", "--launcher", "srun")).record["runs"]
        argv = run["steps"][0]["argv"]
        command = [word if not word.endswith("/sabath") else "/no/sabath" for word in argv[argv.index("/bin/sh"):]]
        self.assertIn("/no/sabath", command)
        profile = {"schema": 1, "name": "here", "launchers": {"mine": {"argv": command[:command.index("--") + 1]}}}
        place(self.home / "here.json", json.dumps(profile).encode())
        self.launch("model", "--site", self.home / "here.json", "--launcher", "mine")
        self.assertEqual(self.output(), "two words $HOME\n")

    def test_accelerators(self):
        self.model(["true"])
        self.tool("nvidia-smi", NVIDIA)
        self.launch("model")
        sample = self.samples()[0]
        self.assertEqual((sample["gpu0_percent"], sample["gpu0_memory_bytes"]), (37, 1 << 30))
        self.assertNotIn("gpu1_percent", sample)  # it says that it does not know
        self.assertEqual(sample["gpu1_memory_bytes"], 2 << 30)
        self.assertEqual(self.record()["machine"]["accelerators"], ["Fake GPU, 8 GiB, 1"])
        (self.home / "bin/nvidia-smi").unlink()
        self.tool("rocm-smi", ROCM)
        self.run_directory = self.home / "second"
        self.launch("model")
        self.assertEqual((self.samples()[0]["gpu0_percent"], self.samples()[0]["gpu0_memory_bytes"]), (12, 7655424))

    def test_accelerators_that_say_nonsense(self):
        self.model(["true"])
        for number, text in enumerate(("exit 1", "head -c 3000000 /dev/urandom", "echo 1e400, -3", "kill -9 $$")):
            with self.subTest(text):
                self.tool("nvidia-smi", f"#!/bin/sh\n{text}\n")
                self.run_directory = self.home / f"record-{number}"
                self.launch("model")
                self.assertEqual([name for name in self.samples()[0] if name.startswith("gpu")], [])

    @unittest.skipIf(why_not(), why_not())
    def test_slurm(self):
        """srun starts the ranks on four slurmds; each node's samples are its own, and each rank's lines, too."""
        scripts = [self.tool(name, "#!/bin/sh\nexit 0\n") for name in ("prolog", "task_prolog", "epilog")]
        self.home.chmod(0o755)
        environment = {**self.sabath.environment, "SABATH_PYTHON": sys.executable}
        self.model({"argv": ["python3", "-c", BUSY + "\nprint('epoch=1 loss=0.5')"], "parallel": True})
        self.expect(self.sabath.run("fetch", "data"))
        cluster = Cluster(self.home / "slurm", environment, *scripts)
        self.addCleanup(cluster.stop)
        cluster.start()
        self.sabath.environment.update(cluster.environment)
        (self.home / "job").write_text(f"#!/bin/sh\nexec {os.environ['SABATH_BINARY']} run --run-dir {self.run_directory} "
                                       "model --nodes 4 --ranks 4\n")  # fmt: skip
        number = cluster.submit("-N", "4", "-n", "4", self.home / "job")
        cluster.wait(number)
        out = cluster.output(number)
        self.assertEqual(self.record()["state"], "finished", out)
        self.assertEqual(self.record()["launcher"], "srun")
        self.assertEqual(self.record()["machine"]["job"]["system"], "slurm")
        self.assertEqual(sorted(metric["rank"] for metric in self.metrics() if metric["name"] == "loss"), [0, 1, 2, 3])
        names = sorted(file.name for file in (self.run_directory / "resources/1").iterdir())
        self.assertEqual(names, ["n1.jsonl", "n2.jsonl", "n3.jsonl", "n4.jsonl"])
        for node in ("n2", "n3", "n4"):
            self.assertEqual({sample["node"] for sample in self.samples(f"resources/1/{node}.jsonl")}, {node})


if __name__ == "__main__":
    main()
