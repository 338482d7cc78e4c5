// Finds the member that keeps the others waiting. Pure: the caller tells what each look found, and the time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>

namespace sabath {

class Straggler {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t all = 1'000'000;      // a share: millionths of what a member has to do
  static constexpr std::chrono::seconds patience{10};  // how long a member is the last, at every look
  struct Look {
    std::uint64_t members = 0;  // that have something to do
    std::uint64_t shares = 0;   // that they have done, added up
    std::uint64_t slacks = 0;   // of how much less nothing follows: pieces are on their way; added up
    unsigned last = 0;          // of these members the one that has done the smallest share
    std::uint64_t share = 0;    // its own
  };

  // The member to be named now; none is named twice.
  [[nodiscard]] std::optional<unsigned> see(const Look& look, Clock::time_point now);

 private:
  [[nodiscard]] static bool behind(const Look& look);
  std::optional<unsigned> last_;
  Clock::time_point since_;
  std::set<unsigned> named_;
};

}  // namespace sabath
