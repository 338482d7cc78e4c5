// Published hashes of pieces, held against a chunk of unknown content as it lands: so a wrong mirror is found at its
// first wrong chunk, and not at the end of the file. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sabath/resolver.h"

namespace sabath {

// `size_bytes`: of the file. False: a piece that lies within these bytes has another hash. Pieces that reach beyond
// them, and those of a file for which nothing was published, say nothing: the whole file's hash decides.
[[nodiscard]] bool pieces_match(const PieceHashes& pieces, std::uint64_t size_bytes, std::uint64_t offset,
                                std::span<const std::byte> bytes);

}  // namespace sabath
