// The bytes that a run reads: there, or fetched first, and checked before anything is launched.
// One thread. Throws Error{content} for what was tampered with, Error{offline}, and what a fetch throws.
#pragma once

#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/leases.h"
#include "harness/resolved_run.h"
#include "run/run_asset.h"

namespace sabath {

struct RunAssets {
  std::vector<RunAsset> all;          // the model's code, then the dataset
  std::string source, dataset;        // directories; empty: there is none
  std::vector<std::string> to_fetch;  // dry run: what is not here
  RunTimes times;
  std::deque<LeasedStore> stores;  // that hold them, kept from collection; dry run: none
};

[[nodiscard]] RunAssets bring_assets(const RunCall& call, const ResolvedRun& run);
// What is known without touching anything; what is not here has "NOT-FETCHED:NAME" in place of a path.
[[nodiscard]] RunAssets foresee_assets(const RunCall& call, const ResolvedRun& run);

}  // namespace sabath
