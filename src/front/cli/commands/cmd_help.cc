#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "cli/completion.h"
#include "cli/frame/variables.h"
#include "cli/help.h"
#include "cli/show/render.h"
#include "cli/verbs.h"
#include "cli/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/assets/known_names.h"
#include "verbs/verb.h"

namespace sabath::cli {
namespace {
namespace cmd_help {

struct Options {
  std::vector<std::string> words;
  std::vector<std::string> line;
  bool completion = false;
};

// For the scripts of the shells. The first line is "files" or "directories" if the shell is to offer these where no
// candidate follows, else "words". Each candidate has a line, with a tab and its help.
std::string candidates(const Context& context, const std::vector<std::string>& line) {
  const Completion found = complete(line, verbs());
  constexpr std::array places{"words", "files", "directories"};
  std::string text = fmt::format("{}\n", places[static_cast<std::size_t>(found.place)]);
  for (const auto& [word, help] : found.words) text += fmt::format("{}{}\t{}\n", found.before, word, help);
  if (found.asset == Completion::Asset::none) return text;
  std::optional<AssetKind> kind;
  if (found.asset != Completion::Asset::any) {
    kind = found.asset == Completion::Asset::model ? AssetKind::model : AssetKind::dataset;
  }
  const Configuration configuration = load_configuration(found.globals, context.environment);
  for (const std::string& name : known_names(configuration.session, kind, found.begun)) {
    text += fmt::format("{}{}\n", found.before, printable(name));
  }
  return text;
}

std::string variables_text() {
  Table table({"VARIABLE", "MEANING"});
  for (const OwnVariable& variable : own_variables) table.add({std::string(variable.name), std::string(variable.what)});
  return table.text({}, 0);
}

// Of a verb, a group, a noun, or all; empty: the name is none of these.
std::string help_of(const std::string& name, std::size_t width) {
  const auto verb = std::ranges::find(verbs(), name, &Verb::name);
  if (verb != verbs().end()) return help_of_verb(**verb, width);
  if (name == "all") return help_of_all_verbs(verbs(), width);
  if (const VerbGroup* group = verb_group_named(name)) return help_of_verbs(*group, verbs(), width);
  const auto is_of_noun = [&name](const Verb* each) { return each->name.starts_with(name + " "); };
  return std::ranges::any_of(verbs(), is_of_noun) ? help_of_noun(name, verbs(), width) : "";
}

int run(Context& context, const Options& options) {
  const std::string name = fmt::format("{}", fmt::join(options.words, " "));
  if (name == "variables") {
    context.out.print(variables_text());
    return 0;
  }
  if (context.presentation.json) {
    context.out.record(record_of_help(name));
    return 0;
  }
  if (options.completion || name.empty()) {
    context.out.print(options.completion ? candidates(context, options.line)
                                         : help_of_program(verbs(), help_width(context.environment)));
    return 0;
  }
  if (const std::string text = help_of(name, help_width(context.environment)); !text.empty()) {
    context.out.print(text);
    return 0;
  }
  if (const auto now = renamed_command(name); !now.empty()) {
    throw Error(FailureKind::usage, fmt::format("no such command: '{}'", name),
                now.find(" --") == now.npos ? fmt::format("see: sabath help {}", now)
                                            : fmt::format("see: sabath {} --help", now));
  }
  std::vector<std::string> names;
  for (const Verb* verb : verbs()) names.emplace_back(verb->name);
  const std::string_view other = command_meant_by(name);
  const auto meant = other.empty() ? nearest(name, names) : std::optional(std::string(other));
  throw Error(FailureKind::usage, fmt::format("no such command: '{}'", printable(name)),
              meant ? fmt::format("did you mean {}?", *meant) : "see: sabath --help");
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.arguments("COMMAND", options->words, false,
                "the command or the group to explain; all: every command; variables: those of the environment");
  set.flag("--complete", options->completion, "for the shells: what the last of the words may become");
  set.rest("WORD", options->line, "a command line that is being written");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_help
}  // namespace

constexpr Verb help_verb{
    "help",
    "explain a command",
    "sabath help fetch\n"
    "sabath help manifest create\n"
    "sabath help variables        those of the environment\n"
    "sabath help du --json        the keys of its request and of its record",
    "",
    false,
    cmd_help::declare,
};

}  // namespace sabath::cli
