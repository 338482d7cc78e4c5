#include "verbs/care/repair.h"

#include "base/file.h"
#include "fetch/hosts/source_key.h"
#include "fetch/known_tree.h"
#include "sabath/error.h"
#include "store/disk/layout.h"
#include "verbs/assets/assets.h"

namespace sabath {
namespace {

std::optional<Manifest> try_manifest(const Store& store, const Sha256& root) {
  try {
    return store.manifest(root);
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::invalid) throw;
    return std::nullopt;
  }
}

}  // namespace

Repair::Repair(const SessionSettings& settings, Store& store, const std::vector<Recipe>& recipes)
    : settings_(settings), store_(store) {
  const Layout layout(store.directory());
  const SourceNames& names = store.source_names();
  for (const auto& recipe : recipes) {
    for (const auto& fragment : recipe.fragments) {
      if (!fragment.urls.empty()) hints_.insert(source_key(fragment, names));
      for (std::size_t i = 0; i < fragment.urls.size(); ++i) hints_.insert(given_key(fragment, i, names));
    }
    Had had{recipe, source_key(recipe, names), {}, false, false};
    had.ref = store.has_ref(had.key);  // also a damaged one
    const auto root = known_root(store, recipe, std::nullopt);
    if (!root && !had.ref) continue;
    had.root = root.value_or(Sha256());
    had.view = root && try_lstat(store.view_path(*root)).has_value();
    if (had.ref || had.view || try_lstat(layout.manifest(had.root))) had_.push_back(std::move(had));
  }
}

bool Repair::is_whole(const Had& had) {
  if (had.ref && !store_.ref(had.key)) return false;
  const auto manifest = try_manifest(store_, had.root);
  if (!manifest || !all_present(store_, *manifest)) return false;
  return !had.view || store_.view_present(*manifest);
}

std::vector<RepairedAsset> Repair::run(EventSink& events, const std::stop_token& stop) {
  std::vector<RepairedAsset> assets;
  for (const auto& had : had_) {
    if (is_whole(had)) continue;
    FetchRequest request;
    request.view = had.view;
    request.add(had.recipe.kind, had.recipe.name);
    RepairedAsset asset{had.recipe.name, 0, {}};
    try {
      for (const auto& record : Session(settings_).fetch(request, events, stop).assets) {
        asset.fetched_bytes += record.fetched_bytes;
        for (const auto& failure : record.failures) asset.failures.push_back(failure.failure.message);
      }
    } catch (const Error& error) {
      const auto kind = error.failure().kind;
      if (kind == FailureKind::interrupted || kind == FailureKind::terminated) throw;
      asset.failures.emplace_back(error.what());
    }
    assets.push_back(std::move(asset));
  }
  return assets;
}

bool Repair::is_mended(const BadChunk& bad) {
  if (bad.removed_link) return true;  // the object that it was a link to is judged
  if (bad.file.kind == ContentKind::tree) return try_manifest(store_, bad.file.hash).has_value();
  if (bad.file != Digest{}) return store_.present(bad.file);
  const auto file = store_.directory() / bad.path;
  const auto name = try_parse_ref_name(file.parent_path().filename().native(), file.filename().native());
  const bool hint = name && hints_.contains(name->source_key);
  return !bad.path.starts_with("refs") || hint || try_lstat(file).has_value();
}

}  // namespace sabath
