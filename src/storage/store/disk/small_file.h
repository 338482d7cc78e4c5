// Small files, written whole and renamed into place: notes (note.h), pins, leases. Free functions; any thread.
// Throws Error{space}, Error{storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "store/disk/owners.h"
#include "store/disk/temporaries.h"

namespace sabath {

inline constexpr std::uint64_t small_file_max = 64 * 1024;

// nullopt for a file that is absent, too long, no regular one, or not for us to read: what it said is learnt again.
[[nodiscard]] std::optional<std::string> try_read_small(const std::filesystem::path& file,
                                                        std::uint64_t size_max = small_file_max);

// The same for a file that a trusted user owns: no hash proves its content.
[[nodiscard]] std::optional<std::string> try_read_trusted(const Owners& owners, const std::filesystem::path& file,
                                                          std::uint64_t size_max = small_file_max);

// Writes in tmp/ first, so that the leftovers of a killed process are cleaned up.
void replace_file(Temporaries& temporaries, const std::filesystem::path& file, const std::string& text, bool sync);

}  // namespace sabath
