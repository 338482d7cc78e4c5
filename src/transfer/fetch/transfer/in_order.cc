#include "fetch/transfer/in_order.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/reach.h"
#include "base/text.h"
#include "fetch/hosts/page_guard.h"
#include "fetch/hosts/source_key.h"
#include "fetch/hosts/space_guard.h"
#include "fetch/transfer/follow.h"
#include "store/partials/leader_watch.h"

namespace sabath {

namespace {
// Of bytes, not of a source: to keep them would be of no use.
bool is_wrong(FailureKind kind) { return kind == FailureKind::content || kind == FailureKind::invalid; }

struct Unchanged {};  // ends a transfer whose first header said enough
struct GaveWay {};    // one that another process is ahead with
struct NoShare {};    // and one of which a part was asked for, where only the whole can be read

void note_reach(FileOutcome& outcome, const Url& url, const ContentInfo& info) {
  const Reach reach = info.reach.value_or(reach_of(url));
  outcome.reach = std::min(outcome.reach.value_or(reach), reach);
}

}  // namespace

InOrder::InOrder(FetchContext& context, Publisher& publisher, Lane& lane, const FileJob& job, LeaderWatch* watch,
                 bool alone)
    : context_(context),
      publisher_(publisher),
      lane_(lane),
      job_(job),
      watch_(watch),
      alone_(alone),
      mirrors_(context, job, false),
      checksums_(std::make_unique<ChecksumSet>(job.checksum, size_expected())),
      kept_(context.events),
      mixable_(provable()),
      first_chunk_only_(!job.known && !job.inspect && job.size_bytes.value_or(UINT64_MAX) > chunk_size_bytes) {
  lane_.buffer.clear();
}

// The thread that unpacks the archive as it arrives must not read a partial that is gone.
InOrder::~InOrder() {
  if (job_.follower == nullptr) return;
  size_to_share_ ? job_.follower->let_go() : job_.follower->abandon();
}

FileOutcome InOrder::run() {
  FileOutcome outcome;
  try {
    resume_earlier();
    if (gave_way_) return outcome;
    for (;;) {
      // An unprovable file is of one mirror, which is left only when it has nothing more to give.
      const auto pick = mirrors_.pick(context_.stop, mixable_ || position() == 0 ? std::nullopt : holder_);
      source_ = pick.url->display();
      mirror_ = pick.index;
      GuardedSink sink(
          context_, *pick.line, *pick.url, size_expected(),
          [this, &pick](const ContentInfo& info) { on_begin(pick, info); },
          [this, &pick](std::span<const std::byte> bytes) {
            mixed_ = mixed_ || (position() > 0 && holder_ != pick.index);
            holder_ = pick.index;
            givers_.insert(pick.index);
            on_bytes(bytes);
          },
          pick.host);
      if (!provable()) sink.compare_answer();
      if (provable() && !size_expected()) sink.prove_later();
      bool complete = false;
      try {
        attempt(pick, sink);
        complete = true;
        note_reach(outcome, *pick.url, sink.info());
        outcome.validators = sink.info().validators;
        outcome.over_tls = pick.url->scheme() == "https";
        outcome.giver = mixed_ ? std::nullopt : position() == 0 ? std::optional(pick.index) : holder_;
        if (!unchanged_ && !gave_way_ && !size_to_share_) finish(outcome, pick.index);
        outcome.unchanged = unchanged_;
        mirrors_.succeeded(pick);
        if (size_to_share_ || gave_way_) return outcome;
        mirrors_.blame_other(suspects_, pick.index, job_.name);
        return outcome;
      } catch (const Error& error) {
        if (!complete && sink.received() > 0) note_reach(outcome, *pick.url, sink.info());
        if (is_wrong(error.failure().kind) && mirrors_.ask_otherwise(pick, sink.info())) {
          restart();
          mirrors_.released(pick);
          continue;
        }
        after_failure(pick, taken(pick, sink, error), complete, sink.received() > 0);
      }
    }
  } catch (const Error& error) {
    if (verdict(error.failure().kind) == Verdict::fatal) throw;
    outcome.failure = error.failure();
    if (partial_ && is_wrong(error.failure().kind)) partial_->discard();
    if (reserved_ != 0) context_.space.give_back(reserved_, 1);
    return outcome;
  }
}

// What a failure says by what came, and by what was asked for.
Error InOrder::taken(const MirrorSet::Pick& pick, const GuardedSink& sink, const Error& error) {
  if (sink.page() && is_wrong(error.failure().kind)) {
    restart();  // all that is held is the page: one is known by its start
    return Error(*sink.page());
  }
  const bool of_part = first_chunk_only_ && job_.offset == 0 && position() == 0;
  return of_part ? mirrors_.of_part(pick, error) : error;
}

// Decides whether the bytes held are still of use, and tells the mirrors.
void InOrder::after_failure(const MirrorSet::Pick& pick, const Error& error, bool complete, bool received) {
  const FailureKind kind = error.failure().kind;
  const bool several = position() > 0 && (mixed_ || doubted_ || holder_ != pick.index);
  if (is_wrong(kind) && complete && several) {
    // Any of them may have given the wrong bytes: each source is heard alone from here on.
    mixable_ = false;
    suspects_ = givers_;
    restart();
    return mirrors_.released(pick);
  }
  const bool spoilt = is_wrong(kind) && (complete || received);
  // One name may be several machines, each with a version of its own for the same bytes: the checksum decides.
  const bool doubtful = kind == FailureKind::changed && mixable_ && job_.version.empty() && !doubted_;
  if (doubtful) {
    doubted_ = true;
    if (partial_) partial_->note_version(version_held(), size_expected());
  } else if (spoilt || kind == FailureKind::changed || kind == FailureKind::no_ranges) {
    restart();
  }
  mirrors_.failed(pick, error, received && kind == FailureKind::network && !mirrors_.rangeless(pick));
}

void InOrder::attempt(const MirrorSet::Pick& pick, GuardedSink& sink) {
  // Bytes of two mirrors stand together only where the whole can be proved; bytes of two versions never do.
  const bool others = holder_ && holder_ != pick.index;
  if (position() > 0 && ((others && !mixable_) || mirrors_.rangeless(pick))) restart();
  if (pick.coding != Coding::any || mirrors_.rangeless(pick)) first_chunk_only_ = false;
  // Of a provable file, an earlier process left bytes of any mirror: another mirror's validators say nothing.
  const bool same_source = holder_ == pick.index || (!holder_ && job_.urls.size() == 1);
  const bool same_version = position() > 0 && same_source && !doubted_;
  ReadRequest request{*pick.url, job_.offset + position(), std::nullopt, same_version ? validators_ : job_.version};
  request.one_of_many = context_.many || job_.inspect;  // a list's server is asked for what it lists next
  if (!job_.inspect) request.coding = pick.coding;
  const auto size = size_expected();
  if (first_chunk_only_) request.length = chunk_size_bytes - position() % chunk_size_bytes;
  if (job_.offset > 0 && size && !first_chunk_only_) request.length = *size - position();
  try {
    read_source(context_, request, *pick.line, sink);
  } catch (const Unchanged&) {
    unchanged_ = true;
    return;
  } catch (const GaveWay&) {
    return give_way();
  } catch (const NoShare&) {
    first_chunk_only_ = false;
    return attempt(pick, sink);
  }
  const auto whole = size ? size : sink.info().size_bytes;
  if (first_chunk_only_ && position() > 0 && position() % chunk_size_bytes == 0 && position() < whole) {
    flush_chunk();
    size_to_share_ = whole;
    return;
  }
  if (size && position() != *size) {
    const bool coded = other_coding(sink.info(), pick.coding).has_value();
    throw Error(position() < *size && !coded ? FailureKind::network : FailureKind::content,
                fmt::format("{} ended after {} bytes, and {} were expected{}", source_, position(), *size,
                            how_sent(sink.info(), pick.coding)));
  }
}

void InOrder::on_begin(const MirrorSet::Pick& pick, const ContentInfo& info) {
  const auto expected = size_expected();
  if (!provable() && !expected) {
    if (auto failure = refuse_packed(*pick.url, info)) throw Error(*failure);
  }
  if (job_.offset == 0 && expected && is_coded(*pick.url, info, pick.coding, *expected)) {
    throw Error(FailureKind::content,
                fmt::format("{} does not come as it is stored{}", source_, how_sent(info, pick.coding)));
  }
  if (job_.offset == 0 && info.size_bytes && expected && *info.size_bytes != *expected) {
    throw Error(FailureKind::content,
                fmt::format("{} is {} bytes long{}, and {} were expected", source_, *info.size_bytes,
                            how_sent(info, pick.coding), *expected),
                "the recipe is out of date or the source is another file: compare them, then mend the recipe");
  }
  how_sent_ = how_sent(info, pick.coding);
  const bool have = job_.unless && !job_.unless->empty() && job_.unless_of == mirror_;
  if (have && *job_.unless == info.validators && position() == 0) throw Unchanged{};
  if (!expected) check_document(info.size_bytes.value_or(0));
  if (position() > 0 && !provable() && !validators_.empty() && validators_ != info.validators) {
    throw Error(FailureKind::changed, fmt::format("{} changed at its source while it was fetched", job_.name));
  }
  const std::uint64_t length = expected ? *expected : info.size_bytes.value_or(UINT64_MAX);
  const bool one_version = provable() || !info.validators.empty();  // or nothing could tell a mixture from the file
  const bool sure = one_version && !(other_coding(info, pick.coding) && refuse_packed(*pick.url, info));
  if (first_chunk_only_ && !(info.ranges && info.size_bytes && sure) && length > position() + chunk_size_bytes) {
    throw NoShare{};
  }
  validators_ = info.validators;
  hear(info);
  const bool several = length > chunk_size_bytes;
  if (length != UINT64_MAX && (several || (watch_ != nullptr && has_leader(context_, length)))) lead_or_give_way();
  if (!expected && info.size_bytes && reserved_ == 0) {
    reserved_ = *info.size_bytes - std::min(*info.size_bytes, position());
    context_.space.reserve(reserved_, 1, job_.name);
    context_.events.on(event::SizeLearnt{*info.size_bytes});
  }
  if (partial_) partial_->note_version(version_held(), info.size_bytes);
}

SourceVersion InOrder::version_held() const {
  return {doubted_ ? Validators{} : validators_, given_key(job_, mirror_).hex()};
}

void InOrder::check_document(std::uint64_t size_bytes) const {
  if (!job_.inspect || size_bytes <= job_.inspect_size_max) return;
  throw Error(FailureKind::invalid,
              fmt::format("{} is longer than {}, the most that is read of such a document", source_,
                          format_bytes(job_.inspect_size_max)),
              "split the list; one that is meant to be so long has its \"size\" in the recipe");
}

void InOrder::on_bytes(std::span<const std::byte> bytes) {
  const auto limit = size_expected();
  if (limit && position() + bytes.size() > *limit) {
    throw Error(FailureKind::content,
                fmt::format("{} is longer than the {} bytes that were expected{}", source_, *limit, how_sent_));
  }
  check_document(position() + bytes.size());
  checksums_->update(bytes);
  while (!bytes.empty()) {
    // A full chunk is flushed only when more follows: a file of one chunk never needs a partial.
    if (lane_.buffer.size() == chunk_size_bytes) flush_chunk();
    const auto part = bytes.first(std::min<std::size_t>(bytes.size(), chunk_size_bytes - lane_.buffer.size()));
    lane_.buffer.insert(lane_.buffer.end(), part.begin(), part.end());
    if (partial_) {
      partial_->write_scratch(lane_.id, flushed_ / chunk_size_bytes, adopted_,
                              std::span(lane_.buffer).subspan(adopted_), part.size());
    }
    bytes = bytes.subspan(part.size());
  }
}

void InOrder::resume_earlier() {
  if (context_.force || job_.known || job_.unless) return;
  if (watch_ != nullptr && watch_->saw_nothing()) return;
  const bool silent = watch_ != nullptr && watch_->left_version();
  if (!silent && !context_.store.has_partial(source_key(job_))) return;
  open_partial();
  if (!leads()) return give_way();  // others that waited for the same dead writer come here at the same moment
  const SourceVersion left = adopt_left(*partial_, watch_, provable(),
                                        [this](std::span<const std::byte> bytes) { checksums_->update(bytes); });
  const auto giver = giver_of(job_, left);
  validators_ = giver ? left.validators : Validators{};
  if (!provable()) {
    holder_ = giver;
    if (validators_.empty() || !holder_) return restart();  // nothing could tell a mixture from the file
  }
  flushed_ = partial_->front();
  lane_.buffer = start_of(partial_->adopt_scratch(flushed_ / chunk_size_bytes));
  adopted_ = lane_.buffer.size();
  checksums_->update(lane_.buffer);
  reused_ = position();
  kept_.set(reused_);
  if (job_.follower != nullptr) job_.follower->advance(*partial_, flushed_);
}

void InOrder::lead_or_give_way() {
  if (partial_) return;
  open_partial();
  if (!leads()) throw GaveWay{};
}

bool InOrder::leads() { return watch_ == nullptr || !partial_ || watch_->take_lead(*partial_); }

void InOrder::give_way() {
  partial_->discard();
  gave_way_ = true;
}

void InOrder::open_partial() {
  if (partial_ || job_.known) return;
  partial_ = context_.store.open_partial(source_key(job_));
}

void InOrder::flush_chunk() {
  if (!partial_) {  // the source did not say how long it is
    open_partial();
    if (partial_) partial_->note_version(version_held(), std::nullopt);
  }
  if (!partial_) throw Error(FailureKind::internal, "a known file of several chunks is not read in order");
  partial_->write_chunk(lane_.id, flushed_ / chunk_size_bytes, lane_.buffer, hash_chunk(lane_.buffer));
  flushed_ += lane_.buffer.size();
  lane_.buffer.clear();
  adopted_ = 0;
  if (job_.follower != nullptr) job_.follower->advance(*partial_, flushed_);
}

void InOrder::restart() {
  if (job_.follower != nullptr) job_.follower->restart();
  if (partial_) partial_->restart();
  checksums_ = std::make_unique<ChecksumSet>(job_.checksum, size_expected());
  said_ = {};
  lane_.buffer.clear();
  flushed_ = 0;
  adopted_ = 0;
  validators_ = {};
  holder_.reset();
  givers_.clear();
  mixed_ = doubted_ = false;
  reused_ = 0;
  kept_.set(0);
}

void InOrder::finish(FileOutcome& outcome, std::size_t mirror) {
  if (job_.follower != nullptr) open_partial();  // a spool stands in a file, however short it is
  Checksums computed =
      checksums_->finish_and_compare(source_ + how_sent_, said_.empty() ? SaidBy::recipe : SaidBy::source);
  if (said_.empty()) outcome.computed = std::move(computed);
  if (job_.inspect && !job_.inspect(whole_text(), source_)) {
    if (partial_) partial_->discard();
    return;
  }
  const bool one_giver = suspects_.empty() && !mixed_;  // else which source would be to blame?
  const bool with_others = !alone_ && one_giver && lane_.buffer.size() <= HashGroup::content_max;
  if (!partial_ && with_others) small_ = SmallFile{std::move(lane_.buffer), mirror, source_};
  if (small_) return;
  if (!partial_) return publish_small(outcome);
  if (!lane_.buffer.empty()) flush_chunk();
  // Said now: until here it could be thrown away.
  kept_.set(0);
  if (reused_ > 0) context_.events.on(event::BytesReused{reused_, Reuse::partial});
  if (job_.follower != nullptr) {
    job_.follower->finish(std::move(partial_));
    return;
  }
  outcome.tree = partial_->publish();
  note_arrival(context_, job_, outcome);
  context_.events.on(event::FileDone{job_.name, outcome.tree.digest.size_bytes});
}

void InOrder::for_held(const std::function<void(std::span<const std::byte>)>& take) const {
  std::vector<std::byte> piece(std::min(flushed_, chunk_size_bytes));
  for (std::uint64_t at = 0; at < flushed_;) {
    const auto room = std::span(piece).first(std::min(flushed_ - at, chunk_size_bytes));
    const std::size_t n = partial_->read(at, room);
    if (n == 0) throw Error(FailureKind::internal, fmt::format("the partial of {} is cut", job_.name));
    take(room.first(n));
    at += n;
  }
  take(lane_.buffer);
}

std::string InOrder::whole_text() {
  std::string text;
  text.reserve(position());
  for_held([&](std::span<const std::byte> bytes) {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  });
  return text;
}

// Bytes that are held already are of the same version.
void InOrder::hear(const ContentInfo& info) {
  if (provable() || job_.offset > 0 || info.said.empty() || info.said == said_) return;
  said_ = info.said;
  checksums_ = std::make_unique<ChecksumSet>(said_, info.size_bytes);
  for_held([this](std::span<const std::byte> bytes) { checksums_->update(bytes); });
}

void InOrder::publish_small(FileOutcome& outcome) {
  outcome.tree = hash_content(lane_.buffer);
  compare_digest(job_, outcome.tree.digest, source_);
  note_arrival(context_, job_, outcome);
  publisher_.add(outcome.tree, lane_.buffer);
  lane_.buffer.clear();
  context_.events.on(event::FileDone{job_.name, outcome.tree.digest.size_bytes});
}

}  // namespace sabath
