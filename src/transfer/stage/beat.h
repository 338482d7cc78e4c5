// The heartbeat of a staging job: it tells all ranks how many are done and how many were asked to stop, and adds up
// their progress. One beat of 16 finds the last rank instead; rank 0 reports a rank that has been last for long. Main
// thread. Throws Error{nodes} when a rank is silent (comm/heartbeat.h).
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "comm/heartbeat.h"
#include "sabath/comm.h"
#include "sabath/error.h"
#include "stage/plan/straggler.h"

namespace sabath {

class Beat {
 public:
  struct Words {
    std::uint64_t done = 0;                            // with the phase that this node is in
    std::uint64_t failed = 0;                          // in it
    std::uint64_t through = 0;                         // with everything, for better or worse
    std::uint64_t stopped = 0;                         // asked to
    std::uint64_t received = 0, read = 0, wanted = 0;  // bytes
    // 1 where there is something to do; of that, Straggler's shares: what is done, and of how much less nothing
    // follows.
    std::uint64_t busy = 0, share = 0, slack = 0;
  };

  using Tell = std::function<void(const std::string& name)>;

  // Rank 0 alone needs names, and reports the rank that keeps the others waiting.
  explicit Beat(Comm& comm, Heartbeat::Names names = {}, Tell tell = {})
      : rank_(comm.rank()), heart_(comm, rest_max, std::move(names)), tell_(std::move(tell)) {}

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
  static constexpr std::chrono::milliseconds rest_max{50};
  static constexpr unsigned beats_a_look = 16;
  using Last = std::array<std::uint64_t, 1>;  // the smallest share, and below it the rank
  void begin(const Words& mine);
  void note_last();

  const unsigned rank_;
  Heartbeat heart_;
  const Tell tell_;
  Words sums_;
  unsigned beats_ = 0;  // the same on all ranks: so is whether a beat is a look
  bool looks_ = false;
  Straggler straggler_;
  Heartbeat::Clock::time_point next_{};
};

}  // namespace sabath
