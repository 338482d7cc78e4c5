#include "fetch/known_transfer.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace sabath {

namespace {
using Clock = std::chrono::steady_clock;
constexpr std::uint64_t run_chunks_max = 8;  // one request; small enough that a slow mirror cannot hold much
}  // namespace

KnownTransfer::KnownTransfer(FetchContext& context, const FileJob& job)
    : context_(context), job_(job), mirrors_(job, context.ledger, true) {}

void KnownTransfer::start() {
  partial_ = context_.store.open_partial(job_.known->digest, job_.known->chunks);
  const auto done = context_.force ? std::vector<bool>(job_.known->chunks.size()) : partial_->chunks_done();
  std::uint64_t reused = 0;
  for (std::uint64_t i = 0; i < done.size(); ++i) {
    chunks_.push_back(done[i] ? ChunkState::done : ChunkState::missing);
    if (done[i])
      reused += chunk_length(job_.known->digest.size_bytes, i);
    else
      ++missing_;
  }
  if (reused > 0) context_.events.on(event::BytesReused{reused});
}

KnownTransfer::Run KnownTransfer::run_from(std::uint64_t first) const {
  const std::uint64_t fair = missing_ / (2ULL * std::max(1U, context_.lanes)) + 1;
  const std::uint64_t most = sequential_ ? chunks_.size() : std::min(fair, run_chunks_max);
  Run run{first, 0};
  while (run.count < most && first + run.count < chunks_.size() &&
         (sequential_ || chunks_[first + run.count] == ChunkState::missing)) {
    ++run.count;
  }
  return run;
}

std::optional<KnownTransfer::Run> KnownTransfer::take_run() {
  const std::lock_guard lock(mutex_);
  if (over_) return std::nullopt;
  if (!partial_) start();
  if (missing_ == 0 && taken_ == 0) {
    complete();
    return std::nullopt;
  }
  if (missing_ == 0 || (sequential_ && taken_ > 0)) return std::nullopt;
  std::optional<Run> run;
  if (sequential_) run = run_from(0);
  for (std::uint64_t i = 0; i < chunks_.size() && !run; ++i) {
    if (chunks_[i] == ChunkState::missing && !partial_->claimed_by_other(i)) run = run_from(i);
  }
  if (!run) {  // all that is missing is claimed by living others: see what they have finished since
    const auto done = partial_->chunks_done();
    for (std::uint64_t i = 0; i < chunks_.size(); ++i) {
      if (chunks_[i] != ChunkState::missing || !done[i]) continue;
      chunks_[i] = ChunkState::done;
      --missing_;
      context_.events.on(event::BytesReused{chunk_length(job_.known->digest.size_bytes, i)});
    }
    return std::nullopt;
  }
  for (std::uint64_t i = run->first; i < run->first + run->count; ++i) {
    if (chunks_[i] != ChunkState::missing) continue;
    chunks_[i] = ChunkState::taken;
    --missing_;
    ++taken_;
    partial_->claim(i);
  }
  return run;
}

bool KnownTransfer::work(Lane& lane) {
  const auto run = take_run();
  if (!run) return false;
  try {
    fetch_run(lane, *run);
  } catch (const Error& error) {
    give_back(*run);
    if (verdict(error.failure().kind) == Verdict::fatal) throw;
    if (mirrors_.only_rangeless()) {
      const std::lock_guard lock(mutex_);
      sequential_ = true;
      mirrors_.revive_rangeless();
    } else {
      fail(error.failure());
    }
    return true;
  }
  give_back(*run);
  const std::lock_guard lock(mutex_);
  if (!over_ && missing_ == 0 && taken_ == 0) complete();
  return true;
}

// Reads until the run is done, from one mirror after the other; throws when all are dead.
void KnownTransfer::fetch_run(Lane& lane, const Run& run) {
  Run left = run;
  while (left.count > 0) {
    const auto pick = mirrors_.pick(context_.stop);
    const auto begin = Clock::now();
    std::uint64_t kept = 0;
    try {
      read_run(lane, left, pick, kept);
      mirrors_.succeeded(pick, kept * chunk_size_bytes, std::chrono::duration<double>(Clock::now() - begin).count());
      return;
    } catch (const Error& error) {
      mirrors_.failed(pick, error, kept > 0);
      if (sequential_) kept = 0;  // begun anew: chunks that are done are skipped as they pass
      left.first += kept;
      left.count -= kept;
    }
  }
}

void KnownTransfer::read_run(Lane& lane, const Run& run, const MirrorSet::Pick& pick, std::uint64_t& kept) {
  const std::uint64_t size = job_.known->digest.size_bytes;
  const std::uint64_t end = std::min(size, (run.first + run.count) * chunk_size_bytes);
  std::uint64_t index = run.first;
  lane.buffer = sequential_ ? std::vector<std::byte>() : partial_->adopt_scratch(index);
  ReadRequest request{*pick.url, index * chunk_size_bytes + lane.buffer.size(), std::nullopt, {}};
  if (!sequential_) request.length = end - request.offset;
  const auto take_chunk = [&] {
    on_chunk(lane, index, pick);
    ++index;
    ++kept;
    lane.buffer.clear();
  };
  GuardedSink sink(
      context_, *pick.line, *pick.url, size,
      [&](const ContentInfo& info) {
        if (info.size_bytes && *info.size_bytes != size) {
          throw Error(FailureKind::content, fmt::format("{} is {} bytes long at its source, and the manifest says {}",
                                                        job_.name, *info.size_bytes, size));
        }
      },
      [&](std::span<const std::byte> bytes) {
        while (!bytes.empty()) {
          if (index >= chunks_.size())
            throw Error(FailureKind::content, fmt::format("{} sends more than was asked", pick.url->display()));
          const std::uint64_t room = chunk_length(size, index) - lane.buffer.size();
          const auto part = bytes.first(std::min<std::uint64_t>(bytes.size(), room));
          partial_->write_scratch(lane.id, index, lane.buffer.size(), part);
          lane.buffer.insert(lane.buffer.end(), part.begin(), part.end());
          bytes = bytes.subspan(part.size());
          if (part.size() == room) take_chunk();
        }
      });
  if (!sequential_ && lane.buffer.size() == chunk_length(size, index)) {  // the scratch held all of it
    take_chunk();
    if (index == run.first + run.count) return;
    request.offset = index * chunk_size_bytes;
    request.length = end - request.offset;
  }
  read_source(context_, request, *pick.line, sink);
  if (index != run.first + run.count) {
    throw Error(FailureKind::network, fmt::format("{} ended early", pick.url->display()));
  }
}

void KnownTransfer::on_chunk(Lane& lane, std::uint64_t index, const MirrorSet::Pick& pick) {
  {
    const std::lock_guard lock(mutex_);
    if (chunks_[index] == ChunkState::done) return;  // a sequential pass over what is there
  }
  const Sha256 hash = hash_chunk(lane.buffer);
  if (hash != job_.known->chunks[index]) {
    throw Error(FailureKind::content,
                fmt::format("{}: chunk {} (bytes {} to {}) does not match its hash", pick.url->display(), index,
                            index * chunk_size_bytes, index * chunk_size_bytes + lane.buffer.size()),
                "the source holds another version, or it lies: it is not asked again for this file");
  }
  partial_->write_chunk(lane.id, index, lane.buffer, hash);
  const std::lock_guard lock(mutex_);
  if (chunks_[index] == ChunkState::taken)
    --taken_;
  else
    --missing_;
  chunks_[index] = ChunkState::done;
}

void KnownTransfer::give_back(const Run& run) {
  const std::lock_guard lock(mutex_);
  for (std::uint64_t i = run.first; i < run.first + run.count; ++i) {
    if (chunks_[i] != ChunkState::taken) continue;
    chunks_[i] = ChunkState::missing;
    --taken_;
    ++missing_;
  }
}

// The mutex is held.
void KnownTransfer::complete() {
  try {
    outcome_.tree = partial_->publish();
    context_.events.on(event::FileDone{job_.name, outcome_.tree.digest.size_bytes});
  } catch (const Error& error) {  // e.g. what an earlier process left has rotted since
    if (verdict(error.failure().kind) == Verdict::fatal) throw;
    outcome_.failure = error.failure();
  }
  over_ = true;
}

void KnownTransfer::fail(const Failure& failure) {
  const std::lock_guard lock(mutex_);
  outcome_.failure = failure;
  over_ = true;
}

}  // namespace sabath
