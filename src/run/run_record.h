// What run.json says of a run: docs/runs.md. Plain values; any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "run/execution.h"
#include "run/settings.h"
#include "sabath/recipe.h"

namespace sabath {

struct RunAsset {
  std::string name;
  AssetKind kind = AssetKind::dataset;
  std::string manifest;     // "sha256:<hex>", empty: not known
  std::string verified_by;  // how its bytes were checked for this run
  std::string path;
  std::string commit;        // of a source tree from git
  bool warm = false;         // all was there before
  std::string repository{};  // of a source tree from git: the bare clone in the store, if there is one
};

struct RunTimes {
  std::optional<double> fetch, stage, verify, launch, train;  // seconds
};

struct RunRecord {
  std::string id, mode = "train";
  double started = 0;
  std::optional<double> finished;
  std::string state = "running";
  Recipe recipe;
  std::string recipe_digest;  // of the recipe's file
  std::vector<RunAsset> assets;
  Config config;
  std::string launcher;
  unsigned ranks = 1, nodes = 1;
  std::vector<RunStep> steps;
  std::vector<StepEnd> ends;
  RunTimes times;
  std::optional<double> harness_cpu_s;  // of this program, while the steps ran
  std::optional<int> exit, signal;
  std::vector<std::string> last_lines;  // of a program that failed
};

// `environment` and `machine` as they are known.
[[nodiscard]] nlohmann::ordered_json to_json(const RunRecord& record, const nlohmann::ordered_json& environment,
                                             const nlohmann::ordered_json& machine);

// What a recipe calls itself and the digest of its file; empty if the file has gone.
[[nodiscard]] std::string digest_of_file(const std::string& file);

}  // namespace sabath
