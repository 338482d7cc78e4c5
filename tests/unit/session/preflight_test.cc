// Time: what earlier fetches say of the next one.
#include <gtest/gtest.h>

#include "sabath/error.h"
#include "session/preflight.h"

namespace sabath::test {
namespace {

constexpr auto line =
    R"({"time":7,"fetched_bytes":20000000,"seconds":2.0,"failures":[],"sources":[{"url":"https://a.org/x","bytes":20000000},)"
    R"({"url":"https://b.org/x","bytes":0}]})";

TEST(Rates, ALineSaysHowFast) {
  const auto sample = try_parse_rate(line);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->origins, (std::set<std::string>{"https://a.org"})) << "who gave nothing says nothing";
  EXPECT_DOUBLE_EQ(sample->bytes_per_second, 1e7);
  EXPECT_EQ(sample->time_s, 7);
}

TEST(Rates, WhatSaysNothing) {
  for (const char* text :
       {"", "{", "[]", "{}", R"({"time":7,"fetched_bytes":20,"seconds":2.0,"failures":[],"sources":[]})",
        R"({"time":7,"fetched_bytes":20000000,"seconds":0,"failures":[],"sources":[]})",
        R"({"time":7,"fetched_bytes":20000000,"seconds":2,"failures":[{}],"sources":[]})",
        R"({"time":"x","fetched_bytes":20000000,"seconds":2,"failures":[],"sources":[]})",
        R"({"time":7,"fetched_bytes":-20000000,"seconds":2,"failures":[],"sources":[{"url":5,"bytes":1}]})"}) {
    EXPECT_FALSE(try_parse_rate(text)) << text;
  }
}

TEST(Rates, TheMedianAndTheBestOfTheNewest) {
  std::vector<RateSample> samples;
  for (int i = 0; i < 30; ++i) samples.push_back({{"https://a.org"}, i < 10 ? 1000.0 : 1.0 + i, i});
  samples.push_back({{"https://b.org"}, 5e9, 99});
  const auto rate = rate_of(samples, {"https://a.org"});
  ASSERT_TRUE(rate);
  EXPECT_EQ(rate->samples, 20U) << "the ten oldest are forgotten";
  EXPECT_DOUBLE_EQ(rate->best, 30);
  EXPECT_DOUBLE_EQ(rate->usual, 21);
  EXPECT_FALSE(rate_of(samples, {"https://c.org"}));
  EXPECT_FALSE(rate_of({}, {"https://a.org"}));
}

TEST(Walltime, OnlyWhatCannotEndIsRefused) {
  const std::chrono::system_clock::time_point now(std::chrono::seconds(1'000'000));
  const auto judge = [&](std::uint64_t bytes, double best, int left_s) {
    TimeNeed need{bytes, std::nullopt, Deadline{now + std::chrono::seconds(left_s), "deadline"}};
    if (best > 0) need.rate = Rate{best / 10, best, 3};
    return refusal_of(need, now, "x");
  };
  EXPECT_FALSE(judge(1000, 10, 100));
  const auto late = judge(1010, 10, 100);
  ASSERT_TRUE(late);
  EXPECT_EQ(exit_code(late->kind), 5);
  EXPECT_NE(late->hint.find("\"deadline\" none"), std::string::npos);
  EXPECT_FALSE(judge(1ULL << 50, 0, 1)) << "nobody knows how fast it goes";
  EXPECT_TRUE(judge(1, 0, 0)) << "the time is over";
  EXPECT_FALSE(judge(0, 10, -5)) << "there is nothing to do";
  EXPECT_FALSE(refusal_of({1ULL << 50, Rate{1, 1, 1}, std::nullopt}, now, "x"));
}

}  // namespace
}  // namespace sabath::test
