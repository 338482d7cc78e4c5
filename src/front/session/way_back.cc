#include "session/way_back.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "base/wording.h"
#include "sabath/path.h"

namespace sabath {
namespace {

// Some of it was adopted, and the files there are no longer those.
bool lost_adopted_files(Store& store, const Manifest& manifest) {
  bool lost = false;
  manifest.for_each([&](const Entry& entry) {
    if (lost || !entry.is_file() || store.present(entry.digest)) return;
    lost = !loss_of_adopted(store.view_path(manifest.root()) / entry.path.text()).empty();
  });
  return lost;
}

}  // namespace

std::string loss_of_adopted(const std::filesystem::path& link) {
  std::error_code none;
  const std::filesystem::path file = std::filesystem::read_symlink(link, none);
  if (none || !file.is_absolute()) return {};
  return fmt::format("{}, which was adopted, {} since", printable(file.native(), 1000),
                     try_stat(file) ? "has changed" : "has gone");
}

std::string way_back(const Recipe& recipe, Store* store, const Manifest* manifest) {
  if (const auto stood = recipe.metadata.find("recipe"); stood != recipe.metadata.end() && recipe.manifest)
    return fmt::format("`{} {}` reads its recipe, where it was", verb_text("fetch"), shell_word(stood->second));
  const bool by_hand = recipe.fragments.empty() && !recipe.git && !recipe.access.steps.empty();
  if (!by_hand) return fmt::format("`{} {}` brings it", verb_text("fetch"), shell_word(recipe.name));
  const std::string& step = recipe.access.steps.front();
  if (store == nullptr || manifest == nullptr || !lost_adopted_files(*store, *manifest)) return step;
  if (!is_below(recipe.origin, store->directory()))
    return "put the files back as they were, or adopt them under another name";
  return fmt::format("`{} {} {}` frees the name, then `{}` takes the files as they are now; or put them back",
                     verb_text("rm"), option_text("forget"), shell_word(recipe.name), step);
}

}  // namespace sabath
