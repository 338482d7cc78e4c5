#include "fetch/transfer/learnt_transfer.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "fetch/hosts/source_key.h"
#include "fetch/transfer/follow.h"
#include "fetch/transfer/pieces.h"
#include "fetch/transfer/spool.h"

namespace sabath {
namespace {

constexpr std::uint64_t sample_bytes = 12 * 1024;  // comes in the first round trip: TCP begins with ten segments

}  // namespace

LearntTransfer::LearntTransfer(FetchContext& context, ChunkBuffers& buffers, const FileJob& job,
                               std::uint64_t size_bytes, std::optional<std::uint64_t> begun, LeaderWatch* watch)
    : ChunkTransfer(context, buffers, job, size_bytes, nullptr, !job.checksum.empty()),
      buffers_(buffers),
      earlier_(begun),
      watch_(watch),
      trust_(provable_),
      kept_(context.events) {}

// A thread that reads the archive as it arrives must not read a partial that is gone, nor be told of it after that.
LearntTransfer::~LearntTransfer() {
  front_hash_.reset();
  if (job_.follower == nullptr) return;
  if (!outcome_.failure || of_other_size_.empty()) {
    job_.follower->abandon();
  } else {  // another mirror is heard next
    job_.follower->restart();
    job_.follower->let_go();
  }
}

// --- phases --------------------------------------------------------------------------------------------------------

void LearntTransfer::open() {
  partial_ = context_.store.open_partial(source_key(job_));
  if (!leads()) return;
  adopt_earlier();
  watch_front();
  const std::lock_guard lock(mutex_);
  plan();
  phase_ = TransferPhase::open;
}

void LearntTransfer::watch_front() {
  front_hash_ = std::make_unique<FrontHash>(
      job_.checksum, size_, buffers_,
      FrontHash::Calls{
          .read = [this](std::uint64_t offset, std::span<std::byte> bytes) { return partial_->read(offset, bytes); },
          .hashed =
              [this](std::uint64_t chunk, const Sha256& hash) {
                partial_->note_hash(chunk, assembly_.length_of(chunk), hash);
                show_front();
              }});
}

// Of several that began together, one goes on.
bool LearntTransfer::leads() {
  if (watch_ == nullptr || earlier_ || watch_->take_lead(*partial_)) return true;
  partial_->discard();
  gave_way_ = true;
  phase_ = TransferPhase::over;
  return false;
}

// Takes over the bytes that an earlier process left, if they are of one version.
void LearntTransfer::adopt_earlier() {
  const bool nameless =
      !provable_ && partial_->version_noted().validators.empty();  // what could tell a mixture from the file?
  const bool useless = context_.force || job_.unless || nameless;
  if (!earlier_ && useless) partial_->restart();
  const SourceVersion noted = adopt_left(*partial_, earlier_ ? nullptr : watch_, provable_, [](auto) {});
  // The bytes left came from any mirror; where the whole can be proved, another mirror's validators say nothing.
  if (noted == SourceVersion{} || (provable_ && job_.urls.size() > 1)) return;
  const auto giver = giver_of(job_, noted);
  if (!giver && provable_) return;  // by another rule: its version is not this one's
  if (!giver) return partial_->restart();
  if (!noted.validators.empty()) trust_.expect(*giver, noted.validators);
  if (!provable_ && trust_.take_lead(*giver)) trust_.gave({*giver});  // and goes on: it is of one mirror
}

void LearntTransfer::plan() {
  Schedule::Limits in_order = limits();
  in_order.in_order = true;
  if (mirrors_.size() > 1) in_order.first_bytes /= 4;  // the lanes of a slow mirror would keep the hash waiting
  assembly_.begin(*partial_, in_order, 0);
  reused_ = 0;
  for (std::uint64_t i = 0; i < assembly_.chunks(); ++i) {
    if (!assembly_.done(i)) {
      assembly_.free(i);
      continue;
    }
    reused_ += assembly_.length_of(i);
    front_hash_->present(i);
  }
  if (earlier_) reused_ = *earlier_;
  kept_.set(reused_);
  show_front();
}

void LearntTransfer::show_front() {
  if (job_.follower != nullptr) job_.follower->advance(*partial_, partial_->front());
}

// The source has another version, or what was brought together was wrong. No request is under way.
void LearntTransfer::begin_anew() {
  if (job_.follower != nullptr) job_.follower->restart();
  front_hash_.reset();  // first: its thread tells the partial of what it has hashed
  partial_->restart();
  watch_front();
  const std::lock_guard lock(mutex_);
  trust_.restart();
  restart_ = false;
  earlier_.reset();
  plan();
  phase_ = TransferPhase::open;
}

bool LearntTransfer::publish() {
  const std::string source = describe_outcome();
  try {
    Checksums computed = front_hash_->finish(source, context_.stop, provable_ ? SaidBy::recipe : SaidBy::source);
    if (provable_) outcome_.computed = std::move(computed);
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::content) throw;
    hear_each_alone(error.failure());
    return false;
  }
  blame_suspects();
  // Said now: until here it could be thrown away.
  kept_.set(0);
  if (reused_ > 0) context_.events.on(event::BytesReused{reused_, Reuse::partial});
  if (job_.follower != nullptr) {
    job_.follower->finish(std::move(partial_));
    return true;
  }
  outcome_.tree = partial_->publish();
  note_arrival(context_, job_, outcome_);
  context_.events.on(event::FileDone{job_.name, size_});
  return true;
}

// Returns what the source is called in messages.
std::string LearntTransfer::describe_outcome() {
  const std::lock_guard lock(mutex_);
  const auto& givers = trust_.givers();
  outcome_.over_tls =
      std::ranges::all_of(givers, [&](std::size_t giver) { return job_.urls[giver].scheme() == "https"; });
  outcome_.validators = trust_.version_of_leader();
  const bool all_of_it = !provable_ || job_.urls.size() == 1 || (reused_ == 0 && !earlier_);
  if (givers.size() == 1 && all_of_it) outcome_.giver = *givers.begin();
  return givers.empty() ? job_.name : mirrors_.name(*givers.begin());
}

// If one source gave all of it, that source is wrong; if several did, it is not known yet which.
void LearntTransfer::hear_each_alone(const Failure& failure) {
  const std::lock_guard lock(mutex_);
  if (trust_.doubts_versions()) one_answer();
  if (const auto wrong = trust_.whole_was_wrong(reused_ > 0)) mirrors_.demote(*wrong, failure);
  restart_ = true;
  phase_ = TransferPhase::open;
}

void LearntTransfer::blame_suspects() {
  const std::lock_guard lock(mutex_);
  if (provable_) {
    for (const auto& [mirror, failure] : trust_.differing()) mirrors_.demote(mirror, failure);
  }
  const auto& givers = trust_.givers();
  if (givers.size() == 1) mirrors_.blame_other(trust_.suspects(), *givers.begin(), job_.name);
}

void LearntTransfer::fail(const Failure& failure) {
  const bool wrong = failure.kind == FailureKind::content || failure.kind == FailureKind::invalid;
  if (wrong) partial_->discard();
  outcome_.of_other_size = of_other_size_;
  ChunkTransfer::fail(failure);
}

// --- decisions; the mutex is held ----------------------------------------------------------------------------------

// Chunks that were held for a mirror which is not believed in the end are free again.
TransferFacts LearntTransfer::facts() {
  for (const std::uint64_t chunk : trust_.drop_held([this](std::size_t giver) { return mirrors_.dead(giver); })) {
    assembly_.drop(chunk);
  }
  TransferFacts facts = ChunkTransfer::facts();
  facts.restart = restart_;
  facts.held = trust_.any_held();
  return facts;
}

ChunkTransfer::Task LearntTransfer::begin(TransferStep step, bool last) {
  if (step == TransferStep::begin_anew) return [this](Lane&) { begin_anew(); };
  if (step != TransferStep::keep) return ChunkTransfer::begin(step, last);
  Task task = [this, whole = trust_.take_held()](Lane& lane) { keep(lane, whole, context_.stop); };
  ++keeping_;
  return task;
}

std::optional<ChunkTransfer::Place> LearntTransfer::next_flow(bool last) {
  if (sequential_ && !flows_.empty()) return std::nullopt;
  // Soon, as what a mirror gives meanwhile waits for that.
  const auto to_compare = [this](std::size_t mirror) {
    return (assembly_.any_done() || !trust_.sample().bytes.empty()) && trust_.to_compare(mirror);
  };
  if (const auto pick = mirrors_.try_pick(to_compare)) {
    Flow flow{*pick, {}};
    flow.check = true;
    trust_.begin_comparing(pick->index);
    return flows_.insert(flows_.end(), std::move(flow));
  }
  const auto flow = ChunkTransfer::next_flow(last);
  if (flow) trust_.asked((*flow)->pick.index);
  return flow;
}

bool LearntTransfer::give_run(Flow& flow, bool last) { return start_run(flow, {.last = last}); }

// The start of a chunk, by the source that is believed so far.
void LearntTransfer::came(const Flow& flow, std::uint64_t chunk, const Flight& flight) {
  const std::uint64_t begin = assembly_.range_of(chunk).begin;
  if (flow.start_end < begin + sample_bytes || !trust_.wants_sample(flight.givers)) return;
  trust_.keep_sample(begin, {flight.bytes.get(), sample_bytes});
}

// Until a mirror has been compared with the leader, the mirror that brings the first chunk leads.
bool LearntTransfer::believes(Whole& whole) {
  const std::size_t giver = *whole.givers.begin();
  const bool open = trust_.lead_is_open() && !assembly_.any_done() && keeping_ == 0;
  if (whole.givers.size() == 1 && open && trust_.take_lead(giver)) note_version(giver);
  if (trust_.believed(whole.givers)) return true;
  trust_.hold(std::move(whole));
  return false;
}

void LearntTransfer::want_restart() {
  restart_ = true;
  stop_flows([](const Flow&) { return true; });
}

void LearntTransfer::died(std::size_t mirror, bool wrong) {
  ChunkTransfer::died(mirror, wrong);
  const bool lost = trust_.dismiss(mirror, wrong, mirrors_.any_alive());
  const bool gave = trust_.givers().contains(mirror) || assembly_.given_by(mirror);
  if (lost && gave) want_restart();
}

void LearntTransfer::failed(const Flow& flow, FailureKind kind) {
  if (flow.check) return;
  if (kind == FailureKind::changed) after_change(flow.pick.index);
  ChunkTransfer::failed(flow, kind);
}

void LearntTransfer::after_change(std::size_t mirror) {
  const bool versions_mean = job_.offset > 0 || !job_.version.empty();  // the file's place in its source is of one
  const bool something = assembly_.any_done() || !trust_.sample().bytes.empty();
  if (!versions_mean && trust_.doubt_version(mirror, something)) {
    partial_->note_version({}, size_);
    context_.events.on(event::Note{
        fmt::format("{}: {} names more than one version: the checksum decides", job_.name, mirrors_.name(mirror))});
    return;
  }
  if (restart_) return;
  if (!versions_mean && trust_.needs_one_answer()) one_answer();
  want_restart();
}

void LearntTransfer::rangeless() {
  if (!provable_ && assembly_.any_done()) want_restart();  // another one may read on
  trust_.forget_leader();
}

void LearntTransfer::ended(const Flow& flow, ByteRange) {
  if (flow.check) trust_.end_comparing(flow.pick.index);
}

// Mirrors that only differed from the others may yet be right.
bool LearntTransfer::tries_again() {
  auto differing = trust_.hear_differing_alone();
  std::erase_if(differing, [this](const auto& one) { return of_other_size_.contains(one.first); });
  if (differing.empty()) return false;
  for (const auto& [mirror, failure] : differing) mirrors_.revive(mirror);
  want_restart();
  return true;
}

void LearntTransfer::note_version(std::size_t mirror) {
  partial_->note_version({trust_.expected(mirror, {}), given_key(job_, mirror).hex()}, size_);
}

// --- one request, in its lane --------------------------------------------------------------------------------------

void LearntTransfer::read(Lane& lane, Flow& flow) {
  flow.check ? compare_samples(flow) : ChunkTransfer::read(lane, flow);
}

// A mirror is believed with the others once it agrees with what they gave: with what came first, and with the end of
// the last chunk that is there.
void LearntTransfer::compare_samples(Flow& flow) {
  std::map<std::uint64_t, std::vector<std::byte>> samples;  // by where they begin
  {
    const std::lock_guard lock(mutex_);
    if (const auto& [begin, bytes] = trust_.sample(); !bytes.empty()) samples[begin] = bytes;
    if (const auto last = assembly_.last_done()) {
      const ByteRange range = assembly_.range_of(*last);
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

void LearntTransfer::on_begin(Flow& flow, const ContentInfo& info) {
  ChunkTransfer::on_begin(flow, info);
  const std::lock_guard lock(mutex_);
  if (!trust_.same_version(flow.pick.index, info.validators)) {
    throw Error(FailureKind::changed, fmt::format("{} changed at its source while it was fetched", job_.name));
  }
  if (!trust_.leads(flow.pick.index)) return;
  note_version(flow.pick.index);
  if (!provable_ && job_.offset == 0) front_hash_->expect(info.said);  // its own word, where there is no better one
}

bool LearntTransfer::right(std::uint64_t chunk, std::span<const std::byte> bytes) const {
  return pieces_match(job_.pieces, size_, chunk * chunk_size_bytes, bytes);
}

bool LearntTransfer::store(Lane& lane, const Whole& whole, const std::stop_token& stop) {
  const std::uint64_t chunk = whole.chunk;
  const std::span<const std::byte> bytes(whole.bytes.get(), assembly_.length_of(chunk));
  const FrontHash::Turn turn = front_hash_->await_turn(chunk, whole.quick, stop);
  if (turn.unhashed) {
    partial_->write_unhashed(lane.id, chunk, bytes);
  } else {
    partial_->write_chunk(lane.id, chunk, bytes, hash_chunk(bytes));
    show_front();
  }
  front_hash_->offer(chunk, whole.bytes, turn);
  const std::lock_guard lock(mutex_);
  if (assembly_.done(chunk)) return turn.held_back;
  reused_ += whole.adopted;
  kept_.set(reused_);
  trust_.gave(whole.givers);
  note_done(chunk);
  return turn.held_back;
}

void LearntTransfer::after_failure(Flow& flow, const Error& error) {
  const FailureKind kind = error.failure().kind;
  const bool other_size = flow.other_size && provable_ && !job_.size_bytes;
  if (kind == FailureKind::content && (flow.check || other_size)) {
    mirrors_.set_aside(flow.pick, error.failure());
    const std::lock_guard lock(mutex_);
    trust_.differs(flow.pick.index, error.failure());
    if (other_size) {
      of_other_size_.insert(flow.pick.index);
      died(flow.pick.index, false);
    }
    return stop_flows([&](const Flow& other) { return other.pick.index == flow.pick.index; });
  }
  if (kind == FailureKind::changed && flow.versioned) {
    const std::lock_guard lock(mutex_);
    if (trust_.doubts_version(flow.pick.index)) return mirrors_.released(flow.pick);  // asked before it was doubted
  }
  ChunkTransfer::after_failure(flow, error);
}

}  // namespace sabath
