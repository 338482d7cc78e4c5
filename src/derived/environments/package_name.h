// Names of packages, as PyPA's specifications and conda write them. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sabath {

// Lower case, runs of '-', '_' and '.' as one '-': two spellings of one project are one name. nullopt: it is no name of
// letters, digits and these three, that begins and ends with a letter or a digit, of at most 200 bytes.
[[nodiscard]] std::optional<std::string> normal_name(std::string_view name);
// Of conda: lower case; '-' and '_' are two names there.
[[nodiscard]] bool is_conda_name(std::string_view name) noexcept;
// Nothing but letters, digits and . _ + - ! ~ =, at most 200 bytes: a version or build of conda.
[[nodiscard]] bool is_conda_version(std::string_view version) noexcept;

}  // namespace sabath
