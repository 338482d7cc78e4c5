// Checks, before a run reads it, that a directory outside the store's own views holds the files of a manifest.
// One thread. Throws Error{storage}, Error{interrupted}.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "manifest/manifest.h"
#include "store/store.h"

namespace sabath {

struct TreeCheck {
  std::vector<std::string> wrong, missing;  // paths in the asset; at most 100 of each
  bool read = false;                        // something had to be read and hashed
  [[nodiscard]] bool good() const { return wrong.empty() && missing.empty(); }
};

// A file that is a hard link to an object which `store` knows to be unchanged is not read. `store` may be nullptr;
// `full` reads everything.
[[nodiscard]] TreeCheck check_tree(Store* store, const Manifest& manifest, const std::filesystem::path& directory,
                                   bool full, const std::stop_token& stop);

}  // namespace sabath
