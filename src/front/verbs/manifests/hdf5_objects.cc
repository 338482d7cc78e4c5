#include "verbs/manifests/hdf5_objects.h"

#include <nlohmann/json.hpp>

namespace sabath {
namespace {

using Extents = std::optional<std::vector<std::uint64_t>>;

Extents parse_extents(const Json& json) {
  return json.is_null() ? Extents() : Extents(json.get<std::vector<std::uint64_t>>());
}

Hdf5Attribute parse_attribute(const Json& json) {
  return {.name = json.at("name"),
          .type = json.at("type"),
          .shape = parse_extents(json.at("shape")),
          .value = json.at("value").dump(),
          .cut = json.at("cut")};
}

Hdf5Filter parse_filter(const Json& json) {
  return {.id = json.at("id"),
          .name = json.at("name"),
          .values = json.at("values"),
          .optional = json.at("optional"),
          .available = json.at("available")};
}

void parse_dataset(const Json& json, Hdf5Object& object) {
  object.layout = json.at("layout");
  if (json.contains("shape")) {
    object.shape = parse_extents(json.at("shape"));
    object.bytes = json.at("bytes");
    if (const Json& extents = json.at("shape_max"); !extents.is_null()) {
      auto& shape_max = object.shape_max.emplace();
      for (const Json& extent : extents)
        shape_max.push_back(extent.is_null() ? std::optional<std::uint64_t>() : extent.get<std::uint64_t>());
    }
  }
  if (json.contains("sources")) {
    for (const Json& source : json.at("sources")) {
      object.sources.push_back({source.at("file"), std::nullopt});
      if (source.contains("dataset")) object.sources.back().dataset = source.at("dataset").get<std::string>();
    }
    return;
  }
  object.stored_bytes = json.at("stored_bytes");
  if (json.contains("chunk")) object.chunk = json.at("chunk").get<std::vector<std::uint64_t>>();
  for (const Json& filter : json.at("filters")) object.filters.push_back(parse_filter(filter));
  object.fill = json.at("fill").dump();
}

}  // namespace

Json Described<Hdf5Attribute>::value(const Hdf5Attribute& attribute) { return Json::parse(attribute.value); }
Json Described<Hdf5Object>::fill(const Hdf5Object& object) { return Json::parse(object.fill); }

Hdf5Object parse_hdf5_object(const Json& json) {
  Hdf5Object object;
  object.path = json.at("path");
  object.kind = json.at("kind");
  object.file = json.value("file", std::string());
  object.target = json.value("target", std::string());
  object.type = json.value("type", std::string());
  if (object.kind == "dataset") parse_dataset(json, object);
  if (!Described<Hdf5Object>::has_attributes(object)) return object;
  for (const Json& attribute : json.at("attributes")) object.attributes.push_back(parse_attribute(attribute));
  object.attributes_total = json.at("attributes_total");
  return object;
}

}  // namespace sabath
