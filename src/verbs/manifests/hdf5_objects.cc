#include "verbs/manifests/hdf5_objects.h"

#include <nlohmann/json.hpp>

namespace sabath {
namespace {

using Json = nlohmann::ordered_json;
using Extents = std::optional<std::vector<std::uint64_t>>;

bool has_attributes(const Hdf5Object& object) {
  return object.kind == "group" || object.kind == "dataset" || object.kind == "type";
}

Extents parse_extents(const Json& json) {
  return json.is_null() ? Extents() : Extents(json.get<std::vector<std::uint64_t>>());
}

Json json_of_extents(const Extents& extents) { return extents ? Json(*extents) : Json(nullptr); }

Hdf5Attribute parse_attribute(const Json& json) {
  return {.name = json.at("name"),
          .type = json.at("type"),
          .shape = parse_extents(json.at("shape")),
          .value = json.at("value").dump(),
          .cut = json.at("cut")};
}

Json json_of_attribute(const Hdf5Attribute& attribute) {
  return {{"name", attribute.name},
          {"type", attribute.type},
          {"shape", json_of_extents(attribute.shape)},
          {"value", Json::parse(attribute.value)},
          {"cut", attribute.cut}};
}

Hdf5Filter parse_filter(const Json& json) {
  return {.id = json.at("id"),
          .name = json.at("name"),
          .values = json.at("values"),
          .optional = json.at("optional"),
          .available = json.at("available")};
}

Json json_of_filter(const Hdf5Filter& filter) {
  return {{"id", filter.id},
          {"name", filter.name},
          {"values", filter.values},
          {"optional", filter.optional},
          {"available", filter.available}};
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
    for (const Json& source : json.at("sources"))
      object.sources.push_back({source.at("file"), source.value("dataset", std::string())});
    return;
  }
  object.stored_bytes = json.at("stored_bytes");
  if (json.contains("chunk")) object.chunk = json.at("chunk").get<std::vector<std::uint64_t>>();
  for (const Json& filter : json.at("filters")) object.filters.push_back(parse_filter(filter));
  object.fill = json.at("fill").dump();
}

void add_dataset(const Hdf5Object& object, Json& json) {
  const bool is_virtual = object.layout == "virtual", is_external = object.layout == "external";
  json["layout"] = object.layout;
  if (!is_virtual) {
    json["shape"] = json_of_extents(object.shape);
    json["shape_max"] = object.shape_max ? Json::array() : Json(nullptr);
    if (object.shape_max) {
      for (const auto& extent : *object.shape_max) json["shape_max"].push_back(extent ? Json(*extent) : Json(nullptr));
    }
    json["bytes"] = object.bytes;
  }
  if (is_virtual || is_external) {
    json["sources"] = Json::array();
    for (const Hdf5Source& source : object.sources) {
      json["sources"].push_back({{"file", source.file}});
      if (is_virtual) json["sources"].back()["dataset"] = source.dataset;
    }
    return;
  }
  json["stored_bytes"] = object.stored_bytes;
  if (object.layout == "chunked") json["chunk"] = object.chunk;
  json["filters"] = Json::array();
  for (const Hdf5Filter& filter : object.filters) json["filters"].push_back(json_of_filter(filter));
  json["fill"] = Json::parse(object.fill);
}

}  // namespace

Hdf5Object parse_hdf5_object(const Json& json) {
  Hdf5Object object;
  object.path = json.at("path");
  object.kind = json.at("kind");
  object.file = json.value("file", std::string());
  object.target = json.value("target", std::string());
  object.type = json.value("type", std::string());
  if (object.kind == "dataset") parse_dataset(json, object);
  if (!has_attributes(object)) return object;
  for (const Json& attribute : json.at("attributes")) object.attributes.push_back(parse_attribute(attribute));
  object.attributes_total = json.at("attributes_total");
  return object;
}

Json json_of(const Hdf5Object& object) {
  Json json{{"path", object.path}, {"kind", object.kind}};
  if (!object.file.empty()) json["file"] = object.file;
  if (!object.target.empty()) json["target"] = object.target;
  if (!has_attributes(object)) return json;
  if (object.kind != "group") json["type"] = object.type;
  if (object.kind == "dataset") add_dataset(object, json);
  json["attributes"] = Json::array();
  for (const Hdf5Attribute& attribute : object.attributes) json["attributes"].push_back(json_of_attribute(attribute));
  json["attributes_total"] = object.attributes_total;
  return json;
}

}  // namespace sabath
