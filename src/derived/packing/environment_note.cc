#include "packing/environment_note.h"

#include <nlohmann/json.hpp>

namespace sabath {

std::string environment_note_text(const EnvironmentNote& note) {
  using Json = nlohmann::ordered_json;
  Json packages = Json::array();
  for (const FoundPackage& each : note.packages) {
    packages.push_back({{"name", each.name}, {"version", each.version}});
    if (!each.build.empty()) packages.back()["build"] = each.build;
  }
  Json text = {{"schema", 1},
               {"kind", "environment"},
               {"made_of", note.form},
               {"python", note.facts.python},
               {"implementation", note.facts.implementation},
               {"abi", note.facts.abi},
               {"platform", note.facts.platform},
               {"machine", note.machine},
               {"system_libraries", note.of_system},
               {"node_libraries", note.of_nodes},
               {"packages", packages}};
  if (!note.place.empty()) text["place"] = note.place;
  return text.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sabath
