// Whose site profile is believed. It names programs that a run starts: only those who may change this program, or are
// trusted, may have written it. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace sabath {

// Throws Error{access} for a profile that another account could have written. `program`: this program's file.
void refuse_others_profile(const std::filesystem::path& file, const std::vector<std::uint32_t>& trusted_owners,
                           const std::filesystem::path& program);

}  // namespace sabath
