// The bytes that each source gave.
#include "fetch/hosts/ledger.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "fetch_bench.h"

namespace sabath::test {
namespace {

const Failure network{FailureKind::network, "reset", "", {}};

TEST(Ledger, OneLineForALabelInTheOrderOfFirstUse) {
  EventLog events;
  Ledger ledger(events);
  SourceLine& b = ledger.line("b");
  SourceLine& a = ledger.line("a");
  EXPECT_EQ(&ledger.line("b"), &b);
  b.traffic.bytes += 10;
  b.traffic.requests += 2;
  a.traffic.bytes += 5;
  b.failed({FailureKind::content, "wrong", "", {}}, true);
  b.failed(network, false);
  const auto records = ledger.records();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].url, "b");
  EXPECT_EQ(records[0].bytes, 10U);
  EXPECT_EQ(records[0].requests, 2U);
  EXPECT_EQ(records[0].failures, 2U);
  EXPECT_TRUE(records[0].demoted);
  EXPECT_EQ(records[0].reason, "reset");
  EXPECT_FALSE(records[1].demoted);
  EXPECT_EQ(ledger.bytes(), 15U);
}

TEST(Ledger, OneBadMomentOfManyLanesIsNoReasonToGiveUpAHost) {
  EventLog events;
  Ledger ledger(events);
  SourceLine& line = ledger.line("a");
  for (int i = 0; i < 100; ++i) line.failed(network, false);
  EXPECT_FALSE(line.given_up());
}

TEST(Ledger, ManyThreadsCountTogether) {
  EventLog events;
  Ledger ledger(events);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 500; ++n) {
          SourceLine& line = ledger.line(std::to_string(n % 10));
          ++line.traffic.requests;
          line.received(3);
          line.tell();
          line.succeeded();
          if (n % 50 == 0) line.failed(network, false);
          (void)ledger.records();
        }
      });
    }
  }
  std::uint64_t requests = 0;
  for (const auto& record : ledger.records()) requests += record.requests;
  EXPECT_EQ(requests, 4000U);
  EXPECT_EQ(events.received(), 12'000U);
}

}  // namespace
}  // namespace sabath::test
