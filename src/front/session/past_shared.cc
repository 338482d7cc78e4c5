#include "session/past_shared.h"

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "base/wording.h"
#include "comm/agree.h"
#include "fetch/known_tree.h"
#include "holdings/by_ranks.h"
#include "holdings/stores.h"
#include "session/part_fetch.h"
#include "session/pinned.h"
#include "session/staging.h"
#include "stage/beat.h"
#include "stage/node/target.h"

namespace sabath {
namespace {

using Clock = std::chrono::steady_clock;

// Of those that the settings name, the one that knows the asset, or else the first that stands. (No other is looked
// into through it: what that brings would be kept.)
std::filesystem::path store_to_read(const SessionSettings& settings, const Recipe& recipe) {
  std::vector<std::filesystem::path> all{settings.store};
  all.insert(all.end(), settings.other_stores.begin(), settings.other_stores.end());
  std::filesystem::path first;
  for (const auto& directory : all) {
    const auto store = try_open_store(directory);
    if (!store) continue;
    store->name_sources(source_names(settings));
    const auto root = known_root(*store, recipe, std::nullopt);
    if (root && store->manifest(*root)) return directory;
    if (first.empty()) first = directory;
  }
  return first.empty() ? settings.store : first;
}

class PastShared {
 public:
  PastShared(const SessionSettings& settings, Comm& comm, const StageRequest& request, const Recipe* recipe,
             EventSink& events, const std::stop_token& stop)
      : settings_(settings), comm_(comm), request_(request), recipe_(recipe), events_(events), stop_(stop) {}

  Staged run() {
    std::filesystem::path directory;
    run_agreed(comm_, [&] {
      if (recipe_ != nullptr) directory = store_to_read(settings_, *recipe_);
    });
    shared_ = try_open_shared_store(comm_, directory, false);
    if (shared_) shared_->work_for(settings_.job);
    Lease lease;  // rank 0's, for all: an open one, which marks nothing there as used
    if (recipe_ != nullptr && shared_) lease = shared_->lease({}, "stage " + recipe_->name, {true});
    fetch_part_ = make_part_fetch(comm_, settings_, recipe_, events_);
    std::optional<StagedAsset> before;
    StageJob job = know();
    if (told_by_rank_0(comm_, job.manifest ? 1 : 0) == 0) {
      before = fetch_whole();
      job = know();
      if (told_by_rank_0(comm_, job.manifest ? 1 : 0) == 0) {
        throw Error(FailureKind::internal, "the manifest of what was fetched is not found");
      }
    }
    Staged staged = stage_asset(comm_, std::move(job), request_, events_, stop_);
    if (staged.shared_lacks && !before) {
      before = fetch_whole();
      add_moved(*before, staged.asset);
      staged = stage_asset(comm_, know(), request_, events_, stop_);
    }
    if (before) {
      add_moved(staged.asset, *before);
      staged.asset.phases["fetch"] += before->phases["fetch"];
    }
    return staged;
  }

 private:
  [[nodiscard]] std::filesystem::path node_store() const { return choose_target(request_, comm_).front() / ".sabath"; }

  // By the shared store, by what an earlier job left on rank 0's node, or where the recipe says that it is.
  StageJob know() {
    StageJob job;
    if (recipe_ != nullptr) job.name = recipe_->name;
    comm_.broadcast(job.name, 0);
    job.shared = shared_.get();
    job.batch_job = settings_.job;
    job.program = settings_.program;
    job.fetch_part = fetch_part_;
    run_agreed(comm_, [&] {
      Lease none;
      if (recipe_ == nullptr || (shared_ && try_know(*shared_, *recipe_, {}, none, job))) return;
      const auto node = try_open_store(node_store());
      if (node && try_know(*node, *recipe_, fetched_, none, job)) return;
      if (!settings_.offline) ask_for_pinned(job);
    });
    return job;
  }

  void ask_for_pinned(StageJob& job) {
    const auto fetchers = make_fetchers(settings_.fetchers);
    Traffic traffic;
    std::vector<std::string> unheard;  // then the whole is fetched, which says the same
    auto manifest = ask_pinned(*recipe_, settings_.rewrites, *fetchers, traffic, unheard, stop_);
    if (manifest) set_manifest(job, std::move(*manifest));
  }

  // Rank 0's node fetches an asset without a manifest, or not published file by file, as `sabath fetch` does.
  StagedAsset fetch_whole() {
    const auto began = Clock::now();
    StagedAsset moved;
    std::stop_source halt;
    Beat beat(comm_);
    const auto fetch = [&] {
      if (recipe_ == nullptr) return;
      SessionSettings own = settings_;
      own.store = node_store();
      own.other_stores.clear();  // what others hold would be linked to, not brought
      fetched_ = fetch_for_staging(own, nullptr, recipe_, events_, halt.get_token());
    };
    std::optional<Failure> failure = beat.keep_while(fetch, stop_, [&](const Beat::Words& all) {
      if (all.stopped > 0) halt.request_stop();
      return all.done == comm_.size();
    });
    if (beat.sums().stopped > 0 && !failure) failure = Failure{FailureKind::interrupted, "stopped", "", std::nullopt};
    if (const auto agreed = agree(comm_, failure)) throw Error(*agreed);
    moved.bytes_from_origin = fetched_.bytes;
    moved.seconds = moved.phases["fetch"] = std::chrono::duration<double>(Clock::now() - began).count();
    return moved;
  }

  const SessionSettings& settings_;
  Comm& comm_;
  const StageRequest& request_;
  const Recipe* const recipe_;
  EventSink& events_;
  const std::stop_token stop_;
  std::unique_ptr<Store> shared_;  // nullptr: there is none, or this node does not see it
  FetchPart fetch_part_;
  Fetched fetched_;  // into the store of rank 0's node
};

}  // namespace

void check_past_shared(const StageRequest& request, const Comm& comm) {
  if (request.no_fetch) {
    throw Error(FailureKind::usage,
                fmt::format("{} and {} contradict each other", option_text("no_fetch"), option_text("bypass_shared")),
                "one fetches nothing, the other fetches past the shared store");
  }
  if (!request.select.empty()) {
    throw Error(FailureKind::usage,
                fmt::format("{} is not for {}: selections are made from the shared store", option_text("select"),
                            option_text("bypass_shared")),
                "stage the files whole, or fetch them into a store that all nodes see");
  }
  const auto several = [&](const std::string& to) { return expand_target(to, comm).size() > 1; };
  if (std::ranges::any_of(request.to, several)) {
    throw Error(FailureKind::usage,
                fmt::format("{} fills one directory of each node, and {} names several", option_text("bypass_shared"),
                            option_text("to")),
                "name one of them, or fetch into a store that all nodes see");
  }
}

Staged stage_past_shared(const SessionSettings& settings, Comm& comm, const StageRequest& request, const Recipe* recipe,
                         EventSink& events, const std::stop_token& stop) {
  return PastShared(settings, comm, request, recipe, events, stop).run();
}

}  // namespace sabath
