// Whether the sources of a recipe answer now. No content is read: of each part the mirrors are asked in turn, until one
// says that it has it, and of a place that lists files whether it answers at all. Programs (git among them) are not
// started. One thread. Throws Error{interrupted}.
#pragma once

#include <cstddef>
#include <stop_token>
#include <string>

#include "sabath/recipe.h"
#include "sabath/session.h"

namespace sabath {

struct SourceAnswers {
  std::size_t asked = 0, answered = 0;  // parts; at most `asked_parts_max` are asked
  std::string silent, why;              // the first fragment that no source gives now; empty: there is none
};
inline constexpr std::size_t asked_parts_max = 16;

[[nodiscard]] SourceAnswers ask_sources(const Recipe& recipe, const SessionSettings& settings,
                                        const std::stop_token& stop);

}  // namespace sabath
