// A lane that waits for a rate limit says so first: otherwise a schedule takes its source for a late one.
#include "fetch/hosts/guarded_sink.h"

#include <gtest/gtest.h>

#include <array>

#include "fetch_bench.h"

namespace sabath::test {
namespace {

unsigned waits_told(std::uint64_t limit, std::uint64_t limit_of_host) {
  FetchBench bench;
  const Url url = Url::parse("https://a.example/f");
  FetchContext context = bench.context();
  bench.limiter.set_rate(limit);
  bench.hosts->add_rule({"a.example", {.rate = limit_of_host}});
  const std::array<std::byte, 2000> bytes{};
  unsigned told = 0;
  GuardedSink sink(
      context, bench.ledger->line("a"), url, std::nullopt, [](const ContentInfo&) {}, [](std::span<const std::byte>) {},
      &bench.hosts->of("https://a.example"));
  sink.on_wait([&] { ++told; });
  sink.start({url, 0, std::nullopt, {}});
  sink.begin({});
  sink.write(bytes);
  sink.write(bytes);
  return told;
}

TEST(GuardedSink, TellsOfEachWaitForALimit) {
  EXPECT_EQ(waits_told(0, 0), 0U);
  EXPECT_EQ(waits_told(1'000'000, 0), 2U);
  EXPECT_EQ(waits_told(0, 1'000'000), 2U);
}

}  // namespace
}  // namespace sabath::test
