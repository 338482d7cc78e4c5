#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "cli/frame/global_options.h"
#include "cli/help.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {
namespace cmd_help {

struct Options {
  std::vector<std::string> words;
  bool bare = false;
};

std::string names_of(const Option& option) {
  std::string lines = option.names + "\n";
  std::ranges::replace(lines, ',', '\n');
  return lines;
}

// The words that may come next, one on each line: for completion.
std::string words_after(const std::string& name) {
  std::string lines;
  const auto add = [&lines](const OptionSet& set) {
    for (const Option& option : set.options()) {
      if (!option.is_argument()) lines += names_of(option);
    }
  };
  std::string last;
  for (const Verb* verb : verbs()) {
    if (verb->name == name) {
      OptionSet set;
      const Action action = verb->declare(set);  // keeps the targets of `set`
      add(set);
    } else if (name.empty() || verb->name.starts_with(name + " ")) {
      std::string word(verb->name.substr(name.empty() ? 0 : name.size() + 1));
      word.resize(std::min(word.size(), word.find(' ')));
      if (word != last) lines += fmt::format("{}\n", word);
      last = word;
    }
  }
  GlobalOptions globals;
  OptionSet set;
  declare_global_options(set, globals);
  add(set);
  return lines + "-h\n--help\n";
}

int run(Context& context, const Options& options) {
  const std::string name = fmt::format("{}", fmt::join(options.words, " "));
  if (options.bare || name.empty()) {
    context.out.print(options.bare ? words_after(name) : help_of_program(verbs()));
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
  const auto options = std::make_shared<Options>();
  set.arguments("COMMAND", options->words, false, "the command to explain");
  set.flag("--words", options->bare, "only the words that may follow, one a line: for completion");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_help
}  // namespace

constexpr Verb help_verb{
    "help", "explain a command", "sabath help fetch\nsabath help manifest create", "", false, cmd_help::declare,
};

}  // namespace sabath::cli
