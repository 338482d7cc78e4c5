#!/usr/bin/python3
"""What `sabath job` says of jobs that were cancelled, refused, killed, fetched for, queued again and forgotten, and of
what it is asked for. The schedulers are scripts."""

import json
import subprocess

from scripted_jobs import ScriptedJobs
from support.case import main, place

# A batch system of one job at a time: it runs the script where it is submitted, and knows nothing of it afterwards.
AT_ONCE = "SLURM_JOB_ID=77 bash job.sh >/dev/null 2>&1; echo 77"
FORGOTTEN = "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1"


class JobStates(ScriptedJobs):
    def queue(self, *lines):
        """What squeue says of jobs, each asked for by its id; of others that it knows none."""
        cases = "".join(f"*--jobs={line.split('|')[0].split('_')[0]}*) echo '{line}';; " for line in lines)
        self.program("squeue", f'case "$*" in {cases}*) {FORGOTTEN};; esac')

    def ends(self, text, directory="job"):
        place(self.home / directory / "ends/0", text.encode())

    def of_job(self, *arguments, code=0):
        return self.expect(self.sabath.run("job", "--json", self.home / "job", *arguments), code)

    def task(self, *arguments, code=0):
        (task,) = self.of_job(*arguments, code=code).record["tasks"]
        return task["state"], task["exit"], task["reason"]

    def shown(self, *arguments):
        return self.expect(self.sabath.run("job", self.home / "job", *arguments))

    # --- what the scheduler forgets ----------------------------------------------------------------------------------

    def test_a_cancelled_job_stays_cancelled(self):
        self.submit()
        self.ends("begin 77\n")
        self.program("scancel", f"touch {self.home}/gone")
        self.program("squeue", f"[ -e {self.home}/gone ] && echo '77|FAILED|RaisedSignal' || echo '77|RUNNING|None'")
        said = self.shown("--cancel")
        self.assertIn("job 77 is cancelled", said.err)
        self.assertRegex(said.out, r"run +cancelled +143")
        self.assertIn(f"job 77 of slurm in {self.home}/job\n", said.out)
        for line in ("echo '77|FAILED|RaisedSignal'", FORGOTTEN, "exit 1"):
            self.program("squeue", line)
            self.assertEqual(self.task("--status")[:2], ("cancelled", 143), line)
        self.queue()
        self.assertEqual(self.task("--wait", code=143)[:2], ("cancelled", 143))
        self.assertIn("nothing is cancelled: job 77 has ended", self.shown("--cancel").err)
        self.assertEqual(len(self.called("scancel")), 1)
        self.ends("begin 77\nbegin 77\n")  # queued again since
        self.queue("77|RUNNING|None")
        self.assertEqual(self.task("--status")[:2], ("running", None))

    def test_one_that_ends_later_is_being_cancelled(self):
        self.submit()
        self.assertIn("job 77 is being cancelled", self.shown("--cancel").err)

    def test_a_job_that_can_never_start_keeps_its_code(self):
        self.queue("77|PENDING|PartitionNodeLimit")
        self.assertIn("PartitionNodeLimit", self.submit(code=2).record["never"])
        self.queue("77|CANCELLED|None")
        self.assertEqual(self.task("--status"), ("cancelled", 2, "PartitionNodeLimit"))
        self.queue()
        self.assertEqual(self.task("--status"), ("cancelled", 2, "PartitionNodeLimit"))
        self.assertEqual(self.task("--wait", code=2), ("cancelled", 2, "PartitionNodeLimit"))

    def test_a_killed_job_is_no_ended_one(self):
        self.submit()
        self.ends("begin 77\n")
        self.queue("77|FAILED|NonZeroExitCode")
        before = self.task("--status")
        self.assertEqual(before, ("failed", 11, "NonZeroExitCode"))
        self.queue()
        self.assertEqual(self.task("--status"), before)
        (self.home / "job/outcome.json").write_bytes(b"{")  # nothing is known any more
        self.assertEqual(self.task("--status"), ("gone", 11, None))
        self.assertIn("the scheduler does not know it any more, and its script wrote no end", self.shown("--status").out)
        self.ends("begin 77\nrun 11\nend 11\n")
        self.assertEqual(self.task("--status"), ("failed", 11, None))
        self.ends("begin 77\nrun 0\nend 0\n")  # what the script wrote wins over all
        self.assertEqual(self.task("--status"), ("ended", 0, None))

    def test_a_job_that_is_queued_again_after_its_end_waits(self):
        self.submit()
        self.ends("begin 77\nrun 0\nend 0\n")
        self.queue("77|COMPLETING|None")
        self.assertEqual(self.task("--status"), ("ended", 0, None))
        self.queue("77|PENDING|BeginTime")
        self.assertEqual(self.task("--status"), ("waiting", None, "BeginTime"))

    def test_a_program_is_named_by_how_it_ended(self):
        self.program("sbatch", AT_ONCE)
        for what, said in (("sys.exit(3)", "its program ended with 3"),
                           ("os.kill(os.getpid(), 9)", "signal 9 ended its program")):  # fmt: skip
            place(self.sabath.recipes / "models/net/train.py", f"import os, sys\n{what}\n".encode())
            self.queue("77|FAILED|NonZeroExitCode")
            self.submit(code=0)
            (task,) = self.of_job("--status", "--wait", code=11).record["tasks"]
            self.assertEqual(task["failure"], said)
            shown = self.shown("--status")
            self.assertIn(said, shown.out)
            self.assertIn("/job/output/0.txt", shown.err)
            (self.home / "job").rename(self.home / said.replace(" ", "_"))

    # --- the job that fetches before ---------------------------------------------------------------------------------

    def test_a_fetch_before_is_shown_and_named_where_it_fails(self):
        self.program("sbatch", '[ "$(basename "$PWD")" = fetch ] && echo 76 || echo 77')
        self.queue("76|RUNNING|None", "77|PENDING|Dependency")
        self.submit("--fetch", "transfer", "--transfer-partition", "wan")
        self.ends("begin 76\n", "job/fetch")
        self.assertRegex(self.shown("--status").out, r"fetch +76 +running")
        self.ends("begin 76\nfetch 6\nend 6\n", "job/fetch")
        self.queue("76|FAILED|NonZeroExitCode", "77|CANCELLED|DependencyNeverSatisfied")
        said = self.expect(self.sabath.run("job", self.home / "job", "--wait"), 6)
        self.assertIn("its fetch, job 76, failed", said.out)
        self.assertIn(f"what its commands wrote is in {self.home}/job/fetch/output/0.txt", said.err)
        self.queue()
        record = self.of_job("--status").record
        self.assertEqual((record["code"], record["fetch"]["exit"], record["fetch"]["failure"]),
                         (6, 6, "its fetch failed with 6"))  # fmt: skip

    def test_fetch_none_fetches_nowhere(self):
        self.program("sbatch", AT_ONCE)
        self.queue()
        made = self.submit("--fetch", "none", "--stage-to", self.home / "disk")
        self.assertIn("nothing fetches it: the job would end with 9", made.err)
        script = made.record["scripts"][0]["text"]
        self.assertRegex(script, "\nstep stage .* --no-fetch\n")
        self.assertRegex(script, "\nstep run .* --no-fetch ")
        (task,) = self.of_job("--wait", code=9).record["tasks"]
        self.assertEqual(task["steps"], {"stage": 9})
        (self.home / "job").rename(self.home / "staged")
        self.submit("--fetch", "none")
        (task,) = self.of_job("--wait", code=9).record["tasks"]
        self.assertEqual(task["steps"]["run"], 9)
        self.assertFalse((self.home / "disk/data").exists())

    def test_what_is_here_is_fetched_by_no_job(self):
        self.expect(self.sabath.run("fetch", "data"))
        made = self.job("--dry-run", "--fetch", "transfer", "--transfer-partition", "wan")
        self.assertEqual(len(made.record["scripts"]), 1)

    # --- what is asked for -------------------------------------------------------------------------------------------

    def test_memory_has_a_unit(self):
        for text, asked in (("64G", 65536), ("64g", 65536), ("64GiB", 65536), ("64GB", 61036), ("1.5T", 1572864),
                            ("500M", 500), ("500 MB", 477)):  # fmt: skip
            script = self.job("-n", "--memory", text).record["scripts"][0]["text"]
            self.assertIn(f"\n#SBATCH --mem={asked}M\n", script)
        for bad in ("4000", "4.", "M", "64GG", "-1G", ""):
            said = self.expect(self.sabath.run("job", "net", "-n", "--memory", bad), 2).err
            self.assertIn("64G or 64GiB (2^30 bytes each, as in sbatch)", said)
        self.model(job_memory="4000")
        self.assertIn("64G or 64GiB", self.expect(self.sabath.run("job", "net", "-n"), 12).err)

    def test_hints_name_what_to_write(self):
        for options, said in ((("--fetch", "transfer"), "--transfer-partition NAME"),
                              (("--time", "400d"), "up to 366 days"),
                              (("--after", "afterany:54"), "give the id alone"),
                              (("--cap", "1GB"), "this job stages nothing"),
                              (("--wait", "--cancel"), "--wait goes with --submit, or is said alone")):  # fmt: skip
            self.assertIn(said, self.expect(self.sabath.run("job", "net", *options), 2).err)
        self.submit()
        (self.home / "job/runs").mkdir()
        self.assertIn(f"name its runs: {self.home}/job/runs", self.expect(self.sabath.run("report", self.home / "job"), 3).err)

    def test_a_virtual_environment_is_named(self):
        said = self.expect(self.sabath.run("job", "net", "-n", VIRTUAL_ENV="/home/ada/venv")).err
        self.assertIn("the virtual environment /home/ada/venv is active here: PATH goes along", said)

    def test_a_refused_submission_leaves_nothing(self):
        self.program("sbatch", "printf 'sbatch: error: no such node\\nsbatch: error: refused\\n' >&2; exit 1")
        for options in ((), ("--fetch", "transfer", "--transfer-partition", "wan")):
            said = self.submit(*options, code=2)
            self.assertIn("sbatch: error: no such node; sbatch: error: refused", said.record["error"]["message"])
            self.assertFalse((self.home / "job").exists())
        (self.home / "job").mkdir()
        self.submit(code=2)
        self.assertEqual(list((self.home / "job").iterdir()), [])

    # --- what is printed ---------------------------------------------------------------------------------------------

    def test_a_printed_script_runs_wherever_it_is_submitted(self):
        script = self.expect(self.sabath.run("job", "net")).out
        environment = {**self.sabath.environment, "SLURM_JOB_ID": "1"}
        for _ in range(2):
            subprocess.run(["bash", "-c", script], cwd="/", env=environment, check=True)
        (made,) = self.home.glob("job_net_data_*")
        self.assertIn("end 0\n", (made / "ends/0").read_text())
        self.assertIn("--- job 1 begins again, ", (made / "output/0.txt").read_text())
        self.assertIn("submitted by hand is not known", self.expect(self.sabath.run("job", made, "--status"), 3).err)

    def test_two_scripts_are_two(self):
        said = self.expect(self.sabath.run("job", "net", "--fetch", "transfer", "--transfer-partition", "wan"))
        self.assertRegex(said.out, r"^# .*/fetch/job.sh\n#!/bin/bash\n(.*\n)*\n# .*/job.sh\n#!/bin/bash\n")
        self.assertIn("these are two scripts", said.err)

    def test_the_jobs_of_a_directory_are_listed(self):
        self.assertIn("no job was submitted in this directory", self.expect(self.sabath.run("job", "--status")).err)
        for number in (76, 77):
            self.program("sbatch", f"echo {number}")
            self.expect(self.sabath.run("job", "net", "--submit", "--job-dir", self.home / f"job_net_{number}"))
            record = json.loads((self.home / f"job_net_{number}/job.json").read_text())
            (self.home / f"job_net_{number}/job.json").write_text(json.dumps({**record, "submitted": number}))
        self.ends("begin 76\nrun 0\nend 0\n", "job_net_76")
        place(self.home / "job_net_x/job.json", b"{")
        self.queue("77|PENDING|Priority")
        listed = self.expect(self.sabath.run("job", "--status", "--json"))
        self.assertIn("job_net_x is passed over", listed.err)
        shown = [(job["ids"], job["state"], job["code"]) for job in listed.record["jobs"]]
        self.assertEqual(shown, [(["77"], "waiting (Priority)", None), (["76"], "ended", 0)])
        self.assertRegex(self.expect(self.sabath.run("job", "--status")).out, r"77 +net +waiting \(Priority\) +job_net_77")
        for options in ((), ("--wait",), ("--submit",), ("--cancel",)):
            self.assertIn("`sabath job --status` alone lists", self.expect(self.sabath.run("job", *options), 2).err)

    def test_a_recipes_place_is_shown_before_it_is_there(self):
        own = str(self.home / ".local/share/sabath/recipes")
        self.assertIn(own, self.expect(self.sabath.run("config")).out)


if __name__ == "__main__":
    main()
