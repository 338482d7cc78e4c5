#include "fetch/decide/schedule.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace sabath {
namespace {

constexpr double window_s = 0.5;  // of a run's measured rate
// The seconds that a split must save, as it loses the late connection and the bytes on their way. Less where a far
// source helps another: there the links hold little, and two lanes of one source would share one.
constexpr double gain_min_s = 0.1, gain_other_s = 0.05;
constexpr double gain_latencies = 1.0;  // and more than asking costs
constexpr double gain_front_s = 1;      // while there are other bytes to be had
// The last packets of an answer are lost unnoticed: the sender waits for two round trips, and sends them again. A run
// that is silent for this time, and for this number of bytes at its rate, is not waited for: few bytes are asked twice.
constexpr double lost_s = 0.05, lost_bytes = 12e3, lost_latencies = 2, gain_lost_s = 0.04;
constexpr double patience_min_s = 0.2, patience_latencies = 4;  // a new connection needs several round trips
constexpr double unknown_rate = 1e6;  // bytes a second, of a run of which nothing has come yet
// In order, a request takes this long, if a chunk takes less; in the endgame no longer.
constexpr double in_order_latencies = 8, in_order_s = 0.5;
// In the endgame a request takes at least this long: its answer is waited for, and costs the server work.
constexpr double piece_latencies = 2, piece_s = 0.05;
constexpr std::uint64_t large_chunks = 4;
constexpr double end_latencies = 4;  // and what is left of it at the end is dealt at once
// Pieces that begin together are of unequal length, for equal ones would end together, and leave a gap. The multiples
// of this part of a circle fill it evenly.
constexpr double turn = 0.6180339887;
constexpr unsigned unknown_pieces = 8;  // where no rate is known, a piece is at least split_bytes_min times this

}  // namespace

void Schedule::add_free(ByteRange range) { free_.add(range); }

std::uint64_t Schedule::chunk_end(std::uint64_t byte) const {
  return std::min(size_, (chunk_of(byte) + 1) * limits_.chunk_bytes);
}

std::optional<Schedule::Place> Schedule::take(std::size_t source, Speed speed, unsigned lanes, double now,
                                              const Asks& asks) {
  split_ = false;
  const bool quiet = silent(source, now);
  if (quiet && (asks.dear || !last_hope(source, now))) return std::nullopt;
  // Nearby another request is quicker than a piece is; where it is not known yet whether it is near, a large file tells
  // little by a few requests more.
  const bool large = size_ >= large_chunks * limits_.chunk_bytes;
  const bool far = speed.latency >= far_s || (speed.latency <= 0 && large);
  const bool endgame = asks.last && !asks.dear && far && in_endgame(lanes);
  if (endgame && limits_.in_order && !free_.empty()) {
    if (const auto run = split_front(source, speed, now, asks.whole)) return run;
  }
  const auto range = free_.empty()
                         ? std::nullopt
                         : next_free(source, std::min(run_bytes(speed, lanes, now, endgame), asks.most), asks);
  if (!range) return asks.last && !asks.only ? split_late(source, speed, now, asks.whole) : std::nullopt;
  if (quiet) doubted_.insert(source);
  free_.remove(*range);
  if (!limits_.in_order) cursor_ = range->end;
  if (endgame) ++dealt_;
  return begin(source, *range, speed, now);
}

bool Schedule::silent(std::size_t source, double now) const {
  bool overdue = false;
  for (const Run& run : runs_) {
    if (run.source != source) continue;
    if (doubted_.contains(source)) return true;  // one run is enough to see whether it is back
    if (run.busy) return false;
    const bool late = now - run.heard_time > run.patience;
    if (run.heard && !late) return false;
    overdue = overdue || late;
  }
  return overdue;
}

bool Schedule::mute(const Run& run, double seconds, double now) const {
  if (run.heard || run.busy || now - run.heard_time <= std::max(seconds, run.patience)) return false;
  const auto last = heard_.find(run.source);
  return last != heard_.end() && last->second > run.heard_time;
}

// A source is silent, and nothing comes from any other, either: one more run finds out whether only its connections
// are dead. A server that serves a fixed number of connections may leave the others without an answer for ever.
bool Schedule::last_hope(std::size_t source, double now) const {
  if (doubted_.contains(source)) return false;
  std::set<std::size_t> sources;
  for (const Run& run : runs_) sources.insert(run.source);
  return std::ranges::all_of(sources, [&](std::size_t other) { return silent(other, now); });
}

// Guided self-scheduling: each request takes a part of what is left, so the first are few and the last are small. The
// part is half of what this lane would bring of it, were all to end together, and for the last requests all of that: a
// slow one takes less.
Schedule::Share Schedule::share_of_free(Speed speed, unsigned lanes, double now) const {
  double all = speed.rate;
  for (const Run& run : runs_) all += rate_of(run, now);
  const auto running = static_cast<double>(runs_.size());
  const double missing = static_cast<double>(lanes) - running - 1;  // lanes yet to begin
  if (missing > 0) all += missing * (runs_.empty() ? speed.rate : (all - speed.rate) / running);
  const auto free = static_cast<double>(free_.size());
  return {free * speed.rate / all, free < end_latencies * speed.latency * all};
}

std::uint64_t Schedule::run_bytes(Speed speed, unsigned lanes, double now, bool endgame) const {
  const auto chunk = static_cast<double>(limits_.chunk_bytes),
             most = chunk * static_cast<double>(limits_.run_chunks_max);
  const double request = in_order_latencies * speed.latency * speed.rate;
  const bool known = speed.rate > 0;
  const auto [share, last] = known ? share_of_free(speed, lanes, now) : Share{2 * chunk, false};
  if (!endgame) {
    const double ordered = limits_.in_order ? chunk * std::ceil(request / chunk) : most;
    return static_cast<std::uint64_t>(std::clamp(std::min(share / 2, ordered), chunk, most));
  }
  double bytes = last ? share : share / 2;
  if (!known) {
    const double each = static_cast<double>(free_.size()) / (2.0 * std::max(1U, lanes));
    bytes = std::min(each, static_cast<double>(limits_.first_bytes));
  } else if (limits_.in_order) {
    bytes = std::min(bytes, std::max(request, in_order_s * speed.rate));
  }
  const double round = turn * static_cast<double>(dealt_);
  if (!last) bytes *= 0.5 + (round - std::floor(round));
  const double least = std::min(chunk, std::max(piece_s, piece_latencies * speed.latency) * speed.rate);
  return static_cast<std::uint64_t>(
      std::clamp(bytes, std::max(static_cast<double>(limits_.split_bytes_min), least), most));
}

// The first bytes that are free between two places, in a chunk that is not avoided.
std::optional<ByteRange> Schedule::find_free(std::uint64_t from, std::uint64_t until, const Ask& avoided) const {
  for (auto found = free_.find_from(from); found && found->begin < until;
       found = free_.find_from(chunk_end(found->begin))) {
    if (!avoided(chunk_of(found->begin))) return found;
  }
  return std::nullopt;
}

// First the chunks at which other lanes of this source are: if one is wrong, its source is known. Then those at which
// no lane is; then all.
std::optional<ByteRange> Schedule::next_free(std::size_t source, std::uint64_t bytes, const Asks& asks) const {
  std::set<std::uint64_t> ours, theirs;
  for (const Run& run : runs_) {
    if (run.left() == 0) continue;
    auto& chunks = run.source == source ? ours : theirs;
    chunks.insert({chunk_of(run.position), chunk_of(run.end - 1)});
  }
  const auto taken = [&](std::uint64_t chunk) { return asks.taken && asks.taken(chunk); };
  const auto busy = [&](std::uint64_t chunk) { return theirs.contains(chunk) || taken(chunk); };
  if (asks.only) {
    const std::uint64_t at = *asks.only * limits_.chunk_bytes;
    const auto found = find_free(at, chunk_end(at), taken);
    return found ? std::optional(begin_of({found->begin, std::min(found->end, chunk_end(at))}, bytes, asks))
                 : std::nullopt;
  }
  for (const std::uint64_t chunk : ours) {
    const std::uint64_t at = chunk * limits_.chunk_bytes;
    if (const auto found = find_free(at, chunk_end(at), busy)) {
      return begin_of({found->begin, std::min(found->end, chunk_end(at))}, bytes, asks);
    }
  }
  // The cursor may stand inside a chunk that became free again: then look from the chunk's begin.
  const std::uint64_t from = limits_.in_order ? 0 : cursor_ / limits_.chunk_bytes * limits_.chunk_bytes;
  for (const Ask& avoided : {Ask(busy), Ask(taken)}) {
    auto found = find_free(from, size_, avoided);
    if (!found) found = find_free(0, from, avoided);
    if (found) return begin_of(*found, bytes, asks);
  }
  return std::nullopt;
}

// The part of `found` that a run of about `bytes` takes: a part of one chunk, if `bytes` is less than what is free of
// that chunk; else whole chunks.
ByteRange Schedule::begin_of(ByteRange found, std::uint64_t bytes, const Asks& asks) const {
  const std::uint64_t begin = found.begin;
  std::uint64_t end = std::min(found.end, chunk_end(begin));
  const bool whole = asks.whole && asks.whole(chunk_of(begin));
  const std::uint64_t rest = std::min(bytes / 2, limits_.split_bytes_min);  // less is not left for another
  if (!whole && bytes + rest < end - begin) return {begin, begin + bytes};
  const auto stops = [&](const Ask& ask, std::uint64_t chunk) { return ask && ask(chunk); };
  while (end < found.end && chunk_end(end) - begin <= bytes) {
    const std::uint64_t next = chunk_of(end);
    if (stops(asks.taken, next) || stops(asks.first, next) || stops(asks.whole, next)) break;
    end = std::min(found.end, chunk_end(end));
  }
  return {begin, end};
}

// The run that would end last gives the end of its bytes away, so that both end together.
std::optional<Schedule::Place> Schedule::split_late(std::size_t source, Speed speed, double now, const Ask& whole) {
  const bool doubted = doubted_.contains(source);
  std::optional<Cut> latest;
  for (Run& run : runs_) {
    if (run.left() == 0 || run.busy) continue;
    if (doubted && !silent(run.source, now)) continue;  // it may help where the others are no better
    const auto cut = cut_of(run, source, speed, now, whole);
    if (cut && (!latest || cut->alone > latest->alone)) latest = cut;
  }
  return latest ? std::optional(give(*latest, source, speed, now)) : std::nullopt;
}

// One connection that is much slower than the others keeps the hash waiting, and at the end all lanes.
std::optional<Schedule::Place> Schedule::split_front(std::size_t source, Speed speed, double now, const Ask& whole) {
  if (doubted_.contains(source)) return std::nullopt;
  Run* front = nullptr;
  for (Run& run : runs_) {
    if (run.left() > 0 && (front == nullptr || run.position < front->position)) front = &run;
  }
  if (front == nullptr || front->busy || !front->heard) return std::nullopt;
  const auto cut = cut_of(*front, source, speed, now, whole);
  if (!cut || cut->alone - cut->both < gain_front_s) return std::nullopt;
  return give(*cut, source, speed, now);
}

Schedule::Place Schedule::give(const Cut& cut, std::size_t source, Speed speed, double now) {
  const ByteRange range{cut.at, cut.run->end};
  reason_ = fmt::format(
      "{} bytes at {} go from source {} to another lane: {:.2f} s instead of {:.2f} s, theirs {:.0f} kB/s, ours {:.0f} "
      "kB/s",
      range.size(), range.begin, cut.run->source, cut.both, cut.alone, cut.theirs / 1e3, cut.ours / 1e3);
  if (cut.at == cut.run->position && silent(cut.run->source, now)) doubted_.insert(cut.run->source);
  cut.run->end = cut.at;
  split_ = true;
  return begin(source, range, speed, now, cut.patience);
}

// The part of `run` that a lane of this speed would take, if that is worth a request.
std::optional<Schedule::Cut> Schedule::cut_of(Run& run, std::size_t source, Speed speed, double now,
                                              const Ask& whole) const {
  const bool guess = speed.rate <= 0 && run.rate <= 0;
  Cut cut;
  cut.run = &run;
  cut.theirs = rate_of(run, now);
  cut.ours = speed.rate > 0 ? speed.rate : run.rate > 0 ? run.rate : unknown_rate;
  const double silent = std::max(0.0, now - run.heard_time);
  if (guess && !run.heard && silent <= run.patience) return std::nullopt;  // nothing says that it is late
  const auto left = static_cast<double>(run.left()), least = static_cast<double>(limits_.split_bytes_min);
  const bool lost = run.heard && silent >= lost_s && silent * cut.theirs >= lost_bytes && left <= least / 2;
  // A run that was silent for a while is expected to be silent for as long again.
  const double wait = lost ? std::max(silent, lost_latencies * run.latency) : silent;
  cut.alone = wait + left / cut.theirs;
  // Both end together at t: theirs * (t - wait) + ours * (t - latency) = left. Or we have it all before theirs go on.
  cut.both = (left + cut.theirs * wait + cut.ours * speed.latency) / (cut.ours + cut.theirs);
  const auto theirs = cut.theirs * std::max(0.0, cut.both - wait);  // bytes
  const bool over = silent > run.patience && (cut.both < wait || theirs < least || mute(run, 0, now));
  const bool all = over || lost || (run.heard && left < least / 16);  // crumbs are not shared
  if (!all && cut.both < wait) return std::nullopt;
  if (all) cut.both = speed.latency + left / cut.ours;
  if (over) cut.patience = 2 * run.patience;  // nothing may have been wrong but what we expected
  const bool other = run.source != source && speed.latency > far_s;
  const double worth = lost ? gain_lost_s : (other ? gain_other_s : gain_min_s) + gain_latencies * speed.latency;
  if (cut.alone - cut.both < worth) return std::nullopt;
  const std::uint64_t given =
      all ? run.left() : static_cast<std::uint64_t>(std::clamp(cut.ours * (cut.both - speed.latency), 0.0, left));
  const double enough = guess ? unknown_pieces * least : least / 16;
  if (given == 0 || (static_cast<double>(given) < enough && !all)) return std::nullopt;
  const auto at = cut_near(run, given, whole);
  if (!at) return std::nullopt;
  cut.at = *at;
  return cut;
}

// The place to cut off about `given` bytes: between two chunks if one ends nearby, so that the request before it ends
// with its chunk; always between two chunks if the chunk may not be split.
std::optional<std::uint64_t> Schedule::cut_near(const Run& run, std::uint64_t given, const Ask& whole) const {
  const std::uint64_t cut = run.end - given;
  const std::uint64_t near = (cut + limits_.chunk_bytes / 2) / limits_.chunk_bytes * limits_.chunk_bytes;
  const bool good = near > run.position && near < run.end;
  if (cut > run.position && good && run.left() > 2 * limits_.chunk_bytes) return near;
  if (cut % limits_.chunk_bytes == 0 || !whole || !whole(chunk_of(cut))) return cut;
  if (good) return near;
  return std::nullopt;
}

Schedule::Place Schedule::begin(std::size_t source, ByteRange range, Speed speed, double now, double patience) {
  Run run;
  run.source = source;
  run.position = run.mark_position = range.begin;
  run.end = range.end;
  run.rate = speed.rate;
  run.mark_time = run.heard_time = now + speed.latency;
  run.latency = speed.latency;
  run.patience = std::max(patience, patience_min_s + patience_latencies * speed.latency + speed.login);
  return runs_.insert(runs_.end(), run);
}

std::uint64_t Schedule::advance(Place run, std::uint64_t bytes, double now) {
  const std::uint64_t taken = std::min(bytes, run->left());
  run->position += taken;
  // The rate is that of bytes that come: the wait for the first, and for a connection, is over.
  if (taken > 0 && !std::exchange(run->heard, true)) run->mark_time = std::max(run->mark_time, now);
  if (taken > 0) run->heard_time = heard_[run->source] = now, doubted_.erase(run->source);
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
  if (run.rate <= 0 && recent > 0) return recent;
  const double weight = std::min(1.0, elapsed / (2 * window_s));
  return std::max(1.0, weight * recent + (1 - weight) * expected);
}

void Schedule::resume(Place run, double worked, double now) {
  run->busy = false;
  run->mark_time = std::min(now, run->mark_time + worked);
  run->heard_time = now;
}

void Schedule::shorten(Place run, std::uint64_t end) {
  if (end >= run->end) return;
  free_.add({end, run->end});
  run->end = end;
}

std::vector<ByteRange> Schedule::pass(Place run, ByteRange range) {
  std::vector<ByteRange> passed;
  if (run->position < range.begin) {
    shorten(run, range.begin);
  } else if (run->left() > 0 && run->position < range.end) {
    passed.push_back({run->position, std::min(run->end, range.end)});
    run->position = run->mark_position = passed.back().end;
  }
  for (auto found = free_.find_from(range.begin); found && found->begin < range.end;
       found = free_.find_from(found->end)) {
    passed.push_back({found->begin, std::min(found->end, range.end)});
    free_.remove(passed.back());
  }
  return passed;
}

void Schedule::release(Place run) {
  if (run->position < run->end) free_.add({run->position, run->end});
  runs_.erase(run);
}

bool Schedule::free_in(ByteRange range) const {
  const auto next = free_.find_from(range.begin);
  return next && next->begin < range.end;
}

bool Schedule::in_run(ByteRange range) const {
  return std::any_of(runs_.begin(), runs_.end(),
                     [&](const Run& run) { return run.position < range.end && range.begin < run.end; });
}

}  // namespace sabath
