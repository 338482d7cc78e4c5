#include "simulation.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "fetch/decide/connections.h"
#include "fetch/decide/retry.h"
#include "fetch/decide/schedule.h"
#include "simulation_link.h"

namespace sabath::test {
namespace {

constexpr double tick_s = 0.015;  // how often the hosts are looked at, as by the swarm

struct SimulatedHost {
  ConnectionPolicy policy;
  std::uint64_t bytes = 0, bytes_before = 0;
  unsigned in_use = 0, failures = 0;
  double rate = 0, latency = 0;  // of one lane; measured
  double paused_until = 0, failed_at = -1;
  double connecting = 0, connected_at = never;
  bool dead = false;
};

enum class State : std::uint8_t { idle, asking, reading };

struct Lane {
  State state = State::idle;
  std::size_t source = 0;
  Schedule::Place run;
  std::uint64_t counted = 0, request_end = 0;  // bytes that the ledger knows; where the request stops
  double asked_at = 0, ready_at = 0, heard_at = 0, read_until = 0;
  double stalled_until = 0, next_stall = never;
  double part = 0, rate = 0;                 // of a byte; in this step
  std::vector<std::optional<double>> grown;  // for each source: since when its connection grows, if it has one
};

class Simulation {
 public:
  Simulation(const SimulatedCase& setting, bool log);
  SimulatedResult run();

 private:
  void step(double step_s);
  void look(double now);
  void wake(double now);
  bool dispatch(Lane& lane, double now);
  void ask(Lane& lane, double now, bool split);
  void answer(Lane& lane);
  void share_rates(double now, double until);
  void deliver(Lane& lane, double now, double until);
  void finish(Lane& lane, double now);
  void fail(Lane& lane, double now, double retry_after, bool hurts);
  void bury(std::size_t source, double now);
  void count(Lane& lane, std::uint64_t until, double now);
  void check_chunk(std::uint64_t chunk, double now);
  void broken(const std::string& rule) {
    if (result_.fault.empty()) result_.fault = fmt::format("{:.3f} s: {}", now_, rule);
  }
  [[nodiscard]] ByteRange chunk_range(std::uint64_t chunk) const {
    return {chunk * case_.chunk_bytes, std::min(case_.size_bytes, (chunk + 1) * case_.chunk_bytes)};
  }
  [[nodiscard]] bool lies(std::size_t source, std::uint64_t chunk) const;

  const SimulatedCase& case_;
  const bool log_;
  std::mt19937_64 random_;
  Schedule schedule_;
  std::vector<SimulatedHost> hosts_;
  std::vector<Lane> lanes_;
  double now_ = 0;
  bool freed_ = true;  // something changed: idle lanes may find work
  ByteSet there_;
  std::set<std::uint64_t> cut_;                                     // chunks that lanes share in the endgame
  std::map<std::uint64_t, std::size_t> whole_;                      // chunks that one source alone must bring: which
  std::vector<std::uint64_t> chunk_bytes_, served_, served_wrong_;  // of each chunk; sources as bits
  std::vector<double*> wants_;
  SimulatedResult result_;
};

Schedule::Limits limits_of(const SimulatedCase& setting) {
  Schedule::Limits limits;
  limits.chunk_bytes = setting.chunk_bytes;
  limits.in_order = setting.in_order;
  limits.lanes_soon = std::min(32U, setting.lanes_max);
  return limits;
}

Simulation::Simulation(const SimulatedCase& setting, bool log)
    : case_(setting), log_(log), random_(setting.seed), schedule_(setting.size_bytes, limits_of(setting)) {
  ConnectionPolicy::Limits limits;
  limits.max = setting.connections_max;
  for (std::size_t i = 0; i < setting.sources.size(); ++i) hosts_.push_back({.policy = ConnectionPolicy(limits)});
  lanes_.resize(std::min<std::size_t>(setting.lanes_max, setting.connections_max * setting.sources.size()));
  for (auto& lane : lanes_) lane.grown.resize(setting.sources.size());
  const std::uint64_t chunks = (setting.size_bytes + setting.chunk_bytes - 1) / setting.chunk_bytes;
  chunk_bytes_.resize(chunks);
  served_.resize(chunks);
  served_wrong_.resize(chunks);
  schedule_.add_free({0, setting.size_bytes});
}

SimulatedResult Simulation::run() {
  const double step_s = step_of(case_), give_up_s = 10'000 * step_s + 60;
  double next_look = 0;
  while (!schedule_.complete() && result_.fault.empty()) {
    if (now_ >= next_look) {
      look(now_);
      next_look = now_ + tick_s;
    }
    if (std::exchange(freed_, false)) wake(now_);
    step(step_s);
    if (now_ > give_up_s) broken("does not end");
    if (std::all_of(hosts_.begin(), hosts_.end(), [](const SimulatedHost& host) { return host.dead; })) break;
  }
  result_.complete = schedule_.complete();
  result_.seconds = now_;
  if (result_.complete && result_.fault.empty() && there_.size() != case_.size_bytes) broken("bytes are missing");
  for (const auto& host : hosts_) result_.targets.push_back(host.policy.target());
  return std::move(result_);
}

// The client's regular work: it measures each host, and lets its policy decide.
void Simulation::look(double now) {
  std::uint64_t all = 0;
  for (const auto& host : hosts_) all += host.bytes;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    SimulatedHost& host = hosts_[i];
    const auto is_read = [&](const Lane& lane) {  // or silent, for longer than it should be
      return lane.source == i && lane.state != State::idle && lane.ready_at <= now;
    };
    const auto reading = std::ranges::count_if(lanes_, is_read);
    const auto came = static_cast<double>(host.bytes - std::exchange(host.bytes_before, host.bytes));
    if (reading > 0) {
      const double rate = came / tick_s / static_cast<double>(reading);
      host.rate = host.rate > 0 ? 0.8 * host.rate + 0.2 * rate : rate;
    }
    const double trip = now >= host.connected_at ? case_.sources[i].round_trip : 0;
    if (host.policy.observe({now, host.bytes, all, host.in_use, host.latency, {}, host.connecting, trip}) && log_)
      result_.decisions.push_back(fmt::format("{:.2f} s: {}: {}", now, i, host.policy.reason()));
    for (auto& lane : lanes_) {
      if (is_read(lane) && now - std::max(lane.heard_at, lane.ready_at) > case_.timeout_s) fail(lane, now, 0, true);
    }
  }
  freed_ = true;
}

void Simulation::wake(double now) {
  for (auto& lane : lanes_) {
    if (lane.state == State::idle && !dispatch(lane, now)) return;
  }
}

bool Simulation::dispatch(Lane& lane, double now) {
  unsigned targets = 0;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    const SimulatedHost& host = hosts_[i];
    if (host.dead || host.paused_until > now) continue;
    targets += host.policy.target();
    if (host.in_use < host.policy.target()) order.push_back(i);
  }
  const auto worth = [&](std::size_t i) { return hosts_[i].rate > 0 ? hosts_[i].rate : never; };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return worth(a) > worth(b); });
  for (const std::size_t i : order) {
    const auto whole = [&](std::uint64_t chunk) {
      const auto found = whole_.find(chunk);
      return found != whole_.end() && found->second != i;
    };
    const bool split = schedule_.free_bytes() == 0;
    const unsigned lanes = std::min(targets, case_.lanes_max);
    const bool endgame = schedule_.in_endgame(lanes);
    const auto place = schedule_.take(i, {hosts_[i].rate, hosts_[i].latency}, lanes, now, {.whole = whole});
    if (!place) continue;
    lane.source = i;
    lane.run = *place;
    if (endgame) {
      for (const std::uint64_t byte : {lane.run->position, lane.run->end - 1}) cut_.insert(byte / case_.chunk_bytes);
    }
    ask(lane, now, split);
    return true;
  }
  return false;
}

void Simulation::ask(Lane& lane, double now, bool split) {
  const Schedule::Run& run = *lane.run;
  const auto& source = case_.sources[lane.source];
  if (run.left() == 0) broken("an empty run");
  if (const auto found = there_.find_from(run.position); found && found->begin < run.end) broken("bytes read twice");
  const std::uint64_t first = run.position / case_.chunk_bytes, last = (run.end - 1) / case_.chunk_bytes;
  if (split) {
    ++result_.splits;
    if (log_) result_.decisions.push_back(fmt::format("{:.2f} s: to {}: {}", now, lane.source, schedule_.reason()));
  }
  for (const auto& other : schedule_.runs()) {
    if (&other == &run || other.left() == 0) continue;
    if (other.position < run.end && run.position < other.end) broken("two runs with one byte");
    for (const std::uint64_t chunk : {first, last}) {
      const ByteRange range = chunk_range(chunk);
      if (other.position >= range.end || range.begin >= other.end || cut_.contains(chunk)) continue;
      broken(fmt::format("two lanes at chunk {} before the endgame", chunk));
    }
  }
  ++result_.requests;
  ++hosts_[lane.source].in_use;
  lane.state = State::asking;
  lane.counted = run.position;
  lane.request_end = run.end;
  lane.asked_at = now;
  lane.ready_at = now + source.round_trip + source.think;
  auto& grown = lane.grown[lane.source];
  if (!grown) {
    lane.ready_at += source.connect_trips * source.round_trip;
    SimulatedHost& host = hosts_[lane.source];
    if (host.connecting == 0) host.connecting = std::max(now, 1e-6);
    host.connected_at = std::min(host.connected_at, now + source.connect_trips * source.round_trip);
    grown = lane.ready_at;
  }
  lane.next_stall = source.stalls > 0 ? lane.ready_at + std::exponential_distribution<>(source.stalls)(random_) : never;
  lane.stalled_until = lane.part = 0;
  lane.heard_at = lane.read_until = lane.ready_at;
  for (std::uint64_t chunk = first; chunk <= last; ++chunk) {
    if (const auto found = whole_.find(chunk); found != whole_.end()) found->second = lane.source;
  }
}

// The first byte, or what a server says instead.
void Simulation::answer(Lane& lane) {
  const auto& source = case_.sources[lane.source];
  SimulatedHost& host = hosts_[lane.source];
  const double now = lane.ready_at;
  if (now >= source.silent_at) return;
  if (now >= source.dies_at) return fail(lane, now, 0, true);
  if (now < source.ready_at) return fail(lane, now, source.ready_at - now, true);
  unsigned reading = 0;
  for (const auto& other : lanes_) reading += other.state == State::reading && other.source == lane.source ? 1 : 0;
  if (reading >= source.accepts) {
    const bool moved = host.policy.crowded(now, host.in_use);
    if (moved && log_) result_.decisions.push_back(fmt::format("{:.2f} s: {}", now, host.policy.reason()));
    return fail(lane, now, 0, false);
  }
  const double latency = now - lane.asked_at;
  host.latency = host.latency > 0 ? std::min(host.latency, latency) : latency;
  lane.state = State::reading;
}

void Simulation::share_rates(double now, double until) {
  const double middle = (now + until) / 2;
  std::vector<double*> all;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    const auto& source = case_.sources[i];
    wants_.clear();
    for (auto& lane : lanes_) {
      if (lane.state != State::reading || lane.source != i) continue;
      lane.rate = 0;
      if (middle >= source.silent_at || middle < lane.stalled_until) continue;
      lane.rate = rate_at(source, std::max(middle, lane.ready_at) - *lane.grown[i]);
      wants_.push_back(&lane.rate);
    }
    share(source.rate, wants_);
    all.insert(all.end(), wants_.begin(), wants_.end());
  }
  share(case_.link_rate, all);
}

void Simulation::step(double step_s) {
  const double until = now_ + step_s;
  for (auto& lane : lanes_) {
    if (lane.state == State::asking && lane.ready_at < until) answer(lane);
  }
  share_rates(now_, until);
  for (auto& lane : lanes_) {
    if (lane.state == State::idle) continue;
    if (lane.run->left() == 0) {
      finish(lane, now_);  // all that was left was given to another
    } else if (lane.state == State::reading) {
      deliver(lane, now_, until);
    }
  }
  now_ = until;
}

void Simulation::deliver(Lane& lane, double now, double until) {
  const auto& source = case_.sources[lane.source];
  if (until >= source.dies_at) return fail(lane, std::max(now, source.dies_at), 0, true);
  const double from = std::exchange(lane.read_until, until);
  if (lane.rate <= 0) return;
  const double came = lane.rate * (until - from) + lane.part;
  const auto left = lane.run->left();
  const auto bytes = static_cast<std::uint64_t>(std::min(came, static_cast<double>(left)));
  lane.part = came - static_cast<double>(bytes);
  const double then = bytes < left ? until : until - lane.part / lane.rate;
  if (schedule_.advance(lane.run, bytes, then) != bytes) broken("bytes that were not of the run");
  lane.heard_at = then;
  hosts_[lane.source].bytes += bytes;
  hosts_[lane.source].failures = 0;
  if (lane.run->left() == 0) return finish(lane, then);
  count(lane, lane.run->position / case_.chunk_bytes * case_.chunk_bytes, then);
  if (lane.state == State::reading && until >= lane.next_stall) {
    lane.stalled_until = until + source.stall_s;
    lane.next_stall = lane.stalled_until + std::exponential_distribution<>(source.stalls)(random_);
    lane.grown[lane.source] = lane.stalled_until - source.round_trip * trips_to(source, 0.5);
  }
}

void Simulation::finish(Lane& lane, double now) {
  const std::size_t source = lane.source;
  if (lane.run->end != lane.request_end || lane.state != State::reading) lane.grown[source].reset();  // it is cut off
  const std::uint64_t position = lane.run->position;
  schedule_.release(lane.run);
  lane.state = State::idle;
  --hosts_[source].in_use;
  count(lane, position, now);
  freed_ = !dispatch(lane, now) || freed_;
}

void Simulation::fail(Lane& lane, double now, double retry_after, bool hurts) {
  SimulatedHost& host = hosts_[lane.source];
  lane.grown[lane.source].reset();
  const std::uint64_t position = lane.run->position;
  schedule_.release(lane.run);
  lane.state = State::idle;
  --host.in_use;
  freed_ = true;
  if (hurts && lane.asked_at > host.failed_at) {  // those that were asked together failed together
    host.failed_at = now;
    host.dead = ++host.failures >= attempts_max;
  }
  const std::chrono::milliseconds asked(static_cast<std::int64_t>(retry_after * 1e3));
  host.paused_until = now + std::chrono::duration<double>(pause_after(host.failures, asked, 0.5)).count();
  count(lane, position, now);
}

// A source that lied is asked nothing more.
void Simulation::bury(std::size_t source, double now) {
  hosts_[source].dead = true;
  for (auto& lane : lanes_) {
    if (lane.state != State::idle && lane.source == source) fail(lane, now, 0, false);
  }
}

// Enters what a lane brought: each byte once, and each chunk that is whole is checked.
void Simulation::count(Lane& lane, std::uint64_t until, double now) {
  while (lane.counted < until) {
    const std::uint64_t chunk = lane.counted / case_.chunk_bytes;
    const ByteRange came{lane.counted, std::min(until, chunk_range(chunk).end)};
    lane.counted = came.end;
    if (const auto found = there_.find_from(came.begin); found && found->begin < came.end) broken("bytes came twice");
    there_.add(came);
    chunk_bytes_[chunk] += came.size();
    served_[chunk] |= 1ULL << lane.source;
    if (lies(lane.source, chunk)) served_wrong_[chunk] |= 1ULL << lane.source;
    if (chunk_bytes_[chunk] == chunk_range(chunk).size()) check_chunk(chunk, now);
  }
}

void Simulation::check_chunk(std::uint64_t chunk, double now) {
  const bool wrong = std::exchange(served_wrong_[chunk], 0) != 0;
  const std::uint64_t by = std::exchange(served_[chunk], 0);
  if (!wrong) return;
  const ByteRange range = chunk_range(chunk);
  there_.remove(range);
  chunk_bytes_[chunk] = 0;
  result_.bytes_redone += range.size();
  cut_.erase(chunk);
  schedule_.add_free(range);
  freed_ = true;
  if (std::has_single_bit(by)) {
    bury(static_cast<std::size_t>(std::countr_zero(by)), now);
  } else {
    whole_[chunk] = lanes_.size();  // one of them lied: the next one has it alone
  }
}

bool Simulation::lies(std::size_t source, std::uint64_t chunk) const {
  const double part = case_.sources[source].lies;
  if (part <= 0) return false;
  std::uint64_t x = case_.seed + 0x9e3779b97f4a7c15U * (chunk * 64 + source + 1);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-53 < part;
}

}  // namespace

SimulatedResult simulate(const SimulatedCase& setting, bool log) { return Simulation(setting, log).run(); }

}  // namespace sabath::test
