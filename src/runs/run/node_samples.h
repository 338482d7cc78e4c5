// Samples of the nodes that a run is spread over. `sabath run` samples its own node. The launcher starts each rank as
// `sabath sample --to DIRECTORY -- PROGRAM`; on each other node, the first rank that creates the node's file leaves a
// sampler behind before it becomes the program. docs/runs.md. One thread; throws Error{storage}, Error{space}.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"

namespace sabath {

// Of a run's step, counted from 0.
[[nodiscard]] std::filesystem::path samples_of(const std::filesystem::path& run, std::size_t step);

// The program under `sabath sample`; on a node without SABATH, the program alone.
[[nodiscard]] std::vector<std::string> sampled(const std::string& sabath, const std::filesystem::path& directory,
                                               const std::vector<std::string>& program);

// How many nodes left a file there; nullopt: only one, which says nothing of the others.
[[nodiscard]] std::optional<int> nodes_seen(const std::filesystem::path& directory);
// Marks this node as sampled already. A failure is ignored: nothing depends on the mark.
void claim_node(const std::filesystem::path& directory, const std::string& node);
// Creates the node's file; nullopt if it exists already.
[[nodiscard]] std::optional<std::filesystem::path> try_claim_node(const std::filesystem::path& directory,
                                                                  const std::string& node);

}  // namespace sabath
