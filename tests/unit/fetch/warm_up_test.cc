#include "fetch/hosts/warm_up.h"

#include <gtest/gtest.h>

#include <latch>
#include <map>

#include "fetch_bench.h"
#include "sabath/error.h"

namespace sabath::test {
namespace {

constexpr std::uint64_t large = 1ULL << 30;

class Logins : public FetcherSet, public Fetcher {
 public:
  [[nodiscard]] Fetcher* find(std::string_view scheme) const override {
    return scheme == "none" ? nullptr : const_cast<Logins*>(this);
  }
  [[nodiscard]] std::vector<Scheme> schemes() const override { return {{.name = "sftp", .command = program}}; }
  void read(const ReadRequest&, Sink&, Traffic&, std::stop_token) override { FAIL() << "nothing is read"; }
  void warm_up(const Url& url, std::stop_token stop) override {
    {
      const std::lock_guard lock(mutex_);
      ++seen[url.text()];
    }
    if (url.path() == "/refused") throw Error(FailureKind::access, "who are you?");
    if (url.path() != "/slow") return;
    std::latch stopped(1);
    const std::stop_callback on_stop(stop, [&] { stopped.count_down(); });
    stopped.wait();
  }
  std::map<std::string, int> seen;  // once all have ended
  bool program = false;

 private:
  std::mutex mutex_;
};

Fragment fragment(const char* url, std::optional<std::uint64_t> size) {
  Fragment one;
  one.urls = {Url::parse(url)};
  one.size_bytes = size;
  return one;
}

class WarmingUp : public testing::Test {
 protected:
  std::map<std::string, int> seen(const std::vector<Fragment>& fragments) {
    const FetchContext context{
        .store = *bench.store,
        .fetchers = logins,
        .events = *bench.events,
        .ledger = *bench.ledger,
        .space = bench.space,
        .limiter = bench.limiter,
        .hosts = hosts,
        .rewrites = bench.rewrites,
        .lanes = 0,
        .force = false,
        .stop = bench.stop.get_token(),
    };
    static_cast<void>(WarmUp(context, fragments));
    return logins.seen;
  }
  FetchBench bench;
  Hosts hosts{0};
  Logins logins;
};

TEST_F(WarmingUp, OneToEachHostWhereAConnectionCostsALogin) {
  const auto logged_in = seen({fragment("sftp://lake/a", large), fragment("sftp://lake/b", large),
                               fragment("scp://sea:2222/c", large), fragment("https://lake/d", large),
                               fragment("sftp://pond/small", 1 << 20), fragment("sftp://well/unknown", std::nullopt)});
  EXPECT_EQ(logged_in, (std::map<std::string, int>{{"sftp://lake/a", 1}, {"scp://sea:2222/c", 1}}));
}

TEST_F(WarmingUp, WhereTheSiteHasPutIt) {
  bench.rewrites = {{"https://far/", "sftp://near/"}};
  EXPECT_EQ(seen({fragment("https://far/a", large)}), (std::map<std::string, int>{{"sftp://near/a", 1}}));
}

TEST_F(WarmingUp, TakesAConnectionOfItsHostAndGivesItBack) {
  Host& host = hosts.of(Url::parse("sftp://lake/a").origin());
  while (host.try_connect()) {}
  EXPECT_TRUE(seen({fragment("sftp://lake/a", large)}).empty());
  const unsigned all = host.in_use();
  host.disconnect();
  EXPECT_EQ(seen({fragment("sftp://lake/refused", large)}).size(), 1u);
  EXPECT_EQ(host.in_use(), all - 1);
}

TEST_F(WarmingUp, KnowsAHostThatAProgramReads) {
  logins.program = true;
  static_cast<void>(seen({fragment("sftp://lake/a", large), fragment("scp://sea/b", large)}));
  EXPECT_TRUE(hosts.of("sftp://lake").by_program());
  EXPECT_FALSE(hosts.of("scp://sea").by_program());
}

TEST_F(WarmingUp, EndsWithItsObject) { EXPECT_EQ(seen({fragment("sftp://lake/slow", large)}).size(), 1u); }

}  // namespace
}  // namespace sabath::test
