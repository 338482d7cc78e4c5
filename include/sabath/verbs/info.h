// All that is known of an asset. Nothing is made, changed or fetched. One thread
// a session. Throws Error{not_found} with a suggestion, Error{usage}, Error{invalid}, Error{storage}.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/environment.h"
#include "sabath/event.h"
#include "sabath/harvested.h"
#include "sabath/recipe.h"
#include "sabath/verbs/catalogue.h"

namespace sabath {

class Session;

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

}  // namespace sabath
