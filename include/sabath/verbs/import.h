// Assets of one tar (docs/bundles.md), read into the session's store. One thread
// calls. Throws Error{usage}, Error{interrupted}, Error{space}, Error{storage}, and what is said below.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/event.h"

namespace sabath {

class Session;

struct ImportRequest {
  std::string file = {};
  int descriptor = -1;                  // read, no file is opened, and left open; -1: none
  std::vector<std::string> names = {};  // assets that the bundle is trusted for: a fetch takes what it has from then on
};

struct TakenAsset {
  std::string name, manifest;
  std::uint64_t files = 0, bytes = 0;
  std::uint64_t missing_files = 0;   // neither in the bundle nor in the store
  std::vector<std::string> missing;  // the first of them
  bool known = false;                // all of it is here, and its name leads to it
  std::filesystem::path path;        // its view, if it is known and not kept in packs
};

struct ImportRecord {
  std::vector<TakenAsset> assets;
  std::uint64_t bundle_bytes = 0;   // content that was taken from the bundle
  std::uint64_t copied_bytes = 0;   // chunks that stood in other files of the store
  std::uint64_t present_bytes = 0;  // content of the bundle that was in the store
  int exit = 0;                     // 8: something is missing
};

// Takes nothing but what its hash proves; what was taken before a failure is kept, and a second import goes on. The
// store is made if it is not there. Error{invalid} for what is no bundle, Error{content} for wrong bytes, for another
// version than a recipe pins and for a name that means another root, Error{not_found} if there is no recipe of a name
// or the bundle does not have it, Error{access} if the store would show the file to those who cannot read it.
[[nodiscard]] ImportRecord import_bundle(Session& session, const ImportRequest& request, EventSink& events,
                                         std::stop_token stop = {});
[[nodiscard]] std::string to_json(const ImportRecord& record);

}  // namespace sabath
