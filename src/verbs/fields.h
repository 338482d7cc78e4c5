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
// Any thread. Reading throws what JsonObject throws.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "base/json_reader.h"

namespace sabath {

using Json = nlohmann::ordered_json;
struct Field;
using Fields = std::span<const Field>;

// What the fields of one C++ type have in common. `at` points to a value of that type.
struct FieldType {
  std::string_view name;                                                // for the documents: "text", "texts"
  Fields (*fields)() = nullptr;                                         // of an object, or of a list's objects
  void (*read)(const Field&, JsonObject& request, void* at) = nullptr;  // nullptr: stands in records only
  void (*parse)(const Field&, const std::string& option, const std::string& text, void* at) = nullptr;
  void (*write)(const Field&, const void* at, Json& into) = nullptr;
  bool is_list = false;
};

struct Field {
  std::string_view key;
  const FieldType* type = nullptr;
  void* (*at)(void* object) = nullptr;
  std::string_view help = {};
  std::string_view unit = {};          // "bytes": a request may say "10M"
  std::string_view words = {};         // "train|infer": it is one of these
  std::uint64_t maximum = UINT64_MAX;  // of a whole number
  bool required = false;               // of a request
  bool null_if_empty = false;          // of a record: "" and 0 are written as null
  bool hidden = false;                 // the library's alone: no option
  char letter = 0;                     // on the command line: -n
  std::string_view option = {};        // empty: the key, with dashes
  std::string_view value = {};         // "FILE"
  std::string_view argument = {};      // "NAME": no option, but an argument

  [[nodiscard]] const void* of(const void* object) const { return at(const_cast<void*>(object)); }
};

template <typename T>
struct Described;  // ::table, a Field[]; ::Of, T

template <typename T>
concept IsDescribed = requires {
  Described<T>::table;
};

void read_fields(Fields fields, JsonObject& request, void* object);  // and no other key may be there
void write_fields(Fields fields, const void* object, Json& into);
[[nodiscard]] Json write_record(Fields fields, const void* object);    // {"schema": 1, ...}: what `--json` prints
[[nodiscard]] std::string text_of(Fields fields, const void* object);  // the same, on one line

// For programs and the documents: an object for each field, with the fields that it has itself.
[[nodiscard]] Json description_of(Fields fields);

template <IsDescribed T>
[[nodiscard]] T request_in(JsonObject& object) {
  T request;
  read_fields(Described<T>::table, object, &request);
  return request;
}

template <IsDescribed T>
[[nodiscard]] std::string record_text(const T& record) {
  return text_of(Described<T>::table, &record);
}

}  // namespace sabath

#include "verbs/field_types.h"  // IWYU pragma: export

// The field NAME of the struct `Of`, under its own name or another key; designated initialisers of Field follow.
#define SABATH_FIELD(NAME, ...) SABATH_FIELD_AS(#NAME, NAME __VA_OPT__(, ) __VA_ARGS__)
#define SABATH_FIELD_AS(KEY, NAME, ...)                                                                    \
  ::sabath::Field {                                                                                        \
    .key = KEY, .type = &::sabath::type_of<decltype((std::declval<Of&>().NAME))>,                          \
    .at = [](void* object) -> void* { return &static_cast<Of*>(object)->NAME; } __VA_OPT__(, ) __VA_ARGS__ \
  }
