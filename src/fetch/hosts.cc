#include "fetch/hosts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace sabath {
namespace {

constexpr unsigned connections_max = 64;  // many small files at a distance need as many
constexpr double rate_window_s = 0.4;
constexpr double rate_memory = 0.5;  // weight of the past

}  // namespace

bool Host::open() const {
  const std::lock_guard lock(table_.mutex_);
  return in_use_ < policy_.target() && table_.in_use_ < table_.lanes_max_ && paused_until_ <= Clock::now();
}

bool Host::try_connect() {
  const std::lock_guard lock(table_.mutex_);
  if (in_use_ >= policy_.target() || table_.in_use_ >= table_.lanes_max_ || paused_until_ > Clock::now()) return false;
  ++in_use_;
  ++table_.in_use_;
  return true;
}

void Host::disconnect() {
  disconnect_unused();
  table_.changed_.notify_one();
}

void Host::disconnect_unused() {
  const std::lock_guard lock(table_.mutex_);
  --in_use_;
  --table_.in_use_;
}

void Host::answered(std::chrono::duration<double> latency) {
  const std::lock_guard lock(table_.mutex_);
  latency_ = latency_ == 0 ? latency.count() : std::min(latency_, latency.count());
}

void Host::pause_until(Clock::time_point time) {
  const std::lock_guard lock(table_.mutex_);
  paused_until_ = std::max(paused_until_, time);
}

void Host::crowded() {
  const std::lock_guard lock(table_.mutex_);
  policy_.crowded(table_.now(), in_use_);
}

Host::Clock::time_point Host::paused_until() const {
  const std::lock_guard lock(table_.mutex_);
  return paused_until_;
}

unsigned Host::in_use() const {
  const std::lock_guard lock(table_.mutex_);
  return in_use_;
}

double Host::rate() const {
  const std::lock_guard lock(table_.mutex_);
  return rate_;
}

Schedule::Speed Host::speed() const {
  const std::lock_guard lock(table_.mutex_);
  return {rate_ / std::max(1U, in_use_), latency_};
}

Hosts::Hosts(unsigned lanes_max)
    : each_(lanes_max == 0 ? ConnectionPolicy::Limits{16, connections_max}
                           : ConnectionPolicy::Limits{std::min(8U, lanes_max), lanes_max}),
      lanes_max_(lanes_max == 0 ? connections_max : lanes_max) {}

Host& Hosts::of(const std::string& origin) {
  const std::lock_guard lock(mutex_);
  Host*& host = by_origin_[origin];
  if (host == nullptr) host = &hosts_.emplace_back(*this, origin, each_);
  return *host;
}

std::vector<std::string> Hosts::tick() {
  std::vector<std::string> reasons;
  {
    const std::lock_guard lock(mutex_);
    const double time = now();
    std::uint64_t of_all = 0;
    for (const Host& host : hosts_) of_all += host.bytes_;
    for (Host& host : hosts_) {
      const std::uint64_t bytes = host.bytes_;
      if (time - host.rate_time_ >= rate_window_s) {
        const double rate = static_cast<double>(bytes - host.rate_bytes_) / (time - host.rate_time_);
        const bool idle = host.in_use_ == 0 && rate == 0;
        if (!idle) host.rate_ = host.rate_ == 0 ? rate : rate_memory * host.rate_ + (1 - rate_memory) * rate;
        host.rate_time_ = time;
        host.rate_bytes_ = bytes;
      }
      if (host.policy_.observe({time, bytes, of_all, host.in_use_, host.latency_})) {
        reasons.push_back(fmt::format("{}: {}", host.origin_, host.policy_.reason()));
      }
    }
  }
  if (!reasons.empty()) wake();
  return reasons;
}

unsigned Hosts::connections() const {
  const std::lock_guard lock(mutex_);
  unsigned sum = 0;
  for (const Host& host : hosts_) sum += host.policy_.target();
  return std::clamp(sum, 1U, lanes_max_);
}

void Hosts::wait(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, most);
}

void Hosts::wake() { changed_.notify_all(); }

}  // namespace sabath
