// Which mirrors of a ChunkTransfer are believed: how those of unknown content are compared, and what becomes of what
// they gave.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fetch/chunk_transfer.h"

namespace sabath {
namespace {

constexpr std::uint64_t sample_bytes = 12 * 1024;  // comes in the first round trip: TCP begins with ten segments

}  // namespace

// The start of a chunk, by the source that is believed so far.
void ChunkTransfer::keep_sample(const Flow& flow, std::uint64_t chunk, const Flight& flight) {
  const std::uint64_t begin = range_of(chunk).begin;
  const bool believed = flight.givers.size() == 1 && trust_.admitted.contains(flow.pick.index);
  if (known() || !trust_.sample.empty() || !believed || flow.start_end < begin + sample_bytes) return;
  trust_.sample_begin = begin;
  trust_.sample.assign(flight.bytes.get(), flight.bytes.get() + sample_bytes);
}

// A mirror of content that is not known is believed with the others once it agrees with what they gave: with what came
// first, and with the end of the last chunk that is there.
void ChunkTransfer::compare_samples(Flow& flow) {
  std::map<std::uint64_t, std::vector<std::byte>> samples;  // by where they begin
  {
    const std::lock_guard lock(mutex_);
    if (!trust_.sample.empty()) samples[trust_.sample_begin] = trust_.sample;
    const auto last = std::find(done_.rbegin(), done_.rend(), true);
    if (last != done_.rend()) {
      const ByteRange range = range_of(static_cast<std::uint64_t>(done_.rend() - last) - 1);
      samples[range.end - std::min(sample_bytes, range.size())] = {};
    }
  }
  for (auto& [begin, ours] : samples) {
    if (ours.empty()) {
      ours.resize(std::min(sample_bytes, size_ - begin));
      if (partial_->read(begin, ours) != ours.size()) continue;
    }
    std::vector<std::byte> theirs;
    read_into(flow, {*flow.pick.url, job_.offset + begin, ours.size(), {}},
              [&](std::span<const std::byte> bytes) { theirs.insert(theirs.end(), bytes.begin(), bytes.end()); });
    if (theirs == ours) continue;
    throw Error(FailureKind::content,
                fmt::format("{} differs from the other sources in bytes {} to {}", flow.pick.url->display(), begin,
                            begin + ours.size()),
                "it holds another version, or one of them lies");
  }
  const std::lock_guard lock(mutex_);
  believe(flow.pick.index);
}

// A chunk of a source that was still being compared when it was whole, and is believed now. Those of one that is not
// are free again.
bool ChunkTransfer::keep_held(Lane& lane, std::unique_lock<std::mutex>& lock) {
  std::erase_if(trust_.held, [this](const Whole& whole) {
    const bool wrong = std::ranges::any_of(
        whole.givers, [this](std::size_t giver) { return mirrors_.dead(giver) && !trust_.agreed.contains(giver); });
    if (wrong && flights_.erase(whole.chunk) > 0) schedule_->add_free(range_of(whole.chunk));
    return wrong;
  });
  const auto found = std::ranges::find_if(trust_.held, [this](const Whole& whole) { return believed(whole.givers); });
  if (found == trust_.held.end()) return false;
  const Whole whole = std::move(*found);
  trust_.held.erase(found);
  ++keeping_;
  lock.unlock();
  try {
    keep_chunk(lane, whole, context_.stop);
  } catch (...) {
    lock.lock();
    --keeping_;
    throw;
  }
  lock.lock();
  --keeping_;
  return true;
}

bool ChunkTransfer::to_compare(std::size_t mirror) const {
  if (known() || !trust_.leader || !trust_.mixable || trust_.admitted.contains(mirror) ||
      trust_.comparing.contains(mirror))
    return false;
  return !trust_.sample.empty() || missing_ < done_.size();
}

// The first has given nothing that others could be compared with, and may never do so.
bool ChunkTransfer::to_lead() const {
  return !known() && trust_.mixable && trust_.sample.empty() && missing_ == done_.size() && keeping_ == 0;
}

void ChunkTransfer::lead_instead(std::size_t mirror) {
  if (trust_.leader == mirror) return;
  trust_.leader = mirror;
  trust_.admitted.clear();
  trust_.agreed.clear();
  believe(mirror);
  partial_->note_validators(trust_.versions[mirror], size_);
}

// One that is being compared gives a chunk at most before it is believed.
bool ChunkTransfer::may_give(std::size_t mirror) const {
  if (known() || !trust_.leader || trust_.admitted.contains(mirror)) return true;
  return trust_.mixable &&
         std::ranges::none_of(trust_.held, [&](const Whole& whole) { return whole.givers.contains(mirror); });
}

void ChunkTransfer::believe(std::size_t mirror) {
  trust_.admitted.insert(mirror);
  trust_.agreed.insert(mirror);
}

bool ChunkTransfer::believed(const std::set<std::size_t>& givers) const {
  return known() || std::ranges::all_of(givers, [this](std::size_t giver) { return trust_.agreed.contains(giver); });
}

// The whole is wrong. If one source gave all of it, that is the one; if several did, nobody knows yet.
void ChunkTransfer::hear_each_alone(const Failure& failure) {
  const std::lock_guard lock(mutex_);
  if (trust_.givers.size() == 1 && reused_ == 0) {
    mirrors_.demote(*trust_.givers.begin(), failure);
  } else {
    trust_.suspects = trust_.givers;
  }
  trust_.mixable = false;
  restart_ = true;
  phase_ = Phase::open;
}

// One source has proved to be right: if it shared a wrong file with just one other, that one was wrong.
void ChunkTransfer::blame_suspects() {
  const std::lock_guard lock(mutex_);
  if (provable()) {
    for (const auto& [mirror, failure] : trust_.differing) mirrors_.demote(mirror, failure);
  }
  if (trust_.suspects.empty() || trust_.givers.size() != 1) return;
  trust_.suspects.erase(*trust_.givers.begin());
  if (trust_.suspects.size() != 1) return;
  mirrors_.demote(*trust_.suspects.begin(),
                  {FailureKind::content, fmt::format("the part of {} that it sent does not match", job_.name),
                   "it holds another version, or it lies", std::nullopt});
}

// nullopt: those that only differed from the others may yet be right.
std::optional<Failure> ChunkTransfer::all_dead(const Error& error) {
  if (verdict(error.failure().kind) == Verdict::fatal) throw error;
  if (trust_.differing.empty()) return error.failure();
  for (const auto& [mirror, failure] : std::exchange(trust_.differing, {})) mirrors_.revive(mirror);
  trust_.mixable = false;
  want_restart();
  return std::nullopt;
}

}  // namespace sabath
