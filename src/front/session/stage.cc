// Session::stage: names to manifests, what the shared store lacks fetched, then each asset to all nodes.
#include "stage/stage.h"
#include "base/wording.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "comm/agree.h"
#include "comm/parcel.h"
#include "comm/solo_comm.h"
#include "fetch/known_tree.h"
#include "holdings/by_ranks.h"
#include "holdings/place_note.h"
#include "holdings/stale_modules.h"
#include "hub/layout.h"
#include "packed/activation.h"
#include "session/environment_fit.h"
#include "session/hub_assets.h"
#include "session/past_shared.h"
#include "session/staging.h"
#include "session/state.h"
#include "software/owners.h"
#include "stage/derive.h"

namespace sabath {
namespace {

bool everybody(Comm& comm, bool mine) {
  std::array<std::uint64_t, 1> all{mine ? 1U : 0U};
  comm.all_reduce(all, Reduction::minimum);
  return all[0] != 0;
}

// The data among what the names bring: code and weights stay where they are.
std::vector<Recipe> datasets_of(std::vector<Recipe> recipes) {
  const auto is_data = [](const Recipe& recipe) { return !is_code(recipe.kind); };
  if (std::ranges::any_of(recipes, is_data)) {
    std::erase_if(recipes, [&](const Recipe& recipe) { return !is_data(recipe); });
  }
  return recipes;
}

// One asset. All is collective; `recipe` is rank 0's, nullptr elsewhere.
class AssetStaging {
 public:
  AssetStaging(const SessionSettings& settings, Comm& comm, const StageRequest& request, EventSink& events,
               const std::stop_token& stop)
      : settings_(settings), comm_(comm), request_(request), events_(events), stop_(stop) {}

  Staged run(const Recipe* recipe) {
    store_ = try_open_shared_store(comm_, settings_.store);
    if (store_) look_into_others(*store_, settings_);
    if (recipe != nullptr) lease_ = store_->lease({}, "stage " + recipe->name, {true});
    StageJob job;
    if (!know(recipe, {}, job)) job = fetch(recipe);
    if (job.manifest && job.shared != nullptr) warn_of_stale_modules(*job.shared, *job.manifest, events_);
    const bool is_known = job.manifest && job.shared != nullptr;
    const std::string made_for = is_known ? place_of_asset(*job.shared, *job.manifest) : std::string();
    Staged staged = stage_asset(comm_, std::move(job), request_, events_, stop_);
    warn_of_place(made_for, staged.asset.path, events_);
    if (staged.shared_lacks && !request_.no_fetch) {  // what arrived meanwhile is not moved again
      const StagedAsset before = std::move(staged.asset);
      staged = stage_asset(comm_, fetch(recipe), request_, events_, stop_);
      add_moved(staged.asset, before);
    }
    staged.asset.bytes_from_origin += from_origin_;
    return staged;
  }

 private:
  // On all ranks: is it in the store? Its manifest is on rank 0.
  bool know(const Recipe* recipe, const Fetched& fetched, StageJob& job) {
    job.shared = store_.get();
    job.batch_job = settings_.job;
    job.program = settings_.program;
    if (recipe != nullptr) job.name = recipe->name;
    run_agreed(comm_, [&] {
      if (recipe == nullptr || try_prepare(*recipe, fetched, job) || !fetched.root) return;
      throw Error(FailureKind::storage, "the asset was fetched, and is not in the store any more", "run it again");
    });
    std::string told = Parcel().add(job.name).add(std::uint64_t{job.manifest.has_value()}).take();
    comm_.broadcast(told, 0);
    Parcel::Reader parcel(told);
    job.name = parcel.text();
    return parcel.flag();
  }

  // Its manifest, or that of the layout in which it is to stand. False: it has to be fetched first.
  bool try_prepare(const Recipe& recipe, const Fetched& fetched, StageJob& job) {
    if (!try_know(*store_, recipe, fetched, lease_, job)) return false;
    if (!request_.hub_layout) return true;
    const Manifest asset = std::move(*job.manifest);
    job.manifest.reset();
    job.bytes.clear();
    if (!all_present(*store_, asset)) return false;
    Manifest layout = hub_layout(*store_, hub_assets(*store_, &recipe, asset.root(), request_.repository));
    lease_.add(layout.root());
    set_manifest(job, std::move(layout));
    return true;
  }

  // Into the shared store: by all ranks if all see it, else by rank 0.
  StageJob fetch(const Recipe* recipe) {
    const bool together = everybody(comm_, store_ != nullptr);
    Fetched fetched;
    run_agreed(comm_, [&] {
      if (request_.no_fetch) {
        throw Error(FailureKind::offline, "the asset is not in the store",
                    fmt::format("`{}` brings it", verb_text("fetch")));
      }
      if (together || recipe != nullptr) {
        fetched = fetch_for_staging(settings_, together ? &comm_ : nullptr, recipe, events_, stop_);
      }
    });
    from_origin_ += fetched.bytes;
    StageJob job;
    know(recipe, fetched, job);
    return job;
  }

  const SessionSettings& settings_;
  Comm& comm_;
  const StageRequest& request_;
  EventSink& events_;
  const std::stop_token stop_;
  std::unique_ptr<Store> store_;  // the shared one; nullptr: this node does not see it
  Lease lease_;                   // rank 0's, for all
  std::uint64_t from_origin_ = 0;
};

// What would be without effect was perhaps meant for another mode.
void check_mode(const StageRequest& request) {
  const StageRequest usual;
  const bool dealt = request.seed != usual.seed || request.overlap != usual.overlap || request.per_rank;
  if (dealt && request.mode == StageMode::replicate)
    throw Error(
        FailureKind::usage,
        "a seed, an overlap and a dealing to ranks are of the mode shard: replicate brings all files to each node",
        fmt::format("leave them out, or say {} shard", option_text("mode")));
  if (!request.filter.empty() && request.select.empty())
    throw Error(FailureKind::usage,
                fmt::format("{} is of what {} writes", option_text("filter"), option_text("select")),
                fmt::format("leave it out, or say what of the files is wanted by {}", option_text("select")));
}

void check_hub_layout(const StageRequest& request) {
  const bool alone = request.select.empty() && !request.bypass_shared && request.mode == StageMode::replicate;
  if (!request.hub_layout) {
    if (request.repository.empty()) return;
    throw Error(FailureKind::usage, "a repository's name says what the layout of a hub is made of",
                "ask for that layout");
  }
  if (!alone) {
    throw Error(
        FailureKind::usage, "the layout of a hub is of whole assets in the shared store, for each node",
        fmt::format("leave out {}, {} and the mode shard", option_text("select"), option_text("bypass_shared")));
  }
  if (request.names.size() > 1)
    throw Error(FailureKind::usage, "each asset is a cache of its own in the layout of a hub", "stage one at a time");
}

// Another user could exchange it before a shell reads it.
bool may_be_activated(const SessionSettings& settings, const StagedAsset& asset, EventSink& events) {
  const TrustedOwners owners({settings.trusted_owners.begin(), settings.trusted_owners.end()});
  const auto why = owners.why_not(asset.path);
  if (why)
    events.on(
        event::Warning{fmt::format("{} is not to be activated from {}: {}; stage it to a directory that only you "
                                   "and root can write",
                                   asset.name, printable(asset.path, 1000), *why)});
  return !why;
}

}  // namespace

StageRecord Session::stage(const StageRequest& request, EventSink& events, std::stop_token stop) {
  State& state = *state_;
  const auto solo = make_solo_comm();
  Comm& comm = state.ranks != nullptr ? *state.ranks : *solo;
  if (request.to.empty()) {
    throw Error(FailureKind::usage, "where to stage is not said",
                fmt::format("{0} DIR, e.g. {0} /tmp/$USER or {0} auto", option_text("to")));
  }
  if (request.to == std::vector<std::string>{"auto"}) {
    StageRequest usual = request;
    usual.to = state.settings.local_places;
    usual.guessed = true;
    if (usual.to.empty()) throw Error(FailureKind::usage, "no usual place of a node's own disk is known", "name one");
    return stage(usual, events, std::move(stop));
  }
  check_selections(request);
  check_mode(request);
  check_hub_layout(request);
  check_environment_mode(request);
  if (request.bypass_shared) check_past_shared(request, comm);
  std::vector<Recipe> recipes;
  std::size_t others = 0;  // the environments come behind them
  run_agreed(comm, [&] {
    if (comm.rank() != 0) return;
    const auto add = [&](const std::vector<std::string>& names) {
      FetchRequest wanted;
      wanted.names = names;
      for (Recipe& recipe : datasets_of(state.wanted(wanted, events))) recipes.push_back(std::move(recipe));
    };
    if (!request.names.empty()) add(request.names);
    others = recipes.size();
    for (const std::string& name : request.environments) add({name});
  });
  StageRecord record;
  const std::uint64_t count = told_by_rank_0(comm, recipes.size());
  const std::uint64_t first = told_by_rank_0(comm, others);
  const auto recipe_of = [&](std::size_t i) { return comm.rank() == 0 ? &recipes[i] : nullptr; };
  for (std::size_t i = first; i < count; ++i) check_environment_fits(comm, state.settings, recipe_of(i), false, events);
  for (std::size_t i = 0; i < count; ++i) {
    const Recipe* recipe = recipe_of(i);
    Staged staged = request.bypass_shared ? stage_past_shared(state.settings, comm, request, recipe, events, stop)
                                          : AssetStaging(state.settings, comm, request, events, stop).run(recipe);
    staged.asset.failure = staged.failure;
    if (i >= first && !staged.failure) {
      check_environment_fits(comm, state.settings, recipe, true, events);
      if (!staged.asset.path.empty() && may_be_activated(state.settings, staged.asset, events))
        staged.asset.activate = activation_line(staged.asset.path);
    }
    record.assets.push_back(std::move(staged.asset));
    if (staged.failure && record.exit == 0) record.exit = exit_code(staged.failure->kind);
  }
  return record;
}

}  // namespace sabath
