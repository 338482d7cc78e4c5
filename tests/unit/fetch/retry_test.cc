// When to ask again, and whom: the tables of fetch/decide/retry.h.
#include "fetch/decide/retry.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace sabath {
namespace {

using std::chrono::milliseconds;

TEST(Verdict, EveryKindHasOne) {
  struct Case {
    FailureKind kind;
    Verdict verdict;
  };
  const std::array cases = {
      Case{FailureKind::network, Verdict::again},    Case{FailureKind::changed, Verdict::again},
      Case{FailureKind::no_ranges, Verdict::again},  Case{FailureKind::unavailable, Verdict::give_up},
      Case{FailureKind::access, Verdict::give_up},   Case{FailureKind::content, Verdict::give_up},
      Case{FailureKind::invalid, Verdict::give_up},  Case{FailureKind::space, Verdict::fatal},
      Case{FailureKind::storage, Verdict::fatal},    Case{FailureKind::interrupted, Verdict::fatal},
      Case{FailureKind::terminated, Verdict::fatal}, Case{FailureKind::internal, Verdict::fatal},
      Case{FailureKind::usage, Verdict::fatal},      Case{FailureKind::offline, Verdict::fatal},
      Case{FailureKind::not_found, Verdict::fatal},  Case{FailureKind::partial, Verdict::fatal},
      Case{FailureKind::nodes, Verdict::fatal},      Case{FailureKind::command, Verdict::fatal},
  };
  for (const auto& c : cases) EXPECT_EQ(verdict(c.kind), c.verdict) << name(c.kind);
}

TEST(PauseAfter, Table) {
  struct Case {
    unsigned failures;
    std::optional<milliseconds> asked;
    double jitter;
    milliseconds pause;
  };
  const std::array cases = {
      Case{0, {}, 0.5, milliseconds(200)},
      Case{1, {}, 0.5, milliseconds(200)},
      Case{2, {}, 0.5, milliseconds(600)},
      Case{3, {}, 0.5, milliseconds(1800)},
      Case{1, {}, 0.0, milliseconds(150)},  // a quarter less
      Case{5, {}, 0.5, milliseconds(16'200)},
      Case{6, {}, 0.5, milliseconds(30'000)},  // no longer than this by itself
      Case{1000, {}, 0.5, milliseconds(30'000)},
      Case{1, milliseconds(5000), 0.5, milliseconds(5000)},           // the server asked for more
      Case{3, milliseconds(500), 0.5, milliseconds(1800)},            // or for less
      Case{1, milliseconds(86'400'000), 0.5, milliseconds(300'000)},  // or for a day: five minutes
      Case{1, milliseconds(-7), 0.5, milliseconds(200)},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(pause_after(c.failures, c.asked, c.jitter), c.pause) << c.failures << " failures, jitter " << c.jitter;
  }
  EXPECT_LT(pause_after(1, {}, 0.999), milliseconds(251));
}

TEST(AsksForLater, WhatIsWaitedForAndWhatIsNot) {
  const auto asks = [](std::optional<milliseconds> pause) {
    return asks_for_later({FailureKind::network, "", "", pause});
  };
  EXPECT_FALSE(asks(std::nullopt));
  EXPECT_FALSE(asks(milliseconds(0)));
  EXPECT_FALSE(asks(asked_pause_max));
  EXPECT_TRUE(asks(asked_pause_max + milliseconds(1)));
}

TEST(ChooseMirror, Table) {
  const MirrorState fresh{}, dead{.dead = true}, paused{.ready = false};
  const MirrorState fast{.rate = 1e8}, slow{.rate = 1e6}, hurt{.failures = 1, .rate = 1e9};
  struct Case {
    const char* what;
    std::vector<MirrorState> mirrors;
    std::optional<std::size_t> choice;
  };
  const std::array cases = {
      Case{"none at all", {}, {}},
      Case{"all dead", {dead, dead}, {}},
      Case{"the living one is in its pause", {dead, paused}, {}},
      Case{"the only one", {dead, fresh}, 1},
      Case{"the first of equals", {fresh, fresh}, 0},
      Case{"the faster", {slow, fast}, 1},
      Case{"an unmeasured one is tried", {fast, fresh}, 1},
      Case{"but by one lane", {fast, MirrorState{.lanes = 1}}, 0},
      Case{"whichever comes first", {MirrorState{.lanes = 1}, fast}, 1},
      Case{"also when it comes first", {fresh, fast}, 0},
      Case{"unmeasured ones share the lanes", {MirrorState{.lanes = 2}, MirrorState{.lanes = 1}}, 1},
      Case{"one that failed comes last, however fast", {hurt, slow}, 1},
      Case{"unless it is alone", {dead, hurt}, 1},
      Case{"a fast one with many lanes has less to give to one more",
           {MirrorState{.lanes = 9, .rate = 1e8}, MirrorState{.lanes = 0, .rate = 2e7}},
           1},
  };
  for (const auto& c : cases) EXPECT_EQ(choose_mirror(c.mirrors), c.choice) << c.what;
}

TEST(TellsMore, WrongBytesBeforePermissionBeforeAbsenceBeforeTheNetwork) {
  const std::array order = {FailureKind::content, FailureKind::invalid, FailureKind::access, FailureKind::unavailable,
                            FailureKind::network};
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = 0; j < order.size(); ++j) {
      EXPECT_EQ(tells_more(Failure{order[i], "", "", {}}, Failure{order[j], "", "", {}}), i < j)
          << name(order[i]) << " " << name(order[j]);
    }
  }
}

}  // namespace
}  // namespace sabath
