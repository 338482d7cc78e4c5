#include "fetch/transfer/chunk_transfer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fetch/hosts/page_guard.h"

namespace sabath {

namespace {

constexpr unsigned lanes_soon = 32;  // of a file far away, before it is known that it is
constexpr double quick_s = std::chrono::duration<double>(ScratchLanes::worth_keeping).count();

class OneLess {  // at its end, in spite of what is thrown
 public:
  OneLess(std::mutex& mutex, unsigned& count) : mutex_(mutex), count_(count) {}
  ~OneLess() {
    const std::lock_guard lock(mutex_);
    --count_;
  }
  OneLess(const OneLess&) = delete;
  OneLess& operator=(const OneLess&) = delete;

 private:
  std::mutex& mutex_;
  unsigned& count_;
};

bool tells_of_wrong_bytes(FailureKind kind) { return kind == FailureKind::content || kind == FailureKind::invalid; }

}  // namespace

ChunkTransfer::ChunkTransfer(FetchContext& context, ChunkBuffers& buffers, const FileJob& job, std::uint64_t size_bytes,
                             const std::vector<bool>* wanted, bool provable)
    : context_(context),
      job_(job),
      size_(size_bytes),
      provable_(provable),
      mirrors_(context, job, true),
      assembly_(
          size_bytes, wanted, buffers,
          {.came = [this](const Flow& flow, std::uint64_t chunk, const Flight& flight) { came(flow, chunk, flight); },
           .whole = [this](Lane& lane, Flow& flow, std::uint64_t chunk,
                           const Flight& flight) { finish_chunk(lane, flow, chunk, flight); }}),
      mutex_(assembly_.mutex()) {}

bool ChunkTransfer::work(Lane& lane, bool last) {
  Task task;
  {
    const std::lock_guard lock(mutex_);
    const TransferStep step = next(phase_, facts());
    if (is_for_one(step)) phase_ = TransferPhase::busy;
    task = begin(step, last);
  }
  if (!task) return false;
  task(lane);
  return true;
}

// --- phases --------------------------------------------------------------------------------------------------------

void ChunkTransfer::end() {
  try {
    if (!publish()) return;
  } catch (const Error& error) {
    if (verdict(error.failure().kind) == Verdict::fatal) throw;
    outcome_.failure = error.failure();
  }
  phase_ = TransferPhase::over;
}

void ChunkTransfer::fail(const Failure& failure) {
  const std::lock_guard lock(mutex_);
  outcome_.failure = failure;
  stop_flows([](const Flow&) { return true; });
  phase_ = TransferPhase::over;
}

// --- decisions; the mutex is held ----------------------------------------------------------------------------------

TransferFacts ChunkTransfer::facts() { return {.under_way = under_way(), .missing = assembly_.missing() > 0}; }

ChunkTransfer::Task ChunkTransfer::begin(TransferStep step, bool last) {
  switch (step) {
    case TransferStep::open:
      return [this](Lane&) { open(); };
    case TransferStep::publish:
      return [this](Lane&) { end(); };
    case TransferStep::ask:
      return ask(last);
    default:
      return {};
  }
}

ChunkTransfer::Task ChunkTransfer::ask(bool last) {
  try {
    const auto flow = next_flow(last);
    if (!flow) return {};
    return [this, place = *flow](Lane& lane) { run_flow(lane, place); };
  } catch (const Error& error) {
    if (verdict(error.failure().kind) == Verdict::fatal) throw;
    if (under_way()) return {};  // it may come yet, or say better why it does not
    if (tries_again()) return [](Lane&) {};
    phase_ = TransferPhase::busy;  // one lane says so, not each that finds it
    return [this, failure = error.failure()](Lane&) { fail(failure); };
  }
}

std::optional<ChunkTransfer::Place> ChunkTransfer::next_flow(bool last) {
  if (sequential_ && !flows_.empty()) return std::nullopt;
  unanswered_.end(flows_, assembly_.schedule(), assembly_.now(), context_.events);
  if (!sequential_ && assembly_.schedule().free_bytes() == 0) return help_flow(last);
  const bool choice = mirrors_.alive() > 1;
  return data_flow([&](std::size_t mirror) { return may_ask(mirror, choice); }, last);
}

// The late bytes are few, and the nearest mirror brings them soonest, even if it is the slowest.
std::optional<ChunkTransfer::Place> ChunkTransfer::help_flow(bool last) {
  if (context_.hosts.stood_still()) return std::nullopt;  // all look first at what has come meanwhile
  std::vector<std::pair<double, std::size_t>> nearest;    // seconds away, mirror
  for (std::size_t i = 0; i < mirrors_.size(); ++i) {
    if (may_ask(i, mirrors_.alive() > 1)) nearest.emplace_back(mirrors_.host(i).speed().latency, i);
  }
  std::ranges::sort(nearest);
  for (const auto& [away, mirror] : nearest) {
    if (auto flow = data_flow([only = mirror](std::size_t each) { return each == only; }, last)) return flow;
  }
  return std::nullopt;
}

std::optional<ChunkTransfer::Place> ChunkTransfer::data_flow(const MirrorSet::Filter& from, bool last) {
  const auto pick = mirrors_.try_pick(from);
  if (!pick) return std::nullopt;
  Flow flow{*pick, {}};
  if (sequential_) {
    assembly_.forget_all();
  } else if (!give_run(flow, last)) {
    mirrors_.unused(*pick);
    return std::nullopt;
  }
  return flows_.insert(flows_.end(), std::move(flow));
}

Schedule::Limits ChunkTransfer::limits() const {
  Schedule::Limits limits;
  limits.chunk_bytes = chunk_size_bytes;
  limits.lanes_soon = context_.lanes == 0 ? lanes_soon : context_.lanes;
  return limits;
}

bool ChunkTransfer::start_run(Flow& flow, Schedule::Asks asks) {
  Schedule& schedule = assembly_.schedule();
  const auto left = assembly_.scratch_left();
  // The lane that begins a chunk of which something was left takes that first, and then gives the rest back.
  asks.whole = [&](std::uint64_t chunk) { return assembly_.alone(chunk) || left.contains(chunk); };
  asks.first = [&](std::uint64_t chunk) { return left.contains(chunk); };
  asks.dear = mirrors_.dear(flow.pick);
  const auto run =
      schedule.take(flow.pick.index, flow.pick.host->speed(), context_.hosts.connections(), assembly_.now(), asks);
  if (!run) return false;
  flow.run = *run;
  flow.has_run = true;
  flow.request_end = flow.run->end;
  if (schedule.split()) {
    context_.events.on(event::Note{fmt::format("{}: {}", job_.name, schedule.reason())});
    stop_flows([](const Flow& late) {
      return late.has_run && late.run->left() == 0 && late.run->position < late.request_end;
    });
  }
  return true;
}

void ChunkTransfer::note_done(std::uint64_t chunk) {
  if (!assembly_.arrived(chunk)) return;
  stop_flows([](const Flow& flow) { return flow.check || (flow.has_run && flow.run->left() > 0); });
}

void ChunkTransfer::stop_flows(const std::function<bool(const Flow&)>& which) {
  for (Flow& flow : flows_) {
    if (which(flow)) flow.stop.request_stop();
  }
}

// All bytes of one answer are of one version, under any name.
void ChunkTransfer::one_answer() {
  sequential_ = true;
  mirrors_.revive_rangeless();
}

// Other requests to this mirror may still bring bytes, or fail with a better reason.
void ChunkTransfer::died(std::size_t mirror, bool wrong) {
  if (wrong) stop_flows([&](const Flow& flow) { return flow.pick.index == mirror; });
}

void ChunkTransfer::failed(const Flow& flow, FailureKind kind) {
  if (mirrors_.dead(flow.pick.index)) died(flow.pick.index, tells_of_wrong_bytes(kind));
}

// --- one request, in its lane --------------------------------------------------------------------------------------

void ChunkTransfer::run_flow(Lane& lane, Place flow) {
  try {
    request(lane, *flow);
  } catch (...) {
    end_flow(flow);
    throw;
  }
  end_flow(flow);
}

void ChunkTransfer::request(Lane& lane, Flow& flow) {
  const std::stop_callback forward(context_.stop, [&] { flow.stop.request_stop(); });
  try {
    read(lane, flow);
    mirrors_.succeeded(flow.pick);
  } catch (const Assembly::Enough&) {
    mirrors_.succeeded(flow.pick);
  } catch (const Error& error) {
    after_failure(flow, error);
  } catch (...) {
    mirrors_.released(flow.pick);
    throw;
  }
}

void ChunkTransfer::read_into(Flow& flow, const ReadRequest& request, const GuardedSink::Write& write) {
  FetchContext own = context_;
  own.stop = flow.stop.get_token();
  const MirrorSet::Pick& pick = flow.pick;
  GuardedSink sink(
      own, *pick.line, *pick.url, provable_ ? std::optional(size_) : std::nullopt,
      [&](const ContentInfo& info) { on_begin(flow, info); }, write, pick.host);
  if (!provable_) sink.compare_answer();
  sink.on_wait([&] {
    const std::lock_guard lock(mutex_);
    if (flow.has_run) flow.run->busy = true;
  });
  read_source(own, request, *pick.line, sink);
}

void ChunkTransfer::read(Lane& lane, Flow& flow) {
  if (!flow.has_run) return read_whole(lane, flow);
  assembly_.adopt_scratch(lane, flow);
  ReadRequest request{*flow.pick.url, 0, std::nullopt, {}};
  request.coding = flow.pick.coding;
  {
    const std::lock_guard lock(mutex_);
    if (flow.run->left() == 0) return;
    flow.request_end = flow.run->end;
    request.offset = job_.offset + flow.run->position;
    request.length = flow.run->left();
    request.expected = expected(flow.pick.index);
    flow.versioned = !request.expected.empty();
  }
  read_into(flow, request, [&](std::span<const std::byte> bytes) { assembly_.take(lane, flow, bytes); });
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
  read_into(flow, request, [&](std::span<const std::byte> bytes) { assembly_.take_whole(lane, flow, at, bytes); });
  if (at < size_) throw Error(FailureKind::network, fmt::format("{} ended early", flow.pick.url->display()));
}

void ChunkTransfer::on_begin(Flow& flow, const ContentInfo& info) {
  if (job_.offset == 0 && is_coded(*flow.pick.url, info, flow.pick.coding, size_) &&
      mirrors_.ask_otherwise(flow.pick, info)) {
    throw Error(FailureKind::no_ranges,
                fmt::format("{} is not as it is stored{}", flow.pick.url->display(), how_sent(info, flow.pick.coding)));
  }
  flow.other_size = job_.offset == 0 && info.size_bytes && *info.size_bytes != size_;
  if (flow.other_size) {
    throw Error(FailureKind::content,
                fmt::format("{} is {} bytes long at {}{}, and {} were expected", job_.name, *info.size_bytes,
                            flow.pick.url->display(), how_sent(info, flow.pick.coding), size_),
                "the recipe is out of date or the source is another file: compare them, then mend the recipe");
  }
}

void ChunkTransfer::finish_chunk(Lane& lane, Flow& flow, std::uint64_t chunk, const Flight& flight) {
  const ChunkBuffers::Buffer kept = flight.bytes;
  if (!right(chunk, {kept.get(), assembly_.length_of(chunk)})) return refuse_chunk(flow, chunk, flight);
  Whole whole{chunk, kept, {}, 0, assembly_.now() - flight.begun < quick_s && flight.adopted == 0};
  {
    const std::lock_guard lock(mutex_);
    whole.givers = flight.givers;
    whole.adopted = flight.adopted;
    if (!believes(whole)) return;
    ++keeping_;
  }
  if (keep(lane, whole, flow.stop.get_token())) flow.pick.host->held_back();
}

bool ChunkTransfer::keep(Lane& lane, const Whole& whole, const std::stop_token& stop) {
  const OneLess then(mutex_, keeping_);
  return store(lane, whole, stop);
}

// Of one source: it is blamed. Of several: any of them may be wrong, and one alone brings the whole chunk.
void ChunkTransfer::refuse_chunk(Flow& flow, std::uint64_t chunk, const Flight& flight) {
  std::set<std::size_t> givers;
  {
    const std::lock_guard lock(mutex_);
    givers = flight.givers;
    const bool several = givers.size() > 1 || flight.adopted > 0;
    if (!assembly_.refuse(chunk, flight, several) || several) return;
  }
  const std::size_t giver = *givers.begin();
  const ByteRange range = assembly_.range_of(chunk);
  const Error wrong(FailureKind::content,
                    fmt::format("{}: chunk {} (bytes {} to {}) does not match its hash", mirrors_.name(giver), chunk,
                                range.begin, range.end),
                    "the source holds another version, or it lies: it is not asked again for this file");
  if (giver == flow.pick.index) throw wrong;
  mirrors_.demote(giver, wrong.failure());
  const std::lock_guard lock(mutex_);
  died(giver, true);
}

void ChunkTransfer::after_failure(Flow& flow, const Error& said) {
  bool of_part = flow.has_run && job_.offset == 0;
  if (of_part && !provable_) {
    const std::lock_guard lock(mutex_);
    of_part = !assembly_.any_done();  // or the whole would take the place of what is held
  }
  const Error error = of_part ? mirrors_.of_part(flow.pick, said) : said;
  const FailureKind kind = error.failure().kind;
  if (flow.stop.stop_requested() && !context_.stop.stop_requested() && verdict(kind) == Verdict::fatal) {
    return mirrors_.released(flow.pick);  // it was ended from here
  }
  if (kind == FailureKind::no_ranges && flow.has_run) return ignored_range(flow, error);
  mirrors_.failed(flow.pick, error, flow.received > 0 && kind == FailureKind::network && flow.has_run);
  const std::lock_guard lock(mutex_);
  failed(flow, kind);
}

void ChunkTransfer::ignored_range(Flow& flow, const Error& error) {
  const std::lock_guard lock(mutex_);
  if (sequential_) return mirrors_.released(flow.pick);  // another lane has learnt that before
  mirrors_.failed(flow.pick, error, false);
  if (job_.offset > 0 || !mirrors_.only_rangeless()) return;
  one_answer();
  rangeless();
  stop_flows([](const Flow&) { return true; });
}

void ChunkTransfer::end_flow(Place flow) {
  const std::lock_guard lock(mutex_);
  ByteRange left;
  if (flow->has_run) {
    left = {flow->run->position, flow->run->end};
    assembly_.schedule().release(flow->run);
  }
  ended(*flow, left);
  const std::size_t mirror = flow->pick.index;
  const bool lost = mirrors_.dead(mirror) && worthless(mirror), passed = !flow->has_run && !flow->check;
  assembly_.forget([&](std::uint64_t chunk, const Flight& flight) {
    return passed || assembly_.alone(chunk) || (lost && flight.givers.contains(mirror));
  });
  flows_.erase(flow);
}

}  // namespace sabath
