// One field of a table, and what the fields of a C++ type have in common. Included by fields/fields.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/json_reader.h"
#include "fields/json_text.h"

namespace sabath {

struct Field;
using Fields = std::span<const Field>;

// What the fields of one C++ type have in common. `at` points to a value of that type.
struct FieldType {
  std::string_view name;                                                // for the documents: "text", "texts"
  Fields (*fields)() = nullptr;                                         // of an object, or of a list's objects
  void (*read)(const Field&, JsonObject& request, void* at) = nullptr;  // nullptr: stands in records only
  void (*parse)(const Field&, const std::string& option, const std::string& text, void* at) = nullptr;
  void (*write)(const Field&, const void* at, Json& into) = nullptr;  // nullptr: stands in requests only
  bool is_list = false;
  bool repeats = false;         // the option of an object of names: each time another member
  std::string_view words = {};  // "dataset|model|workflow": of an enumeration
  bool may_lack = false;        // there may be no value, which is written as null
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
  bool null_if_empty = false;          // of a record: "", 0, an empty list or object is written as null
  bool absent_if_empty = false;        // of a record: the key is left out where the value would be null
  bool any_number = false;             // of a record's numbers: 3, not 3.0; "NaN", "Infinity" and "-Infinity" as texts
  std::size_t printable_max = 0;       // of a record's texts: printable, of no more bytes; 0: as they are
  bool (*only_if)(const void* object) = nullptr;  // of a record: else the key is left out
  bool opposite = false;                          // of a flag: the key says the opposite of the member
  bool hidden = false;                            // the library's alone: no option
  char letter = 0;                                // on the command line: -n
  std::string_view option = {};                   // empty: the key, with dashes
  std::string_view value = {};                    // "FILE"; empty: the words, or as the type says
  std::string_view argument = {};  // "NAME": no option, but an argument; "-- NAME": all that stands after "--"
  std::string_view (*find_words)() = nullptr;  // instead of `words`, where only a function has them
  void (*compute)(const Field&, const void* object,
                  Json& into) = nullptr;  // of a record: SABATH_VALUE; then without `at`

  [[nodiscard]] std::string_view all_words() const {
    return find_words != nullptr ? find_words() : words.empty() ? type->words : words;
  }
  void write(const void* object, Json& into) const;  // the value; null: there is none
};

template <typename T>
struct Described;  // ::table, a Field[]; ::Of, T

template <typename T>
concept IsDescribed = requires {
  Described<T>::table;
};

void read_fields(Fields fields, JsonObject& request, void* object);  // and no other key may be there
void write_fields(Fields fields, const void* object, Json& into);

}  // namespace sabath
