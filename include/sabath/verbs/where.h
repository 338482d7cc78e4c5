// Where the recipe, the manifest and the files of an asset are. Nothing is made, changed or fetched. One thread
// a session. Throws Error{not_found} with a suggestion, Error{usage}, Error{invalid}, Error{storage}.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

#include "sabath/event.h"

namespace sabath {

class Session;

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

}  // namespace sabath
