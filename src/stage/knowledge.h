// What all members have told each other before the first byte moves, and the plan that follows from it. Holdings are
// reduced, never gathered: a member learns its children's, and of the others only what somebody lacks, what nobody has,
// and who gives. Collective; main thread. Throws Error{nodes}.
#pragma once

#include <vector>

#include "sabath/comm.h"
#include "stage/plan/piece_set.h"
#include "stage/plan/plan.h"
#include "stage/plan/tape.h"

namespace sabath {

struct Readers {
  bool able = false;               // this member sees the shared store
  unsigned max = 64;               // of all members
  std::uint64_t stripe_bytes = 0;  // of the shared store's files, if this member knows
};

struct Agreed {
  Plan plan;
  unsigned readers = 0;  // members that read
};

// Which members say so of themselves, in order.
[[nodiscard]] std::vector<unsigned> able_members(Comm& members, bool able);

struct Known {
  PieceSet lacking;            // what somebody lacks
  PieceSet unread;             // what somebody lacks and nobody has
  std::vector<unsigned> able;  // members that see the shared store, in order
  bool any = false;            // somebody has something
  std::uint64_t stripe_bytes = 0;
};
[[nodiscard]] Known tell_all(Comm& members, const Dealing& dealing, const PieceSet& mine, const Readers& readers);

[[nodiscard]] Agreed agree_on_plan(Comm& members, const Tape& tape, const Dealing& dealing, const PieceSet& mine,
                                   const Readers& readers);

}  // namespace sabath
