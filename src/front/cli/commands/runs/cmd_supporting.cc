#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "cli/described.h"
#include "cli/show/render.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/verbs/apply.h"

namespace sabath::cli {
namespace {
namespace cmd_supporting {

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

void print(Context& context, const SupportingRecord& record) {
  const std::size_t width = std::min(terminal_width(STDOUT_FILENO, context.environment), 110U);
  std::string text;
  for (const ListedScript& listed : record.scripts) text += (text.empty() ? "" : "\n") + script_text(listed, width);
  context.out.print(text);
}

}  // namespace cmd_supporting
}  // namespace

constexpr Verb supporting_verb{
    .name = "apply --list",
    .summary = "list the scripts that can be applied to an asset, and their arguments",
    .examples =
        "sabath apply --list cosmoflow        the recipe's scripts, then the built-in ones\n"
        "sabath apply --list --json cosmoflow | jq '.scripts[].arguments'",
    .details =
        "Each script is listed with what it reads, and its arguments with their defaults. `sabath apply NAME SCRIPT` "
        "makes a new asset by it.",
    .declare = declare<supporting, cmd_supporting::print>,
    .once = true,
};

}  // namespace sabath::cli
