#include "harness/assets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/wording.h"
#include "base/working_directory.h"
#include "fetch/decide/rewrite.h"
#include "fetch/hosts/space_guard.h"
#include "fetch/known_tree.h"
#include "fetch/shown_view.h"
#include "harness/asset_places.h"
#include "harness/environment_entries.h"
#include "harness/packed_choice.h"
#include "holdings/holding.h"
#include "holdings/lineage.h"
#include "manifest/manifest.h"
#include "run/commands.h"
#include "run/tree_check.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr const char* unchanged = "unchanged since it was hashed";
constexpr const char* read_again = "read and hashed for this run";
constexpr const char* not_verified = "not verified";

class Seconds {  // adds the time that it lives
 public:
  explicit Seconds(std::optional<double>& sum) : sum_(sum) {}
  ~Seconds() {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
    sum_ = sum_.value_or(0) + passed.count();
  }
  Seconds(const Seconds&) = delete;
  Seconds& operator=(const Seconds&) = delete;

 private:
  std::optional<double>& sum_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// `remedy`: the command that gets it again.
[[noreturn]] void refuse_tampered(const std::string& name, const std::vector<std::string>& wrong,
                                  const std::string& remedy) {
  throw Error(
      FailureKind::content,
      fmt::format("{} is not what was verified: {} wrong ({}{})", name, counted(wrong.size(), "file is", "files are"),
                  printable(wrong.front(), 400), wrong.size() > 1 ? ", ..." : ""),
      fmt::format("nothing was launched; `{}` gets it again", remedy));
}

RunAsset hashed(const Recipe& model, const fs::path& directory) {
  ManifestBuilder builder;
  add_directory_tree(builder, directory, 1, {});
  const Sha256 root = Manifest::parse(builder.bytes()).root();
  return {model.name, model.kind, root.prefixed(), read_again, directory.string(), "", true};
}

// The bare clone that the fetch of a source tree left in the store.
std::string repository_of(const RunCall& call, const Store& store, const Recipe& recipe, const std::string& commit) {
  if (!recipe.git || commit.empty()) return {};
  const auto url = Url::try_parse(recipe.git->origin);
  const std::string origin = url ? rewritten(*url, call.caller.settings.rewrites).text() : recipe.git->origin;
  for (const std::string& asked : {recipe.git->commit, commit}) {
    const fs::path bare = store.git_directory(sha256("git clone\n" + origin + "\n" + asked));
    if (!asked.empty() && try_stat(bare)) return bare.string();
  }
  return {};
}

class Bringer {
 public:
  Bringer(const RunCall& call, RunAssets& assets, bool of_environment = false)
      : call_(call), times_(assets.times), stores_(assets.stores), of_environment_(of_environment) {}

  RunAsset bring(const Recipe& recipe) {
    auto asset = try_present(recipe);
    const bool was_here = asset.has_value();
    if (!asset) {
      fetch(recipe);
      asset = try_present(recipe);
      if (!asset) throw Error(FailureKind::internal, fmt::format("{} was fetched and is not there", recipe.name));
    }
    asset->warm = was_here;
    return std::move(*asset);
  }

  RunAsset hash_shipped(const Recipe& model) {
    const Seconds time(times_.verify);
    return hashed(model, shipped_source(model));
  }

  // The result of `sabath stage` at DIR: DIR/NAME, with a store of its own at DIR/.sabath.
  RunAsset take_staged(const Recipe& recipe, const fs::path& stage) {
    const fs::path directory = absolute_path(stage / recipe.name);
    if (!try_stat(directory)) {
      throw Error(FailureKind::offline, fmt::format("{} is not staged at {}", recipe.name, stage.string()),
                  fmt::format("`{}` brings it", staging_line(recipe, stage)));
    }
    const SessionSettings& settings = call_.caller.settings;
    if (of_environment_)
      refuse_writable_tree(directory, TrustedOwners({settings.trusted_owners.begin(), settings.trusted_owners.end()}),
                           recipe.name, call_.stop);
    LeasedStore* staged = lease(try_open(stage / ".sabath"));
    Holding holding = used_of(recipe, staged);
    Store* store = staged == nullptr ? nullptr : &staged->store();
    if (!holding.has_manifest) {
      holding = used_of(recipe, main_store());
      store = main_store() == nullptr ? nullptr : &main_store()->store();
    }
    RunAsset asset{recipe.name,  recipe.kind,        holding.root ? holding.root->prefixed() : "",
                   not_verified, directory.string(), commit_in(holding.trusted_by),
                   true};
    if (call_.request.verify == "none") return asset;
    if (!holding.has_manifest) {
      throw Error(FailureKind::offline, fmt::format("the manifest of {} is in no store here", directory.string()),
                  fmt::format("say {}, or fetch it here", option_text("no_verify")));
    }
    const Seconds time(times_.verify);
    const Manifest manifest = *store->manifest(*holding.root);
    const TreeCheck check = check_tree(staged == nullptr ? nullptr : &staged->store(), manifest, directory,
                                       call_.request.verify == "full", call_.stop);
    if (!check.wrong.empty()) refuse_tampered(recipe.name, check.wrong, staging_line(recipe, stage));
    if (!check.missing.empty()) {
      throw Error(FailureKind::offline,
                  fmt::format("{} is not whole: {} missing", directory.string(),
                              counted(check.missing.size(), "file is", "files are")),
                  fmt::format("`{}` brings it", staging_line(recipe, stage)));
    }
    if (of_environment_) refuse_more_entries(manifest, directory, recipe.name, call_.stop);
    asset.verified_by = check.read ? read_again : unchanged;
    return asset;
  }

 private:
  // By one rank a node's copy is mended, too.
  static std::string staging_line(const Recipe& recipe, const fs::path& stage) {
    return fmt::format("{} {} {} {}", verb_text("stage"), recipe.name, option_text("to"), shell_word(stage.string()));
  }

  static std::unique_ptr<Store> try_open(const fs::path& directory) {
    return try_stat(directory) ? Store::open(directory, false) : nullptr;
  }

  LeasedStore* lease(std::unique_ptr<Store> store) {
    if (store == nullptr) return nullptr;
    store->work_for(call_.caller.settings.job);
    stores_.emplace_back(std::move(store), "run " + call_.request.model.substr(0, 200));
    return &stores_.back();
  }

  LeasedStore* main_store() {
    if (main_ == nullptr) main_ = lease(try_open_store(call_.caller.settings));
    return main_;
  }

  // The store's holding of the asset; a manifest is leased first, and the holding is read again under the lease.
  static Holding used_of(const Recipe& recipe, LeasedStore* store) {
    const Holding seen = holding_of(recipe, store == nullptr ? nullptr : &store->store());
    if (store == nullptr || !seen.has_manifest) return seen;
    store->use(*seen.root);
    return holding_of(recipe, &store->store());
  }

  // True if the holding is in doubt and the asset's sources can be asked.
  [[nodiscard]] bool in_doubt(const Holding& holding) const {
    return !holding.doubt.empty() && !call_.request.no_fetch && !call_.caller.settings.offline;
  }

  // An asset in packs that is wholly here needs no fetch, but a view. Empty: it is none.
  [[nodiscard]] fs::path try_expand(const Recipe& recipe, Store& store, const Sha256& root) const {
    const auto manifest = store.manifest(root);
    if (!manifest || !store.packed(*manifest) || !all_present(store, *manifest)) return {};
    try {
      SpaceGuard space(store, "run " + recipe.name, {}, call_.stop);
      fs::path view = show_view(store, space, *manifest, recipe.name);
      show_by_name(store, make_catalogue(call_.caller.settings), recipe, root);
      return view;
    } catch (const Error& error) {
      Failure failure = error.failure();
      if (failure.kind != FailureKind::space) throw;
      failure.hint += fmt::format("; or after `{}`, which expands it on the nodes, say {} DIR", verb_text("stage"),
                                  option_text("at"));
      throw Error(failure);
    }
  }

  // nullopt: it has to be fetched. Wrong files are never repaired in silence.
  std::optional<RunAsset> try_present(const Recipe& recipe) {
    LeasedStore* leased = main_store();
    Holding holding = used_of(recipe, leased);
    if (holding.has_manifest && holding.view.empty()) holding.view = try_expand(recipe, leased->store(), *holding.root);
    if (!holding.has_manifest || holding.view.empty() || in_doubt(holding)) return std::nullopt;
    Store* store = &leased->store();
    RunAsset asset{recipe.name,  recipe.kind,           holding.root->prefixed(),
                   not_verified, holding.view.string(), commit_in(holding.trusted_by),
                   true};
    asset.repository = repository_of(call_, *store, recipe, asset.commit);
    if (call_.request.verify == "none") return asset;
    const Seconds time(times_.verify);
    const Manifest manifest = *store->manifest(*holding.root);
    if (of_environment_ && try_stat(holding.view)) refuse_more_entries(manifest, holding.view, recipe.name, call_.stop);
    const bool full = call_.request.verify == "full";
    if (!full && store->view_present(manifest)) {
      asset.verified_by = unchanged;
      return asset;
    }
    const auto report = store->verify(&manifest, 0, {});
    std::vector<std::string> wrong;
    for (const BadChunk& bad : report.bad) {
      if (bad.file != Digest{}) wrong.push_back(bad.path.empty() ? bad.file.hash.prefixed() : bad.path);
    }
    if (!wrong.empty()) refuse_tampered(recipe.name, wrong, fmt::format("{} {}", verb_text("fetch"), recipe.name));
    if (report.missing > 0 || !store->view_present(manifest)) return std::nullopt;
    asset.verified_by = read_again;
    return asset;
  }

  void fetch(const Recipe& recipe) {
    if (is_root_alone(recipe)) {
      throw Error(FailureKind::offline,
                  fmt::format("{} with the root {} is not in the store, wholly", recipe.name,
                              recipe.manifest->digest.prefixed()),
                  fmt::format("`{}` brings it from a bundle", verb_text("import")));
    }
    if (call_.request.no_fetch) {
      throw Error(FailureKind::offline, fmt::format("{} is not in the store, wholly", recipe.name),
                  fmt::format("`{} {}` brings it", verb_text("fetch"), recipe.name));
    }
    // The lease comes first, so that it covers the fetched assets from their first byte.
    if (main_store() == nullptr) main_ = lease(open_stores(call_.caller.settings));
    const Seconds time(times_.fetch);
    FetchRequest request;
    // By the recipe's file: a recipe of the original and a shipped one may have the same name.
    request.add(recipe.kind, recipe.origin);
    const FetchRecord record = call_.caller.fetch_alone(request, call_.events, call_.stop);
    for (const AssetRecord& asset : record.assets) {
      if (asset.failures.empty()) continue;
      Failure failure = asset.failures.front().failure;
      failure.message = fmt::format("cannot fetch {}: {}", asset.name, failure.message);
      throw Error(failure);
    }
  }

  const RunCall& call_;
  RunTimes& times_;
  std::deque<LeasedStore>& stores_;
  LeasedStore* main_ = nullptr;  // one of them
  const bool of_environment_;    // all files of its tree count
};

}  // namespace

RunAsset bring_code(const RunCall& call, const Recipe& model) {
  RunAssets assets;
  Bringer bringer(call, assets);
  return model.source ? bringer.hash_shipped(model) : bringer.bring(model);
}

std::optional<RunAsset> known_code(const SessionSettings& settings, const Recipe& model) {
  if (model.source) {
    const fs::path directory = absolute_path(model.origin).parent_path() / model.source->text();
    return try_stat(directory) ? std::optional(hashed(model, directory)) : std::nullopt;
  }
  const auto store = has_source_tree(model) ? try_open_store(settings) : nullptr;
  const Holding holding = holding_of(model, store.get());
  if (!holding.root) return std::nullopt;
  return RunAsset{model.name, model.kind, holding.root->prefixed(), "", "", commit_in(holding.trusted_by), true};
}

RunAssets bring_packed(const RunCall& call, const ResolvedRun& run) {
  RunAssets assets;
  if (!run.packed) return assets;
  Bringer bringer(call, assets, true);
  const fs::path stage = stage_of(call);
  const bool staged = !stage.empty() && try_stat(stage / run.packed->name);
  if (!stage.empty() && !staged)
    call.say(fmt::format("{} is not staged at {}: it is read where the store is", run.packed->name, stage.string()));
  assets.packed = staged ? bringer.take_staged(*run.packed, stage) : bringer.bring(*run.packed);
  assets.packed->role = "environment";
  // A name that comes to mean another root must not change what a running program imports.
  assets.packed->path = fs::canonical(assets.packed->path).string();
  return assets;
}

RunAssets bring_assets(const RunCall& call, const ResolvedRun& run, RunAssets begun) {
  RunAssets assets = std::move(begun);
  Bringer bringer(call, assets);
  std::vector<std::pair<std::size_t, const Recipe*>> brought;  // those whose lineage is noted
  const auto note_lineage = [&](const Recipe& recipe) { brought.emplace_back(assets.all.size() - 1, &recipe); };
  if (has_source_tree(run.model) || run.by_ort) {
    assets.all.push_back(run.model.source ? bringer.hash_shipped(run.model) : bringer.bring(run.model));
    assets.source = assets.all.back().path;
    if (run.by_ort) note_lineage(run.model);
  }
  if (has_files_apart(run)) {
    assets.all.push_back(bringer.bring(run.model));
    assets.all.back().role = "model";
  }
  if (uses_model_files(run.all_steps())) assets.model = assets.all.empty() ? "" : assets.all.back().path;
  if (run.from) {
    assets.all.push_back(bringer.bring(*run.from));
    assets.all.back().role = "from";
    assets.from = assets.all.back().path;
    note_lineage(*run.from);
  }
  for (const auto& [name, recipe] : run.used) {
    assets.all.push_back(bringer.bring(recipe));
    assets.all.back().role = "used";
    assets.used[name] = assets.all.back().path;
    note_lineage(recipe);
  }
  if (assets.packed) assets.all.push_back(*assets.packed);
  if (run.dataset) {
    const fs::path stage = stage_of(call);
    assets.all.push_back(stage.empty() ? bringer.bring(*run.dataset) : bringer.take_staged(*run.dataset, stage));
    assets.dataset = assets.all.back().path;
    note_lineage(*run.dataset);
  }
  if (!brought.empty()) {
    const SessionSettings& settings = call.caller.settings;
    const Catalogue catalogue = make_catalogue(settings);
    const auto store = try_open_store(settings);
    for (const auto& [index, recipe] : brought) assets.all[index].lineage = lineage_of(catalogue, *recipe, store.get());
  }
  for (LeasedStore& store : assets.stores) store.settle();
  return assets;
}

}  // namespace sabath
