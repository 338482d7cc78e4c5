// The help texts, made from the verbs' own declarations. Pure; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/verb.h"

namespace sabath::cli {

[[nodiscard]] std::string help_of_program(std::span<const Verb* const> verbs);
[[nodiscard]] std::string help_of_group(std::string_view group, std::span<const Verb* const> verbs);
[[nodiscard]] std::string help_of_verb(const Verb& verb);

}  // namespace sabath::cli
