#include "trust/code.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t commands_shown_max = 12, command_bytes_max = 500;

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

}  // namespace

Sha256 digest_of(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += fmt::format("{}:{}\n", word.size(), word);
  return sha256(text);
}

bool needs_no_trust(const AssetCode& code) { return code.recipe_of != Ownership::others && code.fixed; }

std::string text_of(const AssetCode& code) {
  std::string text = fmt::format("recipe  {} ({})\n", printable(code.recipe, 1000), words_of(code.recipe_of));
  if (!code.origin.empty()) text += fmt::format("origin  {}\n", printable(code.origin, 1000));
  if (!code.commit.empty()) text += fmt::format("commit  {}\n", printable(code.commit));
  const std::size_t shown = std::min(code.commands.size(), commands_shown_max);
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format("{}  {}\n",
                        i > 0          ? "      "
                        : code.in_data ? "loads "
                                       : "runs  ",
                        printable(code.commands[i], command_bytes_max));
  }
  if (shown < code.commands.size()) text += fmt::format("        and {} more\n", code.commands.size() - shown);
  return text;
}

}  // namespace sabath
