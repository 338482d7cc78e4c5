// Which share gets which file of a dealt (sharded) asset: the same for the same files, seed and number of shares.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "manifest/manifest.h"
#include "sabath/comm.h"
#include "stage/plan/tape.h"

namespace sabath::shard {

// Several nodes that see one directory are one member, the owner's: the ranks of all of them count as its node's.
// Collective; `owner` is a rank of `nodes`.
void follow_owners(Comm& nodes, unsigned my_node, unsigned owner, std::vector<std::uint64_t>& node_of_rank);

struct Shares {
  std::vector<std::uint32_t> member;  // of each share
  std::vector<std::uint32_t> ranks;   // of the job, one for each share; empty: a share is a node's
  std::uint32_t overlap = 1;          // the number of shares in a row that get each file, at most all
  // The members that get the files of a share, none twice.
  [[nodiscard]] std::vector<std::uint32_t> members_of(std::uint32_t share) const;
};
// One for each member, or (`node_of_rank` has all ranks of the job) one for each rank of the members' nodes.
// Collective.
[[nodiscard]] Shares shares_of(Comm& members, unsigned my_node, const std::vector<std::uint64_t>& node_of_rank);

// The share of each file, in `files`' order: files are put in an order that their paths and the seed give, then dealt
// in turn, so that each share has as many as any other or one less.
[[nodiscard]] std::vector<std::uint32_t> deal(const std::vector<StagedFile>& files, std::uint64_t seed,
                                              unsigned shares);

// Equal content stands on the tape once; each member that gets one of its paths wants it.
struct Hands {
  std::vector<std::vector<std::uint32_t>> hands;  // Dealing::hands
  std::vector<std::uint32_t> hand;                // of each content, in `contents`' order
};
// `owners`: the share of each of `paths`.
[[nodiscard]] Hands hands_of(const std::vector<StagedFile>& contents, const std::vector<StagedFile>& paths,
                             const std::vector<std::uint32_t>& owners, const Shares& shares);

// The part of an asset that has the files for which `has` is true: a manifest's bytes.
[[nodiscard]] std::string part(const Manifest& manifest, const std::function<bool(const Entry&)>& has);
// The part that a member gets.
[[nodiscard]] std::string part(const Manifest& manifest, const std::vector<std::uint32_t>& owners, const Shares& shares,
                               std::uint32_t member);

// The plan as a file for people and programs: JSON, docs/staging.md.
[[nodiscard]] std::string plan_text(const Manifest& manifest, const std::vector<StagedFile>& paths,
                                    const std::vector<std::uint32_t>& owners, const Shares& shares, std::uint64_t seed);

}  // namespace sabath::shard
