// Two binary trees over all members of a job; replicated pieces go to all members by them. An inner node of one tree is
// a leaf of the other. The pieces go by both trees in turn, so each member sends about as much as it receives, and the
// last one is reached in log2(members) steps. (Sanders, Speck, Träff 2009.) Pure.
#pragma once

#include <optional>
#include <vector>

namespace sabath::trees {

inline constexpr unsigned count = 2;
[[nodiscard]] constexpr unsigned of_piece(std::size_t piece) { return static_cast<unsigned>(piece % count); }
[[nodiscard]] unsigned head(unsigned tree, unsigned members);
[[nodiscard]] std::optional<unsigned> parent(unsigned tree, unsigned members, unsigned member);
[[nodiscard]] std::vector<unsigned> children(unsigned tree, unsigned members, unsigned member);

}  // namespace sabath::trees
