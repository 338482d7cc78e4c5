#include "sabath/verbs/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/text.h"
#include "base/wording.h"
#include "fetch/hosts/space_guard.h"
#include "fetch/known_tree.h"
#include "fetch/shown_view.h"
#include "holdings/place_note.h"
#include "holdings/stale_modules.h"
#include "hub/layout.h"
#include "hub/revision.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "session/hub_assets.h"
#include "session/way_back.h"
#include "store/views/write_tree.h"
#include "verbs/assets/assets.h"
#include "verbs/assets/kept_root.h"
#include "verbs/assets/view_layout.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

TreeFiles tree_files(const std::optional<ViewFiles>& files) {
  if (files == ViewFiles::links) return TreeFiles::shared;
  return files == ViewFiles::symlinks ? TreeFiles::symlinks : TreeFiles::copies;
}

void check_view(const ViewRequest& request) {
  if (request.files && !request.to) {
    throw Error(FailureKind::usage,
                fmt::format("{} says how the tree of {} is made", option_text("as"), option_text("to")),
                "say both, or neither");
  }
  if (!request.repository.empty() && request.layout != ViewLayout::hub) {
    throw Error(FailureKind::usage, "a repository's name says what the layout of a hub is made of",
                "ask for that layout");
  }
}

// A folder of another commit, or of the hub's own making, is left as it is.
void write_hub_folder(Store& store, const HubAsset& asset, const std::filesystem::path& cache, TreeFiles files) {
  const Manifest layout = hub_folder_layout(store, asset);
  const auto folder = cache / hub_folder(asset.hub);
  if (tree_stands(store, layout, folder, files)) return;
  if (try_lstat(folder)) {
    throw Error(FailureKind::usage,
                fmt::format("{} is there already, and is not {} at {}", printable(folder.native()),
                            printable(spelled(asset.hub)), asset.hub.commit),
                "name another directory, or remove that one");
  }
  write_tree(store, layout, folder, files);
}

std::vector<std::string> spelled_all(const std::vector<HubAsset>& assets) {
  std::vector<std::string> names;
  for (const HubAsset& asset : assets) names.push_back(fmt::format("{}@{}", spelled(asset.hub), asset.hub.commit));
  return names;
}

std::filesystem::path tidy(const std::filesystem::path& to) {
  auto path = std::filesystem::absolute(to).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

}  // namespace

ViewRecord view(Session& session, const ViewRequest& request, EventSink& events, std::stop_token stop) {
  check_view(request);
  const auto store = open_existing_store(session.settings());
  const Sha256 root = kept_root(request.name, session.settings(), *store);
  const Lease lease = store->lease({root}, "view " + request.name);
  const auto manifest = store->manifest(root);
  std::optional<Recipe> recipe;
  if (!request.name.starts_with("sha256:"))
    recipe = make_catalogue(session.settings()).find(request.name, std::nullopt);
  if (!manifest || !all_present(*store, *manifest)) {
    throw Error(FailureKind::offline, fmt::format("the store does not hold all of {}", printable(request.name)),
                recipe ? way_back(*recipe, store.get(), manifest ? &*manifest : nullptr)
                       : fmt::format("`{}` shows what can be fetched", verb_text("list")));
  }
  if (request.to) warn_of_stale_modules(*store, *manifest, events);
  ViewRecord record;
  if (request.to) record.path = tidy(*request.to);
  if (request.to) warn_of_place(place_of_asset(*store, *manifest), record.path, events);
  std::vector<HubAsset> hub;
  if (request.layout == ViewLayout::hub)
    hub = hub_assets(*store, recipe ? &*recipe : nullptr, root, request.repository);
  record.repositories = spelled_all(hub);
  if (request.to && hub.empty()) {
    const TreeFiles files = tree_files(request.files);  // the same call again finds its own tree
    if (!tree_stands(*store, *manifest, record.path, files)) write_tree(*store, *manifest, record.path, files);
  } else if (request.to) {
    for (const HubAsset& asset : hub) write_hub_folder(*store, asset, record.path, tree_files(request.files));
  } else {
    SpaceGuard space(*store, "view " + request.name, {}, std::move(stop));
    std::optional<Manifest> layout;
    if (!hub.empty()) layout = hub_layout(*store, hub);
    record.path = show_view(*store, space, layout ? *layout : *manifest, request.name);
    if (recipe && hub.empty()) show_by_name(*store, make_catalogue(session.settings()), *recipe, root);
  }
  const Totals totals = manifest->totals();
  record.name = request.name;
  record.manifest = root.prefixed();
  record.files = totals.files;
  record.bytes = totals.bytes;
  return record;
}

template <>
struct WordsOf<ViewFiles> {
  static constexpr std::string_view words = "copy|link|symlink";
  static std::string_view text(ViewFiles files) {
    return files == ViewFiles::copies ? "copy" : files == ViewFiles::links ? "link" : "symlink";
  }
  static std::optional<ViewFiles> parse(std::string_view text) {
    if (text == "copy") return ViewFiles::copies;
    return text == "link" ? ViewFiles::links : ViewFiles::symlinks;
  }
};

template <>
struct Described<ViewRequest> {
  using Of = ViewRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "an asset that was fetched", .required = true, .argument = "NAME"),
      SABATH_FIELD(to, .help = "write a tree of files into this new directory, outside the store", .value = "DIR"),
      SABATH_FIELD_AS("as", files,
                      .help = "with --to: files of your own (the default), read-only hard links into the store, or "
                              "symlinks to it"),
      SABATH_FIELD(layout, .help = "as the asset has them (the default), or as a cache of Hugging Face's hub: DIR may "
                                   "have other repositories"),
      SABATH_FIELD_AS("repo", repository,
                      .help = "with --layout hf: what a tree is called that no hub gave; datasets/OWNER/NAME for a "
                              "dataset",
                      .value = "OWNER/NAME"),
  };
};

template <>
struct Described<ViewRecord> {
  using Of = ViewRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "the asset"),
      SABATH_FIELD(manifest, .help = "its root"),
      SABATH_FIELD(path, .help = "where the tree is"),
      SABATH_FIELD(files, .help = "of the asset", .unit = "files"),
      SABATH_FIELD(bytes, .help = "of the asset", .unit = "bytes"),
      SABATH_FIELD(exit, .help = "the exit code"),
      SABATH_FIELD(repositories, .help = "in the layout of a hub: each repository at its commit", .null_if_empty = true,
                   .absent_if_empty = true),
  };
};

std::string to_json(const ViewRecord& record) { return record_text(record); }

extern constexpr LibraryVerb view_call = described<view>("view");

}  // namespace sabath
