#include "verbs/assets/assets.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {

Manifest manifest_of(const Recipe& recipe, Store* store) {
  const Holding holding = holding_of(recipe, store);
  if (holding.root && store != nullptr) {
    if (auto manifest = store->manifest(*holding.root)) return std::move(*manifest);
  }
  throw Error(FailureKind::offline, fmt::format("the store does not hold {}", printable(recipe.name)),
              fmt::format("{} {}", verb_text("fetch"), recipe.name));
}

Manifest find_manifest(const std::string& text, const SessionSettings& settings) {
  if (text.starts_with("sha256:")) {
    const Sha256 root = Sha256::parse(text);
    const auto store = try_open_store(settings);
    if (store) {
      if (auto manifest = store->manifest(root)) return std::move(*manifest);
    }
    throw Error(FailureKind::offline, fmt::format("the store {} has no manifest {}", settings.store.string(), text),
                "fetch the asset first, or name a manifest file");
  }
  if (const auto status = try_stat(text); status && S_ISREG(status->st_mode) && !text.ends_with(".json")) {
    return Manifest::open(text);
  }
  const Recipe recipe = [&] {
    try {
      return make_catalogue(settings).find(text, std::nullopt);
    } catch (const Error& error) {
      if (error.failure().kind != FailureKind::not_found) throw;
      throw Error(FailureKind::not_found,
                  fmt::format("there is neither a manifest file nor an asset '{}'", printable(text)),
                  error.failure().hint);
    }
  }();
  return manifest_of(recipe, try_open_store(settings).get());
}

}  // namespace sabath
