// Catalogues as their keepers see them: new recipes, changes, removals, exports; subscriptions to catalogues of others.
// docs/catalogues.md. One thread a session. Throws Error{usage}, Error{not_found}, Error{invalid}, Error{storage},
// Error{space}, and what a fetch throws.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/event.h"
#include "sabath/recipe.h"

namespace sabath {

class Session;

// What remains of a removed recipe.
struct Tombstone {
  AssetKind kind = AssetKind::dataset;
  std::string name, version, id, doi, title;
  std::string manifest;  // "sha256:<hex>", as far as it was known
  std::string licence;
  std::vector<std::string> citation;
  std::string removed;  // when: "2026-11-28T12:00:00Z"
  std::string why;
  std::filesystem::path file;
};

struct NewRecipeRequest {
  std::string name;
  std::optional<AssetKind> kind;  // absent: that of `from`, else a dataset
  std::string from;  // a recipe's name, or a file or URL: a recipe, a document, a list of sums; empty: none
  std::vector<std::string> changes;  // "KEY=VALUE"
  std::vector<std::string> urls;     // of its files: one fragment each
  std::filesystem::path directory;   // of recipes; empty: the first that can be written
  bool dry_run = false;
};

struct RecipeRecord {
  std::filesystem::path file;
  std::string text;                      // of the file
  std::vector<std::string> passed_over;  // of a document: what was not understood
  int exit = 0;
};

// A recipe that is there already, by id, name and version, root or sources, is refused: Error{usage}.
[[nodiscard]] RecipeRecord catalogue_new(Session& session, const NewRecipeRequest& request, EventSink& events,
                                         std::stop_token stop = {});
[[nodiscard]] std::string to_json(const RecipeRecord& record);

struct EditRecipeRequest {
  std::string name;
  std::vector<std::string> changes;  // "KEY=VALUE"
  std::vector<std::string> unset;    // keys that are taken away
  bool dry_run = false;
};

// Other keys, their order and their layout stay. A text that is no recipe any more is refused, and nothing is changed.
[[nodiscard]] RecipeRecord catalogue_edit(Session& session, const EditRecipeRequest& request, EventSink& events,
                                          std::stop_token stop = {});

struct RemoveRecipeRequest {
  std::string name;
  std::string why;
};

struct RemovedRecipeRecord {
  Tombstone tombstone;
  int exit = 0;
};

// The recipe goes, its tombstone stays. What the store holds stays, too.
[[nodiscard]] RemovedRecipeRecord catalogue_rm(Session& session, const RemoveRecipeRequest& request, EventSink& events,
                                               std::stop_token stop = {});
[[nodiscard]] std::string to_json(const RemovedRecipeRecord& record);

struct ExportCatalogueRequest {
  std::filesystem::path directory;  // absent or empty, or an earlier export
  std::vector<std::string> names;   // assets; empty: all of the user's own directories
  bool all = false;                 // also what came with the program
  bool pin = false;                 // what is written, as pin_recipe() would
};

struct ExportedCatalogueRecord {
  std::filesystem::path index;
  std::uint64_t assets = 0, tombstones = 0;
  std::vector<std::string> left_out;  // recipes that cannot be read, and why
  std::vector<std::string> unpinned;  // that were to be pinned, and why they are as they were
  std::vector<std::string> doubts;    // what subscribers cannot use, and why
  int exit = 0;
};

[[nodiscard]] ExportedCatalogueRecord catalogue_export(Session& session, const ExportCatalogueRequest& request,
                                                       EventSink& events, std::stop_token stop = {});
[[nodiscard]] std::string to_json(const ExportedCatalogueRecord& record);

struct Subscription {
  std::string name, url;
  std::string pin;     // the git commit, or "sha256:<hex>" of the index
  bool fixed = false;  // by the user: an update stays there
  std::uint64_t recipes = 0;
  std::string updated;  // when: "2026-11-28T12:00:00Z"
  std::filesystem::path directory;
  Reach reach = Reach::global;  // of the farthest host that it came from: its recipes lead no nearer
};

struct SubscribeRequest {
  std::string url;   // a git repository, or an exported catalogue's index
  std::string name;  // the prefix of its recipes; empty: by the URL
  std::string at;    // a commit, or "sha256:<hex>" of the index; empty: as it is now
};

struct UpdateCatalogueRequest {
  std::vector<std::string> names;  // empty: all
  std::string at;                  // of a single one
  bool dry_run = false;            // say what would change
};

struct UnsubscribeRequest {
  std::string name;
};

struct SubscriptionsRequest {};

struct SubscriptionChange {
  Subscription subscription;
  std::string before;                                // the earlier pin; empty: it is new
  std::vector<std::string> added, changed, removed;  // names of recipes
  std::vector<std::string> left_out;                 // files that are no recipes, and why
};

struct SubscriptionsRecord {
  std::vector<SubscriptionChange> catalogues;
  int exit = 0;
};

[[nodiscard]] SubscriptionsRecord catalogue_subscribe(Session& session, const SubscribeRequest& request,
                                                      EventSink& events, std::stop_token stop = {});
[[nodiscard]] SubscriptionsRecord catalogue_update(Session& session, const UpdateCatalogueRequest& request,
                                                   EventSink& events, std::stop_token stop = {});
[[nodiscard]] SubscriptionsRecord catalogue_unsubscribe(Session& session, const UnsubscribeRequest& request,
                                                        EventSink& events, std::stop_token stop = {});
[[nodiscard]] SubscriptionsRecord catalogue_list(Session& session, const SubscriptionsRequest& request,
                                                 EventSink& events, std::stop_token stop = {});
[[nodiscard]] std::string to_json(const SubscriptionsRecord& record);

}  // namespace sabath
