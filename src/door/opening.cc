#include "door/opening.h"

#include <filesystem>

#include "base/json_reader.h"
#include "sabath/configuration.h"
#include "sabath/environment.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> absolute_paths(const std::vector<std::string>& texts) {
  std::vector<fs::path> paths;
  for (const std::string& text : texts) paths.push_back(fs::absolute(text).lexically_normal());
  return paths;
}

}  // namespace

SessionSettings opened_settings(std::string_view text) {
  constexpr std::string_view origin = "settings";
  const JsonValue value = parse_json(text, origin, {}, FailureKind::usage);
  JsonObject object(value, origin, "the settings of a session", FailureKind::usage);
  ConfigurationSources sources;
  sources.store = object.try_text("store");
  sources.config = object.try_text("config");
  sources.roots = object.texts("roots");
  sources.offline = object.flag("offline");
  const auto recipes = absolute_paths(object.texts("recipes"));
  const auto lanes = object.try_uint("lanes");
  const auto limit_rate = object.try_size("limit_rate");
  if (lanes && *lanes > 256) object.fail("lanes", "is more than 256");
  object.finish();

  SessionSettings settings = load_configuration(sources, Environment::of_process()).session;
  settings.recipe_directories.insert(settings.recipe_directories.begin(), recipes.begin(), recipes.end());
  if (lanes) settings.lanes = static_cast<unsigned>(*lanes);
  if (limit_rate) settings.limit_rate = *limit_rate;
  return settings;
}

}  // namespace sabath
