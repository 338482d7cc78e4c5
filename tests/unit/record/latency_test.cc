// latency.json as one type: read back as it was written, refused where it is none.
#include "record/latency.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sabath/error.h"

namespace sabath {
namespace {

TEST(Latency, IsReadBackAsItWasWritten) {
  const std::vector<LatencyRow> rows{{"m", "native", "cpu", "one", 1, 2, 3, 50, 0.25, 0.5},
                                     {"m", "onnxruntime", "cpu", "one", 1, 2, 3, 50, 0.125, 0.25}};
  const std::string text = latency_text(rows, {{"node", "n1"}, {"cpu", nullptr}, {"cpus", 4}});
  const LatencyFile file = parse_latency(text, "latency.json");
  ASSERT_EQ(file.rows.size(), 2U);
  EXPECT_EQ(latency_text(file.rows, {{"node", "n1"}, {"cpu", nullptr}, {"cpus", 4}}), text);
  EXPECT_EQ(file.node, "n1");
  EXPECT_EQ(file.cpu, "");
  EXPECT_EQ(file.cpus, 4U);
}

TEST(Latency, WhatIsNoneIsRefused) {
  const auto good = nlohmann::json::parse(latency_text({{"m", "native", "cpu", "one", 1, 2, 3, 50, 0.25, 0.5}}, {}));
  for (const char* const key : {"schema", "rows", "machine"}) {
    auto changed = good;
    changed.erase(key);
    EXPECT_THROW((void)parse_latency(changed.dump(), "l"), Error) << key;
  }
  for (const auto& [key, value] : good["rows"][0].items()) {
    auto changed = good;
    changed["rows"][0].erase(key);
    EXPECT_THROW((void)parse_latency(changed.dump(), "l"), Error) << key;
    changed["rows"][0][key] = nlohmann::json::array();
    EXPECT_THROW((void)parse_latency(changed.dump(), "l"), Error) << key;
  }
  EXPECT_THROW((void)parse_latency("[", "l"), Error);
  EXPECT_THROW((void)parse_latency("[1]", "l"), Error);
}

}  // namespace
}  // namespace sabath
