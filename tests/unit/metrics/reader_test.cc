// Promises for every format: bounds, ranks in any order, patterns, times, and no throw for any input.
#include "metrics/reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iostream>
#include <random>

#include "metrics/formats.h"
#include "metrics/record.h"
#include "sabath/error.h"
#include "told.h"

namespace sabath {
namespace {

std::uint64_t seed() {
  const char* const given = std::getenv("SABATH_SEED");
  const std::uint64_t seed = given == nullptr ? std::random_device()() : std::strtoull(given, nullptr, 10);
  std::cout << "SABATH_SEED=" << seed << "\n";
  return seed;
}

TEST(MetricReader, SkipsAndCountsLinesThatAreTooLong) {
  Lines lines;
  MetricReaderOptions options;
  options.line_max = 100;
  MetricReader reader(options, [&](const Metric& metric) { lines.push_back(line_of(metric)); });
  const std::string wide = "epoch=1 loss=2 " + std::string(100, 'x');
  for (const std::string& text :
       {wide + "\n", std::string("epoch=2 loss=3\n"), wide, wide, std::string("\nepoch=3 loss=4")})
    reader.feed(text, 0);
  reader.finish();
  EXPECT_EQ(lines, (Lines{"e2 loss=3", "e3 loss=4"}));
  EXPECT_EQ(reader.counts().lines_too_long, 2U);
  EXPECT_EQ(reader.counts().metrics, 2U);
}

TEST(MetricReader, ALineAtTheLimitIsRead) {
  MetricReaderOptions options;
  options.line_max = 14;
  EXPECT_EQ(told("epoch=2 loss=3\n", options), Lines{"e2 loss=3"});
  EXPECT_EQ(told("epoch=2 loss=3\n", options, 1), Lines{"e2 loss=3"});
  EXPECT_EQ(told("epoch=2 loss=33\n", options), Lines{});
}

// A bar is rewritten for hours before its newline comes; a log of it may be read at once, or as it grows.
TEST(MetricReader, BarsCostTheSameHoweverMuchOfThemIsFed) {
  std::string bars;
  while (bars.size() < (8 << 20)) bars += "\r 12/1000 [=>............................] - ETA: 12s - loss: 0.0123";
  const auto cpu_ticks = [&](std::size_t piece) {
    MetricReader reader({}, [](const Metric&) {});
    const std::clock_t begin = std::clock();
    for (std::size_t at = 0; at < bars.size(); at += piece) reader.feed(std::string_view(bars).substr(at, piece), 0);
    return std::clock() - begin;
  };
  EXPECT_LT(cpu_ticks(bars.size()), 4 * cpu_ticks(4096) + CLOCKS_PER_SEC / 10);
}

TEST(MetricReader, TheLogsClockComesBeforeTheReaders) {
  const auto metrics = metrics_of("epoch=1 loss=2\n:::MLLOG {\"time_ms\": 2500, \"key\": \"a\", \"value\": 1}\n");
  ASSERT_EQ(metrics.size(), 2U);
  EXPECT_EQ(metrics[0].time, 1000);
  EXPECT_EQ(metrics[1].time, 2.5);
}

TEST(MetricReader, HalfANumberAtABuffersEndIsNoValue) {
  std::string text(4096 - 15, '.');
  text += "\nepoch=2 loss=33";
  text.erase(0, text.size() - 4096);
  EXPECT_EQ(told(text), Lines{});
  EXPECT_EQ(told(text + "3"), Lines{"e2 loss=333"});
  EXPECT_EQ(told(text + "\n"), Lines{"e2 loss=33"});
}

TEST(MetricReader, AnEpochThatIsNoNumberIsNone) {
  const std::string digits(400, '9');  // more than a double holds
  MetricReaderOptions options;
  options.patterns = {R"(at (?P<epoch>\S+) loss (?P<loss>\S+))"};
  for (const std::string& text :
       {std::string(R"({"epoch": "NaN", "step": 7, "loss": 0.5})"),
        R"({"epoch": 1e999, "step": 7, "loss": 0.5})" + std::string(),
        std::string("{'epoch': -inf, 'step': 7, 'loss': 0.5}"), std::string("epoch,step,loss\nnan,7,0.5"),
        "epoch=inf step=7 loss=0.5" + std::string(), "at " + digits + " loss 0.5", "Epoch " + digits + " loss: 0.5",
        std::string("at nan loss 0.5")}) {
    for (const Metric& metric : metrics_of(text + "\n", options)) EXPECT_FALSE(metric.epoch) << text;
  }
  EXPECT_EQ(told("{\"epoch\": \"NaN\", \"step\": 7, \"loss\": 0.5}\n"), Lines{"s7 loss=0.5"});
}

TEST(MetricReader, PatternsOfARecipe) {
  MetricReaderOptions options;
  options.patterns = {R"(it (?P<step>\d+) of epoch (?P<epoch>\d+): (?P<my_loss>\S+))",
                      R"(metric (?P<name>\S+) is (?P<value>\S+))"};
  EXPECT_EQ(
      told("it 3 of epoch 2: 0.5, good\nmetric a/b is nan.0\nit 4 of epoch 2: broken\nEpoch 9, loss: 1\n", options),
      (Lines{"e2 s3 my_loss=0.5", "e2 a/b=nan", "e9 loss=1"}));
  options.only = "sciml";
  EXPECT_EQ(told("Epoch 9, loss: 1\n:::MLLOG {\"key\": \"a\", \"value\": 1}\nmetric a is 1\n", options), Lines{"a=1"});
}

TEST(MetricReader, LooksForOneFormatIfToldSo) {
  const std::string log = "Epoch 9, loss: 1\n:::MLLOG {\"key\": \"a\", \"value\": 1}\n{\"epoch\": 2, \"b\": 3}\n";
  std::vector<Lines> all;
  for (const LogFormat* const format : log_formats()) {
    MetricReaderOptions options;
    options.only = format->name;
    if (const Lines lines = told(log, options); !lines.empty()) all.push_back(lines);
  }
  EXPECT_EQ(all, (std::vector<Lines>{{"a=1"}, {"e2 b=3"}, {"e9 loss=1"}}));
  MetricReaderOptions options;
  options.only = "kears";
  EXPECT_THROW(told(log, options), Error);
}

TEST(MetricReader, APatternMayLeaveNamesAndNumbersToTheLine) {
  MetricReaderOptions options;
  options.patterns = {R"(^<(?P<group>\w+)> round (?P<step>\d+) (?P<values>.*))",
                      R"(at (?P<epoch>\d+) got (?P<got>\S+))"};
  EXPECT_EQ(
      told("<dev> round 7 ce 0.5, wer 12.5%\n<all> round 8 a: 1 | b: 2,5\nat 3 got 1,234.5\nat 4 got 0,5\n", options),
      (Lines{"s7 dev ce=0.5", "s7 dev wer=12.5", "s8 all a=1", "e3 got=1234.5"}));
}

TEST(MetricReader, CountsLinesThatLookLikeMetricsAndAreNotUnderstood) {
  MetricReader reader({}, [](const Metric&) {});
  reader.feed(
      "Total params: 104.5\nloss at the end 0.5\nEpoch 1: acc: 0,75\rEpoch 1: acc: 0,75\nvalid loss = 1.5\n"
      "saved after Val Loss improved from inf to 0.5\nEpoch 2: acc: 0.5\nEpoch 3: 1:02:03, v1.2.3, 2026-01-02\n",
      0);
  reader.finish();
  EXPECT_EQ(reader.counts().not_understood, 2U);
  EXPECT_EQ(reader.counts().first_not_understood, 3U);
  EXPECT_EQ(reader.counts().not_understood_line, "Epoch 1: acc: 0,75");
}

TEST(MetricReader, RefusesPatternsThatMakeNoSense) {
  for (const std::string pattern : {"(", "no groups", R"((?P<a>x)\1)", "(?P<a>x{1000}){1000}"}) {
    MetricReaderOptions options;
    options.patterns = {pattern};
    EXPECT_THROW(MetricReader(options, [](const Metric&) {}), Error) << pattern;
  }
}

// Keras and MLPerf logs of several ranks, shuffled line by line: of each rank the same as alone.
TEST(MetricReader, RanksInAnyOrder) {
  std::mt19937_64 random(seed());
  constexpr int ranks = 5, epochs = 20;
  std::vector<std::vector<std::string>> logs(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    for (int epoch = 1; epoch <= epochs; ++epoch) {
      const std::string number = std::to_string(rank) + "." + std::to_string(epoch);
      logs[static_cast<std::size_t>(rank)].push_back("Epoch " + std::to_string(epoch) + "/20");
      logs[static_cast<std::size_t>(rank)].push_back("8/8 ━━━━ 0s 4ms/step - loss: " + number);
      logs[static_cast<std::size_t>(rank)].push_back("8/8 ━━━━ 7s 4ms/step - loss: " + number + " - val: " + number);
    }
  }
  for (const bool srun : {true, false}) {
    std::string merged;
    std::vector<std::size_t> next(ranks, 0);
    for (std::size_t left = ranks * epochs * 3; left > 0;) {
      const auto rank = static_cast<std::size_t>(random() % ranks);
      if (next[rank] == logs[rank].size()) continue;
      const std::string name = std::to_string(rank);
      merged += (srun ? " " + name + ": " : "[1," + name + "]<stdout>:") + logs[rank][next[rank]++] + "\n";
      --left;
    }
    Lines lines = told(merged);
    EXPECT_EQ(lines.size(), ranks * epochs * 4U);
    for (int rank = 0; rank < ranks; ++rank) {
      std::string alone;
      for (const auto& line : logs[static_cast<std::size_t>(rank)]) alone += line + "\n";
      MetricReaderOptions options;
      options.rank = rank;
      Lines of_rank;
      const std::string mark = " r" + std::to_string(rank) + " ";
      std::copy_if(lines.begin(), lines.end(), std::back_inserter(of_rank),
                   [&](const std::string& line) { return line.find(mark) != std::string::npos; });
      EXPECT_EQ(of_rank, told(alone, options));
    }
  }
}

TEST(MetricReader, RandomBytesBetweenLines) {
  std::mt19937_64 random(seed());
  std::string text;
  Lines expected;
  for (int epoch = 0; epoch < 200; ++epoch) {
    for (std::size_t left = random() % 300; left > 0; --left) {
      const char byte = static_cast<char>(random());
      if (byte != '\n' && byte != '\r') text += byte;
    }
    text += "\n:::MLLOG {\"key\": \"a\", \"value\": " + std::to_string(epoch) + "}\n";
    expected.push_back("a=" + std::to_string(epoch));
  }
  MetricReaderOptions options;
  options.only = "mlperf";
  EXPECT_EQ(told(text, options), expected);
}

TEST(MetricRecord, IsReadBackAsItWas) {
  std::mt19937_64 random(seed());
  for (int i = 0; i < 2000; ++i) {
    Metric metric;
    std::uint64_t bits = random();
    std::memcpy(&metric.value, &bits, sizeof bits);
    metric.time = static_cast<double>(random() % 4'000'000'000'000) / 1000;
    if (random() % 2) metric.epoch = static_cast<double>(random() % 100000) / 8;
    if (random() % 2) metric.step = static_cast<std::int64_t>(random() >> 11);
    if (random() % 2) metric.rank = static_cast<int>(random() % 100000);
    for (std::size_t left = 1 + random() % 8; left > 0; --left) metric.name += static_cast<char>(1 + random() % 126);
    metric.name += "ä\"\\\n";
    const auto read = try_metric_json(metric_json(metric));
    ASSERT_TRUE(read) << metric_json(metric);
    EXPECT_TRUE(read->value == metric.value || (std::isnan(read->value) && std::isnan(metric.value)));
    EXPECT_EQ(read->time, metric.time);
    EXPECT_EQ(read->epoch, metric.epoch);
    EXPECT_EQ(read->step, metric.step);
    EXPECT_EQ(read->rank, metric.rank);
    EXPECT_EQ(read->name, metric.name);
  }
}

TEST(MetricRecord, WhatIsNoRecord) {
  for (const char* const text : {"", "{", "{}", R"({"name":"a"})", R"({"value":1})", R"({"name":"a","value":"x"})",
                                 R"({"name":"a","value":1)", R"({"name":"a","value":"NaN")"})
    EXPECT_FALSE(try_metric_json(text)) << text;
}

}  // namespace
}  // namespace sabath
