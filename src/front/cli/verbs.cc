#include "cli/verbs.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "verbs/verb.h"

namespace sabath::cli {
namespace {

std::vector<const Verb*> all_verbs() {
#define SABATH_ENTRY(name) &name##_verb,
  std::vector<const Verb*> all{SABATH_CLI_VERBS(SABATH_ENTRY)};
#undef SABATH_ENTRY
  static std::deque<Verb> described;
  for (const LibraryVerb& verb : library_verbs()) {
    if (verb.text.summary.empty() || std::ranges::find(all, verb.name, &Verb::name) != all.end()) continue;
    described.push_back({.name = verb.name,
                         .summary = verb.text.summary,
                         .examples = verb.text.examples,
                         .details = verb.text.details,
                         .library = &verb});
    all.push_back(&described.back());
  }
  return all;
}

}  // namespace

std::span<const Verb* const> verbs() {
  static const std::vector<const Verb*> all = all_verbs();
  return all;
}

std::string_view command_of(const Verb& verb) { return verb.name.substr(0, verb.name.find(" --")); }

std::string_view mode_of(const Verb& verb) {
  const std::string_view command = command_of(verb);
  return command.size() == verb.name.size() ? std::string_view() : verb.name.substr(command.size() + 1);
}

}  // namespace sabath::cli
