#include "fetch/known_transfer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace sabath {

namespace {
constexpr std::uint64_t run_chunks_max = 8;  // one request; small enough that a slow mirror cannot hold much
constexpr double straggler_factor = 4;       // times the average for one chunk ...
constexpr double straggler_seconds = 2;      // ... but at least so long without an advance
}  // namespace

KnownTransfer::KnownTransfer(FetchContext& context, const FileJob& job)
    : context_(context), job_(job), mirrors_(job, context.ledger, true) {}

bool KnownTransfer::work(Lane& lane) {
  std::optional<Place> run;
  {
    std::unique_lock lock(mutex_);
    if (phase_ == Phase::fresh) {  // what takes long is done without the mutex: the other lanes have other files
      phase_ = Phase::opening;
      lock.unlock();
      open();
      return true;
    }
    if (phase_ != Phase::open) return false;
    if (missing_ == 0 && runs_.empty()) {
      phase_ = Phase::publishing;
      lock.unlock();
      publish();
      return true;
    }
    run = take_run();
  }
  if (!run) return false;
  try {
    fetch_run(lane, **run);
  } catch (...) {
    give_back(*run);
    throw;
  }
  give_back(*run);
  return true;
}

void KnownTransfer::open() {
  if (context_.force) context_.store.distrust(job_.known->digest);
  partial_ = context_.store.open_partial(job_.known->digest, job_.known->chunks);
  const auto done = partial_->chunks_done();
  std::uint64_t reused = 0;
  const std::lock_guard lock(mutex_);
  for (std::uint64_t i = 0; i < done.size(); ++i) {
    chunks_.push_back(done[i] ? ChunkState::done : ChunkState::missing);
    if (done[i])
      reused += chunk_length(size(), i);
    else
      ++missing_;
  }
  if (reused > 0) context_.events.on(event::BytesReused{reused});
  phase_ = Phase::open;
}

// --- who fetches what; the mutex is held ---------------------------------------------------------------------------

std::optional<KnownTransfer::Place> KnownTransfer::take_run() {
  if (sequential_ && !runs_.empty()) return std::nullopt;
  if (missing_ == 0) return take_second();
  Run run;
  if (sequential_) {
    run.end = chunks_.size();
    run.whole = true;
  } else {
    std::uint64_t passed = 0;  // from where the last run ended, around to there again
    const auto at = [&] { return (cursor_ + passed) % chunks_.size(); };
    while (passed < chunks_.size() && (chunks_[at()] != ChunkState::missing || partial_->claimed_by_other(at()))) {
      ++passed;
    }
    if (passed == chunks_.size()) {
      take_news();
      return std::nullopt;
    }
    const std::uint64_t fair = missing_ / (2ULL * std::max(1U, context_.lanes)) + 1;
    run.next = run.end = at();
    while (run.end - run.next < std::min(fair, run_chunks_max) && run.end < chunks_.size() &&
           chunks_[run.end] == ChunkState::missing && !partial_->claimed_by_other(run.end)) {
      ++run.end;
    }
    cursor_ = run.end % chunks_.size();
  }
  for (std::uint64_t i = run.next; i < run.end; ++i) {
    if (chunks_[i] != ChunkState::missing) continue;
    chunks_[i] = ChunkState::taken;
    --missing_;
    partial_->claim(i);
  }
  return runs_.insert(runs_.end(), std::move(run));
}

// The last chunk of a run that has not advanced for long.
std::optional<KnownTransfer::Place> KnownTransfer::take_second() {
  if (chunk_seconds_ == 0) return std::nullopt;
  const auto patience = std::chrono::duration<double>(std::max(straggler_seconds, straggler_factor * chunk_seconds_));
  for (const Run& slow : runs_) {
    if (slow.second || slow.whole || Clock::now() - slow.advanced < patience) continue;
    for (std::uint64_t i = slow.end; i-- > slow.next;) {
      if (chunks_[i] != ChunkState::taken || !seconded_.insert(i).second) continue;
      Run run;
      run.next = i;
      run.end = i + 1;
      run.second = true;
      return runs_.insert(runs_.end(), std::move(run));
    }
  }
  return std::nullopt;
}

// All that is missing is claimed by living others: sees what they have finished since.
void KnownTransfer::take_news() {
  const auto done = partial_->chunks_done();
  for (std::uint64_t i = 0; i < chunks_.size(); ++i) {
    if (chunks_[i] != ChunkState::missing || !done[i]) continue;
    chunks_[i] = ChunkState::done;
    --missing_;
    context_.events.on(event::BytesReused{chunk_length(size(), i)});
  }
}

bool KnownTransfer::all_done(const Run& run) const {
  return std::all_of(chunks_.begin() + static_cast<std::ptrdiff_t>(run.next),
                     chunks_.begin() + static_cast<std::ptrdiff_t>(run.end),
                     [](ChunkState state) { return state == ChunkState::done; });
}

void KnownTransfer::give_back(Place place) {
  const std::lock_guard lock(mutex_);
  const Run run = *place;
  runs_.erase(place);
  for (std::uint64_t i = run.next; i < run.end; ++i) {
    if (run.second) seconded_.erase(i);
    const bool held = std::any_of(runs_.begin(), runs_.end(), [&](const Run& r) { return r.next <= i && i < r.end; });
    if (chunks_[i] != ChunkState::taken || held) continue;
    chunks_[i] = ChunkState::missing;
    ++missing_;
  }
}

// --- one run, in one lane ------------------------------------------------------------------------------------------

// Reads until the run is done, from one mirror after the other. When all are dead, so is the transfer.
void KnownTransfer::fetch_run(Lane& lane, Run& run) {
  const std::stop_callback forward(context_.stop, [&run] { run.stop.request_stop(); });
  lane.buffer.clear();
  if (!run.whole) {
    const auto start = partial_->adopt_scratch(run.next);
    lane.buffer.assign(start.begin(), start.end());
    run.adopted = start.size();
  }
  try {
    while (run.next < run.end) {
      const auto pick = mirrors_.pick(run.stop.get_token());
      const auto begin = Clock::now();
      const std::uint64_t next = run.next;
      const std::size_t held = lane.buffer.size();
      try {
        read_run(lane, run, pick);
        mirrors_.succeeded(pick, (run.next - next) * chunk_size_bytes,
                           std::chrono::duration<double>(Clock::now() - begin).count());
        return;
      } catch (const Error& error) {
        after_failure(lane, run, pick, error, run.next > next || lane.buffer.size() > held);
      }
      const std::lock_guard lock(mutex_);
      if (sequential_ && !run.whole) return;
      if (run.whole) run.next = 0;  // begun anew: what is done is skipped as it passes
    }
  } catch (const Error& error) {
    if (run.stop.stop_requested() && !context_.stop.stop_requested()) return;  // others have brought the rest
    if (verdict(error.failure().kind) == Verdict::fatal) throw;
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::open) return;
    outcome_.failure = error.failure();
    end();
  }
}

void KnownTransfer::after_failure(Lane& lane, Run& run, const MirrorSet::Pick& pick, const Error& error,
                                  bool progress) {
  const FailureKind kind = error.failure().kind;
  if (kind != FailureKind::network || run.whole) drop(lane, run);
  if (run.stop.stop_requested() && !context_.stop.stop_requested()) {
    mirrors_.released(pick);
    throw error;
  }
  if (kind != FailureKind::no_ranges || run.whole) return mirrors_.failed(pick, error, progress);
  const std::lock_guard lock(mutex_);
  if (sequential_) return mirrors_.released(pick);  // another lane has learnt that before
  mirrors_.failed(pick, error, progress);
  if (mirrors_.only_rangeless()) {
    sequential_ = true;
    mirrors_.revive_rangeless();
  }
}

void KnownTransfer::drop(Lane& lane, Run& run) {
  lane.buffer.clear();
  run.adopted = 0;
}

void KnownTransfer::read_run(Lane& lane, Run& run, const MirrorSet::Pick& pick) {
  const std::uint64_t end = std::min(size(), run.end * chunk_size_bytes);
  if (!run.mixable && run.giver != pick.line) drop(lane, run);
  if (!lane.buffer.empty() && lane.buffer.size() == chunk_length(size(), run.next)) {  // the scratch held all of it
    run.mixed = true;
    finish_chunk(lane, run, pick);
    if (run.next == run.end) return;
  }
  ReadRequest request{*pick.url, run.next * chunk_size_bytes + lane.buffer.size(), std::nullopt, {}};
  if (!run.whole) request.length = end - request.offset;
  FetchContext own = context_;
  own.stop = run.stop.get_token();
  GuardedSink sink(
      own, *pick.line, *pick.url, size(),
      [&](const ContentInfo& info) {
        if (!info.size_bytes || *info.size_bytes == size()) return;
        throw Error(FailureKind::content, fmt::format("{} is {} bytes long at its source, and the manifest says {}",
                                                      job_.name, *info.size_bytes, size()));
      },
      [&](std::span<const std::byte> bytes) { take_bytes(lane, run, pick, bytes); });
  read_source(own, request, *pick.line, sink);
  if (run.next != run.end) throw Error(FailureKind::network, fmt::format("{} ended early", pick.url->display()));
}

void KnownTransfer::take_bytes(Lane& lane, Run& run, const MirrorSet::Pick& pick, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (run.next >= run.end)
      throw Error(FailureKind::content, fmt::format("{} sends more than was asked", pick.url->display()));
    const std::uint64_t room = chunk_length(size(), run.next) - lane.buffer.size();
    const auto part = bytes.first(std::min<std::uint64_t>(bytes.size(), room));
    run.mixed = !lane.buffer.empty() && (run.mixed || run.giver != pick.line);
    run.giver = pick.line;
    partial_->write_scratch(lane.id, run.next, lane.buffer.size(), part);
    lane.buffer.insert(lane.buffer.end(), part.begin(), part.end());
    bytes = bytes.subspan(part.size());
    if (part.size() == room) finish_chunk(lane, run, pick);
  }
}

void KnownTransfer::finish_chunk(Lane& lane, Run& run, const MirrorSet::Pick& pick) {
  const std::uint64_t index = run.next;
  const std::uint64_t adopted = std::exchange(run.adopted, 0);
  bool done = false;
  {
    const std::lock_guard lock(mutex_);
    done = chunks_[index] == ChunkState::done;  // a pass over what is there, or another was faster
  }
  if (!done) {
    const Sha256 hash = hash_chunk(lane.buffer);
    if (hash != job_.known->chunks[index] && run.mixed) {
      run.mixable = false;  // nobody knows whose bytes are wrong: from here each source is heard alone
      throw Error(FailureKind::changed,
                  fmt::format("chunk {} of {}, of several sources, does not match its hash", index, job_.name));
    }
    if (hash != job_.known->chunks[index]) {
      throw Error(FailureKind::content,
                  fmt::format("{}: chunk {} (bytes {} to {}) does not match its hash", pick.url->display(), index,
                              index * chunk_size_bytes, index * chunk_size_bytes + lane.buffer.size()),
                  "the source holds another version, or it lies: it is not asked again for this file");
    }
    partial_->write_chunk(lane.id, index, lane.buffer, hash);
    if (adopted > 0) context_.events.on(event::BytesReused{adopted});
  }
  lane.buffer.clear();
  note_done(run);
}

void KnownTransfer::note_done(Run& run) {
  const std::lock_guard lock(mutex_);
  chunks_[run.next++] = ChunkState::done;
  const double seconds = std::chrono::duration<double>(Clock::now() - run.advanced).count();
  chunk_seconds_ = chunk_seconds_ == 0 ? seconds : 0.7 * chunk_seconds_ + 0.3 * seconds;
  run.advanced = Clock::now();
  for (Run& other : runs_) {  // this lane's too: others may have brought what came after
    if (other.next < other.end && all_done(other)) other.stop.request_stop();
  }
}

// --- the end -------------------------------------------------------------------------------------------------------

void KnownTransfer::publish() {
  FileOutcome outcome;
  try {
    outcome.tree = partial_->publish();
    context_.events.on(event::FileDone{job_.name, size()});
  } catch (const Error& error) {
    if (verdict(error.failure().kind) == Verdict::fatal) throw;
    outcome.failure = error.failure();
  }
  const std::lock_guard lock(mutex_);
  outcome_ = std::move(outcome);
  end();
}

void KnownTransfer::end() {
  for (Run& run : runs_) run.stop.request_stop();
  phase_ = Phase::over;
}

}  // namespace sabath
