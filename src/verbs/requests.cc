#include "verbs/requests.h"

#include "sabath/error.h"

namespace sabath {

Environment environment_in(JsonObject& request) {
  const auto variables = request.try_object("environment", "the environment");
  if (!variables) return Environment::of_process();
  Environment environment;
  for (const JsonMember& member : variables->members()) {
    const auto* text = member.value.get<std::string>();
    if (text == nullptr) variables->fail(member.key, "must be a string");
    environment.variables.emplace(member.key, *text);
  }
  environment.home = environment.get("HOME").value_or("");
  environment.user = environment.get("USER").value_or("");
  return environment;
}

}  // namespace sabath
