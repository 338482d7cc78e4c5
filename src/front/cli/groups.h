// The groups of `sabath --help`. The first screen shows the daily commands of each group; `sabath help GROUP` shows all
// of them, and `sabath help all` those of every group.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "cli/verb.h"

namespace sabath::cli {

struct VerbGroup {
  std::string_view word;  // of `sabath help WORD`
  std::string_view title;
  // The first words of its verbs, in the order of the help text; a noun ("manifest") stands for all of its verbs.
  std::array<std::string_view, 9> daily;    // shown on the first screen
  std::array<std::string_view, 9> further;  // shown by the group's own help
};

[[nodiscard]] std::span<const VerbGroup> verb_groups();
[[nodiscard]] const VerbGroup* verb_group_named(std::string_view word);  // nullptr: there is none
// The group's verbs in the order of the help text. A verb that the table does not name belongs to the group that its
// description names (VerbText), or to the last one.
[[nodiscard]] std::vector<const Verb*> verbs_of(const VerbGroup& group, std::span<const Verb* const> verbs);
[[nodiscard]] std::string_view summary_of_noun(std::string_view noun);  // one line, no full stop; empty: it is no noun

}  // namespace sabath::cli
