// The beat of a staging job: small reductions over all of its ranks, one after another, beside whatever else they do.
// It tells everybody who is done and who was asked to stop, adds up how far they are, and notices a rank that is gone.
// All ranks see the same sums, so what follows from them needs no other agreement. Main thread. Throws Error{nodes}
// when a beat has not ended for `silence_max`; rank 0's names who is silent.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "comm/comm.h"
#include "sabath/error.h"

namespace sabath {

class Beat {
 public:
  static constexpr std::chrono::milliseconds rest_min{2}, rest_max{50};
  static constexpr std::chrono::seconds silence_max{8};
  struct Words {
    std::uint64_t done = 0;                            // with the phase that this node is in
    std::uint64_t failed = 0;                          // in it
    std::uint64_t through = 0;                         // with everything, for better or worse
    std::uint64_t stopped = 0;                         // asked to
    std::uint64_t received = 0, read = 0, wanted = 0;  // bytes
  };

  // `names`: of all members, for people; rank 0 alone needs them.
  explicit Beat(Comm& comm, std::vector<std::string> names = {}) : comm_(comm), names_(std::move(names)) {}
  // Runs `work` in a thread of its own and keeps the beat meanwhile, and until `enough` says so of the sums: it is
  // asked at every beat. What `work` throws is returned.
  std::optional<Failure> keep_while(const std::function<void()>& work, const std::stop_token& stop,
                                    const std::function<bool(const Words&)>& enough);
  // Keeps the beat until `enough` says so.
  void keep_until(const Words& mine, const std::function<bool(const Words&)>& enough);
  // Collective in the long run. Does not wait: true when a beat has ended, whose sums are then in sums().
  bool poll(const Words& mine);
  [[nodiscard]] const Words& sums() const { return sums_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t word_count = sizeof(Words) / sizeof(std::uint64_t);
  void check_silence();
  [[noreturn]] void call_roll();

  Comm& comm_;
  const std::vector<std::string> names_;
  Words sums_;
  std::array<std::uint64_t, word_count> values_{};
  std::unique_ptr<Comm::Pending> pending_;
  Clock::time_point next_{}, looked_{};
  Clock::duration waited_{}, rest_ = rest_min;
};

}  // namespace sabath
