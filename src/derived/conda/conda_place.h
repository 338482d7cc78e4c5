// The one place for which an environment of conda is made. Pure; any thread. Throws Error{usage}.
#pragma once

#include <filesystem>
#include <string>

namespace sabath {

inline constexpr std::size_t conda_place_max = 1000;

// As it stands in files then. Empty: none was named. Texts of all kinds get it, so it has only characters that no
// shell and no language reads as another thing.
[[nodiscard]] std::string checked_place(const std::filesystem::path& place);
// What people do with an environment that works at one place.
[[nodiscard]] std::string remark_of_place(const std::string& place, const std::string& name);
// The refusal where a file names a place, and no place was named.
[[noreturn]] void refuse_without_place(const std::string& file, const std::string& package, const std::string& name);

}  // namespace sabath
