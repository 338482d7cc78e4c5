// The beat of a staging job: small reductions over all of its ranks, one after another, beside whatever else they do.
// It tells everybody who is done and who was asked to stop, adds up how far they are, and notices a rank that is gone.
// All ranks see the same sums, so what follows from them needs no other agreement. Now and then a beat asks who is the
// last instead, and rank 0 hears who has been so for long. Main thread. Throws Error{nodes} when a beat has not ended
// for `silence_max`; rank 0's names who is silent.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "sabath/comm.h"
#include "sabath/error.h"
#include "stage/straggler.h"

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
    // 1 where there is something to do; of that, Straggler's shares: what is done, and of how much less nothing
    // follows.
    std::uint64_t busy = 0, share = 0, slack = 0;
  };

  using Names = std::map<unsigned, std::string>;  // by rank, for people; a rank without one is known by its number
  using Tell = std::function<void(const std::string& name)>;

  // Collective over the nodes' leaders: at rank 0 which node each is on.
  [[nodiscard]] static Names names_of(Comm& leaders, const Comm& world);

  // Rank 0 alone needs names, and tells who keeps the others waiting.
  explicit Beat(Comm& comm, Names names = {}, Tell tell = {})
      : comm_(comm), names_(std::move(names)), tell_(std::move(tell)) {}
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
  static constexpr unsigned beats_a_look = 16;
  static constexpr std::size_t word_count = sizeof(Words) / sizeof(std::uint64_t);
  void begin(const Words& mine);
  void note_last();
  [[nodiscard]] std::string name_of(unsigned rank) const;
  void check_silence();
  [[noreturn]] void call_roll();

  Comm& comm_;
  const Names names_;
  const Tell tell_;
  Words sums_;
  unsigned beats_ = 0;      // the same on all ranks: so is whether a beat is a look
  std::uint64_t last_ = 0;  // of a look: the smallest share, and below it the rank
  bool looks_ = false;
  Straggler straggler_;
  std::array<std::uint64_t, word_count> values_{};
  std::unique_ptr<Comm::Pending> pending_;
  Clock::time_point next_{}, looked_{};
  Clock::duration waited_{}, rest_ = rest_min;
};

}  // namespace sabath
