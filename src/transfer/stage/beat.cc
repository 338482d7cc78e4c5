#include "stage/beat.h"

#include <atomic>
#include <thread>
#include <utility>

#include "base/threads.h"
#include "comm/agree.h"
#include "sabath/error.h"

namespace sabath {

bool Beat::poll(const Words& mine) {
  if (!heart_.under_way()) {
    if (Heartbeat::Clock::now() < next_) return false;
    begin(mine);
  }
  if (!heart_.ended()) return false;
  if (looks_) {
    note_last();
    return false;
  }
  const Words before = std::exchange(sums_, heart_.all<Words>());
  const bool moves = before.done != sums_.done || before.through != sums_.through;  // then the next phase is near
  next_ = Heartbeat::Clock::now() + heart_.rest(moves);
  return true;
}

void Beat::begin(const Words& mine) {
  looks_ = ++beats_ % beats_a_look == 0;
  if (!looks_) return heart_.begin(mine);
  heart_.begin(Last{mine.busy == 0 ? UINT64_MAX : mine.share << 32U | rank_}, Reduction::minimum);
}

void Beat::note_last() {
  const std::uint64_t last = heart_.all<Last>()[0];
  if (!tell_ || last == UINT64_MAX) return;
  const auto rank = static_cast<unsigned>(last & UINT32_MAX);
  const auto late = straggler_.see({sums_.busy, sums_.share, sums_.slack, rank, last >> 32U}, Heartbeat::Clock::now());
  if (late) tell_(heart_.name_of(*late));
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
    mine.slack = Straggler::all / 2;  // while fewer than half are done, no rank is late
    if (!heart_.under_way()) told = mine.done != 0;
    if (poll(mine) && enough(sums_) && told) return failure;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

}  // namespace sabath
