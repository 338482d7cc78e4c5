#include "sabath/session.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/counted.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/wording.h"
#include "comm/agree.h"
#include "fetch/asset.h"
#include "fetch/decide/selection.h"
#include "fetch/hosts/source_key.h"
#include "fetch/known_tree.h"
#include "fetch/plan.h"
#include "fetch/shown_view.h"
#include "holdings/by_ranks.h"
#include "recipe/catalogue.h"
#include "recipe/recipe_file.h"
#include "sabath/path.h"
#include "session/exit_of.h"
#include "session/fetch_log.h"
#include "session/harvest.h"
#include "session/part_fetch.h"
#include "session/preflight.h"
#include "session/state.h"
#include "session/way_back.h"
#include "store/collect/collect.h"
#include "store/disk/layout.h"
#include "store/leases/uses.h"
#include "store/lookup.h"
#include "store/store.h"

namespace sabath {
namespace {

bool ends_the_call(const AssetRecord& record) {
  return std::any_of(record.failures.begin(), record.failures.end(), [](const FileFailure& f) {
    return f.failure.kind == FailureKind::interrupted || f.failure.kind == FailureKind::terminated ||
           f.failure.kind == FailureKind::space;
  });
}

// How long ago, in the largest unit that it fills.
std::string age_of(std::int64_t seconds) {
  constexpr std::pair<std::int64_t, char> units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}};
  for (const auto& [length, letter] : units) {
    if (seconds >= length) return fmt::format("{}{}", seconds / length, letter);
  }
  return fmt::format("{}s", std::max<std::int64_t>(seconds, 0));
}

// A disk may be full of what an interrupted fetch left: the user is told which, and how it goes without this fetch's.
void name_stale_partial(Store& store, AssetRecord& record) {
  const auto refused =
      std::ranges::find(record.failures, FailureKind::space, [](const auto& f) { return f.failure.kind; });
  if (refused == record.failures.end()) return;
  const auto stale = largest_stale_partial(store);
  if (!stale) return;
  const std::int64_t age_s = (unix_time() - stale->changed_ns) / 1'000'000'000;
  refused->failure.hint += fmt::format(
      "{}{} holds {} of an interrupted fetch: the command that began it goes on with it, or `{} {} {} {}` frees it",
      refused->failure.hint.empty() ? "" : "; ", printable(stale->directory.native()), format_bytes(stale->bytes),
      verb_text("gc"), option_text("partials"), age_of(age_s), option_text("now"));
}

// Of what its user adopted and changed: nothing brings the content that it had.
void name_lost_files(Store& store, const Recipe& recipe, AssetRecord& record) {
  for (FileFailure& each : record.failures) {
    if (each.failure.kind != FailureKind::access || !recipe.fragments.empty() || !recipe.manifest) continue;
    const auto manifest = store.manifest(recipe.manifest->digest);
    if (manifest) each.failure.hint = way_back(recipe, &store, &*manifest);
  }
}

// What was fetched is there, or why it is not is known, whether or not the log has room for it.
void try_append_to_log(Store& store, const AssetRecord& record, EventSink& events) {
  try {
    append_to_log(store, record);
  } catch (const Error& error) {
    events.on(event::Warning{fmt::format("the fetch of {} is not in the store's log: {}", record.name, error.what())});
  }
}

void check_part(const FetchRequest& request) {
  check_selection(request.selection);
  const bool whole = request.keep_archives || !request.local_paths.empty() || !request.local_links.empty();
  if (request.selection.empty() || !whole) return;
  throw Error(
      FailureKind::usage,
      fmt::format("{} and {} fetch parts; {}, {} and {} mean the whole", option_text("sample"), option_text("select"),
                  option_text("path"), option_text("link"), option_text("keep_archives")),
      "leave out the ones or the others");
}

void check_name(const FetchRequest& request) {
  if (request.name.empty()) return;
  const auto urls =
      std::ranges::count_if(request.names, names_source) + std::ranges::count_if(request.datasets, names_source);
  if (urls == 1) return;
  for (const std::string& name : request.names) {
    if (urls == 0 && name.find('/') != name.npos && try_stat(name))
      throw Error(FailureKind::usage, fmt::format("{} is no URL", printable(name, 1000)), hint_for_data(name));
  }
  throw Error(FailureKind::usage,
              fmt::format("{} is to be the name of one URL's asset, and {} were given", printable(request.name),
                          urls == 0 ? "no URLs" : fmt::format("{} URLs", urls)),
              "give one URL, or leave the name out");
}

AssetRequest asset_request(const FetchRequest& request, bool offline) {
  if (request.manifest.find("://") != std::string::npos) {
    throw Error(FailureKind::usage, option_text("manifest") + " takes a file",
                "a recipe pins by URL: \"manifest\": {\"digest\": ..., \"urls\": [...]}");
  }
  AssetRequest asset;
  asset.manifest_file = request.manifest;
  asset.selection = request.selection;
  asset.refresh = request.refresh;
  asset.keep_archives = request.keep_archives;
  asset.offline = offline;
  asset.view = request.view;
  for (const auto& path : request.local_paths) asset.locals.push_back({path, false});
  for (const auto& path : request.local_links) asset.locals.push_back({path, true});
  return asset;
}

FetchRecord dry_run_of(const std::vector<Recipe>& recipes, const AssetRequest& asset, const SessionSettings& settings,
                       const PlanSettings& look) {
  FetchRecord record;
  std::unique_ptr<Store> there;
  try {
    there = open_store_of(settings, false);
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::not_found) throw;
  }
  const auto credentials = settings.credentials ? settings.credentials() : std::vector<Credential>{};
  for (const auto& recipe : recipes) {
    AssetPlan plan = plan_asset(there.get(), recipe, asset, look);
    judge_sources(plan, credentials, std::chrono::system_clock::now());
    record.assets.push_back(dry_run_record(plan));
    if (plan.told.refused && record.exit == 0) record.exit = exit_code(plan.told.refused->kind);
  }
  return record;
}

// Said once, when the store is made: a home directory is often small, and counted.
void say_if_in_home(const SessionSettings& settings, EventSink& events) {
  if (!settings.store_in_home || try_lstat(settings.store)) return;
  events.on(event::Message{fmt::format(
      "note: the store is made at {}, in your home directory, and counts against its quota: {} DIR or SABATH_STORE "
      "names another place",
      printable(settings.store.native(), 4096), option_text("store"))});
}

}  // namespace

std::vector<Recipe> Session::State::wanted(const FetchRequest& request, EventSink& events) {
  check_name(request);
  std::vector<Recipe> recipes;
  const Catalogue known = catalogue();
  made.clear();
  DocumentAt document_at;
  if (!settings.offline)
    document_at = [this](const Url& url) { return documents.at(url, fetchers, settings.rewrites); };
  const auto of_source = [&](const std::string& url) {
    UrlRecipe one = recipe_for(url, request.name, known, fetchers, document_at);
    if (!one.note.empty()) events.on(event::Message{one.note});
    if (!one.text.empty()) made.push_back(one);
    return std::move(one.recipe);
  };
  const auto add = [&](Recipe recipe) {
    const auto same = [&](const Recipe& other) { return other.kind == recipe.kind && other.name == recipe.name; };
    if (std::none_of(recipes.begin(), recipes.end(), same)) recipes.push_back(std::move(recipe));
  };
  // A claim of ours to a URL counts before what stands there; another's does not, since it would lead elsewhere. What
  // no source can answer, a URN, is any recipe's. With a name of the user's choice a new recipe is wanted.
  const auto is_known = [&](const std::string& word, std::optional<AssetKind> kind) {
    return word.starts_with("urn:") || (request.name.empty() && known.try_identified(word, kind, true));
  };
  for (const auto& name : request.names) {
    if (names_source(name) && !is_known(name, std::nullopt)) {
      add(of_source(name));
    } else if (auto model = known.try_find(name, AssetKind::model)) {
      auto dataset = request.datasets.empty() ? known.dataset_of(*model, model->run) : std::nullopt;
      if (!dataset && request.datasets.empty()) {
        events.on(event::Warning{fmt::format("the recipe of {} names no dataset that is known: name one with {}",
                                             model->name, option_text("datasets"))});
      }
      // The code of some models stands beside their recipe: there is nothing to fetch.
      const bool here = model->source && model->fragments.empty() && !model->git;
      if (!here || !dataset) add(std::move(*model));
      if (dataset) add(std::move(*dataset));
    } else {
      add(known.find(name, std::nullopt));
    }
  }
  for (const auto& name : request.models) add(known.find(name, AssetKind::model));
  for (const auto& name : request.datasets) {
    const bool is_source = names_source(name) && !is_known(name, AssetKind::dataset);
    add(is_source ? of_source(name) : known.find(name, AssetKind::dataset));
  }
  if (recipes.empty())
    throw Error(FailureKind::usage, "nothing was named to fetch",
                fmt::format("e.g. `{} cosmoflow`; `{}` shows what there is", verb_text("fetch"), verb_text("list")));
  return recipes;
}

Session::Session(SessionSettings settings, Comm* ranks) : state_(std::make_unique<State>(std::move(settings), ranks)) {
  force_hash_kernel(state_->settings.hash_kernel);
}
Session::~Session() = default;

const SessionSettings& Session::settings() const noexcept { return state_->settings; }
Comm* Session::ranks() const noexcept { return state_->ranks; }

FetchRecord Session::fetch(const FetchRequest& request, EventSink& events, std::stop_token stop) {
  State& state = *state_;
  if (state.ranks == nullptr || state.ranks->size() == 1) return state.fetch(request, events, stop, nullptr);
  if (request.dry_run) return on_rank_0(*state.ranks, [&] { return state.fetch(request, events, stop, nullptr); });
  run_agreed(*state.ranks, [&] {
    NoEvents unheard;
    if (state.ranks->rank() == 0) static_cast<void>(state.wanted(request, unheard));  // before there is a store
    static_cast<void>(state.fetchers.made());
    if (state.ranks->rank() == 0) say_if_in_home(state.settings, events);
  });
  state.store = open_shared_store(*state.ranks, state.settings.store);
  look_into_others(*state.store, state.settings);
  return fetch_by_ranks(*state.ranks, *state.store, state.fetchers, state.settings, request, stop,
                        [&](Team& team) { return state.fetch(request, events, team.stop(), &team); });
}

Lease Session::State::lease_for(Store& in, const std::vector<Recipe>& recipes) const {
  std::string what = "fetch";
  for (const auto& recipe : recipes) what += " " + recipe.name;
  Lease lease = in.lease({}, what.substr(0, 200), {true});
  for (const auto& recipe : recipes) {
    if (const auto root = known_root(in, recipe, std::nullopt)) lease.add(*root);
    if (const auto learnt = learnt_of(in, recipe)) lease.add(learnt->ref.root);
  }
  return lease;
}

FetchRecord Session::State::fetch(const FetchRequest& request, EventSink& events, const std::stop_token& stop,
                                  Team* team) {
  const auto recipes = wanted(request, events);
  const bool single = !request.manifest.empty() || !request.local_paths.empty() || !request.local_links.empty();
  if (single && recipes.size() != 1) {
    throw Error(FailureKind::usage,
                fmt::format("{}, {} and {} are for one asset, and {} were named", option_text("manifest"),
                            option_text("path"), option_text("link"), recipes.size()),
                fmt::format("name the dataset or the model alone, with {} or {}", option_text("datasets"),
                            option_text("models")));
  }
  check_part(request);
  AssetRequest asset = asset_request(request, settings.offline);

  FetchRecord record;
  if (request.dry_run) return dry_run_of(recipes, asset, settings, {settings.rewrites, &fetchers, request.force});

  if (!made.empty()) static_cast<void>(home_for_recipes(settings.recipe_homes));  // before a byte is moved
  if (!store) say_if_in_home(settings, events);
  Store& open = open_store();
  const Lease lease = lease_for(open, recipes);
  const bool local = !asset.locals.empty();
  const auto ahead = [&, local] {
    if (local) return SpaceGuard::Ahead{};  // what of it comes from them is not known
    return preflight(open, recipes, asset, {settings.rewrites, nullptr, request.force}, settings);
  };
  SpaceGuard space(open, "fetch " + recipes.front().name, ahead, stop);
  RateLimiter limiter(settings.limit_rate);
  Hosts hosts(settings.lanes, team == nullptr ? 1 : team->ranks(), settings.host_rules);
  for (const auto& recipe : recipes) {
    for (const auto& rule : rules_of(recipe)) hosts.add_rule(rule);
  }
  Ledger unused(events);
  FetchContext context{
      .store = open,
      .fetchers = fetchers,
      .events = events,
      .ledger = unused,
      .space = space,
      .limiter = team == nullptr ? limiter : team->limiter(),
      .hosts = hosts,
      .rewrites = settings.rewrites,
      .lanes = settings.lanes,
      .force = request.force,
      .stop = stop,
      .team = team,
  };
  const Catalogue known = catalogue();
  for (const auto& recipe : recipes) {
    record.assets.push_back(fetch_asset(context, recipe, asset));
    // A fetch that found all in place writes nothing: it works on a read-only store, and costs no inode.
    AssetRecord& done = record.assets.back();
    name_stale_partial(open, done);
    name_lost_files(open, recipe, done);
    if (done.fetched_bytes > 0 || !done.failures.empty()) try_append_to_log(open, done, events);
    if (!done.path.empty() && done.selection.empty()) show_by_name(open, known, recipe, Sha256::parse(done.manifest));
    if (ends_the_call(record.assets.back())) break;
    if (done.failures.empty() && !done.path.empty() && (done.fetched_bytes > 0 || local))
      harvest(open, Sha256::parse(done.manifest), done.path, done.name, done.kind, settings.program, events, stop);
  }
  for (const auto& what : space.unknown()) events.on(event::Note{"not known before: " + what});
  if (!asset.locals.empty())
    events.on(event::Warning{fmt::format("more local files were given with {} or {} than the recipe has fragments",
                                         option_text("path"), option_text("link"))});
  keep_recipes(record, events);
  record.exit = exit_of(record.assets);
  return record;
}

// A URL that gave nothing was perhaps mistyped.
void Session::State::keep_recipes(const FetchRecord& record, EventSink& events) {
  for (UrlRecipe& one : made) {
    const auto asset = std::ranges::find(record.assets, one.recipe.name, &AssetRecord::name);
    if (asset == record.assets.end()) continue;
    const bool stopped = std::ranges::any_of(
        asset->failures, [](const auto& failed) { return failed.failure.kind == FailureKind::interrupted; });
    if (asset->files == 0 && !stopped) continue;
    one.recipe.origin = write_recipe(one, home_for_recipes(settings.recipe_homes), events).native();
    if (store && !asset->path.empty() && asset->selection.empty())
      show_by_name(*store, catalogue(), one.recipe, Sha256::parse(asset->manifest));
  }
  made.clear();
}

namespace {

// Its manifest is here, and no view of it that is right.
[[noreturn]] void refuse_path(Store& store, const Recipe& recipe, const Manifest& manifest) {
  if (store.packed(manifest)) {
    throw Error(FailureKind::offline, fmt::format("{} is kept in packs, and has no view", recipe.name),
                fmt::format("`{} {}` makes one, of {} inodes; `{}` expands it on nodes", verb_text("view"), recipe.name,
                            view_inodes(manifest), verb_text("stage")));
  }
  std::uint64_t missing = 0;
  std::string first;
  manifest.for_each([&](const Entry& entry) {
    if (!entry.is_file() || store.present(entry.digest)) return;
    if (missing++ == 0) first = entry.path.text();
  });
  if (missing > 0) {
    const std::string changed = loss_of_adopted(store.view_path(manifest.root()) / first);
    throw Error(
        FailureKind::offline,
        fmt::format("{} is not whole in the store: {} of {} are missing, the first is {}{}", recipe.name, missing,
                    counted(manifest.totals().files, "file"), printable(first), changed.empty() ? "" : "; " + changed),
        way_back(recipe, &store, &manifest));
  }
  throw Error(FailureKind::offline, fmt::format("{} is in the store, and has no view", recipe.name),
              fmt::format("`{} {}` makes one", verb_text("view"), recipe.name));
}

}  // namespace

std::filesystem::path Session::path(const std::string& name) {
  const Catalogue catalogue = state_->catalogue();
  const auto dataset = catalogue.try_find(name, AssetKind::dataset);
  const Recipe recipe = dataset ? *dataset : catalogue.find(name, std::nullopt);
  const Failure missing{FailureKind::offline,
                        fmt::format("{} is not in the store {}", name, state_->settings.store.string()),
                        way_back(recipe, nullptr, nullptr), std::nullopt};
  std::unique_ptr<Store> opened;
  try {
    opened = open_store_of(state_->settings, false);
  } catch (const Error& error) {
    if (error.failure().kind == FailureKind::not_found) throw Error(missing);
    throw;
  }
  auto root = known_root(*opened, recipe, std::nullopt);
  if (const auto learnt = root ? std::nullopt : learnt_of(*opened, recipe)) root = learnt->ref.root;  // nobody is asked
  const auto manifest = root ? opened->manifest(*root) : std::nullopt;
  const bool seen = manifest && opened->view_present(*manifest);
  if (manifest && !seen) {
    if (const auto view = view_of_another(*opened, *manifest)) return *view;
  }
  if (!manifest) throw Error(missing);
  if (!seen) refuse_path(*opened, recipe, *manifest);
  mark_used(Layout(opened->directory()), *root);
  return opened->view_path(*root);
}

}  // namespace sabath
