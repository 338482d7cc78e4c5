// A run of a model's ONNX graph: the step is this program's own `infer`, which tells its latencies as metrics. One
// thread. Throws Error{usage} for inputs and settings that do not fit, Error{not_found} for files that are not there.
#pragma once

#include <filesystem>
#include <vector>

#include "harness/assets.h"
#include "harness/resolved_run.h"
#include "run/execution.h"

namespace sabath {

[[nodiscard]] RunStep graph_step(const RunCall& call, const ResolvedRun& run, const Variant& variant,
                                 const RunAssets& assets, const std::filesystem::path& directory);
// The samples' files, with their digests.
[[nodiscard]] std::vector<RunRecord::NamedFile> graph_inputs(const RunCall& call, const ResolvedRun& run,
                                                             const RunAssets& assets);
// What it gave, with its digest.
[[nodiscard]] std::vector<RunRecord::NamedFile> graph_results(const std::filesystem::path& directory);

}  // namespace sabath
