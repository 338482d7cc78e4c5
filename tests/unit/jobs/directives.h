// What a scheduler reads in a script, by the grammar of its manual: sbatch(1), qsub(1B), RFC 36 of Flux, bsub(1).
// Throws std::runtime_error for a line that the grammar does not have.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sabath::test {

using Directives = std::vector<std::pair<std::string, std::string>>;  // option, value

[[nodiscard]] Directives directives_in(std::string_view scheduler, std::string_view script);
[[nodiscard]] std::string value_of(const Directives& directives,
                                   std::string_view option);  // of the last one; "-": none

}  // namespace sabath::test
