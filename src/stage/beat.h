// The beat of members that exchange pieces: small reductions, one after another, beside the messages. It tells all of
// them who is done and who was asked to stop, adds up how far they are, and notices a member that does not answer.
// Main thread. Throws Error{nodes} when a beat has not ended for `silence_max`.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>

#include "comm/comm.h"

namespace sabath {

class Beat {
 public:
  static constexpr std::chrono::milliseconds rest_min{2}, rest_max{100};
  static constexpr std::chrono::seconds silence_max{8};
  struct Words {
    std::uint64_t done = 0, stopped = 0, failed = 0, received = 0, read = 0, pieces = 0;
  };

  explicit Beat(Comm& comm) : comm_(comm) {}
  // Collective in the long run. Does not wait: true when a beat has ended, whose sums are then in sums().
  bool poll(const Words& mine);
  [[nodiscard]] const Words& sums() const { return sums_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t word_count = sizeof(Words) / sizeof(std::uint64_t);
  void check_silence();

  Comm& comm_;
  Words sums_;
  std::array<std::uint64_t, word_count> values_{};
  std::unique_ptr<Comm::Pending> pending_;
  Clock::time_point next_{}, looked_{};
  Clock::duration waited_{}, rest_ = rest_min;
};

}  // namespace sabath
