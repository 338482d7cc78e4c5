// How a field of each C++ type is read from a request, taken from an option, and written into a record.
// Included by fields/fields.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include "fields/field.h"
#include "sabath/digest.h"
#include "sabath/environment.h"

namespace sabath {

template <typename T>
struct TypeOf;  // ::type

// Of a field, whose type may be const or a reference.
template <typename T>
inline constexpr const FieldType& type_of = TypeOf<std::remove_cvref_t<T>>::type;

template <typename Of, auto compute>
void compute_value(const Field& field, const void* object, Json& into) {
  const auto& value = compute(*static_cast<const Of*>(object));
  type_of<decltype(value)>.write(field, &value, into);
}

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
SABATH_PLAIN_TYPE(Sha256, "digest")
#undef SABATH_PLAIN_TYPE

template <>
struct TypeOf<Environment> {  // of requests: an object of texts; absent: that of this process
  static void read(const Field& field, JsonObject& request, void* at);
  static constexpr FieldType type{.name = "object of texts", .read = read};
};

// Of records only, and of what SABATH_VALUE gives.
#define SABATH_WRITTEN_TYPE(CPP, NAME)                                 \
  template <>                                                          \
  struct TypeOf<CPP> {                                                 \
    static void write(const Field& field, const void* at, Json& into); \
    static constexpr FieldType type{.name = NAME, .write = write};     \
  };
SABATH_WRITTEN_TYPE(std::string_view, "text")
SABATH_WRITTEN_TYPE(Json, "value")
#undef SABATH_WRITTEN_TYPE

// An enumeration whose values are words: ::words, "dataset|model|workflow"; text(E) and, for requests, parse(text).
template <typename E>
struct WordsOf;

[[nodiscard]] std::optional<std::string> read_word(const Field& field, JsonObject& request);
void check_word_of(const Field& field, const std::string& text, std::string_view what);
void write_text(std::string_view text, Json& into);
[[nodiscard]] std::string shown_text(const Field& field, std::string_view text);  // as `printable_max` has it

template <typename E>
requires std::is_enum_v<E>
struct TypeOf<E> {
  static void take(const std::string& text, void* at) {
    if constexpr (requires { WordsOf<E>::parse(text); }) *static_cast<E*>(at) = *WordsOf<E>::parse(text);
  }
  static void read(const Field& field, JsonObject& request, void* at) {
    if (const auto text = read_word(field, request)) take(*text, at);
  }
  static void parse(const Field& field, const std::string& option, const std::string& text, void* at) {
    check_word_of(field, text, option);
    take(text, at);
  }
  static void write(const Field&, const void* at, Json& into) {
    write_text(WordsOf<E>::text(*static_cast<const E*>(at)), into);
  }
  static constexpr FieldType type{
      .name = "text", .read = read, .parse = parse, .write = write, .words = WordsOf<E>::words};
};

// A value that is not written is null.
void write_count(std::uint64_t value, Json& into);
void write_integer(std::int64_t value, Json& into);
void make_list(Json& into);
void make_object(Json& into);
[[nodiscard]] Json& member_of(Json& object, const std::string& key);
[[nodiscard]] Json& append_to(Json& list);

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
  static constexpr FieldType type{.name = one.name,
                                  .fields = one.fields,
                                  .read = read,
                                  .parse = one.parse == nullptr ? nullptr : parse,
                                  .write = write,
                                  .is_list = one.is_list,
                                  .words = one.words,
                                  .may_lack = true};
};

}  // namespace sabath
