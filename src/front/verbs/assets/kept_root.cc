#include "verbs/assets/kept_root.h"

#include <fmt/format.h>

#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/assets/assets.h"

namespace sabath {

std::unique_ptr<Store> open_existing_store(const SessionSettings& settings) {
  if (auto store = try_open_store(settings)) return store;
  throw Error(
      FailureKind::offline, fmt::format("there is no store at {}", settings.store.string()),
      fmt::format("{} NAME makes it; {} or SABATH_STORE name another", verb_text("fetch"), option_text("store")));
}

Sha256 kept_root(const std::string& name, const SessionSettings& settings, Store& store) {
  if (name.starts_with("sha256:")) return Sha256::parse(name);
  const Recipe recipe = make_catalogue(settings).find(name, std::nullopt);
  const auto root = holding_of(recipe, &store).root;
  if (root) return *root;
  throw Error(FailureKind::offline, fmt::format("the store does not hold {}", printable(name)),
              fmt::format("{} {}", verb_text("fetch"), recipe.name));
}

}  // namespace sabath
