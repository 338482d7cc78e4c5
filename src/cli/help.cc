#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/frame/global_options.h"
#include "cli/show/render.h"

namespace sabath::cli {
namespace {

constexpr std::size_t width = 100;

// Lines as they stand: their second column is aligned by hand.
std::string examples(std::string_view lines) {
  std::string text = "Examples\n";
  while (!lines.empty()) {
    const auto end = lines.find('\n');
    text += fmt::format("  {}\n", lines.substr(0, end));
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
  }
  return text;
}

std::string spelling(const Option& option) {
  std::string names = option.names;
  if (const auto comma = names.find(','); comma != std::string::npos) names.replace(comma, 1, ", ");
  return option.value.empty() ? names : names + " " + option.value;
}

std::string options_text(std::string_view title, const std::vector<Option>& options) {
  std::size_t column = 0;
  for (const Option& option : options) column = std::max(column, spelling(option).size());
  column = std::min<std::size_t>(column, 32) + 4;
  std::string text = fmt::format("\n{}\n", title);
  for (const Option& option : options) {
    const std::string help = option.help + (option.repeats && !option.is_argument() ? " (repeatable)" : "");
    std::string lines = wrap(help, width, std::string(column, ' '));
    const std::string left = "  " + spelling(option);
    if (left.size() + 2 <= column) {
      lines.replace(0, left.size(), left);
    } else {
      lines.insert(0, left + "\n");
    }
    text += lines;
  }
  return text;
}

std::string usage(const Verb& verb, const std::vector<Option>& options) {
  std::string text = fmt::format("sabath {}", verb.name);
  if (std::ranges::any_of(options, [](const Option& option) { return !option.is_argument(); })) text += " [OPTION]...";
  for (const Option& option : options) {
    if (option.rest) text += fmt::format(" [{}]", option.names);
    if (!option.is_argument()) continue;
    const std::string dots = option.repeats ? "..." : "";
    text += option.required ? fmt::format(" {}{}", option.names, dots) : fmt::format(" [{}]{}", option.names, dots);
  }
  return text;
}

std::string table_of(std::span<const Verb* const> verbs) {
  std::size_t column = 0;
  for (const Verb* verb : verbs) column = std::max(column, verb->name.size());
  std::string text;
  for (const Verb* verb : verbs) text += fmt::format("  {:<{}}  {}\n", verb->name, column, verb->summary);
  return text;
}

}  // namespace

std::string help_of_program(std::span<const Verb* const> verbs) {
  GlobalOptions globals;
  OptionSet options;
  declare_global_options(options, globals);
  std::string text =
      "sabath: puts the right bytes where training will read them, and proves that they are the right bytes\n\n"
      "Examples\n"
      "  sabath list                 what can be fetched\n"
      "  sabath fetch cosmoflow      fetch a model and its dataset, verified\n"
      "  sabath path NAME            where a fetched asset stands\n"
      "  sabath doctor               check this machine, this site, this store\n\n"
      "Usage: sabath COMMAND [OPTION]... [ARGUMENT]...\n\nCommands\n";
  text += table_of(verbs);
  text += options_text("Options of every command, before or after it", options.options());
  text += "\nsabath COMMAND --help tells more. Exit codes: sabath(1), docs/exit-codes.md.\n";
  return text;
}

std::string help_of_group(std::string_view group, std::span<const Verb* const> verbs) {
  std::vector<const Verb*> members;
  for (const Verb* verb : verbs) {
    if (verb->name.starts_with(std::string(group) + " ")) members.push_back(verb);
  }
  return fmt::format("Usage: sabath {} COMMAND [OPTION]... [ARGUMENT]...\n\nCommands\n{}", group, table_of(members));
}

std::string help_of_verb(const Verb& verb) {
  OptionSet set;
  const Action action = verb.declare(set);  // keeps the targets of `set`
  std::vector<Option> arguments, options;
  for (const Option& option : set.options()) (option.is_argument() ? arguments : options).push_back(option);
  std::string text = fmt::format("sabath {}: {}\n\n{}", verb.name, verb.summary, examples(verb.examples));
  text += fmt::format("\nUsage: {}\n", usage(verb, set.options()));
  if (!verb.details.empty()) text += fmt::format("\n{}", wrap(verb.details, width, ""));
  if (!arguments.empty()) text += options_text("Arguments", arguments);
  if (!options.empty()) text += options_text("Options", options);
  text += "\nOptions of every command: sabath --help\n";
  return text;
}

}  // namespace sabath::cli
