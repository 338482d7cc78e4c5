#include "fetch/hosts/mirrors.h"

#include <algorithm>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "fetch/hosts/by_digest.h"
#include "fetch/hosts/host_of.h"
#include "fetch/hosts/page_guard.h"

namespace sabath {

namespace {
constexpr std::chrono::seconds refusal_memory{10};
constexpr unsigned crowded_failures = 2;  // that a host counts which serves others: pauses of 600 ms at most

double random_jitter() {
  thread_local std::minstd_rand engine{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(engine);
}
}  // namespace

MirrorSet::MirrorSet(FetchContext& context, const FileJob& job, bool ranges_needed)
    : hosts_(context.hosts), ranges_needed_(ranges_needed) {
  for (const auto& given : job.urls) {
    const Url url = by_digest(given, job);
    SourceLine& line = context.ledger.line(source_label(job, given));
    Host& host = host_of(context, url);
    const std::string content = job.known ? job.known->digest.hash.hex() : job.checksum.sha256 + job.name;
    mirrors_.push_back({url, &line, &host, content + " " + url.text(), {}, Clock::now(), {}, std::nullopt});
    mirrors_.back().rangeless = !ranges_needed && host.parts.wholes_only();
  }
}

std::optional<MirrorSet::Pick> MirrorSet::try_pick(const Filter& allowed) {
  const std::lock_guard lock(mutex_);
  if (!ranges_needed_ && count_alive() == 0) hear_wholes();
  const auto now = Clock::now();
  std::vector<MirrorState> states;
  bool alive = false, honest = false;
  for (std::size_t i = 0; i < mirrors_.size(); ++i) {
    Mirror& mirror = mirrors_[i];
    if (auto failure = mirror.line->given_up(); failure && !mirror.state.dead) {
      mirror.state.dead = true;
      mirror.last = failure;
    }
    alive = alive || !mirror.state.dead;
    honest = honest || (!mirror.state.dead && (!allowed || allowed(i)) && !hosts_.suspect(*mirror.host));
    MirrorState state = mirror.state;
    state.ready = mirror.ready_at <= now && !state.dead && (!allowed || allowed(i)) && mirror.host->open();
    state.rate = mirror.host->rate();
    state.lanes = mirror.host->in_use();
    states.push_back(state);
  }
  if (!alive) throw_most_telling();
  for (std::size_t i = 0; honest && i < mirrors_.size(); ++i) {
    states[i].ready = states[i].ready && !hosts_.suspect(*mirrors_[i].host);
  }
  while (const auto index = choose_mirror(states)) {
    Mirror& mirror = mirrors_[*index];
    if (mirror.host->try_connect()) {
      ++mirror.state.lanes;
      return Pick{*index, &mirror.url, mirror.line, mirror.host, now, mirror.coding};
    }
    states[*index].ready = false;  // another lane was quicker
  }
  return std::nullopt;
}

void MirrorSet::throw_most_telling() const {
  const Failure* most = nullptr;
  for (const auto& mirror : mirrors_) {
    if (mirror.last && (most == nullptr || tells_more(*mirror.last, *most))) most = &*mirror.last;
  }
  throw Error(most != nullptr ? *most : Failure{FailureKind::internal, "no source was tried", "", std::nullopt});
}

MirrorSet::Pick MirrorSet::pick(std::stop_token stop, std::optional<std::size_t> alone) {
  for (;;) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
    const std::size_t only = alone && !dead(*alone) ? *alone : size();
    if (auto pick = try_pick([&](std::size_t each) { return only == size() || each == only; })) return *pick;
    hosts_.wait(std::chrono::milliseconds(20));
  }
}

void MirrorSet::give_back(Mirror& mirror) {
  --mirror.state.lanes;
  mirror.host->disconnect();
}

void MirrorSet::succeeded(const Pick& pick) {
  pick.line->succeeded();
  const std::lock_guard lock(mutex_);
  auto& mirror = mirrors_[pick.index];
  give_back(mirror);
  mirror.state.failures = 0;
  if (mirror.part_refused && mirror.rangeless) mirror.host->parts.whole_came();
}

Error MirrorSet::of_part(const Pick& pick, const Error& error) {
  const Failure& failure = error.failure();
  const std::lock_guard lock(mutex_);
  Mirror& mirror = mirrors_[pick.index];
  const bool by_http = mirror.url.scheme().starts_with("http") || mirror.url.scheme().starts_with("dav");
  const bool refused = failure.kind == FailureKind::access || failure.kind == FailureKind::unavailable;
  const bool last = failure.kind == FailureKind::network &&
                    (mirror.state.failures + 1 >= attempts_max || mirror.host->parts.wholes_only());
  if (!by_http || !(refused || last) || asks_for_later(failure)) return error;
  const bool news = !mirror.part_refused;  // or other lanes have heard the same
  if (news && (mirror.rangeless || !mirror.host->parts.may_mean_the_part())) return error;
  mirror.part_refused = true;
  return ranges_needed_ ? Error(FailureKind::no_ranges, failure.message, failure.hint) : error;
}

void MirrorSet::hear_wholes() {
  for (Mirror& mirror : mirrors_) {
    if (!mirror.part_refused || std::exchange(mirror.rangeless, true)) continue;
    mirror.state.dead = false;
    mirror.ready_at = mirror.whole_since = Clock::now();
  }
}

void MirrorSet::failed(const Pick& pick, const Error& error, bool progress) {
  const Failure& failure = error.failure();
  const Verdict what = verdict(failure.kind);
  if (what != Verdict::fatal) pick.line->failed(failure, failure.kind == FailureKind::content);
  const std::lock_guard lock(mutex_);
  auto& mirror = mirrors_[pick.index];
  give_back(mirror);
  if (what == Verdict::fatal) throw error;
  // A part that a lane had asked for before the whole was: its refusal is no news.
  if (what == Verdict::give_up && mirror.part_refused && pick.at < mirror.whole_since) return;
  if (!mirror.state.dead || !mirror.last || !tells_more(*mirror.last, failure)) mirror.last = failure;
  // Lanes that one hiccup threw out together have seen one failure, not one each.
  const bool news = pick.at >= mirror.failed_at;
  mirror.failed_at = Clock::now();
  if (progress)
    mirror.state.failures = 1;
  else if (failure.retry_after && serves_others(mirror))
    mirror.state.failures = std::min(mirror.state.failures + 1, crowded_failures);
  else if (news)
    ++mirror.state.failures;
  if (failure.kind == FailureKind::changed && news) ++mirror.restarts;
  if (failure.kind == FailureKind::no_ranges) mirror.rangeless = true;
  // While it serves another lane it is only crowded.
  const bool hopeless = mirror.state.failures >= attempts_max && mirror.state.lanes == 0;
  const bool later = asks_for_later(failure);
  mirror.state.dead = mirror.state.dead || what == Verdict::give_up || hopeless || later ||
                      mirror.restarts >= attempts_max || (failure.kind == FailureKind::no_ranges && ranges_needed_);
  const bool was_whole = mirror.part_refused && mirror.rangeless && failure.kind != FailureKind::no_ranges;
  if (mirror.state.dead && was_whole) mirror.host->parts.whole_refused();
  if (failure.kind == FailureKind::content) lied(mirror);
  if (failure.kind == FailureKind::changed || failure.kind == FailureKind::no_ranges || later) return;
  const auto ready_at = mirror.failed_at + pause_after(mirror.state.failures, failure.retry_after, random_jitter());
  if (news || failure.retry_after) mirror.ready_at = std::max(mirror.ready_at, ready_at);
  if (failure.retry_after) {  // said of the host, not of this file
    mirror.host->pause_until(mirror.failed_at + *failure.retry_after, true);
  } else if (!progress && failure.kind == FailureKind::network) {
    mirror.host->left_out();
  }
}

// A host that takes no more of us now is no dead one as long as anything comes of it.
bool MirrorSet::serves_others(Mirror& mirror) {
  const std::uint64_t came = mirror.host->bytes_received();
  return came > std::exchange(mirror.host_bytes, came);
}

void MirrorSet::released(const Pick& pick) {
  const std::lock_guard lock(mutex_);
  give_back(mirrors_[pick.index]);
}

void MirrorSet::set_aside(const Pick& pick, const Failure& failure) {
  pick.line->failed(failure, false);
  const std::lock_guard lock(mutex_);
  Mirror& mirror = mirrors_[pick.index];
  give_back(mirror);
  mirror.state.dead = true;
  mirror.last = failure;
}

void MirrorSet::unused(const Pick& pick) {
  const std::lock_guard lock(mutex_);
  --mirrors_[pick.index].state.lanes;
  pick.host->disconnect_unused();
}

void MirrorSet::demote(std::size_t index, const Failure& failure) {
  const std::lock_guard lock(mutex_);
  mirrors_[index].line->failed(failure, true);
  mirrors_[index].last = failure;
  mirrors_[index].state.dead = true;
  lied(mirrors_[index]);
}

void MirrorSet::leave_out(const Heard& heard) {
  const std::lock_guard lock(mutex_);
  for (const auto& [index, failure] : heard) {
    mirrors_[index].last = failure;
    mirrors_[index].state.dead = true;
  }
}

void MirrorSet::lied(Mirror& mirror) { hosts_.judge(*mirror.host, mirror.subject, Hosts::Word::wrong); }

void MirrorSet::proved(std::size_t index) {
  hosts_.judge(*mirrors_[index].host, mirrors_[index].subject, Hosts::Word::right);
}

bool MirrorSet::has_proved(std::size_t index) const {
  return hosts_.judged(mirrors_[index].subject) == Hosts::Word::right;
}

std::vector<std::size_t> MirrorSet::fallen() {
  const unsigned wrong = hosts_.wrong_words();
  if (wrong_seen_.exchange(wrong) == wrong) return {};
  std::vector<std::size_t> fallen;
  const std::lock_guard lock(mutex_);
  std::size_t left = count_alive();
  for (std::size_t i = 0; i < mirrors_.size() && left > 1;
       ++i) {  // the last is heard here, too: the other rank may err
    Mirror& mirror = mirrors_[i];
    if (mirror.state.dead || hosts_.judged(mirror.subject) != Hosts::Word::wrong) continue;
    mirror.state.dead = true;
    mirror.last =
        Failure{FailureKind::content, fmt::format("{} gave another rank wrong bytes", mirror.url.display()),
                "the source holds another version, or it lies: it is not asked again for this file", std::nullopt};
    fallen.push_back(i);
    --left;
  }
  return fallen;
}

std::size_t MirrorSet::alive() const {
  const std::lock_guard lock(mutex_);
  return count_alive();
}

std::size_t MirrorSet::count_alive() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(mirrors_, [](const Mirror& mirror) { return !mirror.state.dead; }));
}

void MirrorSet::revive(std::size_t index) {
  const std::lock_guard lock(mutex_);
  mirrors_[index].state.dead = false;
  mirrors_[index].state.failures = 0;
}

bool MirrorSet::dead(std::size_t index) const {
  const std::lock_guard lock(mutex_);
  return mirrors_[index].state.dead;
}

bool MirrorSet::rangeless(const Pick& pick) const {
  const std::lock_guard lock(mutex_);
  return mirrors_[pick.index].rangeless;
}

bool MirrorSet::ask_otherwise(const Pick& pick, const ContentInfo& info) {
  const auto coding = other_coding(info, pick.coding);
  if (!coding) return false;
  const std::lock_guard lock(mutex_);
  mirrors_[pick.index].coding = *coding;
  mirrors_[pick.index].sent = how_sent(info, *coding);
  mirrors_[pick.index].rangeless = true;
  return true;
}

std::string MirrorSet::name(std::size_t index) const {
  const std::lock_guard lock(mutex_);
  return mirrors_[index].url.display() + mirrors_[index].sent;
}

bool MirrorSet::dear(const Pick& pick) const {
  if (pick.host->by_program()) return true;
  const std::lock_guard lock(mutex_);
  return Clock::now() - mirrors_[pick.index].failed_at < refusal_memory;
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

void MirrorSet::blame_other(std::set<std::size_t> suspects, std::size_t right, const std::string& name) {
  suspects.erase(right);
  if (suspects.size() != 1) return;
  demote(*suspects.begin(), {FailureKind::content, fmt::format("the part of {} that it sent does not match", name),
                             "it holds another version, or it lies", std::nullopt});
}

void MirrorSet::revive_rangeless() {
  const std::lock_guard lock(mutex_);
  ranges_needed_ = false;
  for (auto& mirror : mirrors_) {
    if (mirror.rangeless && mirror.last && mirror.last->kind == FailureKind::no_ranges) {
      mirror.state.dead = false;
      mirror.whole_since = Clock::now();
      if (!mirror.part_refused) mirror.state.failures = 0;  // else it is asked once
    }
  }
}

}  // namespace sabath
