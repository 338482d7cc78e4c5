// The next step of a lane for a file that lanes share: a decision only.
#pragma once

#include <cstdint>

namespace sabath {

// busy: one lane opens, begins anew or publishes; the other lanes have other files meanwhile.
enum class TransferPhase : std::uint8_t { fresh, busy, open, over };
enum class TransferStep : std::uint8_t { nothing, open, begin_anew, publish, copy, keep, ask };

struct TransferFacts {
  bool under_way = false;  // a request, a copy, or a chunk on its way to the partial
  bool restart = false;    // what came is worth nothing
  bool missing = false;    // a chunk that is wanted
  bool copy = false;       // another object of the store has a chunk that is missing
  bool held = false;       // a chunk that was held back is believed now
};

// Content that is here comes before a source is asked.
[[nodiscard]] constexpr TransferStep next(TransferPhase phase, const TransferFacts& facts) {
  const bool fresh = phase == TransferPhase::fresh;
  if (!fresh && phase != TransferPhase::open) return TransferStep::nothing;
  if (fresh || facts.restart || !facts.missing) {
    if (facts.under_way) return TransferStep::nothing;
    if (fresh) return TransferStep::open;
    return facts.restart ? TransferStep::begin_anew : TransferStep::publish;
  }
  if (facts.copy) return TransferStep::copy;
  return facts.held ? TransferStep::keep : TransferStep::ask;
}

// One lane takes this step while the transfer is busy.
[[nodiscard]] constexpr bool is_for_one(TransferStep step) {
  return step == TransferStep::open || step == TransferStep::begin_anew || step == TransferStep::publish;
}

}  // namespace sabath
