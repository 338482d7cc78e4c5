// Which mirrors of a ChunkTransfer are believed: how those of unknown content are compared, and what becomes of what
// they gave.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fetch/chunk_transfer.h"

namespace sabath {
namespace {

constexpr auto proof_patience = std::chrono::seconds(2);  // with the rank that asks for a proof
constexpr std::uint64_t sample_bytes = 12 * 1024;         // comes in the first round trip: TCP begins with ten segments

}  // namespace

// Of known content each of several mirrors (`choice`) first proves itself by one chunk, and of the ranks one lets it:
// what a liar can cost does not grow with connections or ranks.
bool ChunkTransfer::may_ask(std::size_t mirror, bool choice) const {
  if (!known() || !choice || mirrors_.has_proved(mirror)) return true;
  const bool ours = !job_.shared || mirror % context_.share.ranks == context_.share.rank;
  if (!ours && Clock::now() - begun_ < proof_patience) return false;
  const auto probe = probes_.find(mirror);
  return probe == probes_.end() || schedule_->free_in(range_of(probe->second));
}

// What another rank has found out about a mirror.
void ChunkTransfer::hear_judgements() {
  if (!job_.shared) return;
  for (const std::size_t mirror : mirrors_.fallen()) after_death(mirror, FailureKind::content);
}

// What is late is little, and the nearest mirror brings that soonest, were it the slowest.
std::optional<ChunkTransfer::Place> ChunkTransfer::help_flow(bool last) {
  if (context_.hosts.stood_still()) return std::nullopt;  // all look first at what has come meanwhile
  std::vector<std::pair<double, std::size_t>> nearest;    // seconds away, mirror
  for (std::size_t i = 0; i < mirrors_.size(); ++i) {
    if (trust_.may_give(i) && may_ask(i, mirrors_.alive() > 1))
      nearest.emplace_back(mirrors_.host(i).speed().latency, i);
  }
  std::ranges::sort(nearest);
  for (const auto& [away, mirror] : nearest) {
    if (auto flow = data_flow([only = mirror](std::size_t each) { return each == only; }, last)) return flow;
  }
  return std::nullopt;
}

// The start of a chunk, by the source that is believed so far.
void ChunkTransfer::keep_sample(const Flow& flow, std::uint64_t chunk, const Flight& flight) {
  const std::uint64_t begin = range_of(chunk).begin;
  if (flow.start_end < begin + sample_bytes || !trust_.wants_sample(flight.givers)) return;
  trust_.keep_sample(begin, {flight.bytes.get(), sample_bytes});
}

// A mirror of content that is not known is believed with the others once it agrees with what they gave: with what came
// first, and with the end of the last chunk that is there.
void ChunkTransfer::compare_samples(Flow& flow) {
  std::map<std::uint64_t, std::vector<std::byte>> samples;  // by where they begin
  {
    const std::lock_guard lock(mutex_);
    if (const auto& [begin, bytes] = trust_.sample(); !bytes.empty()) samples[begin] = bytes;
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
    ReadRequest request{*flow.pick.url, job_.offset + begin, ours.size(), {}};
    request.coding = flow.pick.coding;
    read_into(flow, request,
              [&](std::span<const std::byte> bytes) { theirs.insert(theirs.end(), bytes.begin(), bytes.end()); });
    if (theirs == ours) continue;
    throw Error(FailureKind::content,
                fmt::format("{} differs from the other sources in bytes {} to {}", flow.pick.url->display(), begin,
                            begin + ours.size()),
                "it holds another version, or one of them lies");
  }
  const std::lock_guard lock(mutex_);
  trust_.admit(flow.pick.index);
}

// A chunk of a source that was still being compared when it was whole, and is believed now. Those of one that is not
// are free again.
bool ChunkTransfer::keep_held(Lane& lane, std::unique_lock<std::mutex>& lock) {
  for (const std::uint64_t chunk : trust_.drop_held([this](std::size_t giver) { return mirrors_.dead(giver); })) {
    if (flights_.erase(chunk) > 0) schedule_->add_free(range_of(chunk));
  }
  const auto whole = trust_.take_held();
  if (!whole) return false;
  keep_chunk(lane, *whole, context_.stop, lock);
  return true;
}

bool ChunkTransfer::something_came() const { return !trust_.sample().bytes.empty() || missing_ < done_.size(); }

bool ChunkTransfer::to_compare(std::size_t mirror) const { return something_came() && trust_.to_compare(mirror); }

// Whoever gives a chunk then leads.
bool ChunkTransfer::lead_is_open() const { return trust_.lead_is_open() && missing_ == done_.size() && keeping_ == 0; }

// If one source gave all of it, that is the one; if several did, nobody knows yet.
void ChunkTransfer::hear_each_alone(const Failure& failure) {
  const std::lock_guard lock(mutex_);
  if (trust_.doubts_versions()) want_one_answer();
  if (const auto wrong = trust_.whole_was_wrong(reused_ > 0)) mirrors_.demote(*wrong, failure);
  restart_ = true;
  phase_ = Phase::open;
}

void ChunkTransfer::blame_suspects() {
  const std::lock_guard lock(mutex_);
  if (provable()) {
    for (const auto& [mirror, failure] : trust_.differing()) mirrors_.demote(mirror, failure);
  }
  const auto& givers = trust_.givers();
  if (givers.size() == 1) mirrors_.blame_other(trust_.suspects(), *givers.begin(), job_.name);
}

// nullopt: those that only differed from the others may yet be right.
std::optional<Failure> ChunkTransfer::all_dead(const Error& error) {
  if (verdict(error.failure().kind) == Verdict::fatal) throw error;
  const auto differing = trust_.hear_differing_alone();
  if (differing.empty()) return error.failure();
  for (const auto& [mirror, failure] : differing) mirrors_.revive(mirror);
  want_restart();
  return std::nullopt;
}

}  // namespace sabath
