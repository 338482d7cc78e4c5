#include "stage/beat.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <thread>
#include <utility>

#include "base/threads.h"
#include "comm/agree.h"
#include "comm/parcel.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr unsigned roll_channel = 15;
constexpr std::chrono::milliseconds roll_time{700};

}  // namespace

Beat::Names Beat::names_of(Comm& leaders, const Comm& world) {
  Names names;
  const std::string name = fmt::format("node {} ({})", world.node(), world.host());
  for (const auto& told : leaders.gather(Parcel().add(std::uint64_t{world.rank()}).add(name).take())) {
    Parcel::Reader parcel(told);
    const auto rank = static_cast<unsigned>(parcel.number());
    names[rank] = parcel.text();
  }
  return names;
}

bool Beat::poll(const Words& mine) {
  if (!pending_) {
    if (Clock::now() < next_) return false;
    begin(mine);
  }
  if (!pending_->done()) {
    check_silence();
    return false;
  }
  pending_.reset();
  if (looks_) {
    note_last();
    return false;
  }
  const Words before = std::exchange(sums_, std::bit_cast<Words>(values_));
  const bool moves = before.done != sums_.done || before.through != sums_.through;  // then the next phase is near
  rest_ = moves ? Clock::duration(rest_min) : std::min<Clock::duration>(rest_ + rest_ / 2, rest_max);
  next_ = Clock::now() + rest_;
  return true;
}

void Beat::begin(const Words& mine) {
  looks_ = ++beats_ % beats_a_look == 0;
  if (looks_) {
    last_ = mine.busy == 0 ? UINT64_MAX : mine.share << 32U | comm_.rank();
    pending_ = comm_.begin_all_reduce({&last_, 1}, Reduction::minimum);
  } else {
    values_ = std::bit_cast<std::array<std::uint64_t, word_count>>(mine);
    pending_ = comm_.begin_all_reduce(values_, Reduction::sum);
  }
  looked_ = Clock::now();
  waited_ = {};
}

void Beat::note_last() {
  if (!tell_ || last_ == UINT64_MAX) return;
  const auto rank = static_cast<unsigned>(last_ & UINT32_MAX);
  const auto late = straggler_.see({sums_.busy, sums_.share, sums_.slack, rank, last_ >> 32U}, Clock::now());
  if (late) tell_(name_of(*late));
}

std::string Beat::name_of(unsigned rank) const {
  const auto name = names_.find(rank);
  return name == names_.end() ? fmt::format("rank {}", rank) : name->second;
}

void Beat::keep_until(const Words& mine, const std::function<bool(const Words&)>& enough) {
  while (!poll(mine) || !enough(sums_)) std::this_thread::sleep_for(std::chrono::microseconds(500));
}

std::optional<Failure> Beat::keep_while(const std::function<void()>& work, const std::stop_token& stop,
                                        const std::function<bool(const Words&)>& enough) {
  std::optional<Failure> failure;
  std::atomic<bool> over = false;
  const std::jthread worker = start_thread([&] {
    failure = failure_of(work);
    over = true;
  });
  for (bool told = false;;) {
    Words mine;
    mine.done = over ? 1 : 0;
    mine.failed = over && failure ? 1 : 0;
    mine.stopped = stop.stop_requested() ? 1 : 0;
    mine.busy = 1;
    mine.share = over ? Straggler::all : 0;
    mine.slack = Straggler::all / 2;  // while fewer than half are done, nobody is late
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
    absent += (absent.empty() ? "" : ", ") + name_of(r);
  }
  throw Error(FailureKind::nodes, fmt::format("{} has not answered {}", absent.empty() ? "a node" : absent, silent),
              hint);
}

}  // namespace sabath
