// The assets that the recipes offer, and which of them the store holds. Nothing is made, changed or fetched. One thread
// a session. Throws Error{not_found} with a suggestion, Error{usage}, Error{invalid}, Error{storage}.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/event.h"
#include "sabath/recipe.h"

namespace sabath {

class Session;

struct AssetSummary {
  std::string name;
  AssetKind kind = AssetKind::dataset;
  std::string version;  // empty: the recipe does not say
  AccessKind access = AccessKind::open;
  std::optional<std::uint64_t> size_bytes;    // when the recipe says it of every fragment
  bool present = false;                       // the store has a view of it
  bool packed = false;                        // the store has it in packs, without a view
  std::optional<std::uint64_t> stored_bytes;  // of what the store knows of it: the sum of its files
  std::string title;
  std::string newer = {};  // "LAB/NAME@2": a later version of it in a subscribed catalogue; of list() by `newer`
};

struct UnreadableRecipe {
  std::string file, problem;
};

struct ListRequest {
  std::optional<AssetKind> kind;     // assets of this kind; absent: of all
  std::optional<AccessKind> access;  // assets with this access; absent: with any
  bool stored = false;               // assets with a view in the store
  bool newer = false;                // assets of which a subscribed catalogue has a later version
};

struct ListRecord {
  std::vector<AssetSummary> assets;         // by kind, then name
  std::vector<UnreadableRecipe> problems;   // of list() only
  std::optional<std::uint64_t> found = {};  // of search() only: how many match, also beyond its limit
  int exit = 0;
};

[[nodiscard]] ListRecord list(Session& session, const ListRequest& request, EventSink& events,
                              std::stop_token stop = {});
[[nodiscard]] std::string to_json(const ListRecord& record);

}  // namespace sabath
