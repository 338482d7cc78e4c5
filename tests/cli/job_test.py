#!/usr/bin/python3
"""`sabath job` with schedulers that hang, are missing, print garbage, or fail in the middle, and with directories that
another user could have written. The schedulers are scripts that note how they were called."""

import json
import os
import signal

from scripted_jobs import ScriptedJobs
from support.case import main, place
from support.origin import poll
from support.program import finish

MALLORY = 64001


class Job(ScriptedJobs):
    def forge(self, name, **more):
        record = {"schema": 1, "name": "x", "model": "net", "scheduler": "slurm", "ids": ["4711"], "fetch_id": None,
                  "tasks": [], "submitted": 2**63 - 1, **more}  # fmt: skip
        place(self.home / name / "job.json", json.dumps(record).encode())
        return self.home / name

    def give_away(self, directory):
        if os.geteuid() != 0:
            self.skipTest("only root gives files away")
        for file in (directory, *directory.rglob("*")):
            os.chown(file, MALLORY, MALLORY, follow_symlinks=False)

    # --- what is given to a scheduler --------------------------------------------------------------------------------

    def test_a_forged_id_goes_to_no_scheduler(self):
        for more in ({"fetch_id": "--user=root"}, {"ids": ["0"]}, {"ids": ["--user=root"]}, {"ids": ["all"]},
                     {"scheduler": "lsf", "ids": ["0"]}):  # fmt: skip
            directory = self.forge("forged", **more)
            for what in ("--cancel", "--status", "--wait"):
                self.expect(self.sabath.run("job", directory, what), 12)
        for bad in ("0", "--user=root", "all", "7 8"):
            self.submit("--after", bad, code=2)
        self.assertEqual(self.calls.read_text(), "")

    def test_what_others_own_is_refused_or_passed_over(self):
        self.submit()
        (self.home / "job").rename(self.home / "job_net_mine")
        self.give_away(self.forge("job_net_theirs"))
        self.assertEqual(self.job("--status").record["ids"], ["77"])
        self.expect(self.sabath.run("job", self.home / "job_net_theirs", "--cancel"), 4)
        self.give_away(self.forge("net"))
        self.job("--cancel", code=4)
        self.assertEqual(self.called("scancel"), [])

    def test_a_damaged_directory_hides_no_other_one(self):
        self.submit()
        (self.home / "job").rename(self.home / "job_net_mine")
        place(self.home / "job_net_z/job.json", b"{")
        (self.home / "job_net_y").mkdir()
        os.mkfifo(self.home / "job_net_y/job.json")
        result = self.job("--status")
        self.assertEqual(result.record["ids"], ["77"])
        self.assertIn("job_net_z is passed over", result.err)

    def test_a_pipe_and_a_circle_of_symlinks_are_no_files(self):
        os.mkfifo(self.home / "pipe")
        (self.home / "circle").symlink_to("circle")
        for name in ("pipe", "circle"):
            self.job("--lock", self.home / name, code=12)
        self.submit()
        (self.home / "job/ends").mkdir(exist_ok=True)
        os.mkfifo(self.home / "job/ends/0")
        self.expect(self.sabath.run("job", self.home / "job", "--status"), 12)

    def test_a_job_goes_below_no_directory_of_another_user(self):
        (self.home / "theirs").mkdir()
        self.give_away(self.home / "theirs")
        (self.home / "theirs/mine").mkdir()
        self.job("--submit", "--job-dir", self.home / "theirs/mine/job", code=4)
        self.assertEqual(self.called("sbatch"), [])
        place(self.home / ".config/sabath/config.json", json.dumps({"trusted_owners": [str(MALLORY)]}).encode())
        self.job("--submit", "--job-dir", self.home / "theirs/mine/job")
        place(self.home / ".config/sabath/config.json", b"{}")
        self.expect(self.sabath.run("job", self.home / "theirs/mine/job", "--cancel"), 4)
        self.assertEqual(self.called("scancel"), [])

    def test_no_job_goes_into_a_directory_of_others(self):
        (self.home / "job").mkdir()
        (self.home / "job").chmod(0o777)
        self.submit(code=4)
        (self.home / "job").chmod(0o755)
        self.give_away(self.home / "job")
        self.submit(code=4)
        (self.home / "job").rmdir()
        (self.home / "real").mkdir()
        (self.home / "job").symlink_to("real")
        os.chown(self.home / "job", MALLORY, MALLORY, follow_symlinks=False)
        self.submit(code=4)
        self.assertEqual(self.called("sbatch"), [])

    def test_a_run_of_others_says_no_time(self):
        run = {"schema": 1, "state": "finished", "recipe": {"name": "net"}, "assets": [{"name": "data"}]}
        place(self.home / "run_net_data_a/run.json", json.dumps({**run, "times": {"train": 600}}).encode())
        place(self.home / "run_net_data_z/run.json", json.dumps({**run, "times": {"train": 1e300}}).encode())
        self.assertIn("--time=43200\n", self.expect(self.sabath.run("job", "net", "-n")).out)
        self.give_away(self.home / "run_net_data_z")
        self.assertIn("--time=25\n", self.expect(self.sabath.run("job", "net", "-n", "--fetch", "none")).out)

    def test_numbers_have_bounds(self):
        for options in (("--memory", "18446744073709551615"), ("--cores", "65536", "--ranks", "1048576"),
                        ("--time", "9999999d")):  # fmt: skip
            self.submit(*options, code=2)
        self.model(job_nodes=4, job_memory="64GB")
        result = self.expect(self.sabath.run("job", "net", "-n"))
        self.assertIn("the recipe of net asks for job_nodes 4, job_memory 64GB", result.err)

    def test_a_lock_is_there_when_the_job_starts(self):
        self.expect(self.sabath.run("run", "net", "--run-dir", self.home / "locked"))
        record = (self.home / "locked/run.json").read_bytes()
        script = self.submit("--lock", self.home / "locked").record["scripts"][0]["text"]
        self.assertIn(f" --lock {self.home}/job/lock.json ", script)
        self.assertEqual((self.home / "job/lock.json").read_bytes(), record)
        (self.home / "job").rename(self.home / "first")
        self.submit("--lock", self.home / "nothing", code=3)
        self.submit("--lock", self.home / "locked", "--env", "none", code=2)
        place(self.home / "locked/run.json", b"{")
        self.submit("--lock", self.home / "locked", code=12)
        self.assertFalse((self.home / "job").exists())

    def test_modules_that_are_loaded_are_named(self):
        said = self.expect(self.sabath.run("job", "net", "-n", LOADEDMODULES="gcc/12.3:openmpi/4.1\x1b")).err
        self.assertIn("modules are loaded here: gcc/12.3:openmpi/4.1\\x1b; of what they set only PATH goes", said)
        self.assertEqual(self.expect(self.sabath.run("job", "net", "-n", "--scheduler", "pbs", LOADEDMODULES="x")).err, "")

    # --- schedulers that fail ----------------------------------------------------------------------------------------

    def test_a_scheduler_that_does_not_answer_is_waited_for(self):
        self.program("sbatch", "(sleep 2; mkdir -p ends; printf 'run 0\\nend 0\\n' >ends/0) >&- 2>&- & echo 77")
        for number, script in enumerate(("echo garbage", "exit 1")):
            self.program("squeue", script)
            result = self.submit("--wait")
            self.assertEqual(result.record["code"], 0, result)
            self.assertIn("job 77: waiting (the scheduler does not answer)", result.err)
            (self.home / "job").rename(self.home / f"job-{number}")
        (self.home / "job-1/ends/0").unlink()
        (task,) = self.expect(self.sabath.run("job", "--json", self.home / "job-1", "--status")).record["tasks"]
        self.assertEqual(task["reason"], "the scheduler does not answer")

    def test_without_a_squeue_a_job_is_submitted_all_the_same(self):
        (self.path / "squeue").unlink()
        self.sabath.environment["PATH"] = f"{self.path}:{self.bare_bin()}"
        self.assertEqual(self.submit().record["ids"], ["77"])
        self.assertEqual(self.written()["ids"], ["77"])

    def bare_bin(self):
        """The few programs that the scripts here need, and no scheduler of this machine."""
        bare = self.home / "bare"
        bare.mkdir()
        for name in ("sh", "basename", "mkdir", "cat", "sleep", "python3", "bash"):
            (bare / name).symlink_to(f"/usr/bin/{name}")
        return bare

    def test_the_id_is_found_among_warnings_and_keeps_its_cluster(self):
        self.program("sbatch", "echo welcome; echo '77;far'; echo 'Warning: maintenance'")
        self.assertEqual(self.submit().record["ids"], ["77;far"])
        self.expect(self.sabath.run("job", self.home / "job", "--cancel"))
        self.assertEqual(self.called("scancel"), ["scancel --clusters=far 77"])

    def test_control_c_while_squeue_runs_is_no_matter_of_squeue(self):
        self.program("squeue", "exec sleep 60")
        self.submit()  # its look for obstacles ends
        started = self.sabath.start("job", self.home / "job", "--wait")
        self.assertTrue(poll(lambda: len(self.called("squeue")) == 2, 60))
        started.send_signal(signal.SIGINT)
        self.assertIn("nothing waits for job 77 any more; it goes on", self.expect(finish(started), 130).err)
        started = self.sabath.start("job", self.home / "job", "--status")
        self.assertTrue(poll(lambda: len(self.called("squeue")) == 3, 60))
        started.send_signal(signal.SIGINT)
        self.assertIn("stopped before the scheduler said how job 77 does", self.expect(finish(started), 130).err)

    def test_a_sweep_that_is_stopped_leaves_no_job(self):
        count = f"echo x >>{self.home}/count; echo f$(wc -l <{self.home}/count)"
        self.program("flux", f"case $1 in batch) sleep 0.5; {count};; cancel) [ $2 != f1 ];; esac")
        started = self.sabath.start("job", "net", "--submit", "--scheduler", "flux", "--set", "lr=1,2,3,4,5,6,7",
                                    "--job-dir", self.home / "job")  # fmt: skip
        self.assertTrue(poll(lambda: len(self.called("flux batch")) == 3, 60))
        started.send_signal(signal.SIGINT)
        self.expect(finish(started), 130)
        ids = self.written()["ids"]
        self.assertEqual(len(ids), len(self.called("flux batch")))
        self.assertLess(len(ids), 7)
        self.assertEqual(self.called("flux cancel"), [f"flux cancel {each}" for each in ids])

    def test_ids_are_kept_where_a_later_submission_fails(self):
        self.program("sbatch", "[ \"$(basename \"$PWD\")\" = fetch ] && echo 76 || { echo no >&2; exit 1; }")
        self.submit("--fetch", "transfer", "--transfer-partition", "wan", code=2)
        self.assertEqual((self.written()["fetch_id"], self.written()["ids"]), ("76", []))
        self.assertEqual(self.called("scancel"), ["scancel 76"])
        self.expect(self.sabath.run("job", self.home / "job", "--cancel"))  # as after a kill -9 behind the first
        self.assertEqual(self.called("scancel"), ["scancel 76"] * 2)

    def test_a_cancel_goes_on_after_one_that_failed(self):
        directory = self.forge("mine", scheduler="flux", ids=["f1", "f2", "f3"])
        self.program("flux", "case $1 in jobs) echo 'f1|RUN|';; cancel) [ $2 != f1 ];; esac")
        result = self.expect(self.sabath.run("job", directory, "--cancel"), 11)
        self.assertIn("job f1 may go on", result.err)
        self.assertEqual(self.called("flux cancel"), ["flux cancel f1", "flux cancel f2", "flux cancel f3"])

    # --- what is shown -----------------------------------------------------------------------------------------------

    def test_what_a_scheduler_says_moves_no_cursor(self):
        self.program("squeue", "printf '77|PENDING|\\033]0;x\\007\\302\\233\\n'")
        self.program("sbatch", "(sleep 2; mkdir -p ends; printf 'run 0\\nend 0\\n' >ends/0) >&- 2>&- & echo 77")
        directory = self.home / "job\x1b[31m"
        waited = self.expect(self.sabath.run("job", "net", "--submit", "--wait", "--job-dir", directory))
        self.assertIn("job 77: waiting (\\x1b]0;x", waited.err)
        (directory / "ends/0").unlink()
        asked = self.expect(self.sabath.run("job", directory, "--status"))
        self.assertIn("\\x1b]0;x", asked.out)
        for raw in ("\x1b", "\x07", "\x9b"):
            self.assertNotIn(raw, waited.err + asked.out + asked.err)

    def test_a_template_with_a_place_inside_a_quote_of_an_earlier_line_is_refused(self):
        own = self.home / ".config/sabath/jobs/slurm/job.sh"
        place(own, b'#!/bin/bash\n#SBATCH -J @name@\nbash -c "\n@arguments@\n"\n@steps@\n')
        result = self.expect(self.sabath.run("job", "net", "-n", "--", "$(touch X)"), 12)
        self.assertIn("job.sh:4: @arguments@ must be a word by itself", result.err)


if __name__ == "__main__":
    main()
