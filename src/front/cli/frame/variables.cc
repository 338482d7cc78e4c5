#include "cli/frame/variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "sabath/path.h"

namespace sabath::cli {

std::string doubt_about_variables(const Environment& environment) {
  std::vector<std::string> known;
  for (const OwnVariable& variable : own_variables) known.emplace_back(variable.name);
  std::string text;
  for (const auto& [name, value] : environment.variables) {
    if (!name.starts_with("SABATH_") || std::ranges::find(known, name) != known.end()) continue;
    const auto meant = nearest(name, known);
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", printable(name),
                        meant ? fmt::format(" (did you mean {}?)", *meant) : "");
  }
  return text.empty() ? "" : fmt::format("SABATH reads no variable {}: `sabath help variables` shows all", text);
}

}  // namespace sabath::cli
