#include "stage/node/worker_count.h"

namespace sabath {
namespace {

constexpr double window_s = 0.02;      // at least
constexpr unsigned tasks_of_each = 4;  // at least
constexpr double gain = 1.1, loss = 0.95;
constexpr unsigned rests_between = 50;  // windows from one trial to the next

}  // namespace

bool WorkerCount::long_enough() const { return tasks_ >= tasks_of_each * now_ && seconds_ >= window_s * now_; }

void WorkerCount::note(double seconds) {
  ++tasks_;
  seconds_ += seconds;
  if (!long_enough()) return;
  const double rate = now_ * tasks_ / seconds_;
  tasks_ = 0;
  seconds_ = 0;
  judge(rate);
}

void WorkerCount::judge(double rate) {
  if (now_ == settled_) {
    settled_rate_ = rate;
    if (rests_ > 0) {
      --rests_;
      return;
    }
    const bool fewer = tries_fewer_ && settled_ > begin;
    now_ = fewer ? settled_ / 2 : settled_ * 2 < most_ ? settled_ * 2 : most_;
    tries_fewer_ = !tries_fewer_;
    return;
  }
  const bool more = now_ > settled_;
  if (rate > settled_rate_ * (more ? gain : loss)) {
    settled_ = now_;
    settled_rate_ = rate;
    tries_fewer_ = !more;  // go on in the same direction
    return;
  }
  now_ = settled_;
  rests_ = rests_between;
}

}  // namespace sabath
