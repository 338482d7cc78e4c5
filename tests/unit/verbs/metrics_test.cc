#include "sabath/verbs/metrics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ask.h"
#include "site.h"
#include "support/seeded.h"

namespace sabath::test {
namespace {

using Json = Site::Json;

class Metrics : public ::testing::Test {
 protected:
  Metrics() {
    request.path = site / "train.log";
    write_file(request.path, "Epoch 1/2\n8/8 - 1s - loss: 0.5000 - mae: nan\nEpoch 2/2\n8/8 - 1s - loss: 0.2500\n");
  }
  Site site;
  Session session = site.open();
  MetricsRequest request;
  NoEvents unheard;
};

TEST_F(Metrics, AreValuesInTheirOrder) {
  const MetricsRecord record = read_metrics(session, request, unheard);
  ASSERT_EQ(record.metrics.size(), 5U);
  EXPECT_EQ(record.metrics[0].name, "loss");
  EXPECT_EQ(record.metrics[0].value, 0.5);
  EXPECT_TRUE(std::isnan(record.metrics[1].value));
  EXPECT_EQ(record.metrics[2].name, "epoch_time");
  EXPECT_EQ(record.metrics[3].epoch, 2);
  EXPECT_EQ(record.lines, 4U);
  EXPECT_EQ(ask(session, "metrics", {{"path", request.path.string()}}), to_json(record));
  std::size_t seen = 0;
  EXPECT_EQ(for_each_metric(request, [&](const Metric&) { ++seen; }).lines, record.lines);
  EXPECT_EQ(seen, record.metrics.size());
}

TEST_F(Metrics, AreThoseThatWereAskedFor) {
  request.names = {"loss"};
  request.format = "keras";
  const MetricsRecord record = read_metrics(session, request, unheard);
  EXPECT_EQ(record.metrics.size(), 2U);
  EXPECT_EQ(ask(session, "metrics", {{"path", request.path.string()}, {"metric", {"loss"}}, {"format", "keras"}}),
            to_json(record));
  request.format = "mlperf";
  EXPECT_TRUE(read_metrics(session, request, unheard).metrics.empty());
}

TEST_F(Metrics, RefuseWhatIsNot) {
  for (const std::string& format : metric_formats()) {
    request.format = format;
    EXPECT_NO_THROW((void)read_metrics(session, request, unheard)) << format;
  }
  std::filesystem::create_directory(site / "run");
  write_file(site / "run/metrics.jsonl", "");
  for (const std::string& path : {request.path.string(), (site / "run").string()}) {
    EXPECT_EQ(refusal(session, "metrics", {{"path", path}, {"format", "none"}}).kind, FailureKind::invalid) << path;
    EXPECT_EQ(refusal(session, "metrics", {{"path", path}, {"pattern", {"("}}}).kind, FailureKind::invalid) << path;
  }
  EXPECT_NO_THROW((void)ask(session, "metrics", {{"path", (site / "run").string()}, {"format", "keras"}}));
  const std::string path = request.path.string();
  EXPECT_EQ(refusal(session, "metrics", {{"path", path}, {"format", "none"}}).kind, FailureKind::invalid);
  EXPECT_EQ(refusal(session, "metrics", {{"path", path}, {"pattern", {"("}}}).kind, FailureKind::invalid);
  EXPECT_EQ(refusal(session, "metrics", {{"path", path + "x"}}).kind, FailureKind::not_found);
  EXPECT_NE(refusal(session, "metrics", Json::object()).message.find("path"), std::string::npos);
}

}  // namespace
}  // namespace sabath::test
