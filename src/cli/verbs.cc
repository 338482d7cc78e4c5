#include "cli/verbs.h"

#include <array>

namespace sabath::cli {

std::span<const Verb* const> verbs() {
  static constexpr std::array all{
      &fetch_verb,         &list_verb,          &search_verb,          &info_verb,     &path_verb,
      &where_verb,         &cite_verb,          &verify_verb,          &du_verb,       &manifest_create_verb,
      &manifest_show_verb, &manifest_diff_verb, &manifest_verify_verb, &fetchers_verb, &doctor_verb,
      &config_verb,        &help_verb,          &stage_verb,
  };
  return all;
}

}  // namespace sabath::cli
