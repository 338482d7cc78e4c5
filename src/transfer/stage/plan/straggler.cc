#include "stage/plan/straggler.h"

#include <algorithm>

namespace sabath {

bool Straggler::behind(const Look& look) {
  if (look.members < 2) return false;
  const std::uint64_t others = look.shares - std::min(look.shares, look.share);
  return look.share + look.slacks / look.members < others / (look.members - 1);
}

std::optional<unsigned> Straggler::see(const Look& look, Clock::time_point now) {
  if (!behind(look)) {
    last_.reset();
    return std::nullopt;
  }
  if (last_ != look.last) {
    last_ = look.last;
    since_ = now;
  }
  if (now - since_ < patience || !named_.insert(look.last).second) return std::nullopt;
  return look.last;
}

}  // namespace sabath
