#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "verbs/assets.h"
#include "verbs/examination.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

bool stands(const fs::path& path) {
  const auto status = try_stat(path);
  return status && S_ISDIR(status->st_mode);
}

void check_places(const SessionSettings& settings, Examination& findings) {
  for (const fs::path& root : settings.roots) {
    if (!stands(root / "var/sabath/assets")) {
      findings.warn("recipes", fmt::format("the root {} has no var/sabath/assets", root.string()),
                    "--root, SABATH_ROOT or `roots` name the tree of an original SABATH");
    }
  }
  for (const fs::path& directory : settings.recipe_directories) {
    if (!stands(directory)) {
      findings.warn("recipes", fmt::format("there is no directory {}", directory.string()),
                    "sabath config tells which setting names it");
    }
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
