#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/show/render.h"
#include "cli/verbs.h"
#include "sabath/apply.h"
#include "sabath/path.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_supporting {

struct Options {
  std::string name;
};

std::string argument_text(const ScriptArgument& argument, std::size_t width) {
  std::string head = fmt::format("    {}={}", argument.name, argument.fallback ? printable(*argument.fallback) : "...");
  std::string about = argument.fallback ? "" : "must be given";
  const auto add = [&](const std::string& text) { about += (about.empty() ? "" : "; ") + text; };
  if (!argument.choices.empty()) add(fmt::format("one of {}", fmt::join(argument.choices, ", ")));
  if (!argument.help.empty()) add(argument.help);
  constexpr std::size_t column = 26;
  std::string lines = wrap(printable(about, 2000), width, std::string(column, ' '));
  if (lines.empty() || head.size() >= column) return head + "\n" + lines;
  return lines.replace(0, head.size(), head);
}

std::string script_text(const ListedScript& listed, std::size_t width) {
  const SupportingScript& script = listed.script;
  std::string text = fmt::format("{}{}\n", script.id, listed.built_in ? "  (built in)" : "");
  text += wrap(printable(script.description, 4000), width, "    ");
  text += wrap(fmt::format("reads {}, {}", printable(fmt::format("{}", fmt::join(script.inputs, ", ")), 1000),
                           script.per_file ? "file by file" : "all at once"),
               width, "    ");
  for (const ScriptArgument& argument : script.arguments) text += argument_text(argument, width);
  return text;
}

int run(Context& context, const Options& options) {
  Session session(context.configuration.session);
  NoEvents unheard;
  const SupportingRecord record = supporting(session, {options.name}, unheard, context.stop);
  if (context.presentation.json) {
    context.out.record(json_of(record));
    return record.exit;
  }
  const std::size_t width = std::min(terminal_width(STDOUT_FILENO, context.environment), 110U);
  std::string text;
  for (const ListedScript& listed : record.scripts) text += (text.empty() ? "" : "\n") + script_text(listed, width);
  context.out.print(text);
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.optional_argument("NAME", options->name, "an asset; none: the built-in scripts alone");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_supporting
}  // namespace

constexpr Verb supporting_verb{
    "supporting",
    "the scripts that can be applied to an asset, with their arguments",
    "sabath supporting cosmoflow          the recipe's scripts, then the built-in ones\n"
    "sabath supporting --json cosmoflow | jq '.scripts[].arguments'",
    "Each script is listed with what it reads, and its arguments with their defaults. `sabath apply NAME SCRIPT` "
    "makes a new asset by it.",
    false,
    cmd_supporting::declare,
    false,
    true,
};

}  // namespace sabath::cli
