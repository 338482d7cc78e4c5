// Which of a node's disks each file goes to, where `--to A,B` names several. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sabath::stripe {

// The disk of each file, by its size: largest first, each to the disk that is then least full, as a part of its `rooms`
// (bytes; not empty); of equal ones to the first. So equal disks get equally much, and one with less room less; no
// disk gets more than it has room for as long as another can take the file.
[[nodiscard]] std::vector<std::uint32_t> deal(std::span<const std::uint64_t> sizes,
                                              std::span<const std::uint64_t> rooms);

}  // namespace sabath::stripe
