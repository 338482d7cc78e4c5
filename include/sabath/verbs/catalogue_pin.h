// A recipe says from now on which bytes it means: those that the session's store holds. docs/catalogues.md. One thread
// a session. Throws Error{usage} and Error{access} for a recipe of others, Error{offline} if the store does not hold
// the asset, Error{content} where recipe and store disagree, Error{not_found}, Error{storage}, Error{space}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/event.h"

namespace sabath {

class Session;

struct PinRecipeRequest {
  std::string name;
  std::vector<std::string> urls = {};  // where the manifest may be had; empty: as the recipe says
  bool dry_run = false;
};

struct PinnedRecipeRecord {
  std::string name;
  std::filesystem::path file;
  std::string text;                         // of the file
  std::string manifest;                     // "sha256:<hex>"
  std::uint64_t files = 0;                  // whose size and SHA-256 the recipe has
  std::vector<std::string> root_only = {};  // archives and lists, which the root alone pins
  int exit = 0;
};

// The root, the size and SHA-256 of each file, the commit of a source tree and the day, as the store holds them. What
// is written already stays, and so do all other bytes of the file. Error{content} where recipe and store disagree.
[[nodiscard]] PinnedRecipeRecord catalogue_pin(Session& session, const PinRecipeRequest& request, EventSink& events,
                                               std::stop_token stop = {});
[[nodiscard]] std::string to_json(const PinnedRecipeRecord& record);

}  // namespace sabath
