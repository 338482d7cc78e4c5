#include "fetch/mirrors.h"

#include <algorithm>
#include <random>

#include "fetch/rate_limit.h"

namespace sabath {

namespace {
double random_jitter() {
  thread_local std::minstd_rand engine{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(engine);
}
}  // namespace

MirrorSet::MirrorSet(const FileJob& job, Ledger& ledger, bool ranges_needed) : ranges_needed_(ranges_needed) {
  for (const auto& url : job.urls) {
    SourceLine& line = ledger.line(job.listed ? url.origin() + "/" : url.display());
    mirrors_.push_back({url, &line, {}, Clock::now(), {}, std::nullopt});
  }
}

MirrorSet::Pick MirrorSet::pick(std::stop_token stop) {
  for (;;) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
    std::chrono::milliseconds wait(50);
    {
      const std::lock_guard lock(mutex_);
      const auto now = Clock::now();
      std::vector<MirrorState> states;
      std::optional<Clock::time_point> earliest;
      for (auto& mirror : mirrors_) {
        if (auto failure = mirror.line->given_up(); failure && !mirror.state.dead) {
          mirror.state.dead = true;
          mirror.last = failure;
        }
        mirror.state.ready = mirror.ready_at <= now;
        mirror.state.rate = mirror.line->rate();
        states.push_back(mirror.state);
        if (!mirror.state.dead) earliest = std::min(earliest.value_or(mirror.ready_at), mirror.ready_at);
      }
      if (const auto index = choose_mirror(states)) {
        ++mirrors_[*index].state.lanes;
        return {*index, &mirrors_[*index].url, mirrors_[*index].line, now};
      }
      if (!earliest) {
        const Failure* most = nullptr;
        for (const auto& mirror : mirrors_) {
          if (mirror.last && (most == nullptr || tells_more(*mirror.last, *most))) most = &*mirror.last;
        }
        throw Error(most != nullptr ? *most : Failure{FailureKind::internal, "no source was tried", "", std::nullopt});
      }
      wait = std::chrono::duration_cast<std::chrono::milliseconds>(*earliest - now) + std::chrono::milliseconds(1);
    }
    sleep_unless_stopped(wait, stop);
  }
}

void MirrorSet::succeeded(const Pick& pick, std::uint64_t bytes, double seconds) {
  pick.line->succeeded(bytes, seconds);
  const std::lock_guard lock(mutex_);
  auto& mirror = mirrors_[pick.index];
  --mirror.state.lanes;
  mirror.state.failures = 0;
}

void MirrorSet::failed(const Pick& pick, const Error& error, bool progress) {
  const Failure& failure = error.failure();
  const Verdict what = verdict(failure.kind);
  if (what != Verdict::fatal) pick.line->failed(failure, failure.kind == FailureKind::content);
  const std::lock_guard lock(mutex_);
  auto& mirror = mirrors_[pick.index];
  --mirror.state.lanes;
  if (what == Verdict::fatal) throw error;
  mirror.last = failure;
  // Lanes that one hiccup threw out together have seen one failure, not one each.
  const bool news = pick.at >= mirror.failed_at;
  mirror.failed_at = Clock::now();
  if (progress)
    mirror.state.failures = 1;
  else if (news)
    ++mirror.state.failures;
  if (failure.kind == FailureKind::changed) ++mirror.restarts;
  if (failure.kind == FailureKind::no_ranges) mirror.rangeless = true;
  // While it serves another lane it is only crowded.
  const bool hopeless = mirror.state.failures >= attempts_max && mirror.state.lanes == 0;
  mirror.state.dead = mirror.state.dead || what == Verdict::give_up || hopeless || mirror.restarts >= attempts_max ||
                      (failure.kind == FailureKind::no_ranges && ranges_needed_);
  if (failure.kind == FailureKind::changed || failure.kind == FailureKind::no_ranges) return;
  const auto ready_at = mirror.failed_at + pause_after(mirror.state.failures, failure.retry_after, random_jitter());
  if (news || failure.retry_after) mirror.ready_at = std::max(mirror.ready_at, ready_at);
}

void MirrorSet::released(const Pick& pick) {
  const std::lock_guard lock(mutex_);
  --mirrors_[pick.index].state.lanes;
}

void MirrorSet::demote(std::size_t index, const Failure& failure) {
  const std::lock_guard lock(mutex_);
  mirrors_[index].line->failed(failure, true);
  mirrors_[index].last = failure;
  mirrors_[index].state.dead = true;
}

bool MirrorSet::rangeless(const Pick& pick) const {
  const std::lock_guard lock(mutex_);
  return mirrors_[pick.index].rangeless;
}

bool MirrorSet::only_rangeless() const {
  const std::lock_guard lock(mutex_);
  bool some = false;
  for (const auto& mirror : mirrors_) {
    if (!mirror.state.dead) return false;
    some = some || mirror.rangeless;
  }
  return some && ranges_needed_;
}

void MirrorSet::revive_rangeless() {
  const std::lock_guard lock(mutex_);
  ranges_needed_ = false;
  for (auto& mirror : mirrors_) {
    if (mirror.rangeless && mirror.last->kind == FailureKind::no_ranges) {
      mirror.state.dead = false;
      mirror.state.failures = 0;
    }
  }
}

}  // namespace sabath
