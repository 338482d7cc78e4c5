#include "fetch/chunk_transfer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fetch/follow.h"
#include "fetch/part.h"
#include "fetch/source_key.h"
#include "fetch/spool.h"

namespace sabath {

namespace {

constexpr unsigned lanes_soon = 32;  // of a file far away, before it is known that it is
constexpr auto news_interval = std::chrono::milliseconds(100);
constexpr std::uint64_t probe_bytes = chunk_size_bytes / 8;  // a request to who is to prove himself: lanes share it

}  // namespace

ChunkTransfer::ChunkTransfer(FetchContext& context, ChunkBuffers& buffers, ChunkIndex& index, const FileJob& job,
                             std::uint64_t size_bytes, std::optional<std::uint64_t> begun, LeaderWatch* watch)
    : context_(context),
      buffers_(buffers),
      job_(job),
      size_(size_bytes),
      earlier_(begun),
      slice_(slice_of(size_bytes, context.share)),
      wanted_(wanted_of(context, job)),
      watch_(watch),
      mirrors_(context, job, true),
      reuse_(context.store, index, buffers),
      trust_(known()      ? Trust::Proof::chunks
             : provable() ? Trust::Proof::whole
                          : Trust::Proof::none) {}

// Whoever reads the archive as it arrives must not read a partial that is gone, nor be told of it after that.
ChunkTransfer::~ChunkTransfer() {
  front_hash_.reset();
  if (job_.follower != nullptr) job_.follower->abandon();
}

bool ChunkTransfer::work(Lane& lane, bool last) {
  std::optional<Place> flow;
  {
    std::unique_lock lock(mutex_);
    const bool fresh = phase_ == Phase::fresh;
    if (!fresh && phase_ != Phase::open) return false;
    if (fresh || restart_ || missing_ == 0) {
      if (under_way()) return false;
      const bool anew = restart_;
      phase_ = Phase::busy;  // what takes long is done without the mutex: the other lanes have other files
      lock.unlock();
      fresh ? open() : anew ? begin_anew() : publish();
      return true;
    }
    if (copy_one(lane, lock) || keep_held(lane, lock)) return true;
    try {
      flow = next_flow(last);
    } catch (const Error& error) {
      // What is under way may come yet, or say better why it does not.
      if (verdict(error.failure().kind) != Verdict::fatal && under_way()) return false;
      const auto failure = all_dead(error);
      if (!failure) return true;
      phase_ = Phase::busy;  // one lane says so, not each that finds it
      lock.unlock();
      fail(*failure);
      return true;
    }
  }
  if (!flow) return false;
  try {
    run_flow(lane, *flow);
  } catch (...) {
    end_flow(*flow);
    throw;
  }
  end_flow(*flow);
  return true;
}

// --- phases --------------------------------------------------------------------------------------------------------

void ChunkTransfer::open() {
  if (known()) {
    if (context_.force) context_.store.distrust(job_.known->digest);
    shared_ = context_.store.open_partial(job_.known->digest, job_.known->chunks);
    partial_ = shared_.get();
    if (!context_.force) reuse_.look(job_.name);
  } else {
    own_ = context_.store.open_partial(source_key(job_));
    partial_ = own_.get();
    if (!leads()) return;
    adopt_earlier();
    front_hash_ = std::make_unique<FrontHash>(
        job_.checksum, size_, buffers_,
        FrontHash::Calls{
            .read = [this](std::uint64_t offset, std::span<std::byte> bytes) { return partial_->read(offset, bytes); },
            .hashed =
                [this](std::uint64_t chunk, const Sha256& hash) {
                  own_->note_hash(chunk, chunk_length(size_, chunk), hash);
                  if (job_.follower != nullptr) job_.follower->advance(*own_, own_->front());
                }});
  }
  const std::lock_guard lock(mutex_);
  plan();
  if (known() && reused_ > 0) context_.events.on(event::BytesReused{std::exchange(reused_, 0), Reuse::partial});
  phase_ = Phase::open;
}

// Of several that began together, one goes on.
bool ChunkTransfer::leads() {
  if (watch_ == nullptr || earlier_ || watch_->take_lead(*own_)) return true;
  partial_->discard();
  gave_way_ = true;
  phase_ = Phase::over;
  return false;
}

// What an earlier process left of content that is not known: bytes of one version, or nothing.
void ChunkTransfer::adopt_earlier() {
  const bool nameless =
      !provable() && own_->version_noted().validators.empty();  // what could tell a mixture from the file?
  const bool useless = context_.force || job_.unless || nameless;
  if (!earlier_ && useless) own_->restart();
  const SourceVersion noted = adopt_left(*own_, earlier_ ? nullptr : watch_, provable(), [](auto) {});
  // What was left came from any mirror; where the whole can be proved, another one's validators say nothing.
  if (noted == SourceVersion{} || (provable() && job_.urls.size() > 1)) return;
  const auto giver = giver_of(job_, noted);
  if (!giver && provable()) return;  // by another rule: its version is not this one's
  if (!giver) return own_->restart();
  if (!noted.validators.empty()) trust_.expect(*giver, noted.validators);
  if (!provable() && trust_.take_lead(*giver)) trust_.gave({*giver});  // and goes on: it is of one mirror
}

void ChunkTransfer::plan() {
  Schedule::Limits limits;
  limits.chunk_bytes = chunk_size_bytes;
  limits.in_order = !known();
  // The lanes of a slow mirror would keep the hash waiting.
  if (limits.in_order && mirrors_.size() > 1) limits.first_bytes /= 4;
  limits.lanes_soon = context_.lanes == 0 ? lanes_soon : context_.lanes;
  schedule_ = std::make_unique<Schedule>(size_, limits);
  schedule_->start_at(slice_.begin);
  done_ = partial_->chunks_done();
  done_.resize(chunk_count(size_));
  missing_ = 0;
  reused_ = 0;
  for (std::uint64_t i = 0; i < done_.size(); ++i) {
    if (!done_[i]) {
      if (!wants(i)) continue;
      ++missing_;
      const bool here = known() && reuse_.offer(i, job_.known->chunks[i], chunk_length(size_, i));
      if (!here) schedule_->add_free(range_of(i));
      continue;
    }
    reused_ += chunk_length(size_, i);
    if (front_hash_) front_hash_->present(i);
  }
  reuse_.start_at(slice_.begin / chunk_size_bytes);
  if (earlier_) reused_ = *earlier_;
  if (job_.follower != nullptr) job_.follower->advance(*own_, own_->front());
}

// What stands in the store already comes before anything is asked of a source. False: there is nothing of the kind. Of
// several processes one copies a chunk, as one fetches it.
bool ChunkTransfer::copy_one(Lane& lane, std::unique_lock<std::mutex>& lock) {
  const auto copy = reuse_.take();
  if (!copy) return false;
  const std::uint64_t chunk = copy->chunk;
  bool copied = false;
  lock.unlock();
  try {
    const bool ours = shared_->claim_run(chunk, 1) == 1;
    copied = ours && reuse_.copy(*copy, *shared_, lane.id);
    if (ours && !copied) shared_->release(chunk);
  } catch (...) {
    lock.lock();
    reuse_.over();
    throw;
  }
  lock.lock();
  reuse_.over();
  if (!copied) {
    schedule_->add_free(range_of(chunk));
  } else if (!done_[chunk]) {
    note_done(chunk);
    context_.events.on(event::BytesReused{chunk_length(size_, chunk), Reuse::chunk});
  }
  return true;
}

// The source has another version, or what was brought together was wrong. No request is under way.
void ChunkTransfer::begin_anew() {
  if (job_.follower != nullptr) job_.follower->restart();
  front_hash_->restart();  // first: its thread tells the partial of what it has hashed
  own_->restart();
  const std::lock_guard lock(mutex_);
  flights_.clear();
  alone_.clear();
  trust_.restart();
  restart_ = false;
  earlier_.reset();
  plan();
  phase_ = Phase::open;
}

void ChunkTransfer::publish() {
  try {
    if (!known()) return publish_hashed();
    const bool whole = std::ranges::find(done_, false) == done_.end();  // else all that is wanted of it is here
    outcome_.tree = whole ? partial_->publish() : *job_.known;
    context_.events.on(event::FileDone{job_.name, size_});
  } catch (const Error& error) {
    if (verdict(error.failure().kind) == Verdict::fatal) throw;
    outcome_.failure = error.failure();
  }
  phase_ = Phase::over;
}

void ChunkTransfer::publish_hashed() {
  std::string source;
  {
    const std::lock_guard lock(mutex_);
    const auto& givers = trust_.givers();
    source = givers.empty() ? job_.name : mirrors_.name(*givers.begin());
    outcome_.over_tls =
        std::ranges::all_of(givers, [&](std::size_t giver) { return job_.urls[giver].scheme() == "https"; });
    outcome_.validators = trust_.version_of_leader();
    const bool all_known = !provable() || job_.urls.size() == 1 || (reused_ == 0 && !earlier_);
    if (givers.size() == 1 && all_known) outcome_.giver = *givers.begin();
  }
  try {
    outcome_.computed = front_hash_->finish(source, context_.stop);
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::content) throw;
    return hear_each_alone(error.failure());
  }
  blame_suspects();
  // Said now: until here it could be thrown away.
  if (reused_ > 0) context_.events.on(event::BytesReused{reused_, Reuse::partial});
  if (job_.follower != nullptr) {
    job_.follower->finish(std::move(own_));
  } else {
    outcome_.tree = partial_->publish();
    note_arrival(context_, job_, outcome_);
    context_.events.on(event::FileDone{job_.name, size_});
  }
  phase_ = Phase::over;
}

void ChunkTransfer::fail(const Failure& failure) {
  if (known() && context_.store.present(job_.known->digest)) {  // others have had more luck
    outcome_.tree = *job_.known;
    phase_ = Phase::over;
    return;
  }
  const bool wrong = failure.kind == FailureKind::content || failure.kind == FailureKind::invalid;
  if (!known() && wrong) partial_->discard();
  const std::lock_guard lock(mutex_);
  outcome_.failure = failure;
  stop_flows([](const Flow&) { return true; });
  phase_ = Phase::over;
}

// --- decisions; the mutex is held ----------------------------------------------------------------------------------

std::optional<ChunkTransfer::Place> ChunkTransfer::next_flow(bool last) {
  if (sequential_ && !flows_.empty()) return std::nullopt;
  unanswered_.end(flows_, *schedule_, now(), context_.events);
  hear_judgements();
  // Soon, as what it gives meanwhile waits for that.
  const auto pick =
      known() ? std::nullopt : mirrors_.try_pick([this](std::size_t mirror) { return to_compare(mirror); });
  if (pick) {
    Flow flow{*pick, {}};
    flow.check = true;
    trust_.begin_comparing(pick->index);
    return flows_.insert(flows_.end(), std::move(flow));
  }
  if (!sequential_ && schedule_->free_bytes() == 0) return help_flow(last);
  const bool choice = mirrors_.alive() > 1;
  return data_flow([&](std::size_t mirror) { return trust_.may_give(mirror) && may_ask(mirror, choice); }, last);
}

std::optional<ChunkTransfer::Place> ChunkTransfer::data_flow(const MirrorSet::Filter& from, bool last) {
  const auto pick = mirrors_.try_pick(from);
  if (!pick) return std::nullopt;
  Flow flow{*pick, {}};
  trust_.asked(pick->index);
  if (sequential_) {
    flights_.clear();
  } else if (!give_run(flow, last)) {
    mirrors_.unused(*pick);
    take_news(news_interval);
    return std::nullopt;
  }
  return flows_.insert(flows_.end(), std::move(flow));
}

bool ChunkTransfer::give_run(Flow& flow, bool last) {
  const bool all_dealt = schedule_->free_bytes() == 0;
  const bool among_ranks = known() && context_.share.ranks > 1;
  // Before it leaves its slice, a rank looks at what the others have done since: their news may be a while old.
  if (among_ranks && !schedule_->free_in(slice_)) take_news(std::chrono::milliseconds(0));
  const auto left = partial_->scratch_left();
  const std::size_t mirror = flow.pick.index;
  const bool probes = known() && mirrors_.alive() > 1 && !mirrors_.has_proved(mirror);
  const auto probe = probes_.find(mirror);
  const Schedule::Asks asks{
      .taken = [this](std::uint64_t chunk) { return known() && shared_->claimed_by_other(chunk); },
      // Who begins a chunk of which something was left takes that first, and then gives the rest back.
      .whole = [&](std::uint64_t chunk) { return alone_.contains(chunk) || left.contains(chunk); },
      .first = [&](std::uint64_t chunk) { return left.contains(chunk); },
      .most = probes ? probe_bytes : UINT64_MAX,
      .only = probes && probe != probes_.end() ? std::optional(probe->second) : std::nullopt,
      .last = last,
      .dear = mirrors_.dear(flow.pick)};
  const auto run = schedule_->take(flow.pick.index, flow.pick.host->speed(), context_.hosts.connections(), now(), asks);
  if (!run || (!all_dealt && !claim(*run))) return false;
  if (probes) probes_[mirror] = (*run)->position / chunk_size_bytes;
  flow.run = *run;
  flow.has_run = true;
  flow.request_end = (*run)->end;
  if (schedule_->split()) {
    context_.events.on(event::Note{fmt::format("{}: {}", job_.name, schedule_->reason())});
    stop_flows([](const Flow& late) {
      return late.has_run && late.run->left() == 0 && late.run->position < late.request_end;
    });
  }
  return true;
}

// Tells the other processes. Of several that want the same at once, one gets it.
bool ChunkTransfer::claim(Schedule::Place run) {
  if (!known()) return true;
  std::uint64_t chunk = run->position / chunk_size_bytes;
  const std::uint64_t end = (run->end - 1) / chunk_size_bytes + 1;
  while (chunk < end && claimed_.contains(chunk)) ++chunk;
  if (chunk == end) return true;
  const std::uint64_t ours = chunk + shared_->claim_run(chunk, end - chunk);
  for (; chunk < ours; ++chunk) claimed_.insert(chunk);
  if (ours < end) schedule_->shorten(run, std::max(run->position, ours * chunk_size_bytes));
  if (run->left() > 0) return true;
  schedule_->release(run);
  return false;
}

// What is missing is claimed by others: sees what they have finished since.
void ChunkTransfer::take_news(std::chrono::milliseconds interval) {
  if (!known() || schedule_->free_bytes() == 0 || Clock::now() - looked_ < interval) return;
  looked_ = Clock::now();
  const auto done = partial_->chunks_done();
  for (std::uint64_t i = 0; i < done_.size(); ++i) {
    if (done_[i] || !done[i] || schedule_->in_run(range_of(i))) continue;
    if (const auto flight = flights_.find(i); flight != flights_.end()) {
      if (flight->second->covered == chunk_length(size_, i)) continue;  // a lane is hashing it
      flights_.erase(flight);  // a part of it, of a request that broke off: another has brought the whole since
    }
    schedule_->remove_free(range_of(i));
    note_done(i);
    context_.events.on(event::BytesReused{chunk_length(size_, i), Reuse::partial});
  }
}

void ChunkTransfer::note_done(std::uint64_t chunk) {
  done_[chunk] = true;
  claimed_.erase(chunk);
  std::erase_if(probes_, [&](const auto& probe) { return probe.second == chunk; });
  if (wants(chunk) && --missing_ == 0) {
    stop_flows([](const Flow& flow) { return flow.check || (flow.has_run && flow.run->left() > 0); });
  }
}

void ChunkTransfer::stop_flows(const std::function<bool(const Flow&)>& which) {
  for (Flow& flow : flows_) {
    if (which(flow)) flow.stop.request_stop();
  }
}

void ChunkTransfer::want_restart() {
  restart_ = true;
  stop_flows([](const Flow&) { return true; });
}

// Their bytes may be wrong, and nobody is at work on them.
void ChunkTransfer::forget_flights(const std::function<bool(std::uint64_t, const Flight&)>& which) {
  std::erase_if(flights_, [&](const auto& entry) {
    const auto& [chunk, flight] = entry;
    const bool whole = flight->covered == chunk_length(size_, chunk);  // a lane is hashing it
    if (whole || schedule_->in_run(range_of(chunk)) || !which(chunk, *flight)) return false;
    schedule_->add_free(range_of(chunk));
    return true;
  });
}

}  // namespace sabath
