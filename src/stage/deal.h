// Which share gets which file of a dealt (sharded) asset: the same for the same files, seed and number of shares.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/comm.h"
#include "manifest/manifest.h"
#include "stage/plan.h"
#include "stage/tape.h"

namespace sabath::shard {

// Several nodes that see one directory are one member, the owner's: the ranks of all of them count as its node's.
// Collective; `owner` is a rank of `nodes`.
void follow_owners(Comm& nodes, unsigned my_node, unsigned owner, std::vector<std::uint64_t>& node_of_rank);

struct Shares {
  std::vector<std::uint32_t> member;  // of each share
  std::vector<std::uint32_t> ranks;   // of the job, one for each share; empty: a share is a node's
};
// One for each member, or (`node_of_rank` has all ranks of the job) one for each rank of the members' nodes.
// Collective.
[[nodiscard]] Shares shares_of(Comm& members, unsigned my_node, const std::vector<std::uint64_t>& node_of_rank);

// The owner of each file, in `files`' order: files are put in an order that their paths and the seed give, then dealt
// in turn, so that each share has as many as any other or one less.
[[nodiscard]] std::vector<std::uint32_t> deal(const std::vector<StagedFile>& files, std::uint64_t seed,
                                              unsigned shares);

// The part of an asset that `member` has: a manifest's bytes. `owners`: each file's share of `dealing`.
[[nodiscard]] std::string part(const Manifest& manifest, const std::vector<StagedFile>& files,
                               const std::vector<std::uint32_t>& owners, const Dealing& dealing, unsigned member);

// The plan as a file for people and programs: JSON, docs/staging.md. `ranks`: of each share, or none.
[[nodiscard]] std::string plan_text(const Manifest& manifest, const std::vector<StagedFile>& files,
                                    const std::vector<std::uint32_t>& owners, const Dealing& dealing,
                                    std::uint64_t seed, const std::vector<std::uint32_t>& ranks);

}  // namespace sabath::shard
