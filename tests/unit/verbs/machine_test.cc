// The library's facts about the machine, its settings and itself; and a line of metrics.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "ask.h"
#include "sabath/configuration.h"
#include "sabath/verbs/doctor.h"
#include "sabath/verbs/fetchers.h"
#include "sabath/verbs/log.h"
#include "site.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;
using Json = Site::Json;

class Machine : public ::testing::Test {
 protected:
  Site site;
  Session session = site.open();
  NoEvents unheard;
};

const Finding* find(const DoctorRecord& record, const std::string& name) {
  const auto found = std::ranges::find(record.checks, name, &Finding::name);
  return found == record.checks.end() ? nullptr : &*found;
}

TEST_F(Machine, IsExamined) {
  DoctorRequest request;
  request.environment.variables = {{"https_proxy", "http://me:word@p.example:1/"}, {"HTTP_PROXY", "p"}};
  request.environment.home = site.settings.store.parent_path();
  const DoctorRecord record = doctor(session, request, unheard);
  ASSERT_NE(find(record, "proxies"), nullptr);
  EXPECT_EQ(find(record, "proxies")->text, "https_proxy=http://***@p.example:1/");
  ASSERT_NE(find(record, "store"), nullptr);
  EXPECT_FALSE(fs::exists(site.settings.store)) << "nothing is made";
  const auto failed = std::ranges::find(record.checks, Finding::State::fail, &Finding::state);
  EXPECT_EQ(record.exit, failed == record.checks.end() ? 0 : exit_code(failed->kind));
  const Json parsed = Json::parse(to_json(record));
  EXPECT_EQ(parsed["checks"].size(), record.checks.size());
}

TEST_F(Machine, IsExaminedByName) {
  const Json request{{"environment", {{"https_proxy", "http://q.example"}}}};
  const Json record = Json::parse(ask(session, "doctor", request));
  const auto& checks = record["checks"];
  EXPECT_TRUE(std::any_of(checks.begin(), checks.end(),
                          [](const Json& each) { return each["text"] == "https_proxy=http://q.example"; }));
  EXPECT_EQ(refusal(session, "doctor", {{"environment", {{"HOME", 1}}}}).kind, FailureKind::usage);
  EXPECT_EQ(refusal(session, "doctor", {{"store", "x"}}).kind, FailureKind::usage);
}

TEST_F(Machine, HasAWrongRecipe) {
  const fs::path folder = site.settings.recipe_directories.front() / "datasets";
  fs::create_directories(folder);
  std::ofstream(folder / "torn.json") << "{";
  const DoctorRecord record = doctor(session, {}, unheard);
  ASSERT_NE(find(record, "recipes"), nullptr);
  EXPECT_EQ(find(record, "recipes")->state, Finding::State::fail);
  EXPECT_NE(record.exit, 0);
}

TEST_F(Machine, HasSettings) {
  Environment environment;
  environment.home = site / "home";
  environment.variables = {{"HOME", environment.home.string()}, {"SABATH_OFFLINE", "yes"}};
  const std::string store = (site / "other").string();
  const Configuration configuration = load_configuration({{}, store, {}, false}, environment);
  const std::string text = to_json(configuration);
  EXPECT_EQ(Json::parse(text)["settings"]["offline"], (Json{{"value", "true"}, {"origin", "SABATH_OFFLINE"}}));
  EXPECT_EQ(ask(session, "config", {{"store", store}, {"environment", environment.variables}}), text);
  EXPECT_EQ(refusal(session, "config", {{"offline", "yes"}}).kind, FailureKind::usage);
}

TEST_F(Machine, HasFetchers) {
  const FetchersRecord record = list_fetchers(session, {}, unheard);
  const auto https = std::ranges::find(record.schemes, "https", [](const auto& each) { return each.scheme.name; });
  ASSERT_NE(https, record.schemes.end());
  EXPECT_TRUE(https->first && https->scheme.built);
  EXPECT_EQ(ask(session, "fetchers", Json::object()), to_json(record));
  EXPECT_EQ(refusal(session, "fetchers", {{"scheme", "ftp"}}).kind, FailureKind::usage);
}

TEST_F(Machine, WritesALineOfMetrics) {
  const std::vector<std::string> values = {"time=1.5", "epoch=3", "loss=0.25"};
  const LogRecord record = log_line(session, {values, {}}, unheard);
  EXPECT_EQ(record.line, R"(:::SABATH {"time":1.500000,"epoch":3,"values":{"loss":0.25}})");
  EXPECT_EQ(ask(session, "log", {{"values", values}}), to_json(record));
  const fs::path file = site / "metrics";
  for (int i = 0; i < 2; ++i) (void)ask(session, "log", {{"values", values}, {"file", file.string()}});
  std::ifstream in(file);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  EXPECT_EQ(text, record.line + "\n" + record.line + "\n");
  for (const Json& wrong : {Json{{"values", {"loss"}}}, Json{{"values", {"epoch=1"}}},
                            Json{{"values", {"step=x", "a=1"}}}, Json::object()}) {
    EXPECT_EQ(refusal(session, "log", wrong).kind, FailureKind::usage) << wrong;
  }
}

}  // namespace
}  // namespace sabath::test
