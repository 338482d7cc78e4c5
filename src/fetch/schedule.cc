#include "fetch/schedule.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sabath {
namespace {

constexpr double window_s = 0.5;        // of a run's measured rate
constexpr double gain_min_s = 0.05;     // what a split must save: less is noise
constexpr double gain_latencies = 1.0;  // and more than asking costs
constexpr double unknown_rate = 1e6;    // bytes a second, of a run of which nothing has come yet

}  // namespace

void Schedule::add_free(ByteRange range) { free_.add(range); }

std::uint64_t Schedule::chunk_end(std::uint64_t byte) const {
  return std::min(size_, (chunk_of(byte) + 1) * limits_.chunk_bytes);
}

std::optional<Schedule::Place> Schedule::take(std::size_t source, Speed speed, unsigned lanes, double now,
                                              const Ask& taken, const Ask& whole) {
  if (const auto range = next_free(lanes, taken)) {
    free_.remove(*range);
    if (!limits_.in_order) cursor_ = range->end;
    return begin(source, *range, speed, now);
  }
  if (!free_.empty()) return std::nullopt;  // others are at it
  if (const auto range = split_late(speed, now, whole)) return begin(source, *range, speed, now);
  return std::nullopt;
}

// Guided self-scheduling: each request takes a share of what is left, so the first are few and the last are small.
std::optional<ByteRange> Schedule::next_free(unsigned lanes, const Ask& taken) const {
  const std::uint64_t fair = free_.size() / limits_.chunk_bytes / (2ULL * std::max(1U, lanes));
  const std::uint64_t most = limits_.in_order ? 1 : std::clamp<std::uint64_t>(fair, 1, limits_.run_chunks_max);
  const std::uint64_t from = limits_.in_order ? 0 : cursor_;
  for (const bool wrapped : {false, true}) {
    std::uint64_t at = wrapped ? 0 : from;
    while (const auto found = free_.find_from(at)) {
      if (wrapped && found->begin >= from) break;
      if (taken && taken(chunk_of(found->begin))) {
        at = chunk_end(found->begin);
        continue;
      }
      std::uint64_t end = std::min(found->end, chunk_end(found->begin));
      for (std::uint64_t n = 1; n < most && end < found->end && !(taken && taken(chunk_of(end))); ++n) {
        end = std::min(found->end, chunk_end(end));
      }
      return ByteRange{found->begin, end};
    }
    if (from == 0) break;
  }
  return std::nullopt;
}

// The run that would end last gives the end of its bytes away, so that both end together.
std::optional<ByteRange> Schedule::split_late(Speed speed, double now, const Ask& whole) {
  const double mine = speed.rate > 0 ? speed.rate : unknown_rate;
  Run* latest = nullptr;
  double most = 0, latest_rate = 0;
  for (Run& run : runs_) {
    if (run.left() < 2 * limits_.split_bytes_min || (whole && whole(chunk_of(run.end - 1)))) continue;
    const double rate = rate_of(run, now);
    const double seconds = static_cast<double>(run.left()) / rate;
    if (seconds > most) latest = &run, most = seconds, latest_rate = rate;
  }
  if (latest == nullptr) return std::nullopt;
  // Both end together at t: latest_rate * t + mine * (t - latency) = left.
  const auto left = static_cast<double>(latest->left());
  const double both = (left + mine * speed.latency) / (mine + latest_rate);
  if (most - both < gain_min_s + gain_latencies * speed.latency) return std::nullopt;
  auto given = static_cast<std::uint64_t>(std::min(left, mine * (both - speed.latency)));
  // Where a whole chunk ends nearby, the cut is there: the request before it ends with its chunk.
  std::uint64_t cut = latest->end - std::max(given, limits_.split_bytes_min);
  const std::uint64_t up = (cut + limits_.chunk_bytes / 2) / limits_.chunk_bytes * limits_.chunk_bytes;
  if (latest->end - latest->position > 2 * limits_.chunk_bytes && up > latest->position && up < latest->end) cut = up;
  if (whole && whole(chunk_of(cut))) return std::nullopt;
  cut = std::max(cut, latest->position);
  reason_ =
      fmt::format("{} bytes at {} go to another lane: theirs would take {:.2f} s at {:.0f} kB/s, ours {:.0f} kB/s",
                  latest->end - cut, cut, most, latest_rate / 1e3, mine / 1e3);
  const ByteRange range{cut, latest->end};
  latest->end = cut;
  return range;
}

Schedule::Place Schedule::begin(std::size_t source, ByteRange range, Speed speed, double now) {
  Run run;
  run.source = source;
  run.position = run.mark_position = range.begin;
  run.end = range.end;
  run.rate = speed.rate;
  run.mark_time = now + speed.latency;
  return runs_.insert(runs_.end(), run);
}

std::uint64_t Schedule::advance(Place run, std::uint64_t bytes, double now) {
  const std::uint64_t taken = std::min(bytes, run->left());
  run->position += taken;
  if (now - run->mark_time >= window_s) {
    run->rate = static_cast<double>(run->position - run->mark_position) / (now - run->mark_time);
    run->mark_time = now;
    run->mark_position = run->position;
  }
  return taken;
}

double Schedule::rate_of(const Run& run, double now) const {
  const double expected = run.rate > 0 ? run.rate : unknown_rate;
  const double elapsed = now - run.mark_time;
  if (elapsed <= 0) return expected;
  const double recent = static_cast<double>(run.position - run.mark_position) / elapsed;
  const double weight = std::min(1.0, elapsed / (2 * window_s));
  return std::max(1.0, weight * recent + (1 - weight) * expected);
}

void Schedule::release(Place run) {
  if (run->position < run->end) free_.add({run->position, run->end});
  runs_.erase(run);
}

bool Schedule::in_run(ByteRange range) const {
  return std::any_of(runs_.begin(), runs_.end(),
                     [&](const Run& run) { return run.position < range.end && range.begin < run.end; });
}

}  // namespace sabath
