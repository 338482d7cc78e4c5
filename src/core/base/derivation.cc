#include "base/derivation.h"

#include <nlohmann/json.hpp>

namespace sabath {

nlohmann::ordered_json json_of(const DerivationStep& step) {
  using Json = nlohmann::ordered_json;
  return {{"from", step.from},           {"input", step.input.prefixed()},
          {"script", step.script},       {"script_root", step.script_root.empty() ? Json() : Json(step.script_root)},
          {"arguments", step.arguments}, {"tools", step.tools},
          {"in_place", step.in_place},   {"key", step.key.prefixed()}};
}

}  // namespace sabath
