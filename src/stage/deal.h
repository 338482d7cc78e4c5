// Which node gets which file of a dealt (sharded) asset: the same for the same files, seed and number of nodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "manifest/manifest.h"
#include "stage/tape.h"

namespace sabath::shard {

// The owner of each file, in `files`' order: files are put in an order that their paths and the seed give, then dealt
// in turn, so that each node has as many as any other or one less.
[[nodiscard]] std::vector<std::uint32_t> deal(const std::vector<StagedFile>& files, std::uint64_t seed, unsigned nodes);

// The part of an asset that `node` has, with `overlap`: a manifest's bytes.
[[nodiscard]] std::string part(const Manifest& manifest, const std::vector<StagedFile>& files,
                               const std::vector<std::uint32_t>& owners, unsigned node, unsigned nodes,
                               unsigned overlap);

// The plan as a file for people and programs: JSON, docs/staging.md.
[[nodiscard]] std::string plan_text(const Manifest& manifest, const std::vector<StagedFile>& files,
                                    const std::vector<std::uint32_t>& owners, std::uint64_t seed, unsigned nodes,
                                    unsigned overlap);

}  // namespace sabath::shard
