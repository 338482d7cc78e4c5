#include "fetch/decide/connections.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fetch/decide/schedule.h"

namespace sabath {
namespace {

constexpr double window_min_s = 0.12;   // a rate over less is noise ...
constexpr double window_latencies = 3;  // ... and so is one over less than this many round trips
constexpr double near_s = 0.02;      // of two round trips, a connection's and an answer's; a farther host gets more ...
constexpr double by_distance = 320;  // ... connections: this number for each second beyond
constexpr double sole_factor = 1.5;  // and that times this, where no other host brings the rest
constexpr double farther = 2;        // a host that has been silent for a time may well be silent for as long again
constexpr double retried_s = 0.9;    // a connection that took longer to open was asked for twice: that says nothing
constexpr unsigned silence_max = 48;    // before a connection stands, if others may be nearer
constexpr unsigned near_max = 16;       // what is near needs no more for large files
constexpr unsigned far_many = 16;       // small files, each of which waits for a round trip: at first
constexpr unsigned far_logins = 12;     // and so, where each costs a login
constexpr double login_latencies = 12;  // a login lasts that many round trips: no window is shorter
constexpr double worth = 1.10;          // what twice the connections must bring
constexpr double probe_worth = 1.04;    // what a quarter more must bring
constexpr double cores_full = 0.92;     // the part of our cores' time, beyond which more find none
constexpr double gain_kept = 0.5;       // the part of a host's gain that all hosts together must show
constexpr double hold_s = 3, hold_max_s = 60;
constexpr double crowded_hold_s = 5, crowded_once_s = 1;

}  // namespace

ConnectionPolicy::ConnectionPolicy(Limits limits)
    : limits_(limits), target_(std::clamp(limits.start, 1U, std::max(1U, limits.max))), hold_for_(hold_s) {
  limits_.max = most_ = std::max(1U, limits.max);
}

void ConnectionPolicy::open_window(const Seen& seen) {
  window_ = seen;
  window_open_ = true;
  held_back_ = false;
}

bool ConnectionPolicy::move_to(unsigned target, const char* why, double rate, double rate_of_all) {
  target = std::clamp(target, 1U, most_);
  if (target == target_) return false;
  reason_ = fmt::format("{} connections instead of {}: {} ({:.0f} kB/s, before {:.0f} kB/s)", target, target_, why,
                        rate / 1e3, base_rate_ / 1e3);
  before_ = std::exchange(target_, target);
  base_rate_ = rate;
  base_rate_of_all_ = rate_of_all;
  seen_rate_ = 0;
  window_open_ = settled_ = false;
  return true;
}

// The farther a host, the more connections fill the way: each has one window, which doubles with each round trip.
// `distance`: seconds from the start of a connection to the first answer.
unsigned ConnectionPolicy::far_start(double distance) const {
  if (limits_.by_login) return far_logins;
  if (limits_.by_program) return limits_.start;
  return limits_.start + static_cast<unsigned>(by_distance * std::clamp(distance - near_s, 0.0, 1.0));
}

bool ConnectionPolicy::sole(const Seen& seen) const { return seen.sole && !seen.manner.many && at_once(); }

unsigned ConnectionPolicy::far_start_for(double distance, const Seen& seen) {
  if (!sole(seen)) return far_start(distance);
  most_ = std::max(most_, limits_.sole_max);
  return far_start(near_s + sole_factor * (distance - near_s));
}

// Nearby a connection is as quick as the core that reads it; more than there are cores take them from each other.
unsigned ConnectionPolicy::near_start(Manner manner) const {
  return manner.many || !at_once() ? limits_.start : std::min(limits_.start, limits_.near_start);
}

// Opens connections enough to fill the way to a host while its length is learnt. Even a busy host opens a connection at
// once; so its distance is at least the time of its silence. Once a connection stands the distance is known, a round
// trip before the first answer can come.
bool ConnectionPolicy::hear_silence(const Seen& seen) {
  if (seen.in_use == 0 || !at_once() || seen.connecting <= 0) return false;
  if (placed_ || phase_ != Phase::starting) return false;
  if (seen.trip > 0 && seen.trip < retried_s) {
    placed_ = true;
    const unsigned start = seen.trip < far_s ? near_start(seen.manner) : far_start_for(2 * seen.trip, seen);
    return move_to(start, start < target_ ? "it is nearer than it seemed" : "it is far away", 0, 0);
  }
  const double silent = seen.now - seen.connecting;
  if (silent < far_s) return false;
  const unsigned wanted = far_start_for(2 * farther * silent, seen);
  const unsigned start = std::min(wanted, sole(seen) ? most_ : silence_max);
  return seen.in_use >= target_ && start > target_ && move_to(start, "it is far away", 0, 0);
}

bool ConnectionPolicy::observe(const Seen& seen) {
  if (seen.latency <= 0) return hear_silence(seen);
  if (phase_ == Phase::starting) {
    phase_ = Phase::growing;
    if (seen.latency < far_s) {
      limits_.max = std::min(limits_.max, std::max(1U, limits_.near_max));
      most_ = std::min(limits_.max, near_max);
      if (const unsigned start = near_start(seen.manner); target_ > start) return move_to(start, "it is near", 0, 0);
    } else if (const unsigned start = far_start_for(seen.latency, seen); target_ < start) {
      return move_to(start, "the host is far away", 0, 0);
    }
  }
  if (seen.manner.many && !std::exchange(many_, true)) {
    most_ = limits_.max;
    const unsigned start = seen.latency >= far_s ? far_many : limits_.start;
    if (target_ < start) return move_to(start, "there are many small files", 0, 0);
  }
  // Far away a request more costs nothing then, and fills what others wait for.
  const bool shared = seen.manner.many && seen.manner.shared && !std::exchange(shared_, true);
  if (shared && seen.latency >= far_s && target_ < most_) {
    return move_to(most_, "requests share connections", 0, 0);
  }
  held_back_ = held_back_ || seen.held_back;
  // Only what uses all its connections shows what more of them would bring.
  if (seen.in_use < target_) {
    window_open_ = false;
    return false;
  }
  if (!window_open_) {
    open_window(seen);
    return false;
  }
  const double elapsed = seen.now - window_.now;
  const double latencies = limits_.by_login ? login_latencies : window_latencies;
  if (elapsed < std::max(window_min_s, latencies * seen.latency)) return false;
  const double rate = static_cast<double>(seen.bytes - window_.bytes) / elapsed;
  const double of_all = static_cast<double>(seen.bytes_of_all - window_.bytes_of_all) / elapsed;
  const bool changed = judge(rate, of_all, seen);
  if (!changed) open_window(seen);
  return changed;
}

// The limit at our end that bounds this host's bytes, for messages; nullptr: none. Far away more connections win time.
const char* ConnectionPolicy::our_limit(const Seen& seen) const {
  if (held_back_) return "what comes waits for our checksum";
  if (seen.latency >= far_s || !seen.idle || !window_.idle) return nullptr;
  const bool full = *seen.idle - *window_.idle < (1 - cores_full) * (seen.now - window_.now);
  return full ? "our cores are busy" : nullptr;
}

bool ConnectionPolicy::judge(double rate, double rate_of_all, const Seen& seen) {
  const double now = seen.now;
  if (rate <= 0) return false;
  // Bytes that this host won and others lost are no gain.
  const double gain = rate - base_rate_, gain_of_all = rate_of_all - base_rate_of_all_;
  const char* const ours = our_limit(seen);
  const auto brought = [&](double factor) {
    return ours == nullptr && rate > factor * base_rate_ && gain_of_all > gain_kept * gain;
  };
  const char* const in_vain = ours != nullptr ? ours : "more brought nothing";
  const unsigned quarter = std::max(1U, target_ / 4);
  switch (phase_) {
    case Phase::starting:
      return false;
    case Phase::growing:
      if (rate > worth * std::exchange(seen_rate_, rate)) return false;  // they are still becoming quick
      if (seen.latency >= far_s && at_once() && !many_) {                // it was given what it needs
        hold(now);
        return false;
      }
      if (brought(worth) && target_ < most_) return move_to(target_ * 2, "more brought more", rate, rate_of_all);
      if (!brought(worth) && !std::exchange(settled_, true)) return false;  // a connection needs a while to be quick
      hold(now);
      return !brought(worth) && before_ < target_ && move_to(before_, in_vain, rate, rate_of_all);
    case Phase::holding:
      if (now < hold_until_ || target_ >= most_) return false;
      phase_ = Phase::probing;
      return move_to(target_ + quarter, "to see whether more bring more", rate, rate_of_all);
    case Phase::probing:
      if (!brought(probe_worth)) {
        if (target_ > before_ && !std::exchange(settled_, true)) return false;
        hold_for_ = std::min(hold_max_s, 2 * hold_for_);
        hold(now);
        return move_to(before_, in_vain, rate, rate_of_all);
      }
      hold_for_ = hold_s;
      if (move_to(target_ + quarter, "more brought more", rate, rate_of_all)) return true;
      hold(now);
      return false;
  }
  return false;
}

void ConnectionPolicy::hold(double now) {
  phase_ = Phase::holding;
  hold_until_ = now + hold_for_;
}

// All that were asked for together are refused together: that is said once. The first time half of them go; after a
// probe only what it added, and the next probe comes later.
bool ConnectionPolicy::crowded(double now, unsigned in_use) {
  if (now < crowded_until_) return false;
  crowded_until_ = now + crowded_once_s;
  const bool probed = phase_ == Phase::probing && before_ < target_;
  hold_for_ = probed ? std::min(hold_max_s, 2 * hold_for_) : crowded_hold_s;
  hold(now);
  const unsigned half = std::max(1U, std::min(target_, in_use) / 2);
  return move_to(probed ? before_ : half, "the host says that these are too many", 0, 0);
}

}  // namespace sabath
