#include "verbs/assets/known_names.h"

#include "holdings/holding.h"

namespace sabath {

std::vector<std::string> known_names(const SessionSettings& settings, std::optional<AssetKind> kind,
                                     std::string_view begun) {
  std::vector<std::string> names = make_catalogue(settings).names(kind);
  std::erase_if(names, [&](const std::string& name) { return !name.starts_with(begun); });
  return names;
}

}  // namespace sabath
