#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/help.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {

int run(Context& context, const std::vector<std::string>& words) {
  std::string name;
  for (const std::string& word : words) name += (name.empty() ? "" : " ") + word;
  if (name.empty()) {
    context.out.print(help_of_program(verbs()));
    return 0;
  }
  std::vector<std::string> names;
  for (const Verb* verb : verbs()) {
    if (verb->name == name) {
      context.out.print(help_of_verb(*verb));
      return 0;
    }
    names.emplace_back(verb->name);
  }
  if (std::ranges::any_of(names, [&name](const std::string& other) { return other.starts_with(name + " "); })) {
    context.out.print(help_of_group(name, verbs()));
    return 0;
  }
  const auto meant = nearest(name, names);
  throw Error(FailureKind::usage, fmt::format("no such command: '{}'", printable(name)),
              meant ? fmt::format("did you mean {}?", *meant) : "see: sabath --help");
}

Action declare(OptionSet& set) {
  const auto words = std::make_shared<std::vector<std::string>>();
  set.arguments("COMMAND", *words, false, "the command to explain");
  return [words](Context& context) { return run(context, *words); };
}

}  // namespace

constexpr Verb help_verb{
    "help", "explain a command", "sabath help fetch\nsabath help manifest create", "", false, declare,
};

}  // namespace sabath::cli
