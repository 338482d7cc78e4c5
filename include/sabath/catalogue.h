// The assets that the recipes offer, and which of them the store holds. Nothing is made, changed or fetched. One thread
// a session. Throws Error{not_found} with a suggestion, Error{usage}, Error{invalid}, Error{storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/catalogues.h"
#include "sabath/environment.h"
#include "sabath/harvested.h"
#include "sabath/recipe.h"
#include "sabath/session.h"

namespace sabath {

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

struct SearchRequest {
  std::string pattern;  // RE2; upper and lower case are the same; empty: any, if something else is asked
  std::optional<AssetKind> kind = {};
  std::vector<std::string> more = {};  // patterns: each must be found, too
  std::optional<AccessKind> access = {};
  std::vector<std::string> tags = {};                            // "KEY=VALUE", or "KEY": a tag or a fact of the recipe
  std::string author = {}, licence = {}, doi = {}, format = {};  // author: a part of a name, or an ORCID
  std::string shape = {};                                        // "512,512,512,4": of an array
  std::optional<std::uint64_t> size_min = {};                    // bytes of all fragments, where the recipe says them
  std::uint64_t limit = 100;                                     // of the answers, at most 10,000
  Environment environment = {};  // its HOME and XDG_CACHE_HOME say where the index stands
};

// By names, titles, abstracts, descriptions, facts, tags, keywords, creators. The best fit first, then what is stored,
// then what was used last. Where nothing matches, `exit` is that of not_found. It keeps an index of the recipes, which
// is a cache and nothing else.
[[nodiscard]] ListRecord search(Session& session, const SearchRequest& request, EventSink& events,
                                std::stop_token stop = {});
[[nodiscard]] std::string to_json(const ListRecord& record);

struct InfoRequest {
  std::vector<std::string> names;  // an asset, NAME@VERSION, or a recipe file
  std::optional<AssetKind> kind;   // where assets of several kinds share a name
  std::string format = {};         // of `document`, one of docs/metadata.md; empty: none is made
  bool lineage = false;            // all steps that made a derived asset, not only the last
  Environment environment = {};    // its HOME and XDG_CONFIG_HOME say where decisions about code stand
};

struct AssetDescription {
  Recipe recipe;
  std::string manifest;                                     // "sha256:<hex>": pinned or learnt; empty: not known
  std::string trusted_by;                                   // how the manifest came to be trusted
  std::filesystem::path path;                               // of the view; empty: there is none
  std::string document = {};                                // in the format that was asked for
  std::optional<std::vector<DerivationStep>> lineage = {};  // if asked for; newest first; the last has no known maker
  std::optional<Harvested> harvested = {};                  // of its files, where they are in the store
  std::string runs_by = {};  // why its code may run, as in run.json; "asks": it is not trusted; empty: it has none
};

struct InfoRecord {
  std::vector<AssetDescription> assets;
  std::vector<Tombstone> removed = {};  // what a name or an id stood for, where no recipe has it any more
  int exit = 0;
};

[[nodiscard]] InfoRecord info(Session& session, const InfoRequest& request, EventSink& events,
                              std::stop_token stop = {});
[[nodiscard]] std::string to_json(const InfoRecord& record);

struct CiteRequest {
  std::vector<std::string> names;
};

struct AssetCitations {
  std::string name;
  std::vector<std::string> citations;  // at least one, of several lines each
};

struct CiteRecord {
  std::vector<AssetCitations> assets;
  int exit = 0;
};

// Error{not_found} where a recipe has no citation.
[[nodiscard]] CiteRecord cite(Session& session, const CiteRequest& request, EventSink& events,
                              std::stop_token stop = {});
[[nodiscard]] std::string to_json(const CiteRecord& record);

struct WhereRequest {
  std::string name;
};

struct WhereRecord {
  std::string name;
  std::string recipe;  // the file that counts
  std::filesystem::path store;
  bool made = false;                         // there is a store
  std::string manifest, trusted_by, source;  // empty: not known
  bool recipe_pins = false;                  // the recipe has the manifest's hash; not in JSON
  bool has_manifest = false;                 // the store has it
  std::filesystem::path path;                // of the view; empty: there is none
  bool packed = false;                       // the files stand in packs
  int exit = 0;                              // that of offline: there is no view
};

[[nodiscard]] WhereRecord where(Session& session, const WhereRequest& request, EventSink& events,
                                std::stop_token stop = {});
[[nodiscard]] std::string to_json(const WhereRecord& record);

[[nodiscard]] std::string_view access_name(AccessKind kind);
[[nodiscard]] std::optional<AccessKind> try_parse_access(std::string_view text);
[[nodiscard]] std::string_view fragment_type_name(FragmentType type);
[[nodiscard]] std::optional<std::uint64_t> known_size(const Recipe& recipe);  // of all fragments, when each says

}  // namespace sabath
