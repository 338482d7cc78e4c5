// What is known and what is here, without asking anybody.
#include "base/file.h"
#include "fetch/asset.h"
#include "fetch/source_key.h"

namespace sabath {

bool all_present(Store& store, const Manifest& manifest) {
  bool present = true;
  manifest.for_each([&](const Entry& entry) {
    if (present && entry.is_file()) present = store.present(entry.digest);
  });
  return present;
}

std::optional<Sha256> known_root(const Store& store, const Recipe& recipe, const std::optional<ManifestPin>& pin) {
  if (pin) return pin->digest;
  if (recipe.manifest) return recipe.manifest->digest;
  const auto ref = store.ref(source_key(recipe));
  return ref ? std::optional(ref->root) : std::nullopt;
}

namespace {

std::optional<Sha256> known_part(const Store& store, const Recipe& recipe, const AssetRequest& request) {
  const auto& pin = request.pin ? request.pin : recipe.manifest;
  const auto ref = store.ref(source_key(recipe, request.selection, pin ? std::optional(pin->digest) : std::nullopt));
  return ref ? std::optional(ref->root) : std::nullopt;
}

}  // namespace

AssetRecord plan_asset(Store* store, const Recipe& recipe, const AssetRequest& request) {
  AssetRecord record;
  record.name = recipe.name;
  record.kind = recipe.kind;
  record.selection = recipe.fragments.empty() ? Selection{} : request.selection;
  const bool part = !record.selection.empty();
  const auto root = store == nullptr ? std::nullopt
                    : part           ? known_part(*store, recipe, request)
                                     : known_root(*store, recipe, request.pin);
  const auto manifest = root ? store->manifest(*root) : std::nullopt;
  if (manifest) {
    record.manifest = root->prefixed();
    record.files = manifest->totals().files;
    record.bytes = manifest->totals().bytes;
    std::uint64_t missing = 0;
    manifest->for_each([&](const Entry& entry) {
      if (!entry.is_file()) return;
      if (try_stat(store->object_path(entry.digest)))
        record.reused_bytes += entry.digest.size_bytes;
      else
        missing += entry.digest.size_bytes;
    });
    record.to_fetch_bytes = missing;
  } else {
    record.to_fetch_bytes = recipe.git || part ? std::nullopt : std::optional<std::uint64_t>(0);
    for (const auto& fragment : recipe.fragments) {
      if (part) break;  // how much of it is known to its sources alone
      ++record.files;
      const bool sized = fragment.size_bytes && fragment.type != FragmentType::file_list && record.to_fetch_bytes;
      record.to_fetch_bytes = sized ? std::optional(*record.to_fetch_bytes + *fragment.size_bytes) : std::nullopt;
      record.bytes += fragment.size_bytes.value_or(0);
    }
  }
  for (const auto& fragment : recipe.fragments) {
    for (const auto& url : fragment.urls) record.sources.push_back({url.display(), 0, 0, 0, false, ""});
  }
  if (recipe.git) record.sources.push_back({recipe.git->origin, 0, 0, 0, false, ""});
  return record;
}

}  // namespace sabath
