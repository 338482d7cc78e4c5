// A request or a record, described once: a table of its fields. One reader, one writer, the options of the command
// line and the tables of the documents walk it.
//
//   template <>
//   struct Described<UsageRequest> {
//     using Of = UsageRequest;
//     static constexpr Field table[] = {
//         SABATH_FIELD(names, .argument = "NAME", .help = "the space of this asset; none: of the whole store"),
//     };
//   };
//
// A key of a record that is no member stands as SABATH_VALUE. Any thread. Reading throws what JsonObject throws.
#pragma once

#include <string>
#include <utility>

#include "base/json_reader.h"
#include "fields/field_lists.h"  // IWYU pragma: export
#include "fields/json_text.h"

namespace sabath {

[[nodiscard]] Json write_record(Fields fields, const void* object);  // {"schema": 1, ...}: what `--json` prints
void write_record(Fields fields, const void* object, Json& into);
[[nodiscard]] std::string text_of(Fields fields, const void* object);  // the same, on one line

// For programs and the documents: an object for each field, with the fields that it has itself.
[[nodiscard]] Json description_of(Fields fields);
// The same of a request; `request` as it is made gives the defaults.
[[nodiscard]] Json description_of(Fields fields, const void* request);

template <IsDescribed T>
[[nodiscard]] T request_in(JsonObject& object) {
  T request;
  read_fields(Described<T>::table, object, &request);
  return request;
}

template <IsDescribed T, typename J = Json>  // J: complete where it is called
[[nodiscard]] J record_json(const T& record) {
  return write_record(Described<T>::table, &record);
}

template <IsDescribed T>
[[nodiscard]] std::string record_text(const T& record) {
  return text_of(Described<T>::table, &record);
}

// Of what SABATH_VALUE gives: the record of another verb, with its schema; nullptr: there is none.
template <IsDescribed T>
struct WholeRecord {
  const T* record = nullptr;
};
template <IsDescribed T>
struct TypeOf<WholeRecord<T>> {
  static Fields fields() { return Described<T>::table; }
  static void write(const Field&, const void* at, Json& into) {
    if (const T* const record = static_cast<const WholeRecord<T>*>(at)->record) write_record(fields(), record, into);
  }
  static constexpr FieldType type{.name = "object", .fields = fields, .write = write};
};

// One value as it stands in a record: an object of a list that is written element by element.
template <IsDescribed T, typename J = Json>
[[nodiscard]] J element_json(const T& value) {
  J element;
  write_fields(Described<T>::table, &value, element);
  return element;
}

}  // namespace sabath

// The field NAME of the struct `Of`, under its own name or another key; designated initialisers of Field follow.
#define SABATH_FIELD(NAME, ...) SABATH_FIELD_AS(#NAME, NAME __VA_OPT__(, ) __VA_ARGS__)
#define SABATH_FIELD_AS(KEY, NAME, ...)                                                                    \
  ::sabath::Field {                                                                                        \
    .key = KEY, .type = &::sabath::type_of<decltype((std::declval<Of&>().NAME))>,                          \
    .at = [](void* object) -> void* { return &static_cast<Of*>(object)->NAME; } __VA_OPT__(, ) __VA_ARGS__ \
  }
// `.only_if = SABATH_IF(FUNCTION)`: it takes a const Of&, a name or a lambda as below.
#define SABATH_IF(FUNCTION) [](const void* object) -> bool { return (FUNCTION)(*static_cast<const Of*>(object)); }
// A key of a record whose value a function gives: FUNCTION takes a const Of&. A name, or a lambda without a capture (in
// a .cc only; in parentheses where it has commas outside of brackets).
#define SABATH_VALUE(KEY, FUNCTION, ...)                                                                    \
  ::sabath::Field {                                                                                         \
    .key = KEY,                                                                                             \
    .type = &::sabath::type_of<decltype((FUNCTION)(std::declval<const Of&>()))> __VA_OPT__(, ) __VA_ARGS__, \
    .compute = &::sabath::compute_value<Of, +(FUNCTION)>                                                    \
  }
