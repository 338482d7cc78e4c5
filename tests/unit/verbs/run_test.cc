#include "sabath/verbs/run.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "ask.h"
#include "sabath/verbs/trust.h"
#include "site.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;
using Json = Site::Json;

constexpr const char* prints = "printf 'Epoch 1/2\\n8/8 - 1s - loss: 0.5000\\n'";

// The names of a run's events, in their order; ticks are left out. `at_metric` is called at each one.
class Heard : public EventSink {
 public:
  void on(const Event& event) override {
    if (const auto* started = std::get_if<event::RunStarted>(&event)) text += "started " + started->model + ", ";
    if (const auto* output = std::get_if<event::OutputRead>(&event)) bytes += output->bytes.size();
    if (const auto* message = std::get_if<event::Message>(&event)) text += message->text + ", ";
    if (const auto* read = std::get_if<event::MetricRead>(&event)) {
      text += read->metric.name + ", ";
      if (at_metric) at_metric();
    }
    if (const auto* end = std::get_if<event::RunEnded>(&event)) {
      text += "ended";
      ended = *end;
    }
  }
  std::string text;
  std::size_t bytes = 0;
  event::RunEnded ended;
  std::function<void()> at_metric;
};

class Runs : public ::testing::Test {
 protected:
  Runs() {
    site.dataset("data", {with_checksum(file_fragment("f", "a.bin", {site.serve("a", "abc")}), "abc")});
    fs::create_directories(site / "config/sabath/sites");
    fs::copy_file(fs::path(SABATH_SITES) / "generic.json", site / "config/sabath/sites/generic.json");
    request.environment = Environment::of_process();
    request.environment.variables.erase("SABATH_STAGE");
    request.environment.variables["XDG_CONFIG_HOME"] = (site / "config").string();
    request.model = "net";
    request.directory = site / "record";
  }
  void model(const std::string& shell) {
    const Json step{{"argv", Json::array({"sh", "-c", shell})}};
    const Json sets{{"data", Json::array({step})}};
    site.model("net", Json{{"config", Json{{"lr", "0.1"}}}, {"run", sets}});
  }
  // The same request by its keys.
  [[nodiscard]] Json asked(const char* directory) const {
    Json environment = Json::object();
    for (const auto& [name, value] : request.environment.variables) environment[name] = value;
    return {{"model", "net"}, {"run_dir", (site / directory).string()}, {"environment", environment}};
  }
  // The record without the values that differ from run to run.
  static Json constant(const std::string& text) {
    Json record = Json::parse(text);
    record.erase("path");
    for (Json& run : record["runs"]) {
      for (const char* key : {"path", "seconds"}) EXPECT_TRUE(run.erase(key) == 1);
    }
    return record;
  }
  Site site;
  Session session = [this] {
    site.settings.program = SABATH_PROGRAM;
    return site.open();
  }();
  RunRequest request;
  Heard heard;
};

TEST_F(Runs, AreToldOfWhileTheyLast) {
  model(prints);
  const RunsRecord record = run(session, request, heard);
  EXPECT_EQ(heard.text, "started net, loss, epoch_time, ended");
  EXPECT_EQ(heard.bytes, std::string("Epoch 1/2\n8/8 - 1s - loss: 0.5000\n").size());
  EXPECT_EQ(heard.ended.metrics, 2U);
  EXPECT_EQ(heard.ended.directory, (site / "record").string());
  EXPECT_EQ(record.exit, 0);
  EXPECT_EQ(record.path, site / "record");
  ASSERT_EQ(record.runs.size(), 1U);
  EXPECT_EQ(record.runs[0].state, "finished");
  EXPECT_EQ(record.runs[0].config.at("lr"), "0.1");
  EXPECT_TRUE(fs::exists(site / "record/run.json"));
  EXPECT_EQ(constant(ask(session, "run", asked("again"))), constant(to_json(record)));
}

TEST_F(Runs, OfASweepAreNotDoneTwice) {
  model(prints);
  request.settings = {"lr=1,2"};
  EXPECT_EQ(run(session, request, heard).runs.size(), 2U);
  heard.text.clear();
  const RunsRecord again = run(session, request, heard);
  EXPECT_EQ(heard.text, "lr=1 is done already, lr=2 is done already, ");
  ASSERT_EQ(again.runs.size(), 2U);
  EXPECT_TRUE(again.runs[1].done_before);
  EXPECT_EQ(again.exit, 0);
}

TEST_F(Runs, FailAsTheirProgramsDo) {
  model("echo no >&2; exit 3");
  const RunsRecord record = run(session, request, heard);
  EXPECT_EQ(record.exit, exit_code(FailureKind::command));
  EXPECT_EQ(record.runs.at(0).state, "failed");
  EXPECT_EQ(record.runs.at(0).exit, 3);
  EXPECT_EQ(heard.ended.last_lines, std::vector<std::string>{"no"});
}

TEST_F(Runs, EndWhenTheyAreStopped) {
  model(std::string(prints) + "; exec sleep 600");
  std::stop_source stop;
  heard.at_metric = [&] { stop.request_stop(); };
  const RunsRecord record = run(session, request, heard, stop.get_token());
  EXPECT_EQ(record.exit, exit_code(FailureKind::terminated));
  EXPECT_EQ(record.runs.at(0).state, "interrupted");
  EXPECT_TRUE(heard.ended.stopped);
}

TEST_F(Runs, AreForeseenWithoutATrace) {
  model(prints);
  const RunForecast forecast = foresee(session, request, heard);
  EXPECT_EQ(forecast.to_fetch, std::vector<std::string>{"data"});
  ASSERT_EQ(forecast.runs.size(), 1U);
  EXPECT_EQ(forecast.runs[0].steps.at(0).argv, (std::vector<std::string>{"sh", "-c", prints}));
  EXPECT_EQ(forecast.runs[0].assets.at(0).path, "NOT-FETCHED:data");
  EXPECT_FALSE(fs::exists(site / "record"));
  EXPECT_FALSE(fs::exists(site.settings.store));
  Json dry = asked("record");
  dry["dry_run"] = true;
  EXPECT_EQ(ask(session, "run", dry), to_json(forecast));
}

TEST_F(Runs, RefuseWhatMakesNoSense) {
  model(prints);
  const auto refused = [&](const char* key, const Json& value) {
    Json wrong = asked("record");
    wrong[key] = value;
    return refusal(session, "run", wrong);
  };
  for (const char* key : {"mode", "verify", "launcher", "container"})
    EXPECT_EQ(refused(key, "nonsense").kind, FailureKind::usage) << key;
  EXPECT_EQ(refused("env", "nonsense").kind, FailureKind::not_found);  // no environment has this name
  EXPECT_EQ(refused("ranks", 0).kind, FailureKind::usage);
  EXPECT_EQ(refused("nodes", std::uint64_t{1} << 40U).kind, FailureKind::usage);
  EXPECT_EQ(refused("grace", 100'000).kind, FailureKind::usage);
  EXPECT_EQ(refused("stage_record", "/none").kind, FailureKind::usage);
  EXPECT_EQ(refused("model", "other").kind, FailureKind::not_found);
  EXPECT_NE(refused("environment", Json{{"A=", "b"}}).message.find("A="), std::string::npos);
  EXPECT_NE(refused("colour", "red").message.find("colour"), std::string::npos);
  EXPECT_NE(refusal(session, "run", Json::object()).message.find("model"), std::string::npos);
  EXPECT_FALSE(fs::exists(site / "record"));
}

TEST_F(Runs, OfCodeThatIsNotTrustedAreRefusedUntilItIs) {
  model(prints);
  fs::permissions(site / "recipes/models", fs::perms::all);  // others may write what runs
  EXPECT_EQ(refusal(session, "run", asked("record")).kind, FailureKind::access);
  std::string shown;
  request.ask = [&](const std::string& about) { return shown = about, std::string(); };
  EXPECT_THROW((void)run(session, request, heard), Error);
  EXPECT_NE(shown.find("8/8 - 1s - loss"), std::string::npos);
  EXPECT_FALSE(fs::exists(site / "record"));
  Json who{{"environment", asked("record")["environment"]}};
  Json added = who;
  added["model"] = "net";
  EXPECT_EQ(Json::parse(ask(session, "trust add", added))["by"], "commit");
  const TrustListRecord listed = list_trusted(session, {request.environment}, heard);
  ASSERT_EQ(listed.trusted.size(), 1U);
  EXPECT_EQ(listed.trusted[0].name, "net");
  EXPECT_EQ(ask(session, "trust list", who), to_json(listed));
  EXPECT_EQ(run(session, request, heard).exit, 0);
  who["names"] = {"net"};
  EXPECT_EQ(Json::parse(ask(session, "trust revoke", who))["revoked"].size(), 1U);
  EXPECT_EQ(refusal(session, "run", asked("again")).kind, FailureKind::access);
  EXPECT_EQ(refusal(session, "trust revoke", who).kind, FailureKind::not_found);
}

}  // namespace
}  // namespace sabath::test
