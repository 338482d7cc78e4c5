// The help texts, made from the verbs' own declarations. Pure; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/groups.h"
#include "cli/verb.h"

namespace sabath::cli {

// Columns for help: those of the terminal, 100 at most, and 100 where there is none.
[[nodiscard]] std::size_t help_width(const Environment& environment);
// The first screen: the daily commands, in groups.
[[nodiscard]] std::string help_of_program(std::span<const Verb* const> verbs, std::size_t width);
// All verbs of a group, and those of all groups.
[[nodiscard]] std::string help_of_verbs(const VerbGroup& group, std::span<const Verb* const> verbs, std::size_t width);
[[nodiscard]] std::string help_of_all_verbs(std::span<const Verb* const> verbs, std::size_t width);
// The verbs of a noun: "manifest".
[[nodiscard]] std::string help_of_noun(std::string_view noun, std::span<const Verb* const> verbs, std::size_t width);
[[nodiscard]] std::string help_of_verb(const Verb& verb, std::size_t width);

}  // namespace sabath::cli
