#include "verbs/fields.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "verbs/verb.h"

namespace sabath {

void read_fields(Fields fields, JsonObject& request, void* object) {
  for (const Field& field : fields) field.type->read(field, request, field.at(object));
  request.finish();
}

void write_fields(Fields fields, const void* object, Json& into) {
  if (into.is_null()) into = Json::object();
  for (const Field& field : fields) field.type->write(field, field.of(object), into[std::string(field.key)]);
}

Json write_record(Fields fields, const void* object) {
  Json json{{"schema", 1}};
  write_fields(fields, object, json);
  return json;
}

std::string text_of(Fields fields, const void* object) { return text_of(write_record(fields, object)); }

Json description_of(Fields fields) {
  Json all = Json::array();
  for (const Field& field : fields) {
    Json one{{"key", field.key}, {"type", field.type->name}, {"list", field.type->is_list}, {"help", field.help}};
    if (!field.unit.empty()) one["unit"] = field.unit;
    if (!field.words.empty()) one["words"] = field.words;
    if (field.required) one["required"] = true;
    if (field.type->fields != nullptr) one["fields"] = description_of(field.type->fields());
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace sabath
