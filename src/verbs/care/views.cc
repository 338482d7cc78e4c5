#include "sabath/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "base/wording.h"
#include "fetch/hosts/space_guard.h"
#include "fetch/known_tree.h"
#include "fetch/shown_view.h"
#include "sabath/error.h"
#include "sabath/path.h"
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
                fmt::format("{} {}", verb_text("fetch"), printable(request.name)));
  }
  ViewRecord record;
  if (request.to) {
    record.path = std::filesystem::absolute(*request.to).lexically_normal();
    if (!record.path.has_filename()) record.path = record.path.parent_path();
    write_tree(*store, *manifest, record.path, tree_files(request.files));
  } else {
    SpaceGuard space(*store, "view " + request.name, {}, std::move(stop));
    record.path = show_view(*store, space, *manifest, request.name);
    if (!request.name.starts_with("sha256:")) {
      const Catalogue catalogue = make_catalogue(session.settings());
      show_by_name(*store, catalogue, catalogue.find(request.name, std::nullopt), root);
    }
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
  return {
      {"schema", 1},           {"name", record.name},   {"manifest", record.manifest}, {"path", record.path.string()},
      {"files", record.files}, {"bytes", record.bytes}, {"exit", record.exit}};
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
  request.finish();
  return json_of(view(session, asked, events, std::move(stop)));
}

}  // namespace sabath
