// What the members tell each other before the first byte moves, and the plan that follows from it. Holdings are
// reduced, never gathered: a member learns those of its children, and of the others only which pieces some member
// lacks, which no member has, and who gives each. Collective; main thread. Throws Error{nodes}.
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

// The members that say `able` of themselves, in order.
[[nodiscard]] std::vector<unsigned> able_members(Comm& members, bool able);

struct Known {
  PieceSet lacking;            // what some member lacks
  PieceSet unread;             // what some member lacks and no member has
  std::vector<unsigned> able;  // members that see the shared store, in order
  bool any = false;            // some member has some piece
  std::uint64_t stripe_bytes = 0;
};
[[nodiscard]] Known tell_all(Comm& members, const Dealing& dealing, const PieceSet& mine, const Readers& readers);

[[nodiscard]] Agreed agree_on_plan(Comm& members, const Tape& tape, const Dealing& dealing, const PieceSet& mine,
                                   const Readers& readers);

}  // namespace sabath
