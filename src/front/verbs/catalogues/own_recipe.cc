#include "verbs/catalogues/own_recipe.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "catalogues/unique.h"
#include "holdings/holding.h"
#include "recipe/parse.h"
#include "recipe/subscribed.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/registered.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr const char* make_one = "make a recipe of your own from it";

}  // namespace

Recipe recipe_of_text(const std::string& text, const fs::path& file, AssetKind kind) {
  Recipe recipe = parse_recipe(text, file.native(), kind);
  recipe.origin = file.native();
  return recipe;
}

OwnRecipe own_recipe(const SessionSettings& settings, const std::string& name) {
  OwnRecipe own;
  own.recipe = make_catalogue(settings).find(name, std::nullopt);
  own.file = fs::absolute(own.recipe.origin);
  const std::vector<fs::path> rooms = registered_of(settings).rooms;
  own.registered = std::ranges::any_of(rooms, [&](const fs::path& room) { return is_below(own.file, room); });
  if (is_subscribed(own.file))
    throw Error(FailureKind::usage, fmt::format("{} is of a subscribed catalogue", own.recipe.name), make_one);
  const fs::path shipped = shipped_place(settings);
  if (!shipped.empty() && is_below(fs::weakly_canonical(own.file), fs::weakly_canonical(shipped)))
    throw Error(FailureKind::access, fmt::format("{} came with the program", own.recipe.name), make_one);
  const auto status = try_stat(own.file);
  const bool writable = ::access(own.file.parent_path().c_str(), W_OK) == 0 && ::access(own.file.c_str(), W_OK) == 0;
  const bool theirs = status && status->st_uid != ::geteuid();
  if (!writable || (own.registered && (theirs || !is_below(own.file, settings.store)))) {
    throw Error(FailureKind::access, fmt::format("{} is not yours to change", printable(own.file.native(), 1000)),
                make_one);
  }
  auto text = try_read_text(own.file, recipe_size_max);
  if (!text) throw Error(FailureKind::not_found, fmt::format("{} has gone", printable(own.file.native(), 1000)));
  own.text = std::move(*text);
  return own;
}

void write_own_recipe(const SessionSettings& settings, const OwnRecipe& own, const std::string& text) {
  if (text == own.text) return;
  if (own.registered) {
    const auto store = open_stores(settings);
    static_cast<void>(register_recipe(*store, own.recipe.name, text, own.recipe.kind));
    return;
  }
  const auto status = try_stat(own.file);
  write_text_atomically(own.file, text, status ? status->st_mode & 0777U : 0644U, true);
}

}  // namespace sabath
