#include "cli/help.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/frame/global_options.h"
#include "cli/frame/presentation.h"
#include "cli/groups.h"
#include "cli/show/render.h"

namespace sabath::cli {
namespace {

// A command that is too long for a line goes on in the next one, as a shell reads it.
std::string broken_command(std::string_view command, std::size_t width) {
  std::string text = wrap(command, width - 4, "    ");
  for (auto end = text.find('\n'); end + 1 < text.size(); end = text.find('\n', end + 3)) text.insert(end, " \\");
  return "  " + text.substr(4);
}

// Lines as they stand, their second column aligned by hand; where one is too wide, every second column below its first.
std::string examples(std::string_view text, std::size_t width) {
  std::vector<std::string_view> lines;
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), lines.back().size() + 1))) {
    lines.push_back(text.substr(0, text.find('\n')));
  }
  const bool fit = std::ranges::all_of(lines, [&](std::string_view line) { return display_width(line) + 2 <= width; });
  std::string all = "Examples\n";
  for (const std::string_view line : lines) {
    const std::size_t gap = std::min(line.find("  "), line.size());
    all += fit ? fmt::format("  {}\n", line)
               : broken_command(line.substr(0, gap), width) + wrap(line.substr(gap), width, "      ");
  }
  return all;
}

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    longest = std::max(longest, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return longest;
}

// `left` and, from `column` on, `right`; below it if `left` reaches so far, or a word of `right` has no room there.
std::string two_columns(const std::string& left, std::size_t column, std::string_view right, std::size_t width) {
  if (column + longest_word(right) > width) column = std::min<std::size_t>(left.size(), 8);
  std::string lines = wrap(right, width, std::string(column, ' '));
  if (left.size() + 2 <= column) {
    lines.replace(0, std::min(left.size(), lines.size()), left);
    return lines;
  }
  std::string head = left;
  for (std::size_t begin = 0; head.size() - begin > width;) {  // choices: broken behind one of them
    const std::size_t bar = head.rfind('|', begin + width - 1);
    if (bar == std::string::npos || bar <= begin) break;
    head.insert(bar + 1, "\n      ");
    begin = bar + 2;
  }
  return head + "\n" + lines;
}

std::string spelling(const Option& option) {
  std::string names = option.names;
  if (const auto comma = names.find(','); comma != std::string::npos) names.replace(comma, 1, ", ");
  return option.value.empty() ? names : names + " " + option.value;
}

std::string options_text(std::string_view title, const std::vector<Option>& options, std::size_t width) {
  std::size_t column = 0;
  for (const Option& option : options) column = std::max(column, spelling(option).size());
  column = std::min({column, std::size_t{32}, width / 2 - 4}) + 4;
  std::string text = fmt::format("\n{}\n", title);
  for (const Option& option : options) {
    const std::string help = option.help + (option.repeats && !option.is_argument() ? " (repeatable)" : "");
    text += two_columns("  " + spelling(option), column, help, width);
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

using Row = std::pair<std::string_view, std::string_view>;  // a command, what it does

// The options that make another verb of this one.
std::vector<Option> modes_of(const Verb& verb) {
  std::vector<Option> options;
  for (const Verb* other : verbs()) {
    if (mode_of(*other).empty() || command_of(*other) != verb.name) continue;
    Option& option = options.emplace_back();
    option.names = mode_of(*other);
    option.help = fmt::format("{}: see sabath {} --help", other->summary, other->name);
  }
  return options;
}

std::string table_of(const std::vector<Row>& rows, std::size_t least, std::size_t width) {
  std::size_t column = least;
  for (const auto& [name, summary] : rows) column = std::max(column, name.size());
  std::string text;
  for (const auto& [name, summary] : rows) text += two_columns(fmt::format("  {}", name), column + 4, summary, width);
  return text;
}

std::string table_of(std::span<const Verb* const> verbs, std::size_t width) {
  std::vector<Row> rows;
  for (const Verb* verb : verbs) rows.emplace_back(verb->name, verb->summary);
  return table_of(rows, 0, width);
}

// The daily words of a group: verbs, and nouns of several verbs.
std::vector<Row> daily_rows(const VerbGroup& group, std::span<const Verb* const> verbs) {
  std::vector<Row> rows;
  for (const std::string_view word : group.daily) {
    const auto verb = std::ranges::find(verbs, word, &Verb::name);
    if (verb != verbs.end()) {
      rows.emplace_back(word, (*verb)->summary);
    } else if (!word.empty()) {
      rows.emplace_back(word, summary_of_noun(word));
    }
  }
  return rows;
}

std::string first_screen(std::span<const Verb* const> verbs, std::size_t width) {
  std::size_t column = 0;
  for (const VerbGroup& group : verb_groups()) {
    for (const std::string_view word : group.daily) column = std::max(column, word.size());
  }
  std::string text;
  for (const VerbGroup& group : verb_groups()) {
    const std::vector<Row> rows = daily_rows(group, verbs);
    const bool all = rows.size() == verbs_of(group, verbs).size();
    text += wrap(all ? std::string(group.title) : fmt::format("{} (more: sabath help {})", group.title, group.word),
                 width, "");
    text += table_of(rows, column, width) + "\n";
  }
  return text;
}

}  // namespace

std::size_t help_width(const Environment& environment) {
  constexpr unsigned least = 40, most = 100;
  const bool known = ::isatty(STDOUT_FILENO) == 1 || environment.get("COLUMNS");
  return known ? std::clamp(terminal_width(STDOUT_FILENO, environment), least, most) : most;
}

std::string help_of_program(std::span<const Verb* const> verbs, std::size_t width) {
  GlobalOptions globals;
  OptionSet options;
  declare_global_options(options, globals);
  std::string text =
      wrap("sabath: puts the right bytes where training will read them, and proves that they are the right bytes",
           width, "");
  text += "\n" + examples(
                     "sabath list                 what can be fetched\n"
                     "sabath fetch cosmoflow      fetch a model and its dataset, verified\n"
                     "sabath path NAME            where a fetched asset is\n"
                     "sabath doctor               check this machine, this site, this store",
                     width);
  text += "\n" + wrap("Usage: sabath COMMAND [OPTION]... [ARGUMENT]...", width, "") + "\n";
  text += first_screen(verbs, width);
  text += options_text("Options of every command, before or after it", options.options(), width).substr(1);
  text +=
      "\n" + wrap(
                 "sabath COMMAND --help explains a command; sabath help all lists every one. Exit codes: sabath(1), "
                 "docs/exit-codes.md.",
                 width, "");
  return text;
}

std::string help_of_verbs(const VerbGroup& group, std::span<const Verb* const> verbs, std::size_t width) {
  return fmt::format("{}\n", group.title) + table_of(verbs_of(group, verbs), width);
}

std::string help_of_all_verbs(std::span<const Verb* const> verbs, std::size_t width) {
  std::string text;
  for (const VerbGroup& group : verb_groups()) text += (text.empty() ? "" : "\n") + help_of_verbs(group, verbs, width);
  return text;
}

std::string help_of_noun(std::string_view noun, std::span<const Verb* const> verbs, std::size_t width) {
  std::vector<const Verb*> members;
  for (const Verb* verb : verbs) {
    if (verb->name.starts_with(std::string(noun) + " ")) members.push_back(verb);
  }
  return wrap(fmt::format("Usage: sabath {} COMMAND [OPTION]... [ARGUMENT]...", noun), width, "") + "\nCommands\n" +
         table_of(members, width);
}

std::string help_of_verb(const Verb& verb, std::size_t width) {
  OptionSet set;
  const Action action = verb.options_into(set);  // keeps the targets of `set`
  std::vector<Option> arguments, options = modes_of(verb);
  for (const Option& option : set.options()) (option.is_argument() ? arguments : options).push_back(option);
  std::string text = wrap(fmt::format("sabath {}: {}", verb.name, verb.summary), width, "");
  text += "\n" + examples(verb.examples, width);
  text += "\n" + wrap("Usage: " + usage(verb, set.options()), width, "");
  if (!verb.details.empty()) text += fmt::format("\n{}", wrap(verb.details, width, ""));
  if (!arguments.empty()) text += options_text("Arguments", arguments, width);
  if (!options.empty()) text += options_text("Options", options, width);
  text += "\nOptions of every command: sabath --help\n";
  return text;
}

}  // namespace sabath::cli
