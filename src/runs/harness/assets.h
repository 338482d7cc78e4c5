// The assets that a run reads: fetched if they are not here, and checked before anything is launched.
// One thread. Throws Error{content} for a file that was changed, Error{offline}, and what a fetch throws.
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/leases.h"
#include "harness/resolved_run.h"
#include "run/run_asset.h"
#include "sabath/session_settings.h"

namespace sabath {

struct RunAssets {
  std::vector<RunAsset> all;  // the model's code or graph, its own files, what it starts from and uses, the dataset
  std::string source, model, dataset, from;  // directories; empty: there is none. `model`: of the model's own files
  std::map<std::string, std::string> used;   // directories of those that steps name, by name
  std::vector<std::string> to_fetch;         // dry run: what is not here
  std::optional<RunAsset> packed;            // the environment, which comes before all others
  RunTimes times;
  std::deque<LeasedStore> stores;  // that hold them, kept from collection; dry run: none
};

// The code alone, of a model that has some.
[[nodiscard]] RunAsset bring_code(const RunCall& call, const Recipe& model);
// The same as far as it is here; nullopt: it is not, or the model has none.
[[nodiscard]] std::optional<RunAsset> known_code(const SessionSettings& settings, const Recipe& model);
// The packed environment alone, if the run has one: the programs that are asked about packages are its own.
[[nodiscard]] RunAssets bring_packed(const RunCall& call, const ResolvedRun& run);
[[nodiscard]] RunAssets bring_assets(const RunCall& call, const ResolvedRun& run, RunAssets begun);
// For a dry run: changes nothing. An asset that is not here has "NOT-FETCHED:NAME" instead of a path.
[[nodiscard]] RunAssets foresee_assets(const RunCall& call, const ResolvedRun& run);

}  // namespace sabath
