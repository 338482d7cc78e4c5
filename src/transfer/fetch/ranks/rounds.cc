#include "fetch/ranks/rounds.h"

#include <fmt/format.h>

#include <utility>

#include "base/threads.h"
#include "comm/agree.h"
#include "comm/parcel.h"

namespace sabath {
namespace {

std::string name_in(const Comm& comm) { return fmt::format("rank {} on {}", comm.rank(), comm.host()); }

}  // namespace

Rounds::Rounds(Comm& comm, const std::stop_token& caller)
    : comm_(comm),
      heart_(comm, rest_max, Heartbeat::names_of(comm, comm.rank(), name_in(comm))),
      on_caller_(caller, [this] { stop_.request_stop(); }),
      on_stop_(stop_.get_token(), [this] {
        std::stop_source halt;
        {
          const std::lock_guard lock(mutex_);
          halt = halt_;
        }
        halt.request_stop();
        wake();
      }) {}

void Rounds::wake() {
  const std::lock_guard lock(mutex_);
  awake_ = true;
  changed_.notify_all();
}

std::stop_token Rounds::halt() const {
  const std::lock_guard lock(mutex_);
  return halt_.get_token();
}

void Rounds::halt_all() {
  std::stop_source halt;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(halted_, true)) return;
    halt = halt_;
  }
  halt.request_stop();
  wake();
}

// --- the main thread -----------------------------------------------------------------------------------------------

void Rounds::serve(const Hooks& hooks) {
  try {
    while (round(hooks)) rest();
  } catch (...) {
    break_off();
    throw;
  }
}

bool Rounds::round(const Hooks& hooks) {
  heart_.begin(words_of_this_rank(hooks));
  heart_.wait();
  const auto all = heart_.all<Words>();
  if (all.stopped > 0) stop_.request_stop();
  if (all.halted > 0) halt_all();
  if (all.news > 0) tell_news(hooks);
  if (hooks.on_round) hooks.on_round({under_way_, comm_.size() - all.done, all.tally});
  if (all.ordered > 0) {
    begin(hooks);
  } else if (under_way_ && all.done == comm_.size()) {
    collect();
  }
  return all.ended == 0;
}

Rounds::Words Rounds::words_of_this_rank(const Hooks& hooks) {
  if (news_.empty() && hooks.take_news) news_ = hooks.take_news();
  Words words;
  const std::lock_guard lock(mutex_);
  words.stopped = stop_.stop_requested() ? 1 : 0;
  words.halted = halted_ && under_way_ ? 1 : 0;
  words.ordered = ordered_ ? 1 : 0;
  words.done = under_way_ && done_ ? 1 : 0;
  words.ended = ended_ ? 1 : 0;
  words.news = news_.empty() ? 0 : 1;
  if (under_way_ && hooks.tally) words.tally = hooks.tally();
  return words;
}

void Rounds::begin(const Hooks& hooks) {
  std::pair<std::string, std::vector<std::string>> order;
  {
    const std::lock_guard lock(mutex_);
    if (ordered_) order = std::move(*ordered_);
    ordered_.reset();
    if (comm_.rank() != 0) {  // rank 0 is at it already
      done_ = false;
      halted_ = false;
      halt_ = std::stop_source();
    }
  }
  if (stop_.stop_requested()) halt_all();
  comm_.broadcast(order.first, 0);
  std::string own = comm_.scatter(order.second);
  comm_.barrier();  // of a shared file, no rank is half through before another has claimed its part
  under_way_ = begins_ = true;
  if (comm_.rank() == 0) {
    const std::lock_guard lock(mutex_);
    begun_ = true;
    return changed_.notify_all();
  }
  worker_ = start_thread([this, &hooks, given = Order{std::move(order.first), std::move(own)}] {
    std::string report = hooks.work(given);
    const std::lock_guard lock(mutex_);
    report_ = std::move(report);
    done_ = awake_ = true;
    changed_.notify_all();
  });
}

void Rounds::collect() {
  if (worker_.joinable()) worker_.join();
  under_way_ = false;
  auto all = comm_.gather(report_);
  report_.clear();
  if (comm_.rank() != 0) return;
  const std::lock_guard lock(mutex_);
  reports_ = std::move(all);
  changed_.notify_all();
}

void Rounds::tell_news(const Hooks& hooks) {
  const auto gathered = comm_.gather(std::exchange(news_, {}));
  Parcel parcel;
  for (const auto& text : gathered) parcel.add(text);
  std::string all = parcel.take();
  comm_.broadcast(all, 0);
  Parcel::Reader reader(all);
  for (unsigned r = 0; r < comm_.size(); ++r) {
    const std::string text = reader.text();
    if (r != comm_.rank() && !text.empty() && hooks.hear_news) hooks.hear_news(text);
  }
}

// Until the next round, or until something has happened here.
void Rounds::rest() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, heart_.rest(std::exchange(begins_, false)), [this] { return awake_; });
  awake_ = false;
}

void Rounds::break_off() {
  stop_.request_stop();
  if (worker_.joinable()) worker_.join();
  const std::lock_guard lock(mutex_);
  broken_ = true;
  changed_.notify_all();
}

// --- rank 0's flow -------------------------------------------------------------------------------------------------

void Rounds::order(std::string all, std::vector<std::string> each) {
  std::unique_lock lock(mutex_);
  done_ = halted_ = begun_ = false;
  halt_ = std::stop_source();
  if (stop_.stop_requested()) halt_.request_stop();
  ordered_ = {std::move(all), std::move(each)};
  awake_ = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return begun_ || broken_; });
}

std::vector<std::string> Rounds::reports() {
  std::unique_lock lock(mutex_);
  done_ = awake_ = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return reports_ || broken_; });
  if (!reports_) throw Error(FailureKind::nodes, "the other ranks do not answer");
  return *std::exchange(reports_, std::nullopt);
}

void Rounds::end() {
  const std::lock_guard lock(mutex_);
  ended_ = awake_ = true;
  changed_.notify_all();
}

}  // namespace sabath
