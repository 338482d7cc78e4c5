#include "fields/fields.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "fields/json_text.h"

namespace sabath {

void Field::write(const void* object, Json& into) const {
  if (compute != nullptr) return compute(*this, object, into);
  if (type->write != nullptr) type->write(*this, at(const_cast<void*>(object)), into);
}

void read_fields(Fields fields, JsonObject& request, void* object) {
  for (const Field& field : fields) {
    if (field.type->read != nullptr && field.at != nullptr) field.type->read(field, request, field.at(object));
  }
  request.finish();
}

void write_fields(Fields fields, const void* object, Json& into) {
  if (into.is_null()) into = Json::object();
  for (const Field& field : fields) {
    if (field.only_if != nullptr && !field.only_if(object)) continue;
    Json value;
    field.write(object, value);
    if (!field.absent_if_empty || !value.is_null()) into[std::string(field.key)] = std::move(value);
  }
}

void write_record(Fields fields, const void* object, Json& into) {
  into = Json{{"schema", 1}};
  write_fields(fields, object, into);
}

Json write_record(Fields fields, const void* object) {
  Json json;
  write_record(fields, object, json);
  return json;
}

std::string text_of(Fields fields, const void* object) { return text_of(write_record(fields, object)); }

namespace {

Json description_of(const Field& field) {
  Json one{{"key", field.key}, {"type", field.type->name}, {"list", field.type->is_list}, {"help", field.help}};
  if (!field.unit.empty()) one["unit"] = field.unit;
  if (!field.all_words().empty()) one["words"] = field.all_words();
  if (!field.argument.empty()) one["argument"] = field.argument;
  if (field.required) one["required"] = true;
  if (field.null_if_empty || (field.type->may_lack && !field.absent_if_empty)) one["null"] = true;
  if (field.any_number) one["type"] = "number or text";
  if (field.absent_if_empty || field.only_if != nullptr) one["absent"] = true;
  if (field.type->fields != nullptr) one["fields"] = description_of(field.type->fields());
  return one;
}

// Worth saying: not "", 0, false, a list without elements.
bool says(const Json& value) {
  return value.is_number() ? value != 0 : value.is_boolean() ? value.get<bool>() : value.is_string() && value != "";
}

}  // namespace

Json description_of(Fields fields) {
  Json all = Json::array();
  for (const Field& field : fields) all.push_back(description_of(field));
  return all;
}

Json description_of(Fields fields, const void* request) {
  Json all = description_of(fields);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    Json value;
    fields[i].write(request, value);
    all[i].erase("null");  // a key that is left out says the same
    if (says(value)) all[i]["default"] = std::move(value);
  }
  return all;
}

}  // namespace sabath
