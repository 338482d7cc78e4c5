// Reads chunks of one file and hashes them, several side by side. Any thread. Throws Error{storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "sabath/digest.h"

namespace sabath {

// The hashes of chunks `indices` of a file of `size_bytes`, all zeros for a chunk that the file ends before.
[[nodiscard]] std::vector<Sha256> hash_chunks(int fd, std::uint64_t size_bytes, std::span<const std::uint64_t> indices,
                                              const std::filesystem::path& name);

}  // namespace sabath
