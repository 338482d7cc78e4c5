#!/usr/bin/python3
"""What a recipe asks of the machine before its run is launched: met, not met, hostile, unasked, over ranks."""

import os
import shutil
import signal
import sys
import unittest

from runs import Runs, alive_with, main, place, poll

OPEN_MPI = """#!/bin/sh
case $* in
  *--version*) echo "mpirun (Open MPI) 5.0.3" ;;
  *) shift; while [ $# -gt 0 ] && [ "$1" != python3 ] && [ "$1" != uname ]; do shift; done; exec "$@" ;;
esac
"""
OMPI_INFO = "#!/bin/sh\necho ompi:version:full:5.0.3\necho mca:mpi:base:param:mpi_built_with_cuda_support:value:%s\n"
CHECK_BUILD = """#!/bin/sh
printf 'Horovod v0.28.1:\\n\\nAvailable Controllers:\\n    [%s] MPI\\n    [X] Gloo\\n'
"""
FAKE_TORCH = """
__version__ = "2.1.0"
class version: cuda = "12.1"
class cuda:
    is_available = staticmethod(lambda: True)
    device_count = staticmethod(lambda: 2)
    get_device_name = staticmethod(lambda n: "Made Up")
    class nccl: version = staticmethod(lambda: (2, 18, 1))
"""


class Checks(Runs):
    def checks(self, *checks, step=None, **more):
        self.model(step or ["python3", "-c", "print('it ran')"], requirements={"checks": list(checks)}, **more)

    def tool(self, name, text, first=True):
        """A stand-in in the PATH of the run."""
        file = self.home / "bin" / name
        place(file, text.encode())
        file.chmod(0o755)
        if str(file.parent) not in os.environ["PATH"]:
            self.sabath.environment["PATH"] = f"{file.parent}:{os.environ['PATH']}"

    def found(self, *checks, code=0, arguments=()):
        """Each check's record by its name, of a run that ends so."""
        shutil.rmtree(self.run_directory, ignore_errors=True)
        self.checks(*checks)
        self.launched = self.launch("model", *arguments, code=code)
        ran = "it ran" in self.output()
        self.assertEqual(ran, code == 0 and self.record()["state"] == "finished")
        return {check["name"]: check for check in self.record()["environment"]["checks"]}

    def states(self, *checks, **options):
        return {name: check["state"] for name, check in self.found(*checks, **options).items()}

    def test_met(self):
        place(self.home / "tool/hello", b"")
        found = self.found("memory>=1MB", {"name": "echo", "argv": ["echo", "one {ranks}"], "expect": "^one 1$"},
                           {"name": "status", "argv": ["true"]})  # fmt: skip
        self.assertEqual([check["state"] for check in found.values()], ["met"] * 3)
        self.assertEqual(list(found["memory"]), ["name", "expected", "state", "found", "known_by", "seconds"])
        self.assertEqual((found["memory"]["expected"], found["status"]["found"]), (">=1MB", "exit status 0"))
        self.assertEqual((found["echo"]["found"], found["echo"]["known_by"]), ("one 1", "echo 'one 1'"))
        for line in ("check memory>=1MB: met: ", "check echo: met: one 1", "check status: met"):
            self.assertIn(line, self.launched.err)

    def test_a_check_that_stops_its_guardian_ends_all_the_same(self):
        states = self.states({"name": "stops", "argv": ["sh", "-c", "kill -STOP $PPID; sleep 600"], "seconds": 1}, code=11)
        self.assertEqual(states, {"stops": "not met"})
        self.assertEqual(alive_with(str(self.home)), [])
        again = "while :; do kill -STOP $PPID; done"
        self.assertEqual(self.states({"name": "again", "argv": ["sh", "-c", again], "seconds": 1}, code=11), {"again": "not met"})
        killed = self.found({"name": "kills", "argv": ["sh", "-c", "echo GOOD; kill -9 $PPID"], "expect": "GOOD"}, code=11)
        self.assertEqual(killed["kills"]["state"], "not met")

    def test_a_line_that_is_cut_is_not_looked_at(self):
        script = "printf '%065533d\\nGOOD\\n' 0"  # 64 KiB end behind "GO"
        self.assertEqual(self.states({"name": "cut", "argv": ["sh", "-c", script], "expect": "^GO?$"}, code=11), {"cut": "not met"})
        script = "printf '%065532d\\nGO\\n' 0"
        self.assertEqual(self.states({"name": "whole", "argv": ["sh", "-c", script], "expect": "^GO?$"}), {"whole": "met"})

    def test_not_met_ends_before_anything_is_launched(self):
        found = self.found("memory>=900TB", {"name": "no", "argv": ["false"]}, {"name": "yes", "argv": ["true"]},
                           {"name": "gone", "argv": ["no-such-program"]}, code=11)  # fmt: skip
        self.assertEqual([check["state"] for check in found.values()], ["not met", "not met", "met", "not met"])
        self.assertIn("3 of 4 checks are not met: memory>=900TB, no, gone", self.launched.err)
        self.assertIn("take a node with more memory", self.launched.err)
        self.assertIn(f"--checks warn runs it all the same; the record is {self.run_directory}", self.launched.err)
        record = self.record()
        self.assertEqual((record["state"], record["exit"], record["steps"][0]["exit"]), ("failed", None, None))
        self.assertNotIn("despite_checks", record["environment"])

    def test_a_person_may_go_on(self):
        self.assertEqual(self.states("memory>=900TB", arguments=("--checks", "warn")), {"memory": "not met"})
        self.assertIs(self.record()["environment"]["despite_checks"], True)
        self.assertEqual(self.states("memory>=900TB", arguments=("--checks", "none")), {"memory": "not asked"})
        self.assertNotIn("despite_checks", self.record()["environment"])
        self.launch("model", "--checks", "perhaps", code=2)

    def test_hostile_programs_are_bounded(self):
        """One that hangs, also with a child and deaf to signals; one that prints 1 GB; one that is killed."""
        self.sabath.environment["HOSTILE_MARK"] = mark = str(self.home / "mark")
        hang = "import signal, subprocess, time; signal.signal(15, signal.SIG_IGN); subprocess.Popen(['sleep', '600'], start_new_session=True); time.sleep(600)"
        flood = "import sys\nfor _ in range(1024): sys.stdout.write('x' * (1 << 20))\nprint(); print('needle')"
        found = self.found(
            {"name": "hangs", "argv": ["python3", "-c", hang], "seconds": 1},
            {"name": "prints", "argv": ["python3", "-c", flood], "expect": "needle", "seconds": 60},
            {"name": "dies", "argv": ["python3", "-c", "import os; os.kill(os.getpid(), 9)"]},
            {"name": "garbage", "argv": ["printf", "\\033[2J\\377\\000\\nok\\n"], "expect": "no such thing"},
            {"name": "last", "argv": ["true"]},
            code=11,
        )
        self.assertEqual([check["state"] for check in found.values()], ["not met"] * 4 + ["met"])
        self.assertEqual(found["hangs"]["found"], "it did not end within 1 s")
        self.assertIn("signal 9", found["dies"]["found"])
        self.assertNotIn("\x1b", self.launched.err + found["garbage"]["found"])
        self.assertLess((self.run_directory / "run.json").stat().st_size, 100_000)
        self.assertEqual(alive_with(mark), [])

    def test_a_stopped_check_leaves_nothing(self):
        self.sabath.environment["HOSTILE_MARK"] = mark = str(self.home / "mark")
        self.checks({"name": "waits", "argv": ["sh", "-c", "touch ready; sleep 600"], "seconds": 60})
        process = self.start("model")
        self.assertTrue(poll(lambda: (self.run_directory / "work/ready").exists()))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 143, process.communicate())
        self.assertEqual(self.record()["state"], "interrupted")
        self.assertEqual(alive_with(mark), [])
        process.communicate()

    def test_patterns_take_linear_time(self):
        """What blows the stack of other engines, or their time, on 60 KB of one line."""
        text = "import sys; print('a' * 60000)"
        for pattern in ("(a*)*b", "(a|a)*$b", "(" * 300 + "a" + ")*" * 300 + "b", "(.*)(.*)(.*)(.*)(.*)b"):
            with self.subTest(pattern[:30]):
                self.assertEqual(self.states({"name": "p", "argv": ["python3", "-c", text], "expect": pattern}, code=11), {"p": "not met"})
        for pattern in ("(unclosed", "a{1000}{1000}", "\\1"):
            self.checks({"name": "p", "argv": ["true"], "expect": pattern})
            shutil.rmtree(self.run_directory, ignore_errors=True)
            self.assertIn("expect a line", self.launch("model", code=12).err)
            self.assertFalse(self.run_directory.exists())
            self.launch("model", "-n", code=12)

    def test_horovod_build_is_matched_as_it_is_written(self):
        for mark, expect, code in (("X", "[X] MPI", 0), (" ", "[X] MPI", 11), ("X", "\\[X\\] MPI$", 0), (" ", "\\[X\\] MPI$", 11)):
            self.tool("horovodrun", CHECK_BUILD % mark)
            check = {"name": "horovod.build", "argv": ["horovodrun", "--check-build"], "expect": expect}
            self.assertEqual(self.states(check, code=code), {"horovod.build": "met" if code == 0 else "not met"})

    def test_built_ins_of_mpi(self):
        self.tool("mpirun", OPEN_MPI)
        for value, code in (("true", 0), ("false", 11)):
            self.tool("ompi_info", OMPI_INFO % value)
            found = self.found("mpi.cuda_aware", code=code)["mpi.cuda_aware"]
            self.assertIn(f"Open MPI 5.0.3: mpi_built_with_cuda_support is {value}", found["found"])
            self.assertIn(f"{self.home}/bin/ompi_info", found["known_by"])
        self.tool("ompi_info", "#!/bin/sh\nkill -11 $$\n")
        self.assertEqual(self.states("mpi.cuda_aware", code=11), {"mpi.cuda_aware": "not known"})
        self.tool("mpirun", "#!/bin/sh\necho HYDRA build details:\n")
        for configured, state in (("--with-cuda=/opt/cuda", "met"), ("--without-cuda", "not met"), ("--prefix=/opt", "not known")):
            self.tool("mpichversion", f"#!/bin/sh\necho 'MPICH configure: {configured}'\n")
            self.assertEqual(self.states("mpi.cuda_aware", code=0 if state == "met" else 11)["mpi.cuda_aware"], state)
        self.tool("mpirun", "#!/bin/sh\nexit 1\n")
        self.sabath.environment.update(CRAY_MPICH_VERSION="8.1.28", MPICH_GPU_SUPPORT_ENABLED="1")
        self.assertEqual(self.states("mpi.cuda_aware"), {"mpi.cuda_aware": "met"})
        self.sabath.environment["MPICH_GPU_SUPPORT_ENABLED"] = "0"
        self.assertEqual(self.states("mpi.cuda_aware", code=11), {"mpi.cuda_aware": "not met"})

    def test_built_ins_of_ucx(self):
        self.assertEqual(self.states("ucx.gdrcopy", code=11)["ucx.gdrcopy"], "not met" if shutil.which("ucx_info") else "not known")
        for transport, state in (("gdr_copy", "met"), ("gdr_copy_2", "not met"), ("tcp", "not met")):
            self.tool("ucx_info", f"#!/bin/sh\n[ $1 = -d ] && printf '#      Transport: self\\n#      Transport: {transport}\\n'\n")
            self.assertEqual(self.states("ucx.gdrcopy", code=0 if state == "met" else 11), {"ucx.gdrcopy": state})

    def test_built_ins_of_python(self):
        self.sabath.environment["PYTHONPATH"] = str(self.home / "packages")
        place(self.home / "packages/torch/__init__.py", FAKE_TORCH.encode())
        place(self.home / "packages/horovod/__init__.py", b"__version__ = '0.28.1'\n")
        place(self.home / "packages/horovod/torch/mpi_lib_v2.cpython-311.so", b"")
        found = self.found("torch.cuda>=11.8", "horovod>=0.27", "nccl>=2.18")
        self.assertEqual(found["torch.cuda"]["found"], "torch 2.1.0 with CUDA 12.1, 2 devices: Made Up")
        self.assertEqual(found["horovod"]["found"], "0.28.1, built for torch")
        self.assertEqual(found["nccl"]["found"], "NCCL 2.18.1 by torch 2.1.0")
        self.assertIn(sys.executable, found["horovod"]["known_by"])
        self.assertEqual(set(self.states("torch.cuda>=12.4", "horovod==0.27", "nccl<2.18", code=11).values()), {"not met"})
        place(self.home / "packages/torch/__init__.py", b"import os; os.kill(os.getpid(), 11)\n")
        (self.home / "packages/horovod/torch/mpi_lib_v2.cpython-311.so").unlink()
        found = self.found("torch.cuda", "horovod", "nccl", code=11)
        self.assertIn("signal 11", found["torch.cuda"]["found"])
        self.assertIn("built for no framework", found["horovod"]["found"])
        place(self.home / "packages/torch/__init__.py", b"raise ImportError('libcudart.so.12: no such file')\n")
        self.assertIn("libcudart.so.12", self.found("torch.cuda", code=11)["torch.cuda"]["found"])

    def test_built_ins_of_the_node(self):
        self.sabath.environment["TMPDIR"] = str(self.home)
        found = self.found("disk.local<=900TB", "memory<=900TB", "memory>=1MB")
        self.assertIn("of this node", found["memory"]["known_by"])
        found = self.found("disk.local>=900TB", code=11)["disk.local"]
        self.assertIn("jobs.node_disk", self.launched.err)

    @unittest.skipUnless(shutil.which("mpirun"), "there is no mpirun")
    def test_over_two_ranks(self):
        show = {"argv": ["python3", "-c", "print('it ran')"], "parallel": True}
        ask = ["python3", "-c", "import os; print('rank', os.environ['OMPI_COMM_WORLD_RANK'], 'of {ranks}')"]
        self.model(show, requirements={"checks": [
            "mpi.ranks_per_node>=2", "mpi.ranks_per_node==2", {"name": "both", "argv": ask, "expect": "rank [01] of 2", "parallel": True}]})  # fmt: skip
        self.launch("model", "--ranks", 2)
        found = self.record()["environment"]["checks"]
        self.assertEqual([check["state"] for check in found], ["met"] * 3)
        self.assertEqual(found[0]["found"], "2 on 1 node")
        self.assertTrue(found[2]["found"].startswith("2 of 2 ranks: rank 0 of 2"), found)
        shutil.rmtree(self.run_directory)
        self.model(show, requirements={"checks": ["mpi.ranks_per_node>=3", {"name": "one", "argv": ask, "expect": "rank 1", "parallel": True}]})
        refused = self.launch("model", "--ranks", 2, code=11)
        self.assertIn("check one: not met: 1 of 2 ranks", refused.err)
        self.assertEqual(self.output(), "")
        if self.states("mpi.cuda_aware", arguments=("--checks", "warn"))["mpi.cuda_aware"] != "met":
            self.assertIn("check mpi.cuda_aware: not", self.launched.err)

    def test_trust_is_asked_before_and_bound_to_each_word(self):
        proof = self.home / "proof"

        def offer(word="x", **more):
            self.model(["true"], requirements={"checks": [{"name": "own", "argv": ["touch", str(proof), word], **more}, "memory>=1MB"]})
            (self.sabath.recipes / "models").chmod(0o777)

        offer(str(self.home / "x"))
        refused = self.launch("model", code=4)
        self.assertIn(f"touch {proof} {self.home}/x  # check own", refused.err)
        self.expect(self.sabath.run("doctor", "--for", "model"), 4)
        self.expect(self.sabath.run("job", "model", "-n", "--trust", "once"), 2)
        listed = self.launch("model", "-n")
        self.assertIn("# check memory>=1MB", listed.out)
        self.assertFalse(proof.exists())
        self.launch("model", "--trust", "commit")
        self.assertTrue(proof.exists())
        proof.unlink()
        for word, more in ((str(self.home / "y"), {}), (str(self.home / "x"), {"expect": "z"}), (str(self.home / "x"), {"seconds": 20}),
                           (str(self.home / "x"), {"parallel": True})):  # fmt: skip
            offer(word, **more)
            shutil.rmtree(self.run_directory, ignore_errors=True)
            self.launch("model", code=4)
            self.assertFalse(self.run_directory.exists())
        self.assertFalse(proof.exists())
        offer(str(self.home / "x"))
        self.launch("model")

    def test_checks_see_what_the_run_sees(self):
        """Its variables, its directory, its copy of the code, its settings, its data; each setting of a sweep."""
        code = {"ask.py": "import os, sys; print('kind', os.environ['KIND'], os.path.basename(os.getcwd()), *sys.argv[1:])"}
        argv = ["python3", "{source}/ask.py", "{config.lr}", "{dataset}"]
        self.model(["true"], code=code, config={"lr": "0.1"}, env_vars={"KIND": "good"},
                   requirements={"checks": [{"name": "all", "argv": argv, "expect": "kind good work 0.1 /"}]})  # fmt: skip
        self.launch("model")
        shutil.rmtree(self.run_directory)
        self.launch("model", "--set", "lr=0.1,0.2", code=11)
        first, second = sorted(self.run_directory.glob("*/run.json"))
        states = [self.record(file.parent)["environment"]["checks"][0]["state"] for file in (first, second)]
        self.assertEqual(states, ["met", "not met"])

    def test_a_job_passes_the_choice_on(self):
        self.checks("memory>=1MB")
        told = self.expect(self.sabath.run("job", "model", "-n", "--checks", "warn", "--scheduler", "slurm"))
        self.assertIn("--checks warn", told.out)

    def test_forecast_lists_and_runs_none(self):
        self.checks({"name": "own", "argv": ["touch", str(self.home / "proof")]}, "nccl>=2.18")
        record = self.launch("model", "-n", "--json").record
        self.assertEqual(record["runs"][0]["checks"], [
            {"name": "own", "expected": "exit status 0", "argv": ["touch", str(self.home / "proof")]},
            {"name": "nccl", "expected": ">=2.18"}])  # fmt: skip
        self.assertIn("# check nccl>=2.18", self.launch("model", "-n").out)
        self.assertFalse((self.home / "proof").exists())

    def test_doctor_comes_to_the_same_verdict(self):
        doctor = ("doctor", "--for", "model")
        self.checks("memory>=1MB", {"name": "own", "argv": ["echo", "right"], "expect": "right"})
        told = self.expect(self.sabath.run(*doctor))
        self.assertIn("check own", told.out)
        self.assertIn("sabath run model would be launched: 2 of 2 checks met", told.out.splitlines()[-1])
        self.checks("memory>=900TB", {"name": "own", "argv": ["false"]})
        told = self.expect(self.sabath.run(*doctor), 11)
        self.assertIn("would end with 11: 2 of 2 checks not met: memory>=900TB, own", told.out)
        record = self.expect(self.sabath.run(*doctor, "--json"), 11).record
        self.assertEqual((record["exit"], record["checks"][-1]["state"]), (11, "fail"))
        self.launch("model", code=11)
        self.checks({"name": "own", "argv": ["python3", "-c", "print(1)", "{dataset}"]})
        told = self.expect(self.sabath.run(*doctor))
        self.assertEqual(list(self.home.glob("sabath-doctor-*")), [])
        self.expect(self.sabath.run("doctor", "--for", "no-such-model"), 3)
        self.expect(self.sabath.run("doctor", "--for", "data"), 2)
        self.assertIn("none is named", self.expect(self.sabath.run("doctor", "--ranks", "2"), 2).err)
        self.sabath.environment["TMPDIR"] = "/nonexistent"
        self.expect(self.sabath.run(*doctor))


if __name__ == "__main__":
    main()
