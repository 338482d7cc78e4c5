#include "sabath/verbs/job.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "ask.h"
#include "sabath/environment.h"
#include "site.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;
using Json = Site::Json;

class Jobs : public ::testing::Test {
 protected:
  Jobs() {
    site.dataset("data", {with_checksum(file_fragment("f", "a.bin", {site.serve("a", "abc")}), "abc")});
    profile(Json::object());
    request.run.environment = Environment::of_process();
    request.run.environment.variables["XDG_CONFIG_HOME"] = (site / "config").string();
    request.run.environment.user = "ada";
    request.run.model = "net";
    request.run.directory = site / "job";
    request.scheduler = "slurm";
    model(Json::object());
  }
  void model(const Json& facts) {
    const Json step{{"argv", Json::array({"train", "{config.lr}"})}, {"parallel", true}};
    site.model(
        "net",
        Json{{"config", Json{{"lr", "0.1"}}}, {"run", Json{{"data", Json::array({step})}}}, {"metadata", facts}});
  }
  void profile(const Json& jobs) {
    fs::create_directories(site / "config/sabath/sites");
    Json generic = Json::parse(std::ifstream(fs::path(SABATH_SITES) / "generic.json"));
    generic["jobs"] = jobs;
    std::ofstream(site / "config/sabath/sites/generic.json") << generic;
    fs::create_directories(site / "config/sabath");
    fs::copy(fs::path(SABATH_SITES) / "../jobs", site / "config/sabath/jobs",
             fs::copy_options::recursive | fs::copy_options::skip_existing);
  }
  std::string script() { return work_on_job(session, request, events).scripts.back().text; }
  bool has(const std::string& text) { return script().find(text) != std::string::npos; }
  FailureKind refused() {
    try {
      static_cast<void>(work_on_job(session, request, events));
    } catch (const Error& error) {
      return error.failure().kind;
    }
    return FailureKind::internal;
  }
  Site site;
  NoEvents events;
  Session session = [this] {
    site.settings.program = SABATH_PROGRAM;
    return site.open();
  }();
  JobRequest request;
};

TEST_F(Jobs, AreMadeAndNotSubmittedUnlessAsked) {
  const JobRecord record = work_on_job(session, request, events);
  ASSERT_EQ(record.scripts.size(), 1U);
  EXPECT_EQ(record.scheduler, "slurm");
  EXPECT_TRUE(record.ids.empty());
  EXPECT_FALSE(fs::exists(site / "job"));
  Json environment = Json::object();
  for (const auto& [name, value] : request.run.environment.variables) environment[name] = value;
  const Json asked{
      {"model", "net"}, {"job_dir", (site / "job").string()}, {"scheduler", "slurm"}, {"environment", environment}};
  EXPECT_EQ(Json::parse(ask(session, "job", asked)), Json::parse(to_json(record)));
}

TEST_F(Jobs, AskForWhatOptionsRecipeAndProfileSayInThisOrder) {
  EXPECT_FALSE(has("--gpus-per-node"));
  profile(Json{{"gpus", 1}, {"partition", "gpu"}, {"time", "4h"}, {"node_disk", "/local/{user}"}, {"node_cap", "5GB"}});
  EXPECT_TRUE(has("--gpus-per-node=1\n"));
  EXPECT_TRUE(has("--partition=gpu\n"));
  EXPECT_TRUE(has("--time=240\n"));
  EXPECT_TRUE(has("stage data --to /local/ada\n"));
  EXPECT_TRUE(has("gc --store /local/ada/.sabath --max-size 5GB --now --force-local\n"));
  model(Json{{"job_gpus", 2}, {"job_time", "2h"}, {"job_ranks", 4}, {"job_nodes", 2}});
  EXPECT_TRUE(has("--gpus-per-node=2\n"));
  EXPECT_TRUE(has("--time=120\n"));
  EXPECT_TRUE(has("--nodes=2\n"));
  EXPECT_TRUE(has("--ranks 4 --nodes 2"));
  EXPECT_TRUE(has("step stage srun "));
  request.gpus = 3;
  request.time = "30m";
  EXPECT_TRUE(has("--gpus-per-node=3\n"));
  EXPECT_TRUE(has("--time=30\n"));
}

TEST_F(Jobs, OfASweepAreArrays) {
  request.run.settings = {"lr=1,2,$(id)"};
  request.at_once = 2;
  EXPECT_TRUE(has("#SBATCH --array=0-2%2\n"));
  EXPECT_TRUE(has("settings=(--set 'lr=$(id)')"));
  request.run.settings.clear();
  EXPECT_EQ(refused(), FailureKind::usage);
}

TEST_F(Jobs, AreRefusedWithTheFittingKind) {
  request.partition = "a b";
  EXPECT_EQ(refused(), FailureKind::usage);
  request.partition.clear();
  request.time = "soon";
  EXPECT_EQ(refused(), FailureKind::usage);
  request.time.clear();
  request.after = "--x";
  EXPECT_EQ(refused(), FailureKind::usage);
  request.after.clear();
  request.stage = "relative";
  EXPECT_EQ(refused(), FailureKind::usage);
  request.stage.clear();
  request.run.trust = "once";
  EXPECT_EQ(refused(), FailureKind::usage);
  request.run.trust.clear();
  model(Json{{"job_gpus", "many"}});
  EXPECT_EQ(refused(), FailureKind::invalid);
  model(Json::object());
  request.status = true;
  EXPECT_EQ(refused(), FailureKind::not_found);
  request.status = false;
  fs::permissions(site / "config/sabath/jobs/slurm/job.sh", fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(refused(), FailureKind::access);
}

TEST_F(Jobs, HaveWhatTheyFetchBefore) {
  request.fetch = "transfer";
  EXPECT_EQ(refused(), FailureKind::usage);
  request.transfer_partition = "wan";
  const JobRecord record = work_on_job(session, request, events);
  ASSERT_EQ(record.scripts.size(), 2U);
  EXPECT_NE(record.scripts[0].text.find("#SBATCH --partition=wan\n"), std::string::npos);
  EXPECT_NE(record.scripts[0].text.find("fetch --alone --dataset data\n"), std::string::npos);
  EXPECT_EQ(record.scripts[1].text.find("step fetch"), std::string::npos);
}

}  // namespace
}  // namespace sabath::test
