// The recipes and the store that a session's settings name, and the store's holding of a recipe's asset. One thread.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "manifest/manifest.h"
#include "recipe/catalogue.h"
#include "sabath/session_settings.h"
#include "store/store.h"

namespace sabath {

[[nodiscard]] Catalogue make_catalogue(const SessionSettings& settings);
// The rooms of names that were registered in the session's stores.
[[nodiscard]] RegisteredRecipes registered_of(const SessionSettings& settings);
// nullptr when there is none yet: asking never makes one.
[[nodiscard]] std::unique_ptr<Store> try_open_store(const SessionSettings& settings);
[[nodiscard]] std::unique_ptr<Store> open_stores(const SessionSettings& settings);  // made, if it is not there

// Of a name that a fetch noted: how the title begins that says where its recipe stood.
inline constexpr const char* held_recipe_key = "its recipe was at";

// The link by-name/NAME leads to what `path NAME` prints: a dataset goes before a model of its name.
void show_by_name(Store& store, const Catalogue& catalogue, const Recipe& recipe, const Sha256& root);
// What came under a name by another way than a fetch stands as if it had been fetched: the view, and its link by name.
// Empty: it is kept in packs. Throws Error{space} where there is no room for the view.
std::filesystem::path show_asset(const SessionSettings& settings, Store& store, const std::string& name,
                                 const Sha256& root, std::stop_token stop);

// A store's knowledge of a recipe's asset.
struct Holding {
  std::optional<Sha256> root;  // pinned by the recipe, or learnt
  std::string trusted_by, source;
  std::string doubt;  // why its sources should be asked again; empty: there is no need
  bool has_manifest = false;
  Totals totals;               // of the manifest
  std::filesystem::path view;  // empty: there is none
};
[[nodiscard]] Holding holding_of(const Recipe& recipe, Store* store);  // a few lookups; reads no content

}  // namespace sabath
