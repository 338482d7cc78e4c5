#include "verbs/environments/environment_name.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "base/wording.h"
#include "environments/package_name.h"
#include "environments/python_version.h"
#include "holdings/holding.h"
#include "holdings/registration.h"
#include "packed/environment_note.h"
#include "recipe/catalogue.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/registered.h"

namespace sabath {
namespace {

// The recipe that has this very name; one that a fetch noted may be given to another root.
std::optional<Recipe> recipe_with(const SessionSettings& settings, const std::string& name) {
  RegisteredRecipes registered = registered_of(settings);
  registered.held.clear();
  const Catalogue catalogue(settings.roots, settings.recipe_directories, std::move(registered));
  auto recipe = catalogue.try_find(name, std::nullopt);
  return recipe && recipe->name == name ? std::move(recipe) : std::nullopt;
}

// A lock may leave out the local part: 2.0 of 2.0+cpu.
bool is_same_version(const std::string& one, const std::string& other) {
  auto first = try_python_version(one), second = try_python_version(other);
  if (!first || !second) return one == other;
  first->local.clear();
  second->local.clear();
  return compare(*first, *second) == 0;
}

// Empty: nothing that is known before differs.
std::string first_difference(const EnvironmentNote& note, const std::string& python,
                             const std::vector<ChosenPackage>& packages) {
  if (note.python != python) return fmt::format("Python {}, not {}", note.python, python);
  std::map<std::string, std::string> before;
  for (const NotedPackage& each : note.packages)
    if (const auto name = normal_name(each.name)) before[*name] = each.version;
  for (const ChosenPackage& each : packages) {
    const auto found = before.find(each.name);
    if (found == before.end()) return fmt::format("no {}", each.name);
    if (!is_same_version(found->second, each.version))
      return fmt::format("{} {}, not {}", each.name, found->second, each.version);
    before.erase(found);
  }
  return before.empty() ? "" : fmt::format("{} {}, too", before.begin()->first, before.begin()->second);
}

}  // namespace

void refuse_taken_name(const SessionSettings& settings, Store& store, const std::string& name,
                       bool (*is_alike)(const Manifest& tree)) {
  check_name(name);
  const auto known = recipe_with(settings, name);
  if (!known) return;
  if (known->manifest) {
    const auto tree = store.manifest(known->manifest->digest);
    if (tree ? is_alike(*tree) : known->fragments.empty()) return;  // its root decides
  }
  check_free(settings, name, std::nullopt);
}

void refuse_other_environment(const SessionSettings& settings, Store& store, const std::string& name,
                              const std::string& python, const std::vector<ChosenPackage>& packages) {
  const auto known = recipe_with(settings, name);
  if (!known || !known->manifest) return;
  const auto tree = store.manifest(known->manifest->digest);
  const auto note = tree ? try_note_in(store, *tree, name) : std::nullopt;
  const std::string difference = note ? first_difference(*note, python, packages) : "";
  if (difference.empty()) return;
  throw Error(FailureKind::content,
              fmt::format("{} is {} by {}, and has {}", name, known->manifest->digest.prefixed(),
                          printable(known->origin), printable(difference, 500)),
              fmt::format("it is another version: take another name, or free this one by `{} {} {}`", verb_text("rm"),
                          option_text("forget"), name));
}

}  // namespace sabath
