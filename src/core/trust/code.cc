#include "trust/code.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t commands_shown_max = 100, question_bytes_max = 32'768, place_bytes_max = 8192;

std::string_view words_of(Ownership ownership) {
  switch (ownership) {
    case Ownership::shipped:
      return "came with the program";
    case Ownership::own:
      return "your own";
    case Ownership::others:
      break;
  }
  return "others may have written it";
}

// What fits of the commands.
struct ShownCommands {
  std::string text;
  std::size_t commands = 0;
};

std::string whole_text(const std::string& text) { return printable(text, 12 * text.size()); }

ShownCommands shown_commands(const AssetCode& code) {
  const std::string_view label = code.in_data ? "loads " : "runs  ";
  ShownCommands shown;
  for (const std::string& command : code.commands) {
    const std::string line = whole_text(command);
    if (shown.commands == commands_shown_max || shown.text.size() + line.size() > question_bytes_max) break;
    shown.text += fmt::format("{}  {}\n", shown.commands == 0 ? label : "      ", line);
    ++shown.commands;
  }
  return shown;
}

}  // namespace

Sha256 digest_of(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += fmt::format("{}:{}\n", word.size(), word);
  return sha256(text);
}

bool needs_no_trust(const AssetCode& code) { return code.recipe_of != Ownership::others && code.fixed; }

bool shows_all(const AssetCode& code) { return code.whole && shown_commands(code).commands == code.commands.size(); }

std::string text_of(const AssetCode& code) {
  std::string text =
      fmt::format("recipe  {} ({})\n", printable(code.recipe, place_bytes_max), words_of(code.recipe_of));
  if (!code.origin.empty()) text += fmt::format("origin  {}\n", printable(code.origin, place_bytes_max));
  if (!code.commit.empty()) text += fmt::format("commit  {}\n", printable(code.commit));
  const ShownCommands first = shown_commands(code);
  text += first.text;
  if (first.commands < code.commands.size()) {
    text += fmt::format("        not all is shown: {} more, of {}\n", code.commands.size() - first.commands,
                        code.commands.size());
  }
  return text;
}

}  // namespace sabath
