// Whether a host gives parts of files, as far as its answers tell. Some gateways and firewalls refuse every request for
// a part, by any status that refuses, and give the whole when that is asked for. Thread-safe.
#pragma once

#include <atomic>

namespace sabath {

class PartManners {
 public:
  void part_came() { part_came_ = true; }
  // After a part had been refused:
  void whole_came() { whole_came_ = true; }
  void whole_refused() { whole_refused_ = true; }
  // A refusal may have been of the part alone: the whole is asked for before the source is given up. A host that gave
  // neither is not asked twice for other files.
  [[nodiscard]] bool may_mean_the_part() const { return !part_came_ && (whole_came_ || !whole_refused_); }
  [[nodiscard]] bool wholes_only() const { return whole_came_ && !part_came_; }

 private:
  std::atomic<bool> part_came_{false}, whole_came_{false}, whole_refused_{false};
};

}  // namespace sabath
