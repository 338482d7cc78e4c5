// The next step of a lane for a shared file: every phase with every combination of facts.
#include "fetch/transfer/transfer_step.h"

#include <gtest/gtest.h>

#include <optional>

namespace sabath {
namespace {

using Phase = TransferPhase;
using Step = TransferStep;

// Empty: true or false.
struct Row {
  Phase phase;
  std::optional<bool> under_way, restart, missing, copy, held;
  Step step;
};

constexpr auto any = std::nullopt;
constexpr Row rows[] = {
    // phase        under_way restart missing copy   held
    {Phase::busy, any, any, any, any, any, Step::nothing},
    {Phase::over, any, any, any, any, any, Step::nothing},
    {Phase::fresh, false, any, any, any, any, Step::open},
    {Phase::fresh, true, any, any, any, any, Step::nothing},
    {Phase::open, true, true, any, any, any, Step::nothing},
    {Phase::open, false, true, any, any, any, Step::begin_anew},
    {Phase::open, true, false, false, any, any, Step::nothing},
    {Phase::open, false, false, false, any, any, Step::publish},
    {Phase::open, any, false, true, true, any, Step::copy},
    {Phase::open, any, false, true, false, true, Step::keep},
    {Phase::open, any, false, true, false, false, Step::ask},
};

bool fits(const std::optional<bool>& wanted, bool is) { return wanted.value_or(is) == is; }

TEST(TransferSteps, EachPhaseWithEachFact) {
  for (const Phase phase : {Phase::fresh, Phase::busy, Phase::open, Phase::over}) {
    for (unsigned bits = 0; bits < 32; ++bits) {
      const auto bit = [&](unsigned at) { return (bits >> at & 1U) != 0; };
      const TransferFacts facts{bit(0), bit(1), bit(2), bit(3), bit(4)};
      unsigned found = 0;
      for (const Row& row : rows) {
        if (row.phase != phase || !fits(row.under_way, facts.under_way) || !fits(row.restart, facts.restart) ||
            !fits(row.missing, facts.missing) || !fits(row.copy, facts.copy) || !fits(row.held, facts.held)) {
          continue;
        }
        ++found;
        EXPECT_EQ(next(phase, facts), row.step) << "phase " << static_cast<int>(phase) << ", facts " << bits;
      }
      EXPECT_EQ(found, 1U) << "rows for phase " << static_cast<int>(phase) << ", facts " << bits;
    }
  }
}

TEST(TransferSteps, OneLaneOpensBeginsAnewAndPublishes) {
  for (const Step step : {Step::open, Step::begin_anew, Step::publish}) EXPECT_TRUE(is_for_one(step));
  for (const Step step : {Step::nothing, Step::copy, Step::keep, Step::ask}) EXPECT_FALSE(is_for_one(step));
}

}  // namespace
}  // namespace sabath
