#include <nlohmann/json.hpp>

#include "sabath/configuration.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

// The settings that these sources give; the session's own are not used.
struct ConfigRequest {
  ConfigurationSources sources;
  Environment environment = Environment::of_process();
};

Json value_of(const ConfigurationEntry& setting) {
  if (setting.list) return setting.values;
  return setting.values.empty() ? Json() : Json(setting.values.front());
}

std::vector<std::pair<std::string, ConfigurationEntry>> settings_of(const Configuration& configuration) {
  std::vector<std::pair<std::string, ConfigurationEntry>> settings;
  for (const ConfigurationEntry& setting : configuration.settings) settings.emplace_back(setting.key, setting);
  return settings;
}

}  // namespace

template <>
struct Described<ConfigRequest> {
  using Of = ConfigRequest;
  static constexpr Field table[] = {
      SABATH_FIELD_AS("roots", sources.roots, .help = "directories of recipes; none: as the environment or files say",
                      .hidden = true),
      SABATH_FIELD_AS("store", sources.store, .help = "the store, or several separated by colons", .hidden = true),
      SABATH_FIELD_AS("config", sources.config, .help = "the user's file", .hidden = true),
      SABATH_FIELD_AS("offline", sources.offline, .help = "also where the environment and the files say no",
                      .hidden = true),
      SABATH_FIELD(environment, .help = "variables of the caller, which settings are read from", .hidden = true),
  };
};

template <>
struct Described<ConfigurationEntry> {
  using Of = ConfigurationEntry;
  static constexpr Field table[] = {
      SABATH_VALUE("value", value_of, .help = "a text, or a list of texts; null: it is not set"),
      SABATH_FIELD(origin, .help = "where it comes from: a variable, a file, the caller, or default"),
  };
};

template <>
struct Described<Configuration> {
  using Of = Configuration;
  static constexpr Field table[] = {
      SABATH_VALUE("settings", settings_of, .help = "each setting in force, by its name"),
      SABATH_VALUE(
          "exit", [](const Of&) { return 0; }, .help = "the exit code"),
  };
};

std::string to_json(const Configuration& configuration) { return record_text(configuration); }

namespace {

Json call_config(Session&, JsonObject& object, EventSink&, std::stop_token) {
  const auto request = request_in<ConfigRequest>(object);
  return record_json(load_configuration(request.sources, request.environment));
}

}  // namespace

extern constexpr LibraryVerb config_call = described<ConfigRequest, Configuration>("config", call_config);

}  // namespace sabath
