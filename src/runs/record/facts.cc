#include "record/facts.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace sabath {
namespace {

using Json = nlohmann::ordered_json;
constexpr int depth_max = 8;

std::string text_of(const Json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void flatten(const Json& value, const std::string& name, int depth, Facts& facts) {
  if (value.is_object() && depth < depth_max) {
    for (const auto& [key, inner] : value.items())
      flatten(inner, name.empty() ? key : name + "." + key, depth + 1, facts);
  } else {
    facts.emplace_back(name, text_of(value));
  }
}

}  // namespace

Facts facts_of(const Json& document) {
  Facts facts;
  if (!document.is_null()) flatten(document, "", 0, facts);
  return facts;
}

}  // namespace sabath
