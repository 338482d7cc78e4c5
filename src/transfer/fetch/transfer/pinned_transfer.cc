#include "fetch/transfer/pinned_transfer.h"

#include <algorithm>

#include "fetch/hosts/part.h"

namespace sabath {
namespace {

constexpr auto news_interval = std::chrono::milliseconds(100);
constexpr std::uint64_t probe_bytes = chunk_size_bytes / 8;  // a request to a mirror that is to prove itself
constexpr auto proof_patience = std::chrono::seconds(2);     // with the rank that asks for a proof

}  // namespace

PinnedTransfer::PinnedTransfer(FetchContext& context, ChunkBuffers& buffers, ChunkIndex& index, const FileJob& job)
    : ChunkTransfer(context, buffers, job, job.known->digest.size_bytes, wanted_of(context, job), true),
      slice_(slice_of(size_, context.share)),
      reuse_(context.store, index, buffers) {}

// --- phases --------------------------------------------------------------------------------------------------------

void PinnedTransfer::open() {
  if (context_.force) context_.store.distrust(job_.known->digest);
  partial_ = context_.store.open_partial(job_.known->digest, job_.known->chunks);
  if (!context_.force) reuse_.look(job_.name);
  const std::lock_guard lock(mutex_);
  const bool by_others = job_.shared && context_.share.rank > 0;  // rank 0 shows it
  if (const auto here = plan(); here > 0) context_.events.on(event::BytesReused{here, Reuse::partial, by_others});
  phase_ = TransferPhase::open;
}

std::uint64_t PinnedTransfer::plan() {
  assembly_.begin(*partial_, limits(), slice_.begin);
  std::uint64_t here = 0;
  for (std::uint64_t i = 0; i < assembly_.chunks(); ++i) {
    if (assembly_.done(i)) {
      here += assembly_.length_of(i);
    } else if (assembly_.wants(i) && !reuse_.offer(i, job_.known->chunks[i], assembly_.length_of(i))) {
      assembly_.free(i);
    }
  }
  reuse_.start_at(slice_.begin / chunk_size_bytes);
  return here;
}

bool PinnedTransfer::publish() {
  outcome_.tree = assembly_.all_done() ? partial_->publish() : *job_.known;  // else all that is wanted of it is here
  context_.events.on(event::FileDone{job_.name, size_});
  return true;
}

void PinnedTransfer::fail(const Failure& failure) {
  if (!context_.store.present(job_.known->digest)) return ChunkTransfer::fail(failure);
  outcome_.tree = *job_.known;  // other processes brought all of it
  phase_ = TransferPhase::over;
}

// --- decisions; the mutex is held ----------------------------------------------------------------------------------

TransferFacts PinnedTransfer::facts() {
  TransferFacts facts = ChunkTransfer::facts();
  facts.under_way = facts.under_way || reuse_.under_way();
  facts.copy = reuse_.any();
  return facts;
}

ChunkTransfer::Task PinnedTransfer::begin(TransferStep step, bool last) {
  if (step != TransferStep::copy) return ChunkTransfer::begin(step, last);
  return [this, chunk = reuse_.take()](const Lane& lane) { copy(lane, chunk); };
}

std::optional<ChunkTransfer::Place> PinnedTransfer::next_flow(bool last) {
  hear_judgements();
  return ChunkTransfer::next_flow(last);
}

// Hears what other ranks have found out about mirrors.
void PinnedTransfer::hear_judgements() {
  if (!job_.shared) return;
  for (const std::size_t mirror : mirrors_.fallen()) died(mirror, true);
}

// Each of several mirrors first proves itself by one chunk, and of the ranks one lets it: what a liar can cost does not
// grow with connections or ranks.
bool PinnedTransfer::may_ask(std::size_t mirror, bool choice) const {
  if (!choice || mirrors_.has_proved(mirror)) return true;
  const bool ours = !job_.shared || mirror % context_.share.ranks == context_.share.rank;
  if (!ours && Clock::now() - begun_ < proof_patience) return false;
  const auto probe = probes_.find(mirror);
  return probe == probes_.end() || assembly_.schedule().free_in(assembly_.range_of(probe->second));
}

bool PinnedTransfer::give_run(Flow& flow, bool last) {
  const Schedule& schedule = assembly_.schedule();
  const bool all_dealt = schedule.free_bytes() == 0;
  // Before it leaves its slice, a rank looks at what the others have done since: their news may be a while old.
  if (context_.share.ranks > 1 && !schedule.free_in(slice_)) take_news(std::chrono::milliseconds(0));
  const std::size_t mirror = flow.pick.index;
  const bool probes = mirrors_.alive() > 1 && !mirrors_.has_proved(mirror);
  const auto probe = probes_.find(mirror);
  const Schedule::Asks asks{.taken = [this](std::uint64_t chunk) { return partial_->claimed_by_other(chunk); },
                            .most = probes ? probe_bytes : UINT64_MAX,
                            .only = probes && probe != probes_.end() ? std::optional(probe->second) : std::nullopt,
                            .last = last};
  if (!start_run(flow, asks) || (!all_dealt && !claim(flow))) {
    take_news(news_interval);
    return false;
  }
  if (probes) probes_[mirror] = flow.run->position / chunk_size_bytes;
  return true;
}

// Tells the other processes. Of several that want the same at once, one gets it.
bool PinnedTransfer::claim(Flow& flow) {
  const Schedule::Place run = flow.run;
  std::uint64_t chunk = run->position / chunk_size_bytes;
  const std::uint64_t end = (run->end - 1) / chunk_size_bytes + 1;
  while (chunk < end && claimed_.contains(chunk)) ++chunk;
  if (chunk == end) return true;
  const std::uint64_t ours = chunk + partial_->claim_run(chunk, end - chunk);
  for (; chunk < ours; ++chunk) claimed_.insert(chunk);
  if (ours < end) assembly_.schedule().shorten(run, std::max(run->position, ours * chunk_size_bytes));
  flow.request_end = run->end;
  if (run->left() > 0) return true;
  assembly_.schedule().release(run);
  return false;
}

// All missing chunks are claimed by others: sees which they have finished since.
void PinnedTransfer::take_news(std::chrono::milliseconds interval) {
  if (assembly_.schedule().free_bytes() == 0 || Clock::now() - looked_ < interval) return;
  looked_ = Clock::now();
  const auto theirs = partial_->chunks_done();
  for (std::uint64_t i = 0; i < assembly_.chunks(); ++i) {
    if (assembly_.done(i) || !theirs[i] || assembly_.schedule().in_run(assembly_.range_of(i))) continue;
    if (assembly_.is_whole(i)) continue;
    done(i);  // a part may be here, of a request that broke off: another has brought the whole since
    context_.events.on(event::BytesReused{assembly_.length_of(i), Reuse::partial, job_.shared});
  }
}

void PinnedTransfer::done(std::uint64_t chunk) {
  claimed_.erase(chunk);
  std::erase_if(probes_, [&](const auto& probe) { return probe.second == chunk; });
  note_done(chunk);
}

void PinnedTransfer::came(const Flow&, std::uint64_t, const Flight&) { hear_judgements(); }

void PinnedTransfer::died(std::size_t mirror, bool wrong) {
  ChunkTransfer::died(mirror, wrong);
  if (wrong) wrong_.insert(mirror);
}

// Chunks that were claimed, and at which none of our lanes is any more.
void PinnedTransfer::ended(const Flow&, ByteRange left) {
  if (left.size() == 0) return;
  for (std::uint64_t chunk = left.begin / chunk_size_bytes; chunk * chunk_size_bytes < left.end; ++chunk) {
    const bool ours = assembly_.done(chunk) || assembly_.schedule().in_run(assembly_.range_of(chunk));
    if (!ours && claimed_.erase(chunk) > 0) partial_->release(chunk);
  }
}

// --- chunks, in a lane ---------------------------------------------------------------------------------------------

// Chunks that stand in the store already are copied before a source is asked. Of several processes one copies a chunk,
// as one fetches it.
void PinnedTransfer::copy(const Lane& lane, const ChunkReuse::Copy& copy) {
  bool copied = false;
  try {
    const bool ours = partial_->claim_run(copy.chunk, 1) == 1;
    copied = ours && reuse_.copy(copy, *partial_, lane.id);
    if (ours && !copied) partial_->release(copy.chunk);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    reuse_.over();
    throw;
  }
  const std::lock_guard lock(mutex_);
  reuse_.over();
  if (!copied) return assembly_.free(copy.chunk);
  if (assembly_.done(copy.chunk)) return;
  done(copy.chunk);
  context_.events.on(event::BytesReused{assembly_.length_of(copy.chunk), Reuse::chunk});
}

bool PinnedTransfer::right(std::uint64_t chunk, std::span<const std::byte> bytes) const {
  return hash_chunk(bytes) == job_.known->chunks[chunk];
}

bool PinnedTransfer::store(Lane& lane, const Whole& whole, const std::stop_token&) {
  const std::uint64_t chunk = whole.chunk;
  partial_->write_chunk(lane.id, chunk, {whole.bytes.get(), assembly_.length_of(chunk)}, job_.known->chunks[chunk]);
  if (whole.adopted > 0) context_.events.on(event::BytesReused{whole.adopted, Reuse::partial});
  const std::lock_guard lock(mutex_);
  if (assembly_.done(chunk)) return false;
  if (whole.givers.size() == 1 && whole.adopted == 0) mirrors_.proved(*whole.givers.begin());
  done(chunk);
  return false;
}

}  // namespace sabath
