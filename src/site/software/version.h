// Versions of software as Spack and EasyBuild order them: 2.9 < 2.10rc1 < 2.10 < 2.10.1 < develop. Pure; any thread.
#pragma once

#include <string_view>

namespace sabath {

struct VersionText {
  std::string_view core;    // "4.1.4"
  std::string_view suffix;  // "GCC-11.3.0": a toolchain, a variant; may be empty
};
[[nodiscard]] VersionText parts_of_version(std::string_view version) noexcept;  // of "4.1.4-GCC-11.3.0"

// Below 0: a is older; 0: they are equal, as 1.2 and 1.2.0 are. Suffixes do not count.
[[nodiscard]] int compare_versions(std::string_view a, std::string_view b) noexcept;

// `version` is `base`, or one of its: 12.2 is of 12, and 120 is not.
[[nodiscard]] bool is_version_of(std::string_view version, std::string_view base) noexcept;

}  // namespace sabath
