#include "sabath/verbs/report.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "ask.h"
#include "sabath/verbs/compare.h"
#include "site.h"
#include "support/seeded.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;
using Json = Site::Json;

// Two logs: b's loss is 10 % above a's in the second epoch.
class Reports : public ::testing::Test {
 protected:
  Reports() {
    a = log("a.log", {0.5, 0.25});
    b = log("b.log", {0.5, 0.275});
  }
  std::string log(const char* name, const std::vector<double>& losses) {
    std::string text;
    for (std::size_t i = 0; i < losses.size(); ++i)
      text += "Epoch " + std::to_string(i + 1) + "/2\n8/8 - 1s - loss: " + std::to_string(losses[i]) + "\n";
    write_file(site / name, text);
    return (site / name).string();
  }
  Site site;
  Session session = site.open();
  NoEvents unheard;
  std::string a, b;
};

TEST_F(Reports, SayWhatRunsCameTo) {
  ReportRequest request;
  request.runs = {a, b};
  request.expectations = {"loss<0.26", "mae<1"};
  const ReportRecord record = report(session, request, unheard);
  ASSERT_EQ(record.runs.size(), 2U);
  ASSERT_EQ(record.runs[0].series.size(), 2U);  // and the epochs' times
  EXPECT_EQ(record.runs[0].series[0].y, (std::vector<double>{0.5, 0.25}));
  EXPECT_EQ(record.runs[0].series[0].least, 0.25);
  EXPECT_EQ(record.runs[0].state, "");
  ASSERT_EQ(record.expectations.size(), 4U);
  EXPECT_TRUE(record.expectations[0].met);
  EXPECT_FALSE(record.expectations[1].met);
  EXPECT_FALSE(record.expectations[2].value);
  EXPECT_EQ(record.exit, exit_code(FailureKind::content));
  EXPECT_EQ(ask(session, "report", {{"runs", {a, b}}, {"expect", {"loss<0.26", "mae<1"}}}), to_json(record));
}

TEST_F(Reports, AreWrittenInEveryFormat) {
  for (const ReportFormat& format : report_formats()) {
    if (format.name == "png" || format.name == "ro-crate" || format.name == "latency")
      continue;  // need a program, a run's directory, latencies
    ReportRequest request;
    request.runs = {a};
    request.format = format.name;
    request.file = site / ("out." + format.name);
    EXPECT_EQ(report(session, request, unheard).output, request.file);
    EXPECT_TRUE(fs::exists(request.file)) << format.name;
  }
  std::string text;
  ReportRequest request;
  request.runs = {a};
  request.format = "csv";
  request.write = [&](std::string_view piece) { text += piece; };
  (void)report(session, request, unheard);
  EXPECT_EQ(fs::file_size(site / "out.csv"), text.size()) << text;
}

TEST_F(Reports, RefuseWhatMakesNoSense) {
  EXPECT_NE(refusal(session, "report", Json::object()).message.find("runs"), std::string::npos);
  EXPECT_EQ(refusal(session, "report", {{"runs", {a}}, {"format", "none"}}).kind, FailureKind::usage);
  EXPECT_EQ(refusal(session, "report", {{"runs", {a}}, {"expect", {"<"}}}).kind, FailureKind::usage);
  EXPECT_EQ(refusal(session, "report", {{"runs", {a}}, {"set", {{"k", "v"}}}}).kind, FailureKind::usage);
  EXPECT_EQ(refusal(session, "report", {{"runs", {a, b}}, {"format", "mlperf"}, {"file", (site / "o").string()}}).kind,
            FailureKind::usage);
  EXPECT_FALSE(fs::exists(site / "o"));
  EXPECT_EQ(refusal(session, "report", {{"runs", {a + "x"}}}).kind, FailureKind::not_found);
}

TEST_F(Reports, OfTwoRunsAreCompared) {
  CompareRequest request;
  request.a = a;
  request.b = b;
  request.strict = true;
  const CompareRecord record = compare(session, request, unheard);
  ASSERT_EQ(record.found.metrics.size(), 1U);
  EXPECT_EQ(record.found.metrics[0].common, 2U);
  EXPECT_EQ(record.found.metrics[0].greatest_at, 2);
  EXPECT_EQ(record.exit, exit_code(FailureKind::content));
  EXPECT_EQ(ask(session, "compare", {{"a", a}, {"b", b}, {"exit_code", true}}), to_json(record));
  request.tolerance = 1;
  EXPECT_EQ(compare(session, request, unheard).exit, 0);
  EXPECT_EQ(ask(session, "compare", {{"a", a}, {"b", b}, {"exit_code", true}, {"tolerance", 1}}),
            to_json(compare(session, request, unheard)));
  EXPECT_EQ(refusal(session, "compare", {{"a", a}, {"b", b}, {"tolerance", -0.5}}).kind, FailureKind::usage);
  EXPECT_NE(refusal(session, "compare", {{"a", a}}).message.find("\"b\""), std::string::npos);
}

}  // namespace
}  // namespace sabath::test
