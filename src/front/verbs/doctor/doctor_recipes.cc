#include <fmt/format.h>

#include <string>

#include "base/wording.h"
#include "recipe/catalogue.h"
#include "verbs/assets/assets.h"
#include "verbs/doctor/examination.h"

namespace sabath {
namespace {

void check_places(const SessionSettings& settings, Examination& findings) {
  for (const auto& root : settings.roots) {
    const std::string doubt = doubt_about_root(root);
    if (!doubt.empty())
      findings.warn("recipes", doubt, option_text("roots") + ", SABATH_ROOT or `roots` name such a tree");
  }
  for (const auto& directory : settings.recipe_directories) {
    const std::string doubt = doubt_about_recipes(directory);
    if (!doubt.empty()) findings.warn("recipes", doubt, verb_text("config") + " tells which setting names it");
  }
}

}  // namespace

void check_recipes(Examination& findings) {
  const SessionSettings& settings = findings.settings;
  try {
    check_places(settings, findings);
    std::size_t count = 0;
    for (const Catalogue::Listed& listed : make_catalogue(settings).all(std::nullopt)) {
      if (listed.recipe) {
        ++count;
      } else {
        findings.fail("recipes", listed.problem, fmt::format("mend or remove {}", listed.file), FailureKind::invalid);
      }
    }
    if (count == 0) {
      findings.warn("recipes", "none was found", "set SABATH_RECIPES to a directory with datasets/ or models/ in it");
    } else {
      findings.ok("recipes", fmt::format("{} can be read", count));
    }
  } catch (const Error& error) {
    findings.fail("recipes", error.failure().message, error.failure().hint, error.failure().kind);
  }
}

}  // namespace sabath
