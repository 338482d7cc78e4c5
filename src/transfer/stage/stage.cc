#include "stage/stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <numeric>
#include <thread>
#include <utility>

#include "base/file.h"
#include "comm/agree.h"
#include "comm/parcel.h"
#include "stage/derive.h"
#include "stage/exchange.h"
#include "stage/knowledge.h"
#include "stage/node/local_disks.h"
#include "stage/node/node_report.h"
#include "stage/node/node_store.h"
#include "stage/node/target.h"
#include "stage/plan/deal.h"

namespace sabath {
namespace {

using Clock = std::chrono::steady_clock;

// One node's leader. Each step is done by the nodes that are still in it; one that fails leaves.
class NodeStaging {
 public:
  NodeStaging(const Comm& world, Comm& leaders, Beat& beat, StageJob& job, const StageRequest& request,
              EventSink& events, const std::stop_token& stop)
      : world_(world), leaders_(leaders), beat_(beat), job_(job), request_(request), events_(events), stop_(stop) {}

  void run();
  NodeReport report;
  StagedAsset asset;                        // what all nodes know alike
  std::vector<std::uint64_t> node_of_rank;  // of the job; empty: what is dealt is dealt to nodes

 private:
  bool step(const char* phase, std::unique_ptr<Comm>& comm, const std::function<void()>& work);
  void hear_manifest();
  void prepare();
  bool select();
  bool hear_packs();
  bool settle();
  void lay_out();
  void deal();
  void lay_out_dealt(const std::vector<std::uint32_t>& hand);
  void move();
  void finish();
  void show();

  const Comm& world_;
  Comm& leaders_;
  Beat& beat_;
  StageJob& job_;
  const StageRequest& request_;
  EventSink& events_;
  const std::stop_token stop_;
  unsigned failed_ = 0;    // nodes, so far
  std::stop_source halt_;  // any rank was asked to stop

  std::unique_ptr<LocalDisks> disks_;
  bool shared_in_part_ = false;    // some of the disks are another node's, too
  std::optional<Manifest> whole_;  // with a selection: what it was made from
  std::optional<Derivation> derivation_;
  std::optional<Manifest> manifest_, part_;  // of the asset; of what this node is to have, if that is less
  std::string part_bytes_, plan_text_;       // shard
  std::vector<StagedFile> files_;
  shard::Shares shares_;
  Dealing dealing_;
  bool asked_for_packs_ = false;
  PackMap heard_packs_, packs_;  // where the shared store has small files: by files_; by the tape's
  Tape tape_;
  std::unique_ptr<Comm> members_;  // the ranks that take part
  std::unique_ptr<ChunkLists> chunks_;
  std::unique_ptr<NodeStore> node_;
  std::optional<FromOrigin> origin_;  // with --bypass-shared
  ExchangeResult result_;
  std::uint64_t seen_bytes_ = 0;
  std::optional<std::uint64_t>
      stripe_;  // bytes of the shared store's files that lie together, once this node has asked
};

// One phase of this node: `work` in a thread of its own. Over when all nodes that are in it are done. Nodes that failed
// leave; false: staging ends here, for all or for this one.
bool NodeStaging::step(const char* phase, std::unique_ptr<Comm>& comm, const std::function<void()>& work) {
  const auto began = Clock::now();
  report.failure = beat_.keep_while(work, stop_, [&](const Beat::Words& all) {
    if (all.stopped > 0) halt_.request_stop();
    return all.done == comm->size();
  });
  const Beat::Words seen = beat_.sums();
  if (seen.stopped > 0 && !report.failure) report.failure = {FailureKind::interrupted, "stopped", "", std::nullopt};
  failed_ += static_cast<unsigned>(seen.failed);
  asset.phases[phase] += std::chrono::duration<double>(Clock::now() - began).count();
  if (seen.stopped > 0 || failed_ > request_.allow_partial || seen.failed == comm->size()) {
    report.incomplete = !report.failure;
    return false;
  }
  if (seen.failed > 0) comm = comm->split(!report.failure);
  return comm != nullptr;
}

unsigned threads_of(const StageRequest& request) {
  if (request.threads > 0) return request.threads;
  return std::clamp(std::thread::hardware_concurrency() / 2, 2U, 8U);
}

void NodeStaging::hear_manifest() {
  leaders_.broadcast(job_.bytes, 0);
  if (!job_.manifest) job_.manifest = Manifest::parse(job_.bytes);
  manifest_ = std::move(job_.manifest);
}

void NodeStaging::prepare() {
  disks_ = std::make_unique<LocalDisks>(choose_target(request_, world_), "stage " + job_.name, job_.batch_job);
  disks_->use(manifest_->root());  // before anything is looked up
}

// A selection takes the asset's place: what a job made earlier, or made now. False: staging ends here.
bool NodeStaging::select() {
  if (request_.select.empty()) return true;
  const auto began = Clock::now();
  whole_ = std::move(manifest_);
  derivation_.emplace(request_, *whole_, job_.shared, disks_->main(), Hdf5(job_.program));
  std::string bytes = derivation_->recall(*members_);
  if (bytes.empty()) {
    Derived derived = derivation_->make(*members_, beat_, stop_);
    report.from_shared += derived.read_bytes;
    asset.readers = derived.makers;
    report.failure = std::move(derived.failure);
    report.incomplete = !report.failure && derived.bytes.empty();
    bytes = std::move(derived.bytes);
  }
  asset.phases["select"] = std::chrono::duration<double>(Clock::now() - began).count();
  if (bytes.empty()) return false;
  job_.bytes = std::move(bytes);
  manifest_ = Manifest::parse(job_.bytes);
  disks_->use(manifest_->root());
  return true;
}

// If no node has some small files, one member looks for all files in the packs: so the packs' indexes are read once,
// and not at all for files that nodes have. True: the members know the packs, and the tape is to follow them.
bool NodeStaging::hear_packs() {
  const auto small = [&](const Piece& piece) { return !tape_.is_chunk(piece); };
  if (asked_for_packs_ || derivation_ || std::ranges::none_of(tape_.pieces(), small)) return false;
  asked_for_packs_ = true;
  const Known known = tell_all(*members_, dealing_, node_->holdings(), {.able = job_.shared != nullptr});
  bool wanted = false;
  for (std::size_t p = 0; p < known.unread.size() && !wanted; ++p) {
    wanted = known.unread.has(p) && small(tape_.pieces()[p]);
  }
  if (!wanted || known.able.empty()) return false;
  std::string told;
  if (members_->rank() == known.able.front()) {
    std::vector<Digest> contents;
    for (const auto& file : files_) contents.push_back(file.digest);
    try {
      told = map_packs(*job_.shared, contents).encode();
    } catch (const Error&) {  // each reader looks for itself
    }
  }
  members_->broadcast(told, known.able.front());
  heard_packs_ = PackMap::parse(told);
  return !heard_packs_.empty();
}

void NodeStaging::lay_out() {
  if (shared_in_part_) disks_->refuse_shared();
  node_.reset();
  packs_ = heard_packs_;
  if (request_.mode == StageMode::shard) {
    deal();
  } else {
    tape_ = derivation_ ? one_by_one(files_) : Tape(in_order_of(packs_, files_));
  }
  chunks_ = std::make_unique<ChunkLists>(*manifest_, tape_);
  node_ = std::make_unique<NodeStore>(*disks_, tape_, *chunks_, threads_of(request_));
  const PieceSet& has = node_->holdings();
  std::uint64_t present = 0;
  for (std::size_t p = 0; p < has.size(); ++p) {
    if (has.has(p) && dealing_.wants(members_->rank(), p)) present += tape_.pieces()[p].bytes;
  }
  if (!origin_ || !origin_->begun()) report.present = present;  // what was fetched since was not
  const auto needs = node_->deal([&](std::size_t p) { return dealing_.wants(members_->rank(), p); });
  disks_->reserve(needs, "staging " + job_.name, stop_);  // before the first byte moves
  const bool asks = members_->rank() == 0 && job_.shared && !derivation_ && !stripe_;
  if (asks) stripe_ = stripe_bytes(*job_.shared, tape_, stop_);
}

// The files that go to the same members stand together on the tape, so that no piece has others'.
void NodeStaging::deal() {
  const auto shares = static_cast<unsigned>(shares_.member.size());
  shares_.overlap = std::clamp(request_.overlap, 1U, shares);
  const auto paths = paths_of(*manifest_);
  const auto owners = shard::deal(paths, request_.seed, shares);
  auto [hands, hand] = shard::hands_of(files_, paths, owners, shares_);
  dealing_ = {false, std::move(hands), {}};
  part_bytes_ = shard::part(*manifest_, owners, shares_, members_->rank());
  part_ = Manifest::parse(part_bytes_);
  plan_text_ = shard::plan_text(*manifest_, paths, owners, shares_, request_.seed);
  lay_out_dealt(hand);
}

void NodeStaging::lay_out_dealt(const std::vector<std::uint32_t>& hand) {
  std::vector<std::size_t> order(files_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!packs_.empty()) std::ranges::copy(packs_.order, order.begin());
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return hand[i]; });
  std::vector<StagedFile> sorted;
  std::vector<std::uint32_t> groups;
  std::vector<PackMap::Place> places;
  for (const std::size_t i : order) {
    sorted.push_back(files_[i]);
    groups.push_back(hand[i]);
    if (!packs_.empty()) places.push_back(packs_.places.at(i));
  }
  packs_.places = std::move(places);
  tape_ = derivation_ ? one_by_one(std::move(sorted)) : Tape(std::move(sorted), groups);
  for (const Piece& piece : tape_.pieces()) dealing_.hand.push_back(groups[piece.first]);
}

void NodeStaging::move() {
  const auto began = Clock::now();
  const bool able = job_.shared != nullptr;
  const Agreed agreed = agree_on_plan(*members_, tape_, dealing_, node_->holdings(),
                                      {able, std::max(1U, request_.readers_max), stripe_.value_or(0)});
  asset.readers = std::max(asset.readers, agreed.readers);
  const unsigned threads = threads_of(request_);
  std::optional<PieceReader> reader;
  if (able) reader.emplace(*job_.shared, tape_, threads, packs_);
  bool total_told = false;
  ExchangeWork work;
  work.read_shared = [&](std::size_t p, const PiecePart& part, std::span<std::byte> room, unsigned t) {
    reader->read(tape_.pieces()[p], part, room, t);
  };
  work.read_own = [&](std::size_t p, const PiecePart& part, std::span<std::byte> room, unsigned t) {
    node_->read(p, part, room, t);
  };
  work.check = [&](std::size_t p, std::span<const std::byte> bytes) {
    check_piece(tape_.pieces()[p], tape_, *chunks_, bytes);
  };
  work.write = [&](std::size_t p, std::span<const std::byte> bytes, bool verified, unsigned t) {
    node_->write(p, bytes, verified, t);
  };
  work.on_beat = [&](const Beat::Words& all) {
    if (leaders_.rank() != 0) return;
    if (!std::exchange(total_told, true)) events_.on(event::TotalKnown{all.wanted, tape_.files().size()});
    events_.on(event::BytesReceived{0, all.received + all.read - seen_bytes_});
    seen_bytes_ = all.received + all.read;
  };
  result_ = exchange(*members_, beat_, agreed.plan, tape_, work, {threads, threads}, stop_);
  report.from_shared += result_.shared_bytes;
  report.received = result_.received_bytes;
  report.sent = result_.sent_bytes;
  for (std::size_t p = 0; p < agreed.plan.size(); ++p) {
    report.incomplete = report.incomplete || (agreed.plan.wants(p) && !agreed.plan.has(p) && !result_.kept.has(p));
  }
  asset.phases["move"] = std::chrono::duration<double>(Clock::now() - began).count();
}

void NodeStaging::finish() {
  node_->finish();  // whole files stay for the next try, even if this one fails
  const Manifest& mine = part_ ? *part_ : *manifest_;
  if (result_.failure || report.incomplete) disks_->keep_no_view(mine);
  if (result_.failure) throw Error(*result_.failure);
  if (report.incomplete) return;
  disks_->keep(mine, part_ ? part_bytes_ : job_.bytes);
  if (derivation_) derivation_->remember(manifest_->root());
}

void NodeStaging::show() {
  if (report.incomplete) return;
  const Manifest& mine = part_ ? *part_ : *manifest_;
  const std::filesystem::path& target = disks_->directories().front();
  show_view(target, job_.name, disks_->main().view_path(mine.root()));
  asset.path = (target / job_.name).native();
  if (part_) write_text_atomically(target / (job_.name + ".plan.json"), plan_text_);
}

// The row of pieces and the members that get them, the same for all. False: staging ends here.
bool NodeStaging::settle() {
  files_ = files_of(*manifest_);
  for (unsigned dealt_to = 0; dealt_to != members_->size();) {  // again: some left, packs are known, or after a fetch
    dealt_to = members_->size();
    shares_ = shard::shares_of(*members_, world_.node(), node_of_rank);
    if (!step("look", members_, [&] { lay_out(); })) return false;
    if (dealt_to != members_->size()) continue;
    if (hear_packs()) {
      dealt_to = 0;
      continue;
    }
    if (!origin_) break;
    if (!origin_->agree(*members_, dealing_, node_->holdings())) break;
    if (!step("look", members_, [&] { origin_->look(tape_); })) return false;
    if (dealt_to != members_->size()) continue;
    if (!origin_->deal(*members_, dealing_, tape_)) break;
    node_.reset();
    const auto fetch = [&] { origin_->fetch(disks_->main(), tape_, *chunks_, report.from_origin, halt_.get_token()); };
    if (!step("fetch", members_, fetch)) return false;
    dealt_to = 0;
  }
  return true;
}

void NodeStaging::run() {
  report.node = world_.node();
  report.host = world_.host();
  hear_manifest();
  describe(asset, *manifest_, request_.select);
  auto comm = leaders_.split(true);
  if (!step("prepare", comm, [&] { prepare(); })) return;
  if (world_.rank() == 0) warn_of_memory(disks_->directories(), job_.name, asset.bytes, events_);
  const TargetOwner owner = owner_of_target(*comm, disks_->directories());
  shared_in_part_ = !owner.of_all;
  if (!node_of_rank.empty()) shard::follow_owners(*comm, world_.node(), owner.rank, node_of_rank);
  members_ = comm->split(owner.rank == comm->rank());
  if (!members_) return;  // another node sees the same directory
  if (!select()) return;
  describe(asset, *manifest_, request_.select);
  if (request_.bypass_shared) origin_.emplace(job_.fetch_part, job_.shared, request_.readers_max);
  if (!settle()) return;
  move();
  if (!step("publish", members_, [&] { finish(); })) return;
  static_cast<void>(step("show", members_, [&] { show(); }));
}

}  // namespace

Staged stage_asset(Comm& world, StageJob job, const StageRequest& request, EventSink& events,
                   const std::stop_token& stop) {
  const auto began = Clock::now();
  Staged staged;
  std::vector<std::uint64_t> node_of_rank(request.per_rank ? world.size() : 0);
  if (request.per_rank) {
    node_of_rank[world.rank()] = world.node();
    world.all_reduce(node_of_rank, Reduction::maximum);
  }
  const auto leaders = world.split(world.node_leader());
  std::vector<std::string> stragglers;
  const auto tell = [&](const std::string& name) {
    stragglers.push_back(name);
    events.on(event::Warning{fmt::format("{} keeps the others waiting: for {} s it has been the last, and far behind",
                                         name, Straggler::patience.count())});
  };
  const std::string node_name = fmt::format("node {} ({})", world.node(), world.host());
  Beat beat(world, leaders ? Heartbeat::names_of(*leaders, world.rank(), node_name) : Heartbeat::Names(),
            world.rank() == 0 ? Beat::Tell(tell) : nullptr);
  const auto all_through = [&](const Beat::Words& all) { return all.through == world.nodes(); };
  if (!leaders) {
    beat.keep_until({}, all_through);
  } else {
    if (world.rank() == 0) events.on(event::AssetStarted{job.name, std::nullopt, job.manifest->totals().files});
    NodeStaging node(world, *leaders, beat, job, request, events, stop);
    node.node_of_rank = std::move(node_of_rank);
    node.run();
    Beat::Words through;
    through.through = 1;
    beat.keep_until(through, all_through);
    const auto gathered = leaders->gather(node.report.bytes());
    staged.asset = std::move(node.asset);
    staged.asset.stragglers = std::move(stragglers);
    if (world.rank() == 0) {
      std::vector<NodeReport> reports;
      for (const auto& bytes : gathered) reports.push_back(NodeReport::parse(bytes));
      staged.asset.name = job.name;
      staged.asset.nodes = world.nodes();
      staged.asset.ranks = world.size();
      staged.asset.mode = request.mode == StageMode::shard ? "shard" : "replicate";
      staged.asset.verified_by = "sha256";
      staged.failure = judge(staged.asset, reports, request.allow_partial);
      staged.shared_lacks = staged.failure && std::ranges::all_of(reports, [](const NodeReport& report) {
                              return !report.failure || report.failure->kind == FailureKind::offline;
                            });
      events.on(event::AssetFinished{job.name});
    }
  }
  staged.asset.seconds = std::chrono::duration<double>(Clock::now() - began).count();
  std::string told = Parcel().add(staged.failure).add(std::uint64_t{staged.shared_lacks}).take();
  world.broadcast(told, 0);
  Parcel::Reader parcel(told);
  staged.failure = parcel.failure();
  staged.shared_lacks = parcel.flag();
  return staged;
}

}  // namespace sabath
