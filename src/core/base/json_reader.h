// A strict reader of JSON that people wrote: small documents, every value with its line, every error with its place.
// Duplicate keys, NaN, invalid UTF-8, depth and size beyond the limits are refused.
//
// parse_json gives a tree of plain values. JsonObject then takes the expected keys out of one object and refuses the
// others, so that a misspelt key is an error and not a silent default. It only refers to the tree and to `origin`,
// which must outlive it; one thread. Throws Error{invalid} as "file:line: what is wrong"; of a request, which a caller
// made and did not store, Error{usage}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sabath/error.h"

namespace sabath {

struct JsonLimits {
  std::size_t size_max = 4 * 1024 * 1024;  // bytes of text
  unsigned depth_max = 32;                 // nested arrays and objects
  std::size_t values_max = 1'000'000;
};

struct JsonMember;

// A number that is negative, has a fraction, or does not fit 64 bits; `text` as written.
struct JsonNumber {
  double value = 0;
  std::string text;
};

struct JsonValue {
  using Array = std::vector<JsonValue>;
  using Object = std::vector<JsonMember>;  // in the order of the text, each key once
  std::variant<std::monostate, bool, std::uint64_t, JsonNumber, std::string, Array, Object> data;
  std::size_t line = 0;

  template <typename T>
  [[nodiscard]] const T* get() const noexcept {
    return std::get_if<T>(&data);
  }
  [[nodiscard]] bool is_null() const noexcept { return get<std::monostate>() != nullptr; }
};

struct JsonMember {
  std::string key;
  std::size_t line = 0;
  JsonValue value;
};

// `kind`: of all errors in it.
[[nodiscard]] JsonValue parse_json(std::string_view text, std::string_view origin, const JsonLimits& limits = {},
                                   FailureKind kind = FailureKind::invalid);

// Throws Error: "origin:line: message".
[[noreturn]] void throw_at(std::string_view origin, std::size_t line, std::string_view message, std::string hint = {},
                           FailureKind kind = FailureKind::invalid);

class JsonObject {
 public:
  // Throws if `value` is no object; `what` names it for messages: "a fragment". `kind`: of all errors thrown.
  JsonObject(const JsonValue& value, std::string_view origin, std::string what,
             FailureKind kind = FailureKind::invalid);

  // Each of these makes `key` a known one. null counts as absent.
  [[nodiscard]] const JsonValue* find(std::string_view key);
  [[nodiscard]] const JsonValue& require(std::string_view key);
  [[nodiscard]] std::string text(std::string_view key);                     // required, not empty
  [[nodiscard]] std::optional<std::string> try_text(std::string_view key);  // not empty if present
  [[nodiscard]] std::optional<std::uint64_t> try_uint(std::string_view key);
  [[nodiscard]] std::optional<std::uint64_t> try_size(std::string_view key);  // 10000000 or "10M"
  [[nodiscard]] bool flag(std::string_view key);                              // absent: false
  [[nodiscard]] std::vector<std::string> texts(std::string_view key);         // array of strings; absent: none
  [[nodiscard]] std::vector<std::string> some_texts(std::string_view key);    // required, at least one
  [[nodiscard]] const JsonValue::Array* try_array(std::string_view key);
  [[nodiscard]] std::optional<JsonObject> try_object(std::string_view key, std::string what);

  // Refuses keys that were not taken, with the nearest known key as a suggestion.
  void finish() const;

  [[nodiscard]] const JsonValue::Object& members() const noexcept { return *members_; }
  [[nodiscard]] std::string_view origin() const noexcept { return origin_; }
  [[nodiscard]] std::size_t line() const noexcept { return line_; }
  [[nodiscard]] std::size_t line_of(std::string_view key) const noexcept;  // the object's own if absent
  [[noreturn]] void fail(std::string_view key, std::string_view why, std::string hint = {}) const;  // at that key

 private:
  void refuse_misspelt(std::string_view absent) const;  // throws if a key that was not taken is nearly this one

  const JsonValue::Object* members_;
  std::string_view origin_;
  std::size_t line_;
  std::string what_;
  FailureKind kind_;
  std::vector<std::string> known_;
};

// A string value without control characters except tab and newline, checked; `name` is for messages.
[[nodiscard]] const std::string& checked_text(const JsonValue& value, std::string_view origin, std::string_view name,
                                              FailureKind kind = FailureKind::invalid);

}  // namespace sabath
