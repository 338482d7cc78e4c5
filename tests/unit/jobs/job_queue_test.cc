#include "jobs/job_queue.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "jobs/job_watch.h"
#include "sabath/error.h"
#include "support/temp_dir.h"

namespace sabath::test {
namespace {

using namespace std::chrono_literals;
using ShellWords = std::vector<std::string>;

// What the programs of the scheduler do, as shell scripts; they get the id as $1.
struct Scripts {
  std::string submit = "echo 7", ask, cancel = "true";
};
Scripts scripts;  // the functions of a JobScheduler take no state

ShellWords shell(const std::string& script, const std::string& id) { return {"/bin/sh", "-c", script, "sh", id}; }

// Slurm's words, of programs that need not be there.
JobScheduler scripted() {
  JobScheduler made = *find_job_scheduler("slurm");
  made.arrays = false;
  made.submit = [](const std::string&, const std::string& after, std::optional<std::uint64_t>) {
    return shell(scripts.submit, after);
  };
  made.ask = [](const std::string& id) { return shell(scripts.ask, id); };
  made.cancel = [](const std::string& id) { return shell(scripts.cancel, id); };
  return made;
}

struct Heard final : EventSink {
  std::vector<std::string> texts;
  void on(const Event& event) override {
    if (const auto* message = std::get_if<event::Message>(&event)) texts.push_back(message->text);
  }
};

class JobQueues : public ::testing::Test {
 protected:
  JobQueues() { scripts = {}; }
  [[nodiscard]] bool answers(const std::string& script) const {
    scripts.ask = script;
    return JobQueue(scheduler, {}, 300ms).states("7").has_value();
  }
  [[nodiscard]] std::string text_in(const char* name) const {
    return try_read_text(directory / name, 1 << 20).value_or("");
  }
  TempDir temporary;
  std::filesystem::path directory = temporary.path();
  JobScheduler scheduler = scripted();
};

TEST_F(JobQueues, HaveNoAnswerOfAProgramThatHangsIsMissingOrPrintsGarbage) {
  EXPECT_TRUE(answers("echo '7|RUNNING|None'"));
  EXPECT_TRUE(answers("true"));
  EXPECT_TRUE(answers("echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1"));
  EXPECT_TRUE(answers("echo 'CLUSTER: far'"));
  EXPECT_FALSE(answers("exec sleep 100"));
  EXPECT_FALSE(answers("echo garbage"));
  EXPECT_FALSE(answers("echo 'a|b c|d'"));
  EXPECT_FALSE(answers("exit 1"));
  scheduler.ask = [](const std::string&) { return ShellWords{"/no/such/program"}; };
  EXPECT_FALSE(answers(""));
}

TEST_F(JobQueues, ShowWhatTheSchedulerSays) {
  scripts.ask = "printf '7|PENDING|\\033]0;x\\007\\302\\233\\n'";
  const auto states = JobQueue(scheduler, {}).states("7");
  ASSERT_TRUE(states && states->size() == 1U);
  EXPECT_EQ(states->front().reason, "\\x1b]0;x\\x07\\xc2\\x9b");
}

TEST_F(JobQueues, GiveASchedulerNothingButIds) {
  const JobQueue queue(scheduler, {});
  for (const char* bad : {"--user=root", "0", "all", "", "7 8"}) {
    EXPECT_THROW(static_cast<void>(queue.states(bad)), Error) << bad;
    EXPECT_THROW(queue.cancel(bad), Error) << bad;
  }
  EXPECT_THROW(static_cast<void>(queue.submit({directory, "job.sh", "--wrap=id", {}})), Error);
  EXPECT_EQ(queue.submit({directory, "job.sh", "8", {}}), "7");
}

TEST_F(JobQueues, SubmitToTheEndAndCancelAtAStopRequest) {
  std::stop_source stop;
  stop.request_stop();
  scripts.submit = "sleep 0.3; echo 7";
  EXPECT_EQ(JobQueue(scheduler, stop.get_token()).submit({directory, "job.sh", "", {}}), "7");
  // All are tried, though the first fails.
  const std::string log = (directory / "cancelled").string();
  scripts.cancel = "echo $1 >>" + log + "; [ $1 != 7 ]";
  scripts.ask = "echo '7|RUNNING|None'";
  const auto failures = cancel_all(scheduler, {"7", "8", "9"});
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_NE(failures[0].find("job 7 may go on"), std::string::npos) << failures[0];
  EXPECT_EQ(text_in("cancelled"), "7\n8\n9\n");
}

TEST_F(JobQueues, AreWaitedForWhileTheyAreSilent) {
  std::filesystem::create_directory(directory / "ends");
  scripts.ask = "printf 'begin 7\\nrun 0\\nend 0\\n' >" + (directory / "ends/0").string() + "; exec sleep 100";
  const JobQueue queue(scheduler, {}, 300ms);
  Heard heard;
  SubmittedJob job;
  job.ids = {"7"};
  const auto tasks = JobWatch(directory, job, queue).wait(heard, {});
  EXPECT_EQ(JobWatch::code_of(tasks), 0);
  ASSERT_FALSE(heard.texts.empty());
  EXPECT_EQ(heard.texts.front(), "job 7: waiting (the scheduler does not answer)");
}

}  // namespace
}  // namespace sabath::test
