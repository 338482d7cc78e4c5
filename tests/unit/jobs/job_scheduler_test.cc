#include "jobs/job_scheduler.h"

#include <gtest/gtest.h>

#include "jobs/job_directory.h"

namespace sabath::test {
namespace {

TEST(JobSchedulers, SayWhichJobWasSubmitted) {
  EXPECT_EQ(find_job_scheduler("slurm")->id_in("12\n"), "12");
  EXPECT_EQ(find_job_scheduler("slurm")->id_in("hello from the site\n12;cluster\n"), "12;cluster");
  EXPECT_EQ(find_job_scheduler("slurm")->id_in("77\nWarning: maintenance\n"), "77");
  EXPECT_EQ(find_job_scheduler("slurm")->id_in("no\n"), "");
  EXPECT_EQ(find_job_scheduler("pbs")->id_in("12[].server\n"), "12[].server");
  EXPECT_EQ(find_job_scheduler("flux")->id_in("f58\n"), "f58");
  EXPECT_EQ(find_job_scheduler("lsf")->id_in("Job <12> is submitted to queue <normal>.\n"), "12");
  EXPECT_EQ(find_job_scheduler("lsf")->id_in("Job <no> is\nJob <12> is submitted\n"), "12");
  EXPECT_EQ(find_job_scheduler("lsf")->id_in("no\n"), "");
  EXPECT_EQ(find_job_scheduler("pbs")->id_in("12.server\nmaintenance\n"), "12.server");
  EXPECT_EQ(find_job_scheduler("flux")->id_in("f58\nmaintenance today\nfrom Monday\n"), "f58");
  EXPECT_EQ(find_job_scheduler("other"), nullptr);
  for (const char* bad : {"", "-x", "a b", "a;b", "$(id)", ".", "a/b"}) EXPECT_FALSE(is_job_id(bad)) << bad;
  EXPECT_TRUE(is_job_id("12[].server-1"));
}

TEST(JobSchedulers, TakeNothingThatStandsForAllJobs) {
  for (const JobScheduler& scheduler : job_schedulers()) {
    for (const char* bad : {"0", "00", "0[1]", "all", "ALL", "-1", "--user=root", "7 8", "7;", ";7", "7;-x", "7;a b",
                            "*", "7_[0-9]", "7[0-9]", "7[1", "7]", "7[][]"})
      EXPECT_FALSE(scheduler.is_id(bad)) << scheduler.name << bad;
    EXPECT_TRUE(scheduler.is_id("77")) << scheduler.name;
  }
  EXPECT_TRUE(find_job_scheduler("pbs")->is_id("0.server"));
  EXPECT_FALSE(find_job_scheduler("lsf")->is_id("0.server"));
  EXPECT_FALSE(find_job_scheduler("slurm")->is_id("name"));
}

TEST(JobSchedulers, AreAskedOnTheClusterThatHasTheJob) {
  using Words = std::vector<std::string>;
  const JobScheduler& slurm = *find_job_scheduler("slurm");
  EXPECT_EQ(slurm.cancel("7"), (Words{"scancel", "7"}));
  EXPECT_EQ(slurm.cancel("7;far"), (Words{"scancel", "--clusters=far", "7"}));
  const Words asked = slurm.ask("7;far");
  EXPECT_EQ(asked[1], "--clusters=far");
  EXPECT_EQ(asked[5], "--jobs=7");
  const Words submitted = slurm.submit("job.sh", "7;far", {});
  EXPECT_EQ(submitted[1], "--clusters=far");
  EXPECT_EQ(submitted[4], "--dependency=afterok:7");
}

TEST(JobSchedulers, SayHowEachTaskDoes) {
  const auto slurm = find_job_scheduler("slurm")->states_in(
      "7_0|RUNNING|None\n7_3|PENDING|JobArrayTaskLimit\n8|CANCELLED|DependencyNeverSatisfied\n9|OUT_OF_MEMORY|"
      "x\nnoise\n");
  ASSERT_EQ(slurm.size(), 4U);
  EXPECT_EQ(slurm[0].task, 0U);
  EXPECT_EQ(slurm[0].state, JobState::running);
  EXPECT_EQ(slurm[1].task, 3U);
  EXPECT_EQ(slurm[1].state, JobState::waiting);
  EXPECT_EQ(slurm[1].reason, "JobArrayTaskLimit");
  EXPECT_FALSE(slurm[2].task);
  EXPECT_EQ(slurm[2].state, JobState::cancelled);
  EXPECT_EQ(slurm[3].state, JobState::failed);
  const auto pbs = find_job_scheduler("pbs")->states_in(
      "Job Id: 12[3].server\n    Job_Name = x\n    job_state = R\n    comment = Job run\nJob Id: 13.server\n    "
      "job_state = Q\n");
  ASSERT_EQ(pbs.size(), 2U);
  EXPECT_EQ(pbs[0].task, 3U);
  EXPECT_EQ(pbs[0].state, JobState::running);
  EXPECT_EQ(pbs[1].state, JobState::waiting);
  const auto flux = find_job_scheduler("flux")->states_in("f1|SCHED|\nf2|INACTIVE|TIMEOUT\n");
  ASSERT_EQ(flux.size(), 2U);
  EXPECT_EQ(flux[0].state, JobState::waiting);
  EXPECT_EQ(flux[1].state, JobState::timed_out);
  const auto lsf = find_job_scheduler("lsf")->states_in("12|3|RUN|-\n12|4|EXIT|11\n13|0|PEND|-\n");
  ASSERT_EQ(lsf.size(), 3U);
  EXPECT_EQ(lsf[0].task, 2U);
  EXPECT_EQ(lsf[1].state, JobState::failed);
  EXPECT_FALSE(lsf[2].task);
}

TEST(JobSchedulers, KnowWhatNeverStarts) {
  EXPECT_EQ(job_obstacle("PartitionTimeLimit")->kind, FailureKind::space);
  EXPECT_EQ(job_obstacle("PartitionConfig")->kind, FailureKind::usage);
  EXPECT_EQ(job_obstacle("DependencyNeverSatisfied")->kind, FailureKind::command);
  EXPECT_FALSE(job_obstacle("Priority"));
  EXPECT_FALSE(job_obstacle("Resources"));
}

TEST(JobEnds, AreWhatTheScriptWrote) {
  const auto done = parse_job_end("begin 7\nfetch 0\nrun 11\nend 11\n");
  EXPECT_EQ(done.code, 11);
  EXPECT_EQ(done.begun, 1U);
  ASSERT_EQ(done.steps.size(), 2U);
  EXPECT_EQ(done.steps[1], (std::pair<std::string, int>("run", 11)));
  const auto again = parse_job_end("begin 7\nfetch 143\nend 143\nbegin 7\nfetch 0\n");
  EXPECT_FALSE(again.code);
  EXPECT_EQ(again.begun, 2U);
  EXPECT_EQ(again.steps.size(), 1U);
  EXPECT_FALSE(parse_job_end("begin 7\nend 1").code);  // on its way: 143 may come
  EXPECT_FALSE(parse_job_end("end x\nend 999999999999999999999\nend -1\n").code);
  EXPECT_EQ(code_of_job_end(143), 143);
  EXPECT_EQ(code_of_job_end(137), 11);
  EXPECT_EQ(code_of_job_end(0), 0);
}

TEST(JobWalltimes, HaveRoomToSpare) {
  EXPECT_FALSE(job_walltime({}, 100));
  EXPECT_EQ(job_walltime(600, {}), 1500);
  EXPECT_EQ(job_walltime(601, 100), 1740);
}

}  // namespace
}  // namespace sabath::test
