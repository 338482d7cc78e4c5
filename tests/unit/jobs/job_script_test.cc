#include "jobs/job_script.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "base/process.h"
#include "directives.h"
#include "jobs/job_scheduler.h"
#include "sabath/error.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

JobTemplate shipped(const JobScheduler& scheduler) {
  const fs::path place = SABATH_JOB_TEMPLATES;
  const fs::path job = place / scheduler.name / "job.sh";
  return {text_of(job), job.string(), text_of(place / "steps.sh"), (place / "steps.sh").string()};
}

JobPlan full_plan() {
  JobPlan plan;
  plan.name = "net_data";
  plan.directory = "/work/of user/job";
  plan.resources = {.nodes = 2,
                    .ranks = 8,
                    .cores = 4,
                    .gpus = 4,
                    .memory_bytes = 64'000'000'000,
                    .seconds = 9000,
                    .partition = "gpu",
                    .account = "p42"};
  plan.variables = {{"SABATH_STORE", "/store"}, {"SABATH_RECIPES", "/home/it's mine"}};
  plan.fetch = {"/bin/sabath", "fetch", "--alone", "--model", "net"};
  plan.stage = {"srun", "/bin/sabath", "stage", "data", "--to", "/local/$USER"};
  plan.run = {"/bin/sabath", "run", "net", "--again"};
  plan.arguments = {"--", "--seed", "7"};
  plan.report = {"/bin/sabath", "report"};
  plan.cap = {"srun", "/bin/sabath", "gc", "--max-size", "500GB"};
  plan.tasks = {{"lr=0.1", {"--set", "lr=0.1"}}, {"lr=a b", {"--set", "lr=a b"}}, {"lr=$(id)", {"--set", "lr=$(id)"}}};
  plan.at_once = 2;
  return plan;
}

JobPlan small_plan() {
  JobPlan plan;
  plan.name = "net";
  plan.directory = "/job";
  plan.run = {"sabath", "run", "net"};
  return plan;
}

// The plan as far as this scheduler can hold it.
JobPlan for_scheduler(const JobScheduler& scheduler, JobPlan plan) {
  if (scheduler.name == "flux") plan.resources.memory_bytes.reset();
  return plan;
}

TEST(JobScript, IsAsItsGoldenFile) {
  for (const JobScheduler& scheduler : job_schedulers()) {
    const std::string made = job_script(for_scheduler(scheduler, full_plan()), scheduler, shipped(scheduler));
    const fs::path golden = fs::path(SABATH_GOLDEN) / (std::string(scheduler.name) + ".sh");
    if (std::getenv("SABATH_ACCEPT") != nullptr) std::ofstream(golden) << made;
    EXPECT_EQ(made, text_of(golden)) << "SABATH_ACCEPT=1 writes it anew";
  }
}

TEST(JobScript, HasTheDirectivesThatItsPlanAsksFor) {
  for (const JobScheduler& scheduler : job_schedulers()) {
    const std::string made = job_script(for_scheduler(scheduler, full_plan()), scheduler, shipped(scheduler));
    const Directives found = directives_in(scheduler.name, made);
    if (scheduler.name == "slurm") {
      EXPECT_EQ(value_of(found, "--nodes"), "2");
      EXPECT_EQ(value_of(found, "--ntasks-per-node"), "4");
      EXPECT_EQ(value_of(found, "--gpus-per-node"), "4");
      EXPECT_EQ(value_of(found, "--mem"), "61036M");
      EXPECT_EQ(value_of(found, "--time"), "150");
      EXPECT_EQ(value_of(found, "--array"), "0-2%2");
      EXPECT_EQ(value_of(found, "--signal"), "B:USR1@90");
      EXPECT_EQ(value_of(found, "--partition"), "gpu");
    } else if (scheduler.name == "pbs") {
      EXPECT_EQ(found[1].second, "select=2:ncpus=16:mpiprocs=4:ngpus=4:mem=61036mb");
      EXPECT_EQ(found[2].second, "walltime=02:30:00");
      EXPECT_EQ(value_of(found, "-J"), "0-2%2");
    } else if (scheduler.name == "flux") {
      EXPECT_EQ(value_of(found, "--time-limit"), "150m");
      EXPECT_EQ(value_of(found, "--gpus-per-slot"), "4");
      EXPECT_EQ(value_of(found, "--bank"), "p42");
    } else {
      EXPECT_EQ(value_of(found, "-J"), "net_data[1-3]%2");
      EXPECT_EQ(value_of(found, "-W"), "2:30");
      EXPECT_EQ(value_of(found, "-gpu"), "num=4");
      EXPECT_EQ(value_of(found, "-M"), "61036MB");
    }
  }
}

TEST(JobScript, LeavesOutWhatNothingIsSaidOf) {
  for (const JobScheduler& scheduler : job_schedulers()) {
    const std::string made = job_script(small_plan(), scheduler, shipped(scheduler));
    const Directives found = directives_in(scheduler.name, made);
    for (const char* option : {"--gpus-per-node", "--mem", "--time", "--partition", "--account", "--array", "--signal",
                               "-q", "-A", "-J ", "-gpu", "-M", "-W", "-P", "--queue", "--bank", "--time-limit"})
      EXPECT_EQ(value_of(found, option), "-") << scheduler.name << option;
    for (const char* step : {"step fetch", "step stage", "step cap", "step report", "case $task", "@"}) {
      if (std::string(step) == "@") continue;
      EXPECT_EQ(made.find(step), made.npos) << scheduler.name << step;
    }
    EXPECT_NE(made.find("step run sabath run net --run-dir"), made.npos) << scheduler.name;
  }
}

TEST(JobScript, IsGoodBash) {
  for (const JobScheduler& scheduler : job_schedulers()) {
    for (const JobPlan& plan : {small_plan(), full_plan()}) {
      const std::string made = job_script(for_scheduler(scheduler, plan), scheduler, shipped(scheduler));
      const auto result = run_command({.argv = {"bash", "-n", "-c", made}, .environment = {}, .directory = {}}, {});
      EXPECT_EQ(result.status, 0) << result.err;
    }
  }
}

TEST(JobScript, HoldsHostileValuesAsWords) {
  const std::string evil = "x\n#SBATCH --nodes=99\r\n$(id) 'y' \"z\" `w` @steps@ @fetch@";
  for (const JobScheduler& scheduler : job_schedulers()) {
    const Directives before = directives_in(scheduler.name, job_script(small_plan(), scheduler, shipped(scheduler)));
    JobPlan plan = small_plan();
    plan.directory = "/" + evil;
    plan.run = {"sabath", "run", evil, "--set", "a=" + evil};
    plan.variables = {{"SABATH_STORE", evil}};
    plan.arguments = {"--", evil};
    const std::string made = job_script(plan, scheduler, shipped(scheduler));
    EXPECT_EQ(directives_in(scheduler.name, made), before);
    const auto result = run_command({.argv = {"bash", "-n", "-c", made}, .environment = {}, .directory = {}}, {});
    EXPECT_EQ(result.status, 0) << result.err;
    plan.name = evil;
    EXPECT_THROW(static_cast<void>(job_script(plan, scheduler, shipped(scheduler))), Error);
    plan = small_plan();
    plan.resources.partition = evil;
    EXPECT_THROW(static_cast<void>(job_script(plan, scheduler, shipped(scheduler))), Error);
    plan = small_plan();
    plan.variables = {{"A;id", "x"}};
    EXPECT_THROW(static_cast<void>(job_script(plan, scheduler, shipped(scheduler))), Error);
  }
}

std::string complaint_about(const std::string& text, const std::string& steps = "step run @run@\n") {
  const JobScheduler& slurm = *find_job_scheduler("slurm");
  try {
    return "made " + job_script(small_plan(), slurm,
                                {"#!/bin/bash\n" + text + "cd @directory@\n@steps@\n", "job.sh", steps, "steps.sh"});
  } catch (const Error& error) {
    return error.failure().message;
  }
}

TEST(JobTemplates, AreRefusedWithTheirLine) {
  EXPECT_TRUE(complaint_about("").starts_with("made ")) << complaint_about("");
  EXPECT_NE(complaint_about("echo \"@run@\"\n").find("job.sh:2: @run@ must be a word by itself"), std::string::npos);
  EXPECT_NE(complaint_about("echo x@run@\n").find("job.sh:2:"), std::string::npos);
  EXPECT_NE(complaint_about("echo @nodes@\n").find("is no place of a line of bash"), std::string::npos);
  EXPECT_NE(complaint_about("#SBATCH -J @run@\n").find("no place of a line that the scheduler reads"),
            std::string::npos);
  EXPECT_NE(complaint_about("#SBATCH -J {@name@\n").find("a brace is not closed"), std::string::npos);
  EXPECT_NE(complaint_about("echo @nothing@\n").find("@nothing@ is no place"), std::string::npos);
  EXPECT_NE(complaint_about("true\r\n").find("job.sh:2: has a carriage return"), std::string::npos);
  EXPECT_NE(complaint_about("", "true\n@steps@\n").find("steps.sh:2: @steps@"), std::string::npos);
  EXPECT_NE(complaint_about("", "true\n").find("has no place for the command that runs"), std::string::npos);
  EXPECT_TRUE(complaint_about("echo user@host \"${settings[@]}\" $x@\n").starts_with("made "));
}

TEST(JobTemplates, HaveNoPlaceInsideOfWhatEarlierLinesOpen) {
  const auto refused = [](const std::string& text) {
    return complaint_about(text).find("outside of quotes and here-documents") != std::string::npos;
  };
  EXPECT_TRUE(refused("bash -c \"\n@arguments@\n\"\n"));
  EXPECT_TRUE(refused("bash -c '\n@run@\n'\n"));
  EXPECT_TRUE(refused("x=$'it\\'s\n@run@\n'\n"));
  EXPECT_TRUE(refused("x=`\n@run@\n`\n"));
  EXPECT_TRUE(refused("x=${y:-\n@run@\n}\n"));
  EXPECT_TRUE(refused("cat <<EOF\n@run@\nEOF\n"));
  EXPECT_TRUE(refused("cat <<-'END OF IT'\n\t @run@\n\tEND OF IT\n"));
  EXPECT_TRUE(refused("x=\"$(echo \"\n@run@\n\")\"\n"));
  EXPECT_TRUE(refused("@stage@ 'a\n'\n"));  // is left out, and would leave the quote's end
  EXPECT_TRUE(refused("@stage@ <<EOF\nEOF\n"));
  EXPECT_TRUE(refused("x='\n@steps@\n'\n"));
  EXPECT_TRUE(refused("cat <<EOF\n@variables@\nEOF\n"));
  EXPECT_NE(complaint_about("x='it\n").find("must be a word"), std::string::npos);
  for (const char* good : {"cat <<EOF\nit's \"\nEOF\n", "# it's a comment with @run@\n", "x=${y#'}'} # isn't it\n",
                           "((x = 1 << 3))\n", "x=\"$(echo \"it's\")\"\n", "x=$((2 << y)) z=$#\n", "cat <<<\"it's\"\n",
                           "case $x in a) echo \"it's\" ;; esac\n", "x=$(\n  @run@\n)\n", "x=(\n  @run@\n)\n"})
    EXPECT_TRUE(complaint_about(good).starts_with("made ")) << good << complaint_about(good);
}

TEST(JobScript, AsksForNoMoreThanMachinesHave) {
  const JobScheduler& slurm = *find_job_scheduler("slurm");
  const auto refused = [&](auto change) {
    JobPlan plan = small_plan();
    change(plan);
    try {
      static_cast<void>(job_script(plan, slurm, shipped(slurm)));
    } catch (const Error& error) {
      return error.failure().kind == FailureKind::usage;
    }
    return false;
  };
  EXPECT_FALSE(refused([](JobPlan& plan) { plan.resources.memory_bytes = 1ULL << 40U; }));
  EXPECT_TRUE(refused([](JobPlan& plan) { plan.resources.memory_bytes = UINT64_MAX; }));
  EXPECT_TRUE(refused([](JobPlan& plan) { plan.resources.nodes = UINT64_MAX; }));
  EXPECT_TRUE(refused([](JobPlan& plan) { plan.resources.ranks = UINT64_MAX; }));
  EXPECT_TRUE(refused([](JobPlan& plan) { plan.resources.cores = 1ULL << 40U; }));
  EXPECT_TRUE(refused([](JobPlan& plan) { plan.resources.cores = 65536, plan.resources.ranks = 1048576; }));
  EXPECT_TRUE(refused([](JobPlan& plan) { plan.resources.gpus = 1ULL << 40U; }));
  EXPECT_TRUE(refused([](JobPlan& plan) { plan.resources.seconds = INT64_MAX; }));
  EXPECT_TRUE(refused([](JobPlan& plan) { plan.at_once = UINT64_MAX; }));
}

TEST(JobTemplates, MustHaveAPlaceForWhatIsAskedFor) {
  const JobScheduler& flux = *find_job_scheduler("flux");
  JobPlan plan = small_plan();
  plan.resources.memory_bytes = 1 << 30;
  EXPECT_THROW(static_cast<void>(job_script(plan, flux, shipped(flux))), Error);
}

}  // namespace
}  // namespace sabath::test
