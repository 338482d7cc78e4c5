#include "holdings/holding.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/ownership.h"
#include "base/working_directory.h"
#include "fetch/hosts/source_key.h"
#include "fetch/hosts/space_guard.h"
#include "fetch/shown_view.h"
#include "holdings/stores.h"
#include "recipe/parse.h"
#include "recipe/shipped.h"
#include "sabath/error.h"
#include "store/disk/owners.h"
#include "store/leases/lease.h"
#include "store/lookup.h"
#include "store/registered.h"
#include "store/views/by_name.h"

namespace sabath {

namespace {

// The user whose word a recipe is; nullopt: this user's own, root's, a trusted owner's, or the program's.
std::optional<std::uint32_t> other_owner_of(const std::filesystem::path& recipe, const std::filesystem::path& program,
                                            const std::vector<std::uint32_t>& trusted) {
  const auto facts = try_stat(recipe);
  if (!facts) return std::nullopt;
  if ((facts->st_mode & S_IWOTH) != 0) return any_user;
  const std::uint32_t other = other_writer(recipe, trusted);
  if (other == 0) return std::nullopt;
  if (ownership_of(recipe, shipped_recipes(program), program) == Ownership::shipped) return std::nullopt;
  return other;
}

}  // namespace

Catalogue make_catalogue(const SessionSettings& settings) {
  return {settings.roots, settings.recipe_directories, registered_of(settings),
          [program = settings.program, trusted = settings.trusted_owners](const std::filesystem::path& recipe) {
            return other_owner_of(recipe, program, trusted);
          }};
}

RegisteredRecipes registered_of(const SessionSettings& settings) {
  Owners owners;
  owners.trust({settings.trusted_owners.begin(), settings.trusted_owners.end()});
  RegisteredRecipes registered;
  registered.owners.assign(owners.trusted().begin(), owners.trusted().end());
  const auto add = [&](const std::filesystem::path& store) {
    for (auto& room : registered_rooms(store, owners)) {
      registered.held.push_back(held_room(room));
      registered.rooms.push_back(std::move(room));
    }
  };
  add(settings.store);
  for (const auto& other : settings.other_stores) add(other);
  return registered;
}

std::unique_ptr<Store> try_open_store(const SessionSettings& settings) {
  std::error_code error;  // an empty directory will be one, as one that is absent
  const bool empty =
      std::filesystem::directory_iterator(settings.store, error) == std::filesystem::directory_iterator();
  if (!try_stat(settings.store) || (empty && !error)) return nullptr;
  return open_store_of(settings, false);
}

std::unique_ptr<Store> open_stores(const SessionSettings& settings) { return open_store_of(settings, true); }

namespace {

std::string held_text(const Recipe& recipe, const Sha256& root, const std::string& origin) {
  nlohmann::ordered_json note = {{"schema", 1}, {"kind", kind_name(recipe.kind)}, {"name", recipe.name}};
  if (!recipe.version.empty()) note["version"] = recipe.version;
  note.update({{"title", fmt::format("({} {})", held_recipe_key, origin)},
               {"access", {{"kind", "private"}, {"steps", {fmt::format("{} {}", held_recipe_key, origin)}}}},
               {"fragments", nlohmann::ordered_json::array()},
               {"manifest", {{"digest", root.prefixed()}, {"urls", nlohmann::ordered_json::array()}}},
               {"metadata", {{"recipe", origin}}}});
  return note.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

// Tomorrow, in another shell, the recipe may not be found: the name and where the recipe stood are kept.
void note_name(Store& store, const Recipe& recipe, const Sha256& root) {
  if (!is_name(recipe.name) || !try_lstat(recipe.origin)) return;  // of a URL: its recipe is written later
  const std::filesystem::path origin = absolute_path(recipe.origin);
  const bool in_store = origin.native().starts_with(absolute_path(store.directory()).native() + "/");
  if (!in_store) note_held(store, recipe.name, held_text(recipe, root, origin.native()), recipe.kind);
}

}  // namespace

void show_by_name(Store& store, const Catalogue& catalogue, const Recipe& recipe, const Sha256& root) {
  if (recipe.name.find('/') != std::string::npos) return;  // of a subscribed catalogue: the plain name is another's
  note_name(store, recipe, root);
  if (recipe.kind != AssetKind::dataset) {
    try {
      const auto dataset = catalogue.try_find(recipe.name, AssetKind::dataset);
      if (dataset && dataset->name == recipe.name) return;
    } catch (const Error&) {
      return;  // its recipe cannot be read, and the name is a dataset's all the same
    }
  }
  if (const auto manifest = store.manifest(root)) link_by_name(store, recipe.name, *manifest);
}

std::filesystem::path show_asset(const SessionSettings& settings, Store& store, const std::string& name,
                                 const Sha256& root, std::stop_token stop) {
  const Lease lease = store.lease({root}, "view " + name);
  const auto manifest = store.manifest(root);
  if (!manifest || store.packed(*manifest)) return {};
  SpaceGuard space(store, "view " + name, {}, std::move(stop));
  std::filesystem::path view = show_view(store, space, *manifest, name);
  const Catalogue catalogue = make_catalogue(settings);
  show_by_name(store, catalogue, catalogue.find(name, std::nullopt), root);
  return view;
}

Holding holding_of(const Recipe& recipe, Store* store) {
  Holding holding;
  if (recipe.manifest) {
    holding.root = recipe.manifest->digest;
    holding.trusted_by = "pinned";
  }
  if (store == nullptr) return holding;
  if (const auto learnt = learnt_of(*store, recipe); learnt && (!holding.root || learnt->ref.root == *holding.root)) {
    holding.root = learnt->ref.root;
    holding.trusted_by = learnt->ref.trusted_by;
    holding.source = learnt->ref.source;
    holding.doubt = recipe.manifest ? "" : learnt->doubt;
  }
  if (!holding.root) return holding;
  if (const auto manifest = store->manifest(*holding.root)) {
    holding.has_manifest = true;
    holding.totals = manifest->totals();
  }
  if (const auto view = standing_view(*store, *holding.root)) holding.view = *view;
  return holding;
}

}  // namespace sabath
