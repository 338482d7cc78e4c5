#include "catalogues/unique.h"

#include <fmt/format.h>

#include <array>
#include <random>

#include "base/companion.h"
#include "base/file.h"
#include "base/text.h"
#include "catalogues/tombstone.h"
#include "fetch/hosts/source_key.h"
#include "holdings/holding.h"
#include "recipe/shipped.h"
#include "sabath/error.h"
#include "sabath/metadata.h"
#include "sabath/path.h"
#include "sabath/recipe.h"

namespace sabath {
namespace {

[[noreturn]] void refuse(const Recipe& recipe, const std::string& what, const std::string& other, const char* hint) {
  throw Error(FailureKind::usage,
              fmt::format("{} is not new: {} {}", printable(recipe.name), what, printable(other, 1000)), hint);
}

bool has_sources(const Recipe& recipe) { return !recipe.fragments.empty() || recipe.git; }

}  // namespace

void check_unique(const SessionSettings& settings, const Recipe& recipe, const std::filesystem::path& replaced) {
  const std::string& id = metadata_of(recipe).id;
  const std::string name = to_lower(recipe.name);
  const Sha256 sources = source_key(recipe, {});
  const Catalogue catalogue = make_catalogue(settings);
  const std::filesystem::path shipped = shipped_place(settings);  // a copy of what came with the program is one's own
  for (const Catalogue::File& file : catalogue.files()) {
    if (file.path == replaced || (!shipped.empty() && is_below(file.path, shipped))) continue;
    const Catalogue::Listed listed = catalogue.listed(file);
    if (!listed.recipe) continue;
    const Recipe& other = *listed.recipe;
    if (!id.empty() && metadata_of(other).id == id)
      refuse(recipe, "its id is that of", other.origin,
             "an id is of one asset alone: take another, or edit that recipe");
    if (!file.catalogue.empty()) continue;  // what others name may be ours as well
    if (other.kind == recipe.kind && to_lower(other.name) == name && other.version == recipe.version)
      refuse(recipe, "its name and version are those of", other.origin,
             "take another name or version, or edit that recipe");
    if (recipe.manifest && other.manifest && other.manifest->digest == recipe.manifest->digest)
      refuse(recipe, "its root is that of", other.origin, "the same bytes are one asset: edit that recipe");
    if (has_sources(recipe) && has_sources(other) && source_key(other, {}) == sources)
      refuse(recipe, "its sources are those of", other.origin, "the same sources are one asset: edit that recipe");
  }
  if (id.empty()) return;
  for (const Tombstone& stone : tombstones_in(tombstone_places(settings.roots, settings.recipe_directories))) {
    if (stone.id == id && to_lower(stone.name) != name)
      refuse(recipe, "its id is that of a removed one,", stone.file.native(),
             "an id is of one asset for ever: take another");
  }
}

std::filesystem::path shipped_place(const SessionSettings& settings) {
  try {
    return shipped_recipes(find_companion(settings.program));
  } catch (const Error&) {  // a library without its program
    return {};
  }
}

std::string new_asset_id() {
  std::random_device random;
  std::array<std::uint32_t, 4> words{};
  for (std::uint32_t& word : words) word = random();
  words[1] = (words[1] & 0xffff0fffU) | 0x4000U;
  words[2] = (words[2] & 0x3fffffffU) | 0x80000000U;
  return fmt::format("urn:uuid:{:08x}-{:04x}-{:04x}-{:04x}-{:04x}{:08x}", words[0], words[1] >> 16U, words[1] & 0xffffU,
                     words[2] >> 16U, words[2] & 0xffffU, words[3]);
}

}  // namespace sabath
