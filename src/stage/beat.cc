#include "stage/beat.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <thread>
#include <utility>

#include "comm/agree.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr unsigned roll_channel = 15;
constexpr std::chrono::milliseconds roll_time{700};

}  // namespace

bool Beat::poll(const Words& mine) {
  if (!pending_) {
    if (Clock::now() < next_) return false;
    values_ = std::bit_cast<std::array<std::uint64_t, word_count>>(mine);
    pending_ = comm_.begin_all_reduce(values_, Reduction::sum);
    looked_ = Clock::now();
    waited_ = {};
  }
  if (!pending_->done()) {
    check_silence();
    return false;
  }
  pending_.reset();
  const Words before = std::exchange(sums_, std::bit_cast<Words>(values_));
  const bool moves = before.done != sums_.done || before.through != sums_.through;  // then the next phase is near
  rest_ = moves ? Clock::duration(rest_min) : std::min<Clock::duration>(rest_ + rest_ / 2, rest_max);
  next_ = Clock::now() + rest_;
  return true;
}

void Beat::keep_until(const Words& mine, const std::function<bool(const Words&)>& enough) {
  while (!poll(mine) || !enough(sums_)) std::this_thread::sleep_for(std::chrono::microseconds(500));
}

std::optional<Failure> Beat::keep_while(const std::function<void()>& work, const std::stop_token& stop,
                                        const std::function<bool(const Words&)>& enough) {
  std::optional<Failure> failure;
  std::atomic<bool> over = false;
  const std::jthread worker([&] {
    failure = failure_of(work);
    over = true;
  });
  for (bool told = false;;) {
    Words mine;
    mine.done = over ? 1 : 0;
    mine.failed = over && failure ? 1 : 0;
    mine.stopped = stop.stop_requested() ? 1 : 0;
    if (!pending_) told = mine.done != 0;
    if (poll(mine) && enough(sums_) && told) return failure;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

// A process that was stopped and goes on finds hours gone: only the time in which it looked counts.
void Beat::check_silence() {
  const auto now = Clock::now();
  waited_ += std::min<Clock::duration>(now - looked_, std::chrono::milliseconds(100));
  looked_ = now;
  if (waited_ > silence_max) call_roll();
}

// Whoever is here tells rank 0, which ends the job a moment later; should rank 0 be gone, the others do.
void Beat::call_roll() {
  const std::string hint = "a process or a node is gone: run the same command again, what is verified is kept";
  const std::string silent = fmt::format("for {} s", silence_max.count());
  std::byte mark{};
  std::vector<std::unique_ptr<Comm::Message>> messages;
  if (comm_.rank() != 0) {
    messages.push_back(comm_.begin_send({&mark, 1}, 0, roll_channel));
    for (const auto end = Clock::now() + 2 * roll_time; Clock::now() < end;) {
      static_cast<void>(messages.front()->done());
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    throw Error(FailureKind::nodes, fmt::format("{} has waited {} for another node", comm_.host(), silent), hint);
  }
  std::vector<std::byte> marks(comm_.size());
  for (unsigned r = 1; r < comm_.size(); ++r) messages.push_back(comm_.begin_receive({&marks[r], 1}, r, roll_channel));
  for (const auto end = Clock::now() + roll_time; Clock::now() < end;) {
    for (const auto& message : messages) static_cast<void>(message->done());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::string absent;
  for (unsigned r = 1; r < comm_.size(); ++r) {
    if (messages[r - 1]->done()) continue;
    absent += (absent.empty() ? "" : ", ") + (r < names_.size() ? names_[r] : std::to_string(r));
  }
  throw Error(FailureKind::nodes, fmt::format("{} has not answered {}", absent.empty() ? "a node" : absent, silent),
              hint);
}

}  // namespace sabath
