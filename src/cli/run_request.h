// What `sabath run` was asked for, and what it means: which recipes, which steps, which settings, which site.
// One thread. Throws Error{usage}, Error{not_found}, Error{invalid}.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "run/commands.h"
#include "run/settings.h"
#include "run/site.h"
#include "sabath/recipe.h"

namespace sabath::cli {

struct RunOptions {
  std::string model, dataset, run_set;
  std::vector<std::string> settings, arguments;
  std::string settings_file, mode = "train", run_dir, stage, stage_record, env = "warn", launcher = "auto", container,
                             site;
  std::string verify = "changed";
  std::optional<std::uint64_t> ranks, nodes, grace_s;
  bool dry_run = false, no_verify = false, no_fetch = false;
};

struct RunRequest {
  Recipe model;
  std::optional<Recipe> dataset;
  std::vector<Step> steps;
  std::vector<Variant> variants;
  Site site;
  std::string launcher;                         // of parallel steps; "direct": none
  std::string container_kind, container_image;  // empty: none
  unsigned ranks = 1, nodes = 1;
  std::string sampler;  // this program, as the nodes' ranks start it
  [[nodiscard]] bool is_sweep() const { return variants.size() > 1; }
};

[[nodiscard]] RunRequest resolve(const Context& context, const RunOptions& options);

}  // namespace sabath::cli
