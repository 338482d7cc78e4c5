#include "holdings/registration.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/file.h"
#include "base/wording.h"
#include "holdings/holding.h"
#include "recipe/catalogue.h"
#include "recipe/parse.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/registered.h"

namespace sabath {
namespace {

std::optional<Recipe> try_find(const Catalogue& catalogue, const std::string& name) {
  auto recipe = catalogue.try_find(name, std::nullopt);
  return recipe && recipe->name == name ? std::move(recipe) : std::nullopt;
}

// A name that a fetch noted may be given to another root.
RegisteredRecipes given_names(const SessionSettings& settings) {
  RegisteredRecipes registered = registered_of(settings);
  registered.held.clear();
  return registered;
}

[[noreturn]] void refuse_other_root(const Recipe& known, const Sha256& root, const std::string& remedy) {
  throw Error(FailureKind::content,
              fmt::format("{} is {} by {}, and this is {}", known.name, known.manifest->digest.prefixed(),
                          printable(known.origin), root.prefixed()),
              "it is another version: take another name" + remedy);
}

}  // namespace

std::string recipe_text(const std::string& name, const Sha256& root, const std::string& steps, AssetKind kind) {
  const nlohmann::ordered_json recipe = {
      {"schema", 1},
      {"kind", kind == AssetKind::model ? "model" : "dataset"},
      {"name", name},
      {"access", {{"kind", "private"}, {"steps", {steps}}}},
      {"fragments", nlohmann::ordered_json::array()},
      {"manifest", {{"digest", root.prefixed()}, {"urls", nlohmann::ordered_json::array()}}}};
  return recipe.dump(2);
}

void check_name(const std::string& name) {
  if (is_name(name)) return;
  throw Error(FailureKind::usage, fmt::format("\"{}\" is no name", printable(name)),
              "names begin with a letter or digit, go on with these and . _ + -, and have at most 128 characters");
}

Registration register_text(const SessionSettings& settings, Store& store, const std::string& name, const Sha256& root,
                           const std::string& text) {
  check_name(name);
  const Catalogue directories(settings.roots, settings.recipe_directories);
  if (const auto known = try_find(directories, name)) {
    if (known->manifest && known->manifest->digest != root) refuse_other_root(*known, root, "");
    return {"", known->origin, known->manifest.has_value()};
  }
  if (const auto known = try_find(Catalogue({}, {}, given_names(settings)), name)) {
    if (!known->manifest || known->manifest->digest != root) {
      refuse_other_root(*known, root,
                        fmt::format(", or free this one by `{} {} {}`", verb_text("rm"), option_text("forget"), name));
    }
    return {text, known->origin, true};
  }
  const AssetKind kind = parse_recipe(text, name, AssetKind::dataset).kind;
  return {text, register_recipe(store, name, text + "\n", kind).native(), true};
}

Registration register_name(const SessionSettings& settings, Store& store, const std::string& name, const Sha256& root,
                           const std::string& steps, AssetKind kind) {
  check_name(name);
  return register_text(settings, store, name, root, recipe_text(name, root, steps, kind));
}

void check_free(const SessionSettings& settings, const std::string& name, const std::optional<Sha256>& root) {
  check_name(name);
  const Catalogue named(settings.roots, settings.recipe_directories, given_names(settings));
  const auto known = try_find(named, name);
  if (!known || (known->manifest && root && known->manifest->digest == *root)) return;
  throw Error(FailureKind::usage, fmt::format("the name {} is taken, by {}", name, printable(known->origin)),
              "take another name");
}

}  // namespace sabath
