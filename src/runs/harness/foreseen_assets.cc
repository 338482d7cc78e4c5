#include <fmt/format.h>

#include "base/file.h"
#include "base/working_directory.h"
#include "harness/asset_places.h"
#include "harness/assets.h"
#include "holdings/holding.h"
#include "run/commands.h"
#include "sabath/error.h"

namespace sabath {

namespace fs = std::filesystem;

bool has_source_tree(const Recipe& model) { return model.source || model.git || !model.fragments.empty(); }

fs::path shipped_source(const Recipe& model) {
  const fs::path directory = absolute_path(model.origin).parent_path() / model.source->text();
  const auto status = try_stat(directory);
  if (status && S_ISDIR(status->st_mode)) return directory;
  throw Error(FailureKind::not_found, fmt::format("the code of {} is not at {}", model.name, directory.string()),
              "its recipe says that it is beside it");
}

std::string commit_in(const std::string& trusted_by) {
  constexpr std::string_view prefix = "git commit ";
  return trusted_by.starts_with(prefix) ? trusted_by.substr(prefix.size()) : "";
}

bool has_files_apart(const ResolvedRun& run) {
  return run.model.source && !run.model.fragments.empty() && uses_model_files(run.all_steps());
}

fs::path stage_of(const RunCall& call) {
  return call.request.stage.empty() ? fs::path(call.request.environment.get("SABATH_STAGE").value_or(""))
                                    : call.request.stage;
}

namespace {

RunAsset foresee_asset(const RunCall& call, const Recipe& recipe, std::vector<std::string>& to_fetch) {
  const auto store = try_open_store(call.caller.settings);
  const Holding holding = holding_of(recipe, store.get());
  RunAsset asset{recipe.name,
                 recipe.kind,
                 holding.root ? holding.root->prefixed() : "",
                 "",
                 holding.view.string(),
                 commit_in(holding.trusted_by),
                 !holding.view.empty()};
  if (holding.view.empty()) {
    asset.path = "NOT-FETCHED:" + recipe.name;
    to_fetch.push_back(recipe.name);
  }
  return asset;
}

}  // namespace

RunAssets foresee_assets(const RunCall& call, const ResolvedRun& run) {
  RunAssets assets;
  if (run.model.source) {
    assets.all.push_back({run.model.name, run.model.kind, "", "", shipped_source(run.model).string(), "", true});
  } else if (has_source_tree(run.model) || run.by_ort) {
    assets.all.push_back(foresee_asset(call, run.model, assets.to_fetch));
  }
  if (has_source_tree(run.model) || run.by_ort) assets.source = assets.all.back().path;
  if (has_files_apart(run)) {
    assets.all.push_back(foresee_asset(call, run.model, assets.to_fetch));
    assets.all.back().role = "model";
  }
  if (uses_model_files(run.all_steps())) assets.model = assets.all.empty() ? "" : assets.all.back().path;
  if (run.from) {
    assets.all.push_back(foresee_asset(call, *run.from, assets.to_fetch));
    assets.all.back().role = "from";
    assets.from = assets.all.back().path;
  }
  for (const auto& [name, recipe] : run.used) {
    assets.all.push_back(foresee_asset(call, recipe, assets.to_fetch));
    assets.all.back().role = "used";
    assets.used[name] = assets.all.back().path;
  }
  if (run.packed) {
    const fs::path staged = stage_of(call) / run.packed->name;
    assets.all.push_back(foresee_asset(call, *run.packed, assets.to_fetch));
    if (!stage_of(call).empty() && try_stat(staged)) assets.all.back().path = fs::canonical(staged).string();
    assets.all.back().role = "environment";
    assets.packed = assets.all.back();
  }
  if (!run.dataset) return assets;
  if (const fs::path stage = stage_of(call); !stage.empty()) {
    const fs::path directory = absolute_path(stage / run.dataset->name);
    assets.all.push_back({run.dataset->name, AssetKind::dataset, "", "", directory.string(), "", true});
  } else {
    assets.all.push_back(foresee_asset(call, *run.dataset, assets.to_fetch));
  }
  assets.dataset = assets.all.back().path;
  return assets;
}

}  // namespace sabath
