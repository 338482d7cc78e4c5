// How a field of each C++ type is read from a request, taken from an option, and written into a record.
// Included by verbs/fields.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sabath/environment.h"
#include "verbs/fields.h"

namespace sabath {

template <typename T>
struct TypeOf;  // ::type

// Of a field, whose type may be const or a reference.
template <typename T>
inline constexpr const FieldType& type_of = TypeOf<std::remove_cvref_t<T>>::type;

// Plain values: one definition each, in field_types.cc.
#define SABATH_PLAIN_TYPE(CPP, NAME)                                                                     \
  template <>                                                                                            \
  struct TypeOf<CPP> {                                                                                   \
    static void read(const Field& field, JsonObject& request, void* at);                                 \
    static void parse(const Field& field, const std::string& option, const std::string& text, void* at); \
    static void write(const Field& field, const void* at, Json& into);                                   \
    static constexpr FieldType type{.name = NAME, .read = read, .parse = parse, .write = write};         \
  };
SABATH_PLAIN_TYPE(std::string, "text")
SABATH_PLAIN_TYPE(std::filesystem::path, "path")
SABATH_PLAIN_TYPE(bool, "flag")
SABATH_PLAIN_TYPE(double, "number")
SABATH_PLAIN_TYPE(std::chrono::seconds, "seconds")
#undef SABATH_PLAIN_TYPE

template <>
struct TypeOf<Environment> {  // of requests: an object of texts; absent: that of this process
  static void read(const Field& field, JsonObject& request, void* at);
  static constexpr FieldType type{.name = "object of texts", .read = read};
};

template <>
struct TypeOf<std::map<std::string, std::string>> {
  static void write(const Field& field, const void* at, Json& into);
  static constexpr FieldType type{.name = "object of texts", .write = write};
};

// A value that is not written is null.
void write_count(std::uint64_t value, Json& into);
void write_integer(std::int64_t value, Json& into);
void make_list(Json& into);
[[nodiscard]] Json& next_in(Json& list);

std::optional<std::uint64_t> read_count(const Field& field, JsonObject& request, std::uint64_t maximum);
std::uint64_t parse_count(const Field& field, const std::string& option, const std::string& text,
                          std::uint64_t maximum);

template <typename T>
requires std::is_integral_v<T>
struct TypeOf<T> {
  static void read(const Field& field, JsonObject& request, void* at) {
    if (const auto count = read_count(field, request, std::numeric_limits<T>::max()))
      *static_cast<T*>(at) = static_cast<T>(*count);
  }
  static void parse(const Field& field, const std::string& option, const std::string& text, void* at) {
    *static_cast<T*>(at) = static_cast<T>(parse_count(field, option, text, std::numeric_limits<T>::max()));
  }
  static void write(const Field& field, const void* at, Json& into) {
    const T value = *static_cast<const T*>(at);
    if (field.null_if_empty && value == 0) return;
    value < 0 ? write_integer(static_cast<std::int64_t>(value), into)
              : write_count(static_cast<std::uint64_t>(value), into);
  }
  static constexpr FieldType type{.name = "count", .read = read, .parse = parse, .write = write};
};

template <IsDescribed T>
struct TypeOf<T> {
  static Fields fields() { return Described<T>::table; }
  static void write(const Field&, const void* at, Json& into) { write_fields(fields(), at, into); }
  static constexpr FieldType type{.name = "object", .fields = fields, .write = write};
};

template <typename T>
struct TypeOf<std::optional<T>> {
  static constexpr const FieldType& one = type_of<T>;
  static T* make(void* at) { return &static_cast<std::optional<T>*>(at)->emplace(); }
  static void read(const Field& field, JsonObject& request, void* at) {
    if (request.find(field.key) != nullptr) one.read(field, request, make(at));
  }
  static void parse(const Field& field, const std::string& option, const std::string& text, void* at) {
    one.parse(field, option, text, make(at));
  }
  static void write(const Field& field, const void* at, Json& into) {
    const auto& value = *static_cast<const std::optional<T>*>(at);
    if (value) one.write(field, &*value, into);
  }
  static constexpr FieldType type{.name = one.name, .fields = one.fields, .read = read, .parse = parse, .write = write};
};

std::vector<std::string> read_texts(const Field& field, JsonObject& request);

template <typename T>
struct TypeOf<std::vector<T>> {  // a request may have a list of texts or paths only
  static constexpr const FieldType& one = type_of<T>;
  static std::vector<T>& list(void* at) { return *static_cast<std::vector<T>*>(at); }
  static void read(const Field& field, JsonObject& request, void* at) {
    if constexpr (std::is_constructible_v<T, std::string>) {
      for (std::string& text : read_texts(field, request)) list(at).emplace_back(std::move(text));
    }
  }
  static void parse(const Field& field, const std::string& option, const std::string& text, void* at) {
    if constexpr (std::is_default_constructible_v<T>) one.parse(field, option, text, &list(at).emplace_back());
  }
  static void write(const Field& field, const void* at, Json& into) {
    make_list(into);
    for (const T& value : *static_cast<const std::vector<T>*>(at)) one.write(field, &value, next_in(into));
  }
  static constexpr FieldType type{
      .name = one.name, .fields = one.fields, .read = read, .parse = parse, .write = write, .is_list = true};
};

}  // namespace sabath
