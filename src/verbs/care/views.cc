#include "sabath/views.h"

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
#include "hub/layout.h"
#include "hub/revision.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "session/hub_assets.h"
#include "store/views/write_tree.h"
#include "verbs/assets/assets.h"
#include "verbs/care/kept_root.h"
#include "verbs/records.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

// {dataset.ID} of the recipe reference: a file fragment is its file; an archive or a list the directory that holds it.
std::filesystem::path fragment_path(const std::filesystem::path& top, const Recipe& recipe, const std::string& id) {
  const auto found = std::ranges::find(recipe.fragments, id, &Fragment::id);
  if (found == recipe.fragments.end()) {
    std::vector<std::string> ids;
    for (const Fragment& fragment : recipe.fragments) ids.push_back(fragment.id);
    const auto meant = nearest(id, ids);
    throw Error(FailureKind::not_found, fmt::format("{} has no fragment '{}'", printable(recipe.name), printable(id)),
                meant ? fmt::format("did you mean {}?", *meant)
                      : fmt::format("{} {} names them", verb_text("info"), recipe.name));
  }
  if (found->path) return top / found->path->text();
  if (found->type != FragmentType::file) return top;
  return top / RelativePath::parse(found->urls.front().file_name()).text();
}

TreeFiles tree_files(ViewFiles files) {
  if (files == ViewFiles::links) return TreeFiles::shared;
  return files == ViewFiles::symlinks ? TreeFiles::symlinks : TreeFiles::copies;
}

ViewFiles view_files_in(JsonObject& request) {
  const auto text = request.try_text("as");
  if (text && request.find("to") == nullptr) request.fail("as", "says how the files of \"to\" are made");
  if (!text || *text == "copy") return ViewFiles::copies;
  if (*text == "link") return ViewFiles::links;
  if (*text == "symlink") return ViewFiles::symlinks;
  request.fail("as", "is none of copy, link and symlink");
}

ViewLayout view_layout_in(JsonObject& request) {
  const auto text = request.try_text("layout");
  if (!text || *text == "files") return ViewLayout::files;
  if (*text == "hf") return ViewLayout::hub;
  request.fail("layout", "is neither files nor hf");
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

PathRecord find_path(Session& session, const PathRequest& request, EventSink&, std::stop_token) {
  PathRecord record{request.name, request.fragment, session.path(request.name)};
  if (!request.fragment.empty()) {
    const Recipe recipe = make_catalogue(session.settings()).find(request.name, std::nullopt);
    record.path = fragment_path(record.path, recipe, request.fragment);
  }
  return record;
}

ViewRecord view(Session& session, const ViewRequest& request, EventSink&, std::stop_token stop) {
  const auto store = open_existing_store(session.settings());
  const Sha256 root = kept_root(request.name, session.settings(), *store);
  const Lease lease = store->lease({root}, "view " + request.name);
  const auto manifest = store->manifest(root);
  if (!manifest || !all_present(*store, *manifest)) {
    throw Error(FailureKind::offline, fmt::format("the store does not hold all of {}", printable(request.name)),
                fmt::format("{} {}", verb_text("fetch"), shell_word(request.name)));
  }
  ViewRecord record;
  if (request.to) record.path = tidy(*request.to);
  std::optional<Recipe> recipe;
  if (!request.name.starts_with("sha256:"))
    recipe = make_catalogue(session.settings()).find(request.name, std::nullopt);
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

Json json_of(const PathRecord& record) {
  return {{"schema", 1},
          {"name", record.name},
          {"fragment", text_or_null(record.fragment)},
          {"path", record.path.string()},
          {"exit", record.exit}};
}

Json json_of(const ViewRecord& record) {
  Json json{
      {"schema", 1},           {"name", record.name},   {"manifest", record.manifest}, {"path", record.path.string()},
      {"files", record.files}, {"bytes", record.bytes}, {"exit", record.exit}};
  if (!record.repositories.empty()) json["repositories"] = record.repositories;
  return json;
}

std::string to_json(const PathRecord& record) { return text_of(json_of(record)); }
std::string to_json(const ViewRecord& record) { return text_of(json_of(record)); }

Json call_path(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  const PathRequest asked{request.text("name"), request.try_text("fragment").value_or("")};
  request.finish();
  return json_of(find_path(session, asked, events, std::move(stop)));
}

Json call_view(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  ViewRequest asked;
  asked.name = request.text("name");
  asked.to = request.try_text("to");
  asked.files = view_files_in(request);
  asked.layout = view_layout_in(request);
  asked.repository = request.try_text("repo").value_or("");
  if (!asked.repository.empty() && asked.layout != ViewLayout::hub) request.fail("repo", "names what \"hf\" lays out");
  request.finish();
  return json_of(view(session, asked, events, std::move(stop)));
}

}  // namespace sabath
