// Samples of the nodes that a run is spread over. On its own node `sabath run` samples by itself; on the others one of
// the ranks does: the launcher starts each as `sabath sample --to DIRECTORY -- PROGRAM`, and the first on a node that
// makes its file leaves a sampler behind before it becomes the program. docs/runs.md. One thread; throws
// Error{storage}, Error{space}.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"

namespace sabath {

// Of a run's step, counted from 0.
[[nodiscard]] std::filesystem::path samples_of(const std::filesystem::path& run, std::size_t step);

// The program under `sabath sample`; where that is not installed, as it is on some node, the program alone.
[[nodiscard]] std::vector<std::string> sampled(const std::string& sabath, const std::filesystem::path& directory,
                                               const std::vector<std::string>& program);

// Says that this node is sampled already, if the directory can be made: nothing depends on it.
void claim_node(const std::filesystem::path& directory, const std::string& node);
// The node's file, if nobody has it yet.
[[nodiscard]] std::optional<std::filesystem::path> try_claim_node(const std::filesystem::path& directory,
                                                                  const std::string& node);

}  // namespace sabath
