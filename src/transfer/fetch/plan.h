// Says what fetch_asset would do, and does none of it: the decisions are those of known_tree.h, fragment_choice.h and
// at_hand.h, which fetch_asset carries out; here their consequences are counted. Changes nothing, asks no source. Where
// a large file is missing, the store's manifests are read for its chunks (store/chunk_index.h). One thread. Throws
// Error{storage}, Error{invalid}.
#pragma once

#include <optional>
#include <vector>

#include "fetch/asset.h"
#include "fetch/decide/rewrite.h"
#include "machine/limits.h"
#include "sabath/verbs/fetch.h"
#include "sabath/verbs/plan.h"
#include "store/store.h"

namespace sabath {

// A file to fetch whose size only its sources know.
struct UnsizedFile {
  std::string name;        // the fragment's id
  std::vector<Url> urls;   // after rewrite rules
  std::size_t source = 0;  // the first one's place in `sources`
  bool archive = false;    // what comes out of it stands beside it
};

struct AssetPlan {
  PlannedAsset told;
  std::vector<UnsizedFile> unsized;
  std::vector<Url> urls;  // as they will be asked: of the first `sources`, in their order; may hold signatures
  [[nodiscard]] Need need() const {
    return {told.store_bytes, told.store_inodes, told.biggest_bytes, told.biggest_path};
  }
};

struct PlanSettings {
  const RewriteRules& rewrites;
  const FetcherSet* fetchers = nullptr;  // to ask which fetcher reads a URL; nullptr: not asked
  bool force = false;                    // as if nothing were here
  const Manifest* pinned = nullptr;      // what the recipe pins, where the store does not have it
};

[[nodiscard]] AssetPlan plan_asset(Store* store, const Recipe& recipe, const AssetRequest& request,
                                   const PlanSettings& settings);

// The same as `fetch --dry-run` tells it.
[[nodiscard]] AssetRecord dry_run_record(const AssetPlan& plan);

// A size that a source gave after all: of a file of `unsized`.
void add_size(AssetPlan& plan, Store* store, const UnsizedFile& file, std::uint64_t size_bytes);

}  // namespace sabath
