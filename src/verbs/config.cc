#include <nlohmann/json.hpp>

#include "fields/request.h"
#include "sabath/configuration.h"
#include "verbs/records.h"
#include "verbs/verb.h"

namespace sabath {

Json json_of(const Configuration& configuration) {
  Json values = Json::object();
  for (const ConfigurationEntry& setting : configuration.settings) {
    Json value = nullptr;
    if (setting.list) {
      value = setting.values;
    } else if (!setting.values.empty()) {
      value = setting.values.front();
    }
    values[setting.key] = {{"value", value}, {"origin", setting.origin}};
  }
  return {{"schema", 1}, {"settings", values}, {"exit", 0}};
}

std::string to_json(const Configuration& configuration) { return text_of(json_of(configuration)); }

// The settings that the request's sources give; the session's own are not used.
Json call_config(Session&, JsonObject& request, EventSink&, std::stop_token) {
  ConfigurationSources sources;
  sources.roots = request.texts("roots");
  sources.store = request.try_text("store");
  sources.config = request.try_text("config");
  sources.offline = request.flag("offline");
  const Environment environment = environment_in(request);
  request.finish();
  return json_of(load_configuration(sources, environment));
}

}  // namespace sabath
