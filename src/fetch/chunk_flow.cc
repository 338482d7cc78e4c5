// One request of a ChunkTransfer, in its lane: what comes is put into chunks, and what went wrong is told.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "fetch/chunk_transfer.h"
#include "fetch/page_guard.h"
#include "fetch/pieces.h"
#include "fetch/source_key.h"
#include "fetch/spool.h"
#include "store/scratch.h"

namespace sabath {

namespace {

constexpr double quick_s = std::chrono::duration<double>(ScratchLanes::worth_keeping).count();
struct Enough {};  // thrown through a fetcher: the rest belongs to another lane

class Meanwhile {  // the lock is not held, and one more is kept
 public:
  Meanwhile(std::unique_lock<std::mutex>& lock, unsigned& keeping) : lock_(lock), keeping_(keeping) {
    ++keeping_;
    lock_.unlock();
  }
  ~Meanwhile() {
    lock_.lock();
    --keeping_;
  }
  Meanwhile(const Meanwhile&) = delete;
  Meanwhile& operator=(const Meanwhile&) = delete;

 private:
  std::unique_lock<std::mutex>& lock_;
  unsigned& keeping_;
};

}  // namespace

void ChunkTransfer::run_flow(Lane& lane, Place flow) {
  const std::stop_callback forward(context_.stop, [&] { flow->stop.request_stop(); });
  try {
    if (flow->check) {
      compare_samples(*flow);
    } else if (flow->has_run) {
      read(lane, *flow);
    } else {
      read_whole(lane, *flow);
    }
    mirrors_.succeeded(flow->pick);
  } catch (const Enough&) {
    mirrors_.succeeded(flow->pick);
  } catch (const Error& error) {
    after_failure(*flow, error);
  } catch (...) {
    mirrors_.released(flow->pick);
    throw;
  }
}

void ChunkTransfer::read_into(Flow& flow, const ReadRequest& request, const GuardedSink::Write& write) {
  FetchContext own = context_;
  own.stop = flow.stop.get_token();
  const MirrorSet::Pick& pick = flow.pick;
  GuardedSink sink(
      own, *pick.line, *pick.url, provable() ? std::optional(size_) : std::nullopt,
      [&](const ContentInfo& info) { on_begin(flow, info); }, write, pick.host);
  sink.on_wait([&] {
    const std::lock_guard lock(mutex_);
    if (flow.has_run) flow.run->busy = true;
  });
  read_source(own, request, *pick.line, sink);
}

void ChunkTransfer::read(Lane& lane, Flow& flow) {
  adopt_scratch(lane, flow);
  ReadRequest request{*flow.pick.url, 0, std::nullopt, {}};
  request.coding = flow.pick.coding;
  {
    const std::lock_guard lock(mutex_);
    if (flow.run->left() == 0) return;
    flow.request_end = flow.run->end;
    request.offset = job_.offset + flow.run->position;
    request.length = flow.run->left();
    request.expected = trust_.expected(flow.pick.index, job_.version);
    flow.versioned = !request.expected.empty();
  }
  read_into(flow, request, [&](std::span<const std::byte> bytes) { take_bytes(lane, flow, bytes); });
  const std::lock_guard lock(mutex_);
  if (flow.run->left() > 0) {
    throw Error(FailureKind::network, fmt::format("{} ended early", flow.pick.url->display()));
  }
}

// From the start to the end of a source that has no ranges: what is there already is skipped as it passes.
void ChunkTransfer::read_whole(Lane& lane, Flow& flow) {
  std::uint64_t at = 0;
  ReadRequest request{*flow.pick.url, 0, std::nullopt, {}};
  request.coding = flow.pick.coding;
  read_into(flow, request, [&](std::span<const std::byte> bytes) { take_whole(lane, flow, at, bytes); });
  if (at < size_) throw Error(FailureKind::network, fmt::format("{} ended early", flow.pick.url->display()));
}

void ChunkTransfer::on_begin(Flow& flow, const ContentInfo& info) {
  if (job_.offset == 0 && is_coded(*flow.pick.url, info, flow.pick.coding, size_) &&
      mirrors_.ask_otherwise(flow.pick, info)) {
    throw Error(FailureKind::no_ranges,
                fmt::format("{} is not as it is stored{}", flow.pick.url->display(), how_sent(info, flow.pick.coding)));
  }
  if (job_.offset == 0 && info.size_bytes && *info.size_bytes != size_) {
    throw Error(FailureKind::content,
                fmt::format("{} is {} bytes long at {}{}, and {} were expected", job_.name, *info.size_bytes,
                            flow.pick.url->display(), how_sent(info, flow.pick.coding), size_),
                "the recipe is out of date or the source is another file: compare them, then mend the recipe");
  }
  if (known()) return;
  const std::lock_guard lock(mutex_);
  if (!trust_.same_version(flow.pick.index, info.validators)) {
    throw Error(FailureKind::changed, fmt::format("{} changed at its source while it was fetched", job_.name));
  }
  if (trust_.leads(flow.pick.index)) note_version(flow.pick.index);
}

void ChunkTransfer::note_version(std::size_t mirror) {
  own_->note_version({trust_.expected(mirror, {}), given_key(job_, mirror).hex()}, size_);
}

ByteRange ChunkTransfer::range_of(std::uint64_t chunk) const {
  return {chunk * chunk_size_bytes, chunk * chunk_size_bytes + chunk_length(size_, chunk)};
}

std::shared_ptr<Flight> ChunkTransfer::flight_of(std::uint64_t chunk, std::size_t giver) {
  auto found = flights_.find(chunk);  // what is made first cannot stand there half made, where memory ends
  if (found == flights_.end())
    found = flights_.emplace(chunk, std::make_shared<Flight>(Flight{buffers_.take(), 0, 0, now(), {}})).first;
  found->second->givers.insert(giver);
  return found->second;
}

void ChunkTransfer::take_bytes(Lane& lane, Flow& flow, std::span<const std::byte> bytes) {
  const double begin = now();
  double end = begin;
  std::unique_lock lock(mutex_);
  hear_judgements();
  for (;;) {
    if (flow.run->left() == 0 && flow.run->position < flow.request_end) throw Enough{};
    if (bytes.empty()) return schedule_->resume(flow.run, end - begin, end);
    flow.run->busy = true;
    if (flow.run->left() == 0) {
      throw Error(FailureKind::content, fmt::format("{} sends more than was asked", flow.pick.url->display()));
    }
    const std::uint64_t at = flow.run->position, chunk = at / chunk_size_bytes;
    const auto part = bytes.first(schedule_->advance(flow.run, std::min(bytes.size(), range_of(chunk).end - at), end));
    bytes = bytes.subspan(part.size());
    if (done_[chunk]) continue;
    if (put(lane, flow, at, flight_of(chunk, flow.pick.index), part, false, lock)) end = now();
  }
}

void ChunkTransfer::take_whole(Lane& lane, Flow& flow, std::uint64_t& at, std::span<const std::byte> bytes) {
  std::unique_lock lock(mutex_);
  while (!bytes.empty()) {
    if (at == size_)
      throw Error(FailureKind::content,
                  fmt::format("{} is longer than the {} bytes that were expected", flow.pick.url->display(), size_));
    const std::uint64_t chunk = at / chunk_size_bytes;
    const auto part = bytes.first(std::min<std::uint64_t>(bytes.size(), range_of(chunk).end - at));
    if (!done_[chunk]) (void)put(lane, flow, at, flight_of(chunk, flow.pick.index), part, false, lock);
    at += part.size();
    bytes = bytes.subspan(part.size());
  }
}

// Bytes meet in the chunk's buffer, and whoever brings the last of them finishes it. True: this lane did. The mutex is
// held before and after, and not meanwhile.
bool ChunkTransfer::put(Lane& lane, Flow& flow, std::uint64_t at, std::shared_ptr<Flight> flight,
                        std::span<const std::byte> bytes, bool adopted, std::unique_lock<std::mutex>& lock) {
  const std::uint64_t chunk = at / chunk_size_bytes, offset = at % chunk_size_bytes;
  lock.unlock();
  std::memcpy(flight->bytes.get() + offset, bytes.data(), bytes.size());
  if (!adopted) write_scratch(lane, flow, at, flight->bytes.get(), bytes.size());
  if (offset == 0 || at == flow.start_end) flow.start_end = at + bytes.size();
  lock.lock();
  flow.received += bytes.size();
  flight->covered += bytes.size();
  if (adopted) flight->adopted += bytes.size();
  if (!adopted) keep_sample(flow, chunk, *flight);
  if (flight->covered != chunk_length(size_, chunk)) return false;
  lock.unlock();
  finish_chunk(lane, flow, chunk, *flight);
  lock.lock();
  return true;
}

// `fresh` bytes have come to `buffer`, the chunk's, at position `at` of the file.
void ChunkTransfer::write_scratch(const Lane& lane, Flow& flow, std::uint64_t at, const std::byte* buffer,
                                  std::size_t fresh) {
  const std::uint64_t chunk = at / chunk_size_bytes, begin = chunk * chunk_size_bytes;
  const bool goes_on = at == flow.part_end && at != begin && buffer == flow.part_of;
  if (!goes_on) flow.part_begin = at;
  flow.part_end = at + fresh;
  flow.part_of = buffer;
  const std::span part(buffer + (flow.part_begin - begin), flow.part_end - flow.part_begin);
  partial_->write_scratch(lane.id, chunk, flow.part_begin - begin, part, fresh);
}

// What dead writers left of the chunk that the run begins in: whoever comes to it first takes what nobody is at.
void ChunkTransfer::adopt_scratch(Lane& lane, Flow& flow) {
  std::uint64_t chunk = 0;
  {
    const std::lock_guard lock(mutex_);
    chunk = flow.run->position / chunk_size_bytes;
    if (flow.run->left() == 0 || flights_.contains(chunk) || alone_.contains(chunk)) return;
  }
  const std::uint64_t begin = chunk * chunk_size_bytes;
  for (const auto& [offset, bytes] : partial_->adopt_scratch(chunk)) {
    std::unique_lock lock(mutex_);
    if (done_[chunk]) return;
    const auto passed = schedule_->pass(flow.run, {begin + offset, begin + offset + bytes.size()});
    if (passed.empty()) continue;
    const auto flight = flight_of(chunk, flow.pick.index);
    for (const ByteRange& part : passed) {
      const auto adopted = std::span(bytes).subspan(part.begin - begin - offset, part.size());
      (void)put(lane, flow, part.begin, flight, adopted, true, lock);
    }
  }
}

void ChunkTransfer::finish_chunk(Lane& lane, Flow& flow, std::uint64_t chunk, const Flight& flight) {
  const ChunkBuffers::Buffer kept = flight.bytes;
  const std::span<const std::byte> bytes(kept.get(), chunk_length(size_, chunk));
  const bool right = known() ? hash_chunk(bytes) == job_.known->chunks[chunk]
                             : pieces_match(job_.pieces, size_, chunk * chunk_size_bytes, bytes);
  if (!right) return refuse_chunk(flow, chunk, flight);
  Whole whole{chunk, kept, {}, 0, now() - flight.begun < quick_s && flight.adopted == 0};
  std::unique_lock lock(mutex_);
  whole.givers = flight.givers;
  whole.adopted = flight.adopted;
  const std::size_t giver = *whole.givers.begin();
  if (whole.givers.size() == 1 && lead_is_open() && trust_.take_lead(giver)) note_version(giver);
  if (!trust_.believed(whole.givers)) return trust_.hold(std::move(whole));
  const bool held_back = keep_chunk(lane, whole, flow.stop.get_token(), lock);
  lock.unlock();
  if (held_back) flow.pick.host->held_back();
}

// The mutex is held before and after, and not meanwhile. True: everybody waits for the hash of the whole.
bool ChunkTransfer::keep_chunk(Lane& lane, const Whole& whole, const std::stop_token& stop,
                               std::unique_lock<std::mutex>& lock) {
  const std::uint64_t chunk = whole.chunk;
  const std::span<const std::byte> bytes(whole.bytes.get(), chunk_length(size_, chunk));
  FrontHash::Turn turn;
  {
    const Meanwhile meanwhile(lock, keeping_);
    if (known()) {
      partial_->write_chunk(lane.id, chunk, bytes, job_.known->chunks[chunk]);
      if (whole.adopted > 0) context_.events.on(event::BytesReused{whole.adopted, Reuse::partial});
    } else if (turn = front_hash_->await_turn(chunk, whole.quick, stop); turn.unhashed) {
      own_->write_unhashed(lane.id, chunk, bytes);
    } else {
      partial_->write_chunk(lane.id, chunk, bytes, hash_chunk(bytes));
      if (job_.follower != nullptr) job_.follower->advance(*own_, own_->front());
    }
    if (!known()) front_hash_->offer(chunk, whole.bytes, turn);
  }
  if (done_[chunk]) return turn.held_back;
  if (!known()) reused_ += whole.adopted;
  trust_.gave(whole.givers);
  if (known() && whole.givers.size() == 1 && whole.adopted == 0) mirrors_.proved(*whole.givers.begin());
  alone_.erase(chunk);
  flights_.erase(chunk);
  schedule_->remove_free(range_of(chunk));  // had it been given up meanwhile
  note_done(chunk);
  return turn.held_back;
}

// Of one source: it is blamed. Of several: nobody knows whose bytes are wrong, and one alone brings the whole chunk.
void ChunkTransfer::refuse_chunk(Flow& flow, std::uint64_t chunk, const Flight& flight) {
  const ByteRange range = range_of(chunk);
  const std::set<std::size_t> givers = flight.givers;
  const bool several = givers.size() > 1 || flight.adopted > 0;
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = flights_.find(chunk); at == flights_.end() || at->second.get() != &flight) return;
    flights_.erase(chunk);
    schedule_->add_free(range);
    if (several) alone_.insert(chunk);
  }
  if (several) return;
  const Error wrong(FailureKind::content,
                    fmt::format("{}: chunk {} (bytes {} to {}) does not match its hash", mirrors_.name(*givers.begin()),
                                chunk, range.begin, range.end),
                    "the source holds another version, or it lies: it is not asked again for this file");
  if (*givers.begin() == flow.pick.index) throw wrong;
  mirrors_.demote(*givers.begin(), wrong.failure());
  const std::lock_guard lock(mutex_);
  after_death(*givers.begin(), FailureKind::content);
}

// --- after it ------------------------------------------------------------------------------------------------------

void ChunkTransfer::after_failure(Flow& flow, const Error& error) {
  const FailureKind kind = error.failure().kind;
  if (flow.stop.stop_requested() && !context_.stop.stop_requested() && verdict(kind) == Verdict::fatal) {
    return mirrors_.released(flow.pick);  // it was ended from here
  }
  if (kind == FailureKind::no_ranges && flow.has_run) {
    const std::lock_guard lock(mutex_);
    if (sequential_) return mirrors_.released(flow.pick);  // another lane has learnt that before
    mirrors_.failed(flow.pick, error, false);
    if (job_.offset == 0 && mirrors_.only_rangeless()) {
      sequential_ = true;
      mirrors_.revive_rangeless();
      if (!provable() && missing_ < done_.size()) want_restart();  // another one may read on
      trust_.forget_leader();
      stop_flows([](const Flow&) { return true; });
    }
    return;
  }
  if (flow.check && kind == FailureKind::content) {
    mirrors_.set_aside(flow.pick, error.failure());
    const std::lock_guard lock(mutex_);
    trust_.differs(flow.pick.index, error.failure());
    stop_flows([&](const Flow& other) { return other.pick.index == flow.pick.index; });
    return;
  }
  if (kind == FailureKind::changed && flow.versioned) {
    const std::lock_guard lock(mutex_);
    if (trust_.doubts_version(flow.pick.index)) return mirrors_.released(flow.pick);  // asked before it was doubted
  }
  mirrors_.failed(flow.pick, error, flow.received > 0 && kind == FailureKind::network && flow.has_run);
  const std::lock_guard lock(mutex_);
  if (flow.check) return;
  if (!known() && kind == FailureKind::changed) after_change(flow.pick.index);
  if (mirrors_.dead(flow.pick.index)) after_death(flow.pick.index, kind);
}

void ChunkTransfer::after_change(std::size_t mirror) {
  const bool versions_mean = job_.offset > 0 || !job_.version.empty();  // the file's place in its source is of one
  if (!versions_mean && trust_.doubt_version(mirror, something_came())) {
    own_->note_version({}, size_);
    context_.events.on(event::Note{
        fmt::format("{}: {} names more than one version: the checksum decides", job_.name, mirrors_.name(mirror))});
    return;
  }
  if (restart_) return;
  if (!versions_mean && trust_.needs_one_answer()) want_one_answer();
  want_restart();
}

// What one answer brings is of one version, whatever that is called.
void ChunkTransfer::want_one_answer() {
  sequential_ = true;
  mirrors_.revive_rangeless();
}

void ChunkTransfer::after_death(std::size_t mirror, FailureKind kind) {
  const bool wrong = kind == FailureKind::content || kind == FailureKind::invalid;
  // What else was asked of it may come yet, or say better why it does not.
  if (wrong) stop_flows([&](const Flow& flow) { return flow.pick.index == mirror; });
  const bool lost = trust_.dismiss(mirror, wrong, mirrors_.any_alive());
  const bool gave = trust_.givers().contains(mirror) ||
                    std::any_of(flights_.begin(), flights_.end(),
                                [&](const auto& flight) { return flight.second->givers.contains(mirror); });
  if (!known() && lost && gave) want_restart();
}

// Chunks that were claimed, and at which none of our lanes is any more.
void ChunkTransfer::give_back(ByteRange left) {
  for (std::uint64_t chunk = left.begin / chunk_size_bytes; chunk * chunk_size_bytes < left.end; ++chunk) {
    if (done_[chunk] || schedule_->in_run(range_of(chunk)) || claimed_.erase(chunk) == 0) continue;
    shared_->release(chunk);
  }
}

void ChunkTransfer::end_flow(Place flow) {
  const std::lock_guard lock(mutex_);
  if (flow->has_run) {
    const ByteRange left{flow->run->position, flow->run->end};
    schedule_->release(flow->run);
    if (known() && left.size() > 0) give_back(left);
  }
  const std::size_t mirror = flow->pick.index;
  if (flow->check) trust_.end_comparing(mirror);
  const bool worthless = mirrors_.dead(mirror) && trust_.worthless(mirror), passed = !flow->has_run && !flow->check;
  forget_flights([&](std::uint64_t chunk, const Flight& flight) {
    return passed || alone_.contains(chunk) || (worthless && flight.givers.contains(mirror));
  });
  flows_.erase(flow);
}

}  // namespace sabath
