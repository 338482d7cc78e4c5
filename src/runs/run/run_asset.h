// The parts of recipes that a run needs, and their entries in its record. Plain values; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/run_record.h"
#include "sabath/recipe.h"

namespace sabath {

struct RunAsset {
  std::string name;
  AssetKind kind = AssetKind::dataset;
  std::string manifest;     // "sha256:<hex>", empty: not known
  std::string verified_by;  // how its bytes were checked for this run
  std::string path;
  std::string commit;                       // of a source tree from git
  bool warm = false;                        // all was there before
  std::string repository{};                 // of a source tree from git: the bare clone in the store, if there is one
  std::vector<DerivationStep> lineage{};    // of a derived asset
  std::string role{};                       // "from": the program starts from it
  std::optional<RunRecord::Loads> loads{};  // its files hold code that reading them would run
};

// "" if the file has gone.
[[nodiscard]] std::string digest_of_file(const std::string& file);

[[nodiscard]] std::vector<RunRecord::Asset> recorded(const std::vector<RunAsset>& assets);
// The recipe's own name and version, and the digest of its file.
[[nodiscard]] RunRecord::Recipe recorded(const Recipe& recipe);
// The code of this recipe, which is one of the assets; nullopt if none is code.
[[nodiscard]] std::optional<RunRecord::Source> recorded_source(const std::vector<RunAsset>& assets,
                                                               const Recipe& recipe);

}  // namespace sabath
