// The heartbeat of a job: one small reduction after another over all of its ranks, beside their work. Only the
// heartbeat gives a rank up for dead: when a process or node is gone, no other code may notice.
//
// Main thread. All ranks begin each beat with words of one type and get the same words back, so their conclusions need
// no other agreement. Throws Error{nodes} when a beat has not ended for `patience`; rank 0's names the silent.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sabath/comm.h"

namespace sabath {

class Heartbeat {
 public:
  using Clock = std::chrono::steady_clock;
  using Names = std::map<unsigned, std::string>;  // by rank, for people; a rank without one goes by its number
  static constexpr std::chrono::milliseconds rest_min{2};
  static constexpr std::chrono::seconds silence_max{8};

  // Collective over `some` ranks of a job: at their rank 0 the name of each, by its rank in the job.
  [[nodiscard]] static Names names_of(Comm& some, unsigned rank, const std::string& name);

  // Rank 0 alone needs names.
  Heartbeat(Comm& comm, std::chrono::milliseconds rest_max, Names names = {}, Clock::duration patience = silence_max)
      : comm_(comm), names_(std::move(names)), rest_max_(rest_max), patience_(patience) {}

  // Collective in the long run. Begins a beat; `mine` has std::uint64_t alone.
  template <typename Words>
  void begin(const Words& mine, Reduction how = Reduction::sum) {
    begin_numbers(std::bit_cast<Numbers<Words>>(mine), how);
  }
  [[nodiscard]] bool under_way() const { return pending_ != nullptr; }
  bool ended();  // does not wait
  void wait();   // until it has ended
  // The words of the beat that ended last.
  template <typename Words>
  [[nodiscard]] Words all() const {
    Numbers<Words> numbers{};
    std::copy_n(values_.begin(), numbers.size(), numbers.begin());
    return std::bit_cast<Words>(numbers);
  }

  // The pause before the next beat: the shortest while the job moves on, longer and longer while it does not.
  [[nodiscard]] Clock::duration rest(bool moves);
  [[nodiscard]] std::string name_of(unsigned rank) const;

 private:
  template <typename Words>
  using Numbers = std::array<std::uint64_t, sizeof(Words) / sizeof(std::uint64_t)>;
  void begin_numbers(std::span<const std::uint64_t> mine, Reduction how);
  [[noreturn]] void call_roll();

  Comm& comm_;
  const Names names_;
  const Clock::duration rest_max_, patience_;
  std::vector<std::uint64_t> values_;
  std::unique_ptr<Comm::Pending> pending_;
  Clock::time_point looked_{};
  Clock::duration waited_{}, rest_ = rest_min;
};

}  // namespace sabath
