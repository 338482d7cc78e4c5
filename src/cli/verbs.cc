#include "cli/verbs.h"

#include <array>

namespace sabath::cli {

std::span<const Verb* const> verbs() {
#define SABATH_ENTRY(name) &name##_verb,
  static constexpr std::array all{SABATH_CLI_VERBS(SABATH_ENTRY)};
#undef SABATH_ENTRY
  return all;
}

}  // namespace sabath::cli
