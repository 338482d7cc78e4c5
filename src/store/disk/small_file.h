// Small files that are written whole and renamed into place: refs, aliases, indexes, pins, leases. Free functions; any
// thread. Throws Error{space}, Error{storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "store/disk/owners.h"
#include "store/disk/temporaries.h"

namespace sabath {

inline constexpr std::uint64_t small_file_max = 64 * 1024;

// Absent, too long and damaged are one here: what is lost is learnt again.
[[nodiscard]] std::optional<std::string> try_read_small(const std::filesystem::path& file,
                                                        std::uint64_t size_max = small_file_max);

// The same, of a file that one whom we trust owns: what it says cannot be proved.
[[nodiscard]] std::optional<std::string> try_read_trusted(const Owners& owners, const std::filesystem::path& file,
                                                          std::uint64_t size_max = small_file_max);

// By way of tmp/, so that what a kill leaves is cleaned up.
void replace_file(Temporaries& temporaries, const std::filesystem::path& file, const std::string& text, bool sync);

}  // namespace sabath
