#include "store/space/reservation.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/threads.h"
#include "sabath/error.h"
#include "store/disk/below.h"
#include "store/disk/small_file.h"
#include "store/leases/lease_file.h"
#include "store/leases/uses.h"
#include "store/space/reservation_file.h"
#include "store/state.h"

namespace sabath {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto look_again = std::chrono::milliseconds(20);
// A writer that asks, and tells no outcome for this long, is stopped or hidden: its request counts as granted.
constexpr auto undecided_max = std::chrono::seconds(5);
// Other writers update their files a moment after they write; the file of one that has just ended goes as late.
constexpr auto lag_max = std::chrono::milliseconds(1500);
constexpr auto tell_every = std::chrono::milliseconds(500);
constexpr std::uint64_t told_parts = 64;  // a change by this part of the whole is written

bool granted(const FoundReservation& one) { return one.text.bytes > 0 || one.text.inodes > 0; }

// `asked`: also requests not granted yet.
Promised sum_of(const std::vector<FoundReservation>& all, const std::string& own, bool asked) {
  Promised sum;
  for (const auto& one : all) {
    if (!one.live || one.name == own) continue;
    const bool asks = asked && one.text.asks();
    if (!granted(one) && !asks) continue;
    const std::uint64_t bytes = one.text.bytes + (asks ? one.text.more_bytes : 0);
    const std::uint64_t inodes = one.text.inodes + (asks ? one.text.more_inodes : 0);
    ++sum.writers;
    sum.bytes += bytes;
    sum.inodes += inodes;
    if (one.user != ::geteuid()) continue;
    sum.user_bytes += bytes;
    sum.user_inodes += inodes;
  }
  return sum;
}

}  // namespace

std::uint64_t remove_dead_reservations(Store::State& store) {
  std::uint64_t removed = 0;
  for (const auto& one :
       read_reservations(store.layout, store.writer.host, [&] { return server_now_or_ours(store.temporaries); })) {
    if (!one.live && unlink_below(store.layout.root(), one.file)) ++removed;
  }
  return removed;
}

class Reservation::Holding {
 public:
  Holding(Store::State& store, std::string note)
      : store_(store), file_(store.layout.reservations() / store.uses.new_name()), name_(file_.filename()) {
    text_.note = std::move(note);
    text_.job = store.job;
  }

  ~Holding() {
    if (!heart_.joinable()) return;
    store_.landing.listen({});
    heart_.request_stop();
    heart_.join();
    ::unlink(file_.c_str());
  }

  void grow(std::uint64_t bytes, std::uint64_t inodes, const Judge& judge, const std::stop_token& stop) {
    const std::lock_guard one_at_a_time(growing_);
    begin();
    set_more(bytes, inodes, false);
    try {
      contend(judge, stop);
    } catch (...) {
      set_more(0, 0, false);
      throw;
    }
    const std::lock_guard lock(mutex_);
    granted_.bytes += bytes;
    granted_.inodes += inodes;
    text_.more_bytes = text_.more_inodes = 0;
    write();
  }

  void shrink(std::uint64_t bytes, std::uint64_t inodes) {
    const std::lock_guard lock(mutex_);
    granted_.bytes -= std::min(granted_.bytes, bytes);
    granted_.inodes -= std::min(granted_.inodes, inodes);
  }

 private:
  void begin() {
    if (heart_.joinable()) return;
    begun_ = store_.landing.sum();
    remove_dead_reservations(store_);
    heart_ = start_thread([this](const std::stop_token& stop) { beat(stop); });
    store_.landing.listen([this](const Landing::Sum&) { landed_ = true; });
  }

  // Returns when the room asked for is ours; throws when it is not to be had.
  void contend(const Judge& judge, const std::stop_token& stop) {
    const auto begin = Clock::now();
    for (;;) {
      const auto all = look();
      const auto failure = judge(sum_of(all, name_, true), own());
      if (!failure) return;
      const bool patient = Clock::now() - begin < undecided_max;
      if (const auto sure = judge(sum_of(all, name_, false), own())) {
        // It does not fit even without pending requests. Wait out room that is counted twice for a moment.
        const bool others = std::ranges::any_of(all, [&](const auto& one) { return counts(one) && granted(one); });
        if (!others || Clock::now() - begin > lag_max || judge({}, own())) throw Error(*sure);
      } else if (!patient) {
        throw Error(*failure);
      } else if (first_asker_goes_before_us(all)) {
        give_way(begin, stop);
      }
      pause(stop);
    }
  }

  [[nodiscard]] Promised own() {
    const std::lock_guard lock(mutex_);
    const auto [bytes, inodes] = rest();
    return {bytes, inodes, bytes, inodes, 1};
  }

  [[nodiscard]] bool counts(const FoundReservation& one) const { return one.live && one.name != name_; }

  [[nodiscard]] bool first_asker_goes_before_us(const std::vector<FoundReservation>& all) const {
    return std::ranges::any_of(all,
                               [&](const auto& one) { return counts(one) && one.text.asks() && one.name < name_; });
  }

  // Notes that it waits, waits until the writers that go before us know their answer, and asks anew.
  void give_way(Clock::time_point begin, const std::stop_token& stop) {
    set_waits(true);
    while (Clock::now() - begin < undecided_max && first_asker_goes_before_us(look())) pause(stop);
    set_waits(false);
  }

  std::vector<FoundReservation> look() {
    return read_reservations(store_.layout, store_.writer.host,
                             [this] { return server_now_or_ours(store_.temporaries); });
  }

  void pause(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, look_again, [] { return false; });
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
  }

  void set_more(std::uint64_t bytes, std::uint64_t inodes, bool waits) {
    const std::lock_guard lock(mutex_);
    text_.more_bytes = bytes;
    text_.more_inodes = inodes;
    text_.waits = waits;
    write();
  }

  void set_waits(bool waits) {
    const std::lock_guard lock(mutex_);
    text_.waits = waits;
    write();
  }

  // Under mutex_: the room granted and not written yet.
  [[nodiscard]] Landing::Sum rest() const {
    const Landing::Sum now = store_.landing.sum();
    return {granted_.bytes - std::min(granted_.bytes, now.bytes - begun_.bytes),
            granted_.inodes - std::min(granted_.inodes, now.inodes - begun_.inodes)};
  }

  // Under mutex_; best effort.
  void write() {
    told_ = store_.landing.sum();
    const auto [bytes, inodes] = rest();
    text_.bytes = bytes;
    text_.inodes = inodes;
    try {
      replace_file(store_.temporaries, file_, encode_reservation(text_), false);
    } catch (const Error&) {  // then no other process knows
    }
  }

  [[nodiscard]] bool worth_telling() const {
    const Landing::Sum now = store_.landing.sum();
    return now.bytes - told_.bytes > granted_.bytes / told_parts ||
           now.inodes - told_.inodes > granted_.inodes / told_parts;
  }

  void beat(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    auto touched = Clock::now();
    while (!changed_.wait_for(lock, stop, tell_every, [&] { return stop.stop_requested(); })) {
      if (landed_.exchange(false) && worth_telling()) {
        write();
        touched = Clock::now();
      } else if (Clock::now() - touched > lease_beat) {
        if (::utimensat(AT_FDCWD, file_.c_str(), nullptr, 0) != 0 && errno == ENOENT) write();  // a purge took it
        touched = Clock::now();
      }
    }
  }

  Store::State& store_;
  const std::filesystem::path file_;
  const std::string name_;
  std::mutex growing_;  // before mutex_
  std::mutex mutex_;    // of what follows
  std::condition_variable_any changed_;
  ReservationText text_;
  Landing::Sum granted_, begun_, told_;
  std::atomic<bool> landed_{false};
  std::jthread heart_;
};

Promised promised_by_others(Store& store) {
  Store::State& state = store.state();
  return sum_of(read_reservations(state.layout, state.writer.host, unix_time<>), "", true);
}

Reservation::Reservation(Store& store, std::string note)
    : holding_(std::make_unique<Holding>(store.state(), std::move(note))) {}
Reservation::~Reservation() = default;

void Reservation::grow(std::uint64_t bytes, std::uint64_t inodes, const Judge& judge, const std::stop_token& stop) {
  holding_->grow(bytes, inodes, judge, stop);
}

void Reservation::shrink(std::uint64_t bytes, std::uint64_t inodes) { holding_->shrink(bytes, inodes); }

}  // namespace sabath
