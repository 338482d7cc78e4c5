#include "door/opening.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

#include "base/json_reader.h"
#include "sabath/configuration.h"
#include "sabath/environment.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

// Where this library lies: PREFIX/lib or deeper; the program is PREFIX/bin/sabath. Empty: there is none.
fs::path program_beside() {
  constexpr unsigned levels_max = 4;
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&opened_settings), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  fs::path directory = fs::canonical(info.dli_fname, error).parent_path();
  for (unsigned i = 0; !error && i < levels_max; ++i, directory = directory.parent_path()) {
    const fs::path program = directory / "bin/sabath";
    if (fs::exists(program, error)) return program;
    error.clear();
  }
  return {};
}

std::vector<fs::path> absolute_paths(const std::vector<std::string>& texts) {
  std::vector<fs::path> paths;
  for (const std::string& text : texts) paths.push_back(fs::absolute(text).lexically_normal());
  return paths;
}

}  // namespace

SessionSettings opened_settings(std::string_view text) {
  constexpr std::string_view origin = "settings";
  const JsonValue value = parse_json(text, origin);
  JsonObject object(value, origin, "the settings of a session");
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

  Environment environment = Environment::of_process();
  environment.executable = environment.get("SABATH_PROGRAM").value_or(program_beside().string());
  SessionSettings settings = load_configuration(sources, environment).session;
  settings.recipe_directories.insert(settings.recipe_directories.begin(), recipes.begin(), recipes.end());
  if (lanes) settings.lanes = static_cast<unsigned>(*lanes);
  if (limit_rate) settings.limit_rate = *limit_rate;
  return settings;
}

}  // namespace sabath
