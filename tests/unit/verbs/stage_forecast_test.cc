// A machine in words: every key reaches the model, and what makes no sense is refused with what to do.
#include "verbs/assets/stage_forecast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ask.h"
#include "sabath/error.h"
#include "site.h"

namespace sabath::test {
namespace {

TEST(StageModel, HasWhatTheDescriptionSays) {
  const StageModel model = parse_stage_model(
      "nodes=9408,shared=500G/s,shared-node=20G,link=25G,link-out=12.5GB,latency=5us,disk=4GiB,hash=1500M,open=0.5ms,"
      "create=1s,size=5.1T,files=524288");
  const ClusterModel& cluster = model.cluster;
  EXPECT_EQ(model.nodes, 9408U);
  EXPECT_EQ(model.bytes, 5'100'000'000'000U);
  EXPECT_EQ(model.files, 524'288U);
  EXPECT_EQ(cluster.shared_rate, 500e9);
  EXPECT_EQ(cluster.shared_node_rate, 20e9);
  EXPECT_EQ(cluster.link_in_rate, 25e9);
  EXPECT_EQ(cluster.disk_rate, 4.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(cluster.hash_rate, 1.5e9);
  EXPECT_DOUBLE_EQ(cluster.latency, 5e-6);
  EXPECT_DOUBLE_EQ(cluster.open, 5e-4);
  EXPECT_DOUBLE_EQ(cluster.create, 1);
  EXPECT_EQ(cluster.link_out_rate, 12.5e9);
}

TEST(StageModel, WhatIsNotGivenCostsNothing) {
  const StageModel model = parse_stage_model("nodes=2,shared=1G,link-in=1G,link-out=2G");
  EXPECT_EQ(model.bytes, 0U);
  EXPECT_TRUE(std::isinf(model.cluster.disk_rate));
  EXPECT_TRUE(std::isinf(model.cluster.hash_rate));
  EXPECT_EQ(model.cluster.latency, 0);
}

TEST(StageModel, TheOrderOfKeysDoesNotMatter) {
  EXPECT_EQ(parse_stage_model("link-in=1G,link=2G,shared=1G,nodes=1").cluster.link_in_rate, 1e9);
  EXPECT_EQ(parse_stage_model("link=2G,link-in=1G,shared=1G,nodes=1").cluster.link_in_rate, 1e9);
}

TEST(StageModel, RefusesWhatMakesNoSense) {
  for (const char* text : {"",
                           ",",
                           "nodes",
                           "nodes=",
                           "nodes=4",
                           "nodes=4,shared=1G",
                           "nodes=4,link=1G",
                           "nodes=4,shared=1G,link-in=1G",
                           "nodes=20001,shared=1G,link=1G",
                           "nodes=-1,shared=1G,link=1G",
                           "nodes=4,shared=0,link=1G",
                           "nodes=4,shared=x,link=1G",
                           "nodes=4,nodes=4,shared=1G,link=1G",
                           "nodes=4,shared=1G,link=1G,latency=5",
                           "nodes=4,shared=1G,link=1G,latency=nan",
                           "nodes=4,shared=1G,link=1G,latency=-1s",
                           "nodes=4,shared=1G,link=1G,latency=2e9s",
                           "nodes=4,shared=1G,link=1G,open=infs",
                           "nodes=4,shared=1G,link=1G,speed=1",
                           "nodes=4,shared=1G,link=1G,files=99999999999",
                           "=1",
                           "nodes=4,,link=1G"}) {
    try {
      static_cast<void>(parse_stage_model(text));
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.failure().kind, FailureKind::usage) << text;
      EXPECT_FALSE(error.failure().hint.empty()) << text;
    }
  }
}

TEST(StageForecast, IsAskedForByTheNameOfTheVerb) {
  Site site;
  site.dataset("clouds", {with_checksum(file_fragment("f", "a.bin", {site.serve("a", "abc")}), "abc")});
  Session session = site.open();
  const std::string machine = "nodes=4,shared=1G,link=1G";
  const Failure nothing = refusal(session, "stage", {{"simulate", machine}});
  EXPECT_EQ(nothing.kind, FailureKind::usage);
  EXPECT_EQ(refusal(session, "stage", {{"simulate", machine}, {"names", {"clouds"}}}).kind, FailureKind::offline);
  EXPECT_EQ(refusal(session, "stage", {{"simulate", "nodes=4"}, {"names", {"clouds"}}}).kind, FailureKind::usage);
  EXPECT_EQ(refusal(session, "stage", {{"simulate", machine}, {"names", {"clouds"}}, {"mode", "shard"}}).kind,
            FailureKind::usage);

  EXPECT_EQ(site.fetch("clouds").exit, 0);
  const auto told = Site::Json::parse(ask(session, "stage", {{"simulate", machine}, {"names", {"clouds"}}}));
  EXPECT_EQ(told["model"]["bytes"], 3) << "as the store has it";
  EXPECT_EQ(told["curve"].size(), 3U) << "1, 2 and 4 nodes";
  EXPECT_EQ(told["curve"].back()["nodes"], 4);
  EXPECT_EQ(told["curve"].back()["bytes_from_shared"], 3);
  EXPECT_EQ(told["exit"], 0);
  StageRequest request;
  request.names = {"clouds"};
  const StageModel model = stage_model(session, machine, request, {});
  EXPECT_EQ(to_json(forecast_stage(model, {})), told.dump());
}

}  // namespace
}  // namespace sabath::test
