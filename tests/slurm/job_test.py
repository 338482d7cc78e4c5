#!/usr/bin/python3
"""`sabath job` on a Slurm of four nodes: submitted, watched, failing, killed, cancelled, queued again in the middle."""

import json
import os
import pathlib
import signal
import sys
import tempfile
import time
import unittest

from support import program, ssh_origin
from support.case import Case, main, place, remove
from support.cluster import Cluster, processes_of, why_not
from support.content import fragment, seeded
from support.origin import poll
from support.ranks import chunks_done

SLOW_WRITES = os.environ.get("SABATH_SLOW_WRITES", "")
SECRETS = {
    "SABATH_TOKEN": "https://data.lab tokenOfTheLab",
    "AWS_SECRET_ACCESS_KEY": "keyOfTheBucket",
    "HF_TOKEN": "tokenOfTheHub",
    "https_proxy": "http://me:wordOfTheProxy@127.0.0.1:9/",
}
# Notes when it begins and ends, in the place that it is given; ends as it is told.
TRAINER = """
import os, pathlib, signal, sys, time
place, what = pathlib.Path(sys.argv[1]), sys.argv[2]
begin = time.time()
(place / "environment").write_text("\\n".join(f"{k}={v}" for k, v in os.environ.items()))
print("Epoch 1/1\\n8/8 - 1s - loss: 0.5000", flush=True)
if what == "wait":
    (place / "waits").touch()
    while not (place / "go").exists():
        time.sleep(0.05)
if what == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
if what.isdigit():
    time.sleep(0.5)
(place / f"{what}.{os.getpid()}").write_text(f"{begin} {time.time()}")
sys.exit(3 if what == "fail" else 0)
"""


class Job(Case):
    @classmethod
    def setUpClass(cls):
        if reason := why_not():
            raise unittest.SkipTest(reason)
        home = pathlib.Path(tempfile.mkdtemp(prefix="sabath-test-slurm-"))
        cls.addClassCleanup(remove, home)
        script = home / "nothing"
        place(script, b"#!/bin/sh\nexit 0\n")
        script.chmod(0o755)
        environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(home)}
        cls.cluster = Cluster(home / "slurm", environment, script, script, script)
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()
        cls.cluster.call("scontrol", "create", "PartitionName=short", "Nodes=n[1-4]", "MaxTime=5", "State=UP")

    def setUp(self):
        super().setUp()
        self.sabath.environment.update(
            SLURM_CONF=self.cluster.environment["SLURM_CONF"], PATH=self.cluster.environment["PATH"],
            SABATH_PYTHON=sys.executable,
        )  # fmt: skip
        self.notes = self.home / "notes"
        self.notes.mkdir()
        self.data = seeded(100_000)
        place(self.home / "origin/f.bin", self.data)
        self.sabath.add("data", [fragment(f"file://{self.home}/origin/f.bin", self.data)])
        self.model()

    def model(self, parallel=False):
        place(self.sabath.recipes / "models/net/train.py", TRAINER.encode())
        argv = ["python3", "{source}/train.py", str(self.notes), "{config.do}"]
        step = {"argv": argv, "parallel": True} if parallel else {"argv": argv}
        self.sabath.add("net", kind="model", source="net", run={"data": [step]}, config={"do": "end"})

    def job(self, *arguments, code=0, **variables):
        """`sabath job net --json`: its record."""
        arguments = ("job", "--json", "net", "--job-dir", self.home / "job", *arguments)
        result = self.expect(self.sabath.run(*arguments, **variables), code)
        self.err = result.err
        return result.record

    def of_job(self, *arguments, code=0):
        return self.expect(self.sabath.run("job", "--json", self.home / "job", *arguments), code).record

    def texts(self):
        return "\n".join(f"== {p}\n{p.read_text(errors='replace')}" for p in sorted((self.home / "job").rglob("*.txt")))

    def in_queue(self, number):
        return self.cluster.call("squeue", "-h", "-j", number, "-o", "%T").strip()

    def waits(self):
        self.assertTrue(poll((self.notes / "waits").exists, 120), self.texts())

    def queue_again(self, number):
        """As after a node's failure; Slurm then lets the job wait, unless it is told otherwise."""
        ends = self.home / "job/ends/0"
        begun = ends.read_text().count("begin")
        self.cluster.call("scontrol", "requeue", number)
        self.assertTrue(poll(lambda: "PENDING" in self.in_queue(number), 60), self.in_queue(number))
        # Slurm waits two minutes by itself: one that starts while the end of the first start is on its way gets that.
        self.assertTrue(poll(lambda: ends.read_text().count("end ") >= begun, 60), ends.read_text())
        self.assertTrue(poll(lambda: "idle" in self.cluster.call("sinfo", "-h", "-n", "n1", "-o", "%T"), 60))
        time.sleep(3)

        def again():
            self.cluster.call("scontrol", "update", f"JobId={number}", "StartTime=now")
            time.sleep(0.5)
            return ends.read_text().count("begin") > begun

        said = lambda: self.cluster.call("squeue", "--states=all", "-j", number) + ends.read_text() + self.texts()  # noqa: E731
        self.assertTrue(poll(again, 60), said())

    # --- success -----------------------------------------------------------------------------------------------------

    def test_from_a_recipe_to_the_queue_and_back(self):
        place(self.home / ".netrc", b"machine data.lab login me password wordOfTheNetrc\n")
        record = self.job("--submit", "--wait", "--time", "5m", "--", "more", **SECRETS)
        self.assertEqual(record["code"], 0, self.texts())
        (task,) = record["tasks"]
        self.assertEqual(task["steps"], {"fetch": 0, "run": 0, "report": 0})
        run = json.loads((self.home / "job/runs/run/run.json").read_text())
        self.assertEqual(run["machine"]["job"], {"system": "slurm", "id": record["ids"][0]})
        self.assertEqual(json.loads((self.home / "job/job.json").read_text())["ids"], record["ids"])
        self.assertIn("loss", (self.home / "job/reports/run.txt").read_text())
        self.assertEqual(self.of_job("--status")["code"], 0)
        # Nothing secret went along, by script, environment or argv.
        said = self.cluster.call("scontrol", "show", "job", "-d", record["ids"][0])
        found = (self.notes / "environment").read_text() + (self.home / "job/job.sh").read_text() + said
        self.assertIn("SABATH_STORE", found)
        for secret in ("tokenOfTheLab", "keyOfTheBucket", "tokenOfTheHub", "wordOfTheProxy", "wordOfTheNetrc"):
            self.assertNotIn(secret, found)
        # Queued again after its end: the queue counts.
        self.cluster.call("scontrol", "requeue", record["ids"][0])
        (task,) = self.of_job("--status")["tasks"]
        self.assertEqual((task["state"], task["exit"]), ("waiting", None))
        self.cluster.call("scancel", record["ids"][0])

    def test_the_script_is_printed_and_nothing_touched(self):
        before = sorted(self.home.rglob("*"))
        said = self.expect(self.sabath.run("job", "net", "-n", "--gpus", "2")).out
        self.assertTrue(said.startswith("#!/bin/bash\n"))
        self.assertIn("\n#SBATCH --gpus-per-node=2\n", said)
        self.assertEqual(sorted(self.home.rglob("*")), before)
        self.expect(self.sabath.run("job", "net", "-n", "--partition", "a b"), 2)
        self.expect(self.sabath.run("job", "net", "-n", "--partition", "-p"), 2)

    def test_an_array_of_eight_with_two_at_a_time(self):
        values = ",".join(map(str, range(8)))
        record = self.job("--submit", "--wait", "--set", f"do={values}", "--at-once", "2")
        self.assertEqual([task["exit"] for task in record["tasks"]], [0] * 8, self.texts())
        self.assertEqual([task["name"] for task in record["tasks"]], [f"do={i}" for i in range(8)])
        spans = [tuple(map(float, p.read_text().split())) for p in self.notes.glob("[0-7].*")]
        self.assertEqual(len(spans), 8)
        for begin, _ in spans:
            self.assertLessEqual(sum(b <= begin < e for b, e in spans), 2, spans)
        reported = self.expect(self.sabath.run("report", self.home / "job/runs", "--json")).record["runs"]
        self.assertEqual(len(reported), 8)

    def test_a_fetch_on_the_transfer_partition_comes_first(self):
        record = self.job("--submit", "--wait", "--transfer-partition", "transfer")
        self.assertEqual(record["tasks"][0]["steps"], {"run": 0, "report": 0}, self.texts())
        self.assertIn("fetch 0", (self.home / "job/fetch/ends/0").read_text())

    def test_from_another_machine_by_ssh(self):
        if reason := ssh_origin.unavailable_because():
            self.skipTest(reason)
        sshd = ssh_origin.Sshd(self.home / "ssh")
        self.addCleanup(sshd.stop)
        settings = " ".join(f"{k}={v}" for k, v in self.sabath.environment.items())
        far = f'#!/bin/sh\ncd {self.home} && exec env -i {settings} {program.BINARY} "$@"\n'
        place(self.home / "far/sabath", far.encode())
        (self.home / "far/sabath").chmod(0o755)
        config = sshd.config.read_text() + f"Host login\n HostName 127.0.0.1\n Port {sshd.relay.port}\n"
        place(self.home / "ssh_config", config.encode())
        here = {"ssh_config": str(self.home / "ssh_config"), "job_programs": {"login": str(self.home / "far/sabath")}}
        place(self.home / "here.json", json.dumps(here).encode())
        here = ("--config", self.home / "here.json")
        record = self.job(*here, "--host", "login", "--submit", "--wait", "--set", "do=0,fail", "--at-once", "2", code=11)
        self.assertEqual([task["exit"] for task in record["tasks"]], [0, 11], self.texts())
        self.assertEqual((record["host"], record["directory"]), ("login", str(self.home / "job")))
        (self.home / "job").rename(self.home / "first")
        record = self.job(*here, "--host", "login", "--submit", "--partition", "short", "--time", "1h", code=5)
        self.assertIn("PartitionTimeLimit", record["never"])

    # --- failure -----------------------------------------------------------------------------------------------------

    def test_a_fetch_that_fails_is_the_jobs_code(self):
        (self.home / "origin/f.bin").unlink()
        record = self.job("--submit", "--wait", "--transfer-partition", "transfer", code=6)
        self.assertEqual(record["tasks"][0]["exit"], 6)
        self.assertEqual((record["fetch"]["state"], record["fetch"]["exit"]), ("failed", 6))
        self.assertIn(f"its fetch, job {record['fetch_id']}", self.err)
        self.assertEqual(self.in_queue(record["ids"][0]), "")

    def test_programs_that_fail_and_are_killed(self):
        record = self.job("--submit", "--wait", "--set", "do=fail,kill,end", code=11)
        self.assertEqual([task["exit"] for task in record["tasks"]], [11, 11, 0], self.texts())
        run = json.loads((self.home / "job/runs/do=kill/run.json").read_text())
        self.assertEqual(run["signal"], 9)

    def test_the_batch_script_is_killed(self):
        record = self.job("--submit", "--set", "do=wait")
        self.waits()
        script = f"/job{int(record['ids'][0]):05d}/slurm_script"
        for pid in processes_of(self.cluster.home):
            if script in pathlib.Path(f"/proc/{pid}/cmdline").read_text():
                os.kill(pid, signal.SIGKILL)
        (task,) = self.of_job("--wait", code=11)["tasks"]
        self.assertEqual((task["state"], task["exit"]), ("failed", 11))

    def test_the_time_is_over(self):
        record = self.job("--submit", "--set", "do=wait")
        self.waits()
        self.cluster.call("scontrol", "update", f"JobId={record['ids'][0]}", "EndTime=now")
        (task,) = self.of_job("--wait", code=143)["tasks"]
        self.assertEqual(task["exit"], 143, self.texts())
        run = json.loads((self.home / "job/runs/run/run.json").read_text())
        self.assertIn(run["state"], ("interrupted", "failed"))

    def test_cancel(self):
        self.job("--submit", "--set", "do=wait")
        self.waits()
        self.of_job("--cancel")
        self.assertIn('"cancelled"', (self.home / "job/outcome.json").read_text())
        (task,) = self.of_job("--wait", code=143)["tasks"]
        self.assertEqual(task["exit"], 143)

    # --- what never starts -------------------------------------------------------------------------------------------

    def test_a_failed_dependency_is_said_at_once(self):
        failed = self.cluster.submit("--wrap=exit 1")
        self.cluster.wait(failed)
        record = self.job("--submit", "--after", failed, code=11)
        self.assertIn("a job that it waits for has failed (DependencyNeverSatisfied)", record["never"])
        self.assertEqual(self.in_queue(record["ids"][0]), "")

    def test_an_impossible_time_is_said_at_once(self):
        record = self.job("--submit", "--partition", "short", "--time", "1h", code=5)
        self.assertIn("PartitionTimeLimit", record["never"])
        self.assertEqual(self.in_queue(record["ids"][0]), "")

    def test_too_many_nodes_are_said_at_once(self):
        self.model(parallel=True)
        record = self.job("--submit", "--nodes", "9", code=2)
        self.assertRegex(record["never"], "PartitionConfig|PartitionNodeLimit")
        (task,) = self.of_job("--status")["tasks"]
        self.assertEqual((task["state"], task["exit"]), ("cancelled", 2))
        self.assertEqual(self.in_queue(record["ids"][0]), "")

    def test_what_slurm_refuses_is_said_in_its_words(self):
        result = self.sabath.run("job", "net", "--submit", "--partition", "nowhere")
        self.expect(result, 2)
        self.assertIn("sbatch refuses the job: sbatch: error:", result.err)
        self.assertNotIn("\\x0a", result.err)
        self.assertEqual(list(self.home.glob("job_*")), [])

    # --- by hand -----------------------------------------------------------------------------------------------------

    def test_a_printed_script_is_submitted_by_hand(self):
        script = self.expect(self.sabath.run("job", "net", "--memory", "64M")).out
        self.assertIn("--mem=64M\n", script)
        place(self.home / "hand/job.sh", script.encode())
        number = self.cluster.submit(str(self.home / "hand/job.sh"))
        self.assertEqual(self.cluster.wait(number)["JobState"], "COMPLETED", self.cluster.output(number))
        (made,) = self.home.glob("job_net_data_*")
        self.assertTrue((made / "runs/run/run.json").exists())

    # --- queued again ------------------------------------------------------------------------------------------------

    def test_queued_again_in_the_middle_of_the_run(self):
        record = self.job("--submit", "--set", "do=wait")
        self.waits()
        (self.notes / "waits").unlink()
        self.queue_again(record["ids"][0])
        self.waits()
        (self.notes / "go").touch()
        (task,) = self.of_job("--wait")["tasks"]
        self.assertEqual((task["exit"], task["starts"]), (0, 2), self.texts())
        self.assertTrue((self.home / "job/runs/run.unfinished-1/run.json").exists())

    def test_queued_again_in_the_middle_of_the_fetch(self):
        big = seeded(24 << 20, 7)
        origin = self.serve({"big": big}, extra="limit_rate 2m;")
        self.sabath.add("data", [fragment(origin.url("big"), big)])
        record = self.job("--submit")
        arrived = poll(lambda: chunks_done(self.sabath.store) >= 1, 60)
        self.assertTrue(arrived, self.texts())
        self.queue_again(record["ids"][0])
        (task,) = self.of_job("--wait")["tasks"]
        self.assertEqual((task["exit"], task["starts"]), (0, 2), self.texts())
        self.assertLess(sum(request.body_bytes for request in origin.log()), 36 << 20)

    def test_queued_again_in_the_middle_of_the_stage_by_a_template_of_ones_own(self):
        big = seeded(24 << 20, 7)
        place(self.home / "origin/f.bin", big)
        self.sabath.add("data", [fragment(f"file://{self.home}/origin/f.bin", big)])
        steps = (pathlib.Path(__file__).resolve().parents[2] / "etc/jobs/steps.sh").read_text()
        slow = f"[[ -e {self.home}/slow ]] && export LD_PRELOAD={SLOW_WRITES} SLOW_WRITES_MS=1500\nstep stage "
        own = self.home / ".config/sabath/jobs/steps.sh"
        place(own, steps.replace("step stage ", slow).encode())
        (self.home / "slow").touch()
        disk = self.home / "disk"
        record = self.job("--submit", "--stage-to", disk, "--cap", "1MB")
        ends = self.home / "job/ends/0"
        self.assertTrue(poll(lambda: ends.exists() and "fetch 0" in ends.read_text(), 60), self.texts())
        self.assertTrue(poll(lambda: chunks_done(disk / ".sabath") >= 1, 60), self.texts())
        (self.home / "slow").unlink()
        self.queue_again(record["ids"][0])
        (task,) = self.of_job("--wait")["tasks"]
        self.assertEqual((task["exit"], task["starts"]), (0, 2), self.texts())
        self.assertEqual(list(task["steps"]), ["fetch", "stage", "run", "report", "cap"])
        run = json.loads((self.home / "job/runs/run/run.json").read_text())
        self.assertTrue(run["assets"][-1]["path"].startswith(str(disk)), run["assets"])
        own.chmod(0o666)
        self.expect(self.sabath.run("job", "net", "-n"), 4)


if __name__ == "__main__":
    main()
