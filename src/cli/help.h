// The help texts, made from the verbs' own declarations. Pure; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/verb.h"

namespace sabath::cli {

// Columns for help: those of the terminal, 100 at most, and 100 where there is none.
[[nodiscard]] std::size_t help_width(const Environment& environment);
[[nodiscard]] std::string help_of_program(std::span<const Verb* const> verbs, std::size_t width);
[[nodiscard]] std::string help_of_group(std::string_view group, std::span<const Verb* const> verbs, std::size_t width);
[[nodiscard]] std::string help_of_verb(const Verb& verb, std::size_t width);

}  // namespace sabath::cli
