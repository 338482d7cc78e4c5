#include "fields/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "fields/request.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

std::vector<std::string> words_of(std::string_view words) {
  std::vector<std::string> all;
  while (!words.empty()) {
    all.emplace_back(words.substr(0, words.find('|')));
    words.remove_prefix(std::min(words.size(), all.back().size() + 1));
  }
  return all;
}

template <typename T>
T& value_at(void* at) {
  return *static_cast<T*>(at);
}

// "$UNSET" is a mistake, and not the default; but a program may be given an empty argument.
void refuse_empty(const Field& field, const std::string& option, const std::string& text) {
  if (text.empty() && !field.argument.starts_with("--"))
    throw Error(FailureKind::usage, fmt::format("{} is empty", option), "give a value, or leave it out");
}

std::optional<std::string> read_text(const Field& field, JsonObject& request) {
  if (field.required) return request.text(field.key);
  return request.try_text(field.key);
}

}  // namespace

void TypeOf<std::string>::read(const Field& field, JsonObject& request, void* at) {
  const auto text = read_text(field, request);
  if (!text) return;
  if (!field.all_words().empty()) check_word_of(field, *text, fmt::format("\"{}\"", field.key));
  value_at<std::string>(at) = *text;
}

void TypeOf<std::string>::parse(const Field& field, const std::string& option, const std::string& text, void* at) {
  refuse_empty(field, option, text);
  if (!field.all_words().empty()) check_word_of(field, text, option);
  value_at<std::string>(at) = text;
}

void TypeOf<std::string>::write(const Field& field, const void* at, Json& into) {
  const auto& text = *static_cast<const std::string*>(at);
  if (!field.null_if_empty || !text.empty()) into = shown_text(field, text);
}

void TypeOf<std::filesystem::path>::read(const Field& field, JsonObject& request, void* at) {
  if (auto text = read_text(field, request)) value_at<std::filesystem::path>(at) = std::move(*text);
}

void TypeOf<std::filesystem::path>::parse(const Field& field, const std::string& option, const std::string& text,
                                          void* at) {
  refuse_empty(field, option, text);
  value_at<std::filesystem::path>(at) = text;
}

void TypeOf<std::filesystem::path>::write(const Field& field, const void* at, Json& into) {
  const auto& path = *static_cast<const std::filesystem::path*>(at);
  if (!field.null_if_empty || !path.empty()) into = shown_text(field, path.native());
}

void TypeOf<bool>::read(const Field& field, JsonObject& request, void* at) {
  if (request.find(field.key) != nullptr) value_at<bool>(at) = request.flag(field.key) != field.opposite;
}

void TypeOf<bool>::parse(const Field& field, const std::string&, const std::string&, void* at) {
  value_at<bool>(at) = !field.opposite;
}

void TypeOf<bool>::write(const Field& field, const void* at, Json& into) {
  into = *static_cast<const bool*>(at) != field.opposite;
}

void TypeOf<double>::read(const Field& field, JsonObject& request, void* at) {
  const JsonValue* const value = request.find(field.key);
  if (value == nullptr) return;
  if (const auto* whole = value->get<std::uint64_t>()) {
    value_at<double>(at) = static_cast<double>(*whole);
  } else if (const auto* number = value->get<JsonNumber>()) {
    value_at<double>(at) = number->value;
  } else {
    request.fail(field.key, "is no number");
  }
}

void TypeOf<double>::parse(const Field&, const std::string& option, const std::string& text, void* at) {
  value_at<double>(at) = parse_number(text, option);
}

void TypeOf<double>::write(const Field& field, const void* at, Json& into) {
  const double value = *static_cast<const double*>(at);
  into = field.any_number ? json_number(value) : Json(value);
}

void TypeOf<std::chrono::seconds>::read(const Field& field, JsonObject& request, void* at) {
  if (const auto span = try_seconds(request, field.key)) value_at<std::chrono::seconds>(at) = *span;
}

void TypeOf<std::chrono::seconds>::parse(const Field& field, const std::string& option, const std::string& text,
                                         void* at) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  value_at<std::chrono::seconds>(at) =
      field.value == "SECONDS" ? std::chrono::seconds(parse_count(text, std::min(most, field.maximum), option))
                               : parse_span(text, option);
}

void TypeOf<std::chrono::seconds>::write(const Field&, const void* at, Json& into) {
  into = static_cast<const std::chrono::seconds*>(at)->count();
}

void TypeOf<Environment>::read(const Field&, JsonObject& request, void* at) {
  value_at<Environment>(at) = environment_in(request);
}

void TypeOf<std::string_view>::write(const Field& field, const void* at, Json& into) {
  const auto text = *static_cast<const std::string_view*>(at);
  if (!field.null_if_empty || !text.empty()) into = shown_text(field, text);
}

void TypeOf<Sha256>::read(const Field& field, JsonObject& request, void* at) {
  const auto text = read_text(field, request);
  if (!text) return;
  const auto digest = Sha256::try_parse(*text);
  if (!digest) request.fail(field.key, "is not a SHA-256 in hexadecimal digits");
  value_at<Sha256>(at) = *digest;
}

void TypeOf<Sha256>::parse(const Field&, const std::string& option, const std::string& text, void* at) {
  const auto digest = Sha256::try_parse(text);
  if (!digest) throw Error(FailureKind::usage, option + " is not a SHA-256 in hexadecimal digits");
  value_at<Sha256>(at) = *digest;
}

void TypeOf<Sha256>::write(const Field&, const void* at, Json& into) {
  into = static_cast<const Sha256*>(at)->prefixed();
}

void TypeOf<Json>::write(const Field&, const void* at, Json& into) { into = *static_cast<const Json*>(at); }

std::optional<std::string> read_word(const Field& field, JsonObject& request) {
  auto text = read_text(field, request);
  if (text) check_word(*text, words_of(field.all_words()), fmt::format("\"{}\"", field.key));
  return text;
}

void check_word_of(const Field& field, const std::string& text, std::string_view what) {
  check_word(text, words_of(field.all_words()), what);
}

void write_text(std::string_view text, Json& into) { into = text; }

std::string shown_text(const Field& field, std::string_view text) {
  return field.printable_max == 0 ? std::string(text) : printable(text, field.printable_max);
}

void read_object(const Field& field, JsonObject& request, void* at) {
  if (auto object = request.try_object(field.key, fmt::format("\"{}\"", field.key)))
    read_fields(field.type->fields(), *object, at);
}

void read_objects(const Field& field, JsonObject& request, void* list, void* (*append_to)(void* list)) {
  const JsonValue::Array* const values = request.try_array(field.key);
  if (values == nullptr) return;
  for (const JsonValue& value : *values) {
    JsonObject object(value, request.origin(), fmt::format("an element of \"{}\"", field.key), FailureKind::usage);
    read_fields(field.type->fields(), object, append_to(list));
  }
}

std::map<std::string, std::string> read_pairs(const Field& field, JsonObject& request) {
  std::map<std::string, std::string> pairs;
  auto object = request.try_object(field.key, fmt::format("\"{}\"", field.key));
  if (!object) return pairs;
  for (const JsonMember& member : object->members()) pairs[member.key] = object->text(member.key);
  return pairs;
}

std::map<std::string, std::string> parse_pair(const std::string& option, const std::string& text) {
  const auto equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) {
    throw Error(FailureKind::usage, fmt::format("{} cannot be '{}'", option, printable(text)),
                "give KEY=VALUE, such as lr=0.01");
  }
  return {{text.substr(0, equals), text.substr(equals + 1)}};
}

void write_count(std::uint64_t value, Json& into) { into = value; }
void write_integer(std::int64_t value, Json& into) { into = value; }
void make_list(Json& into) { into = Json::array(); }
void make_object(Json& into) { into = Json::object(); }
Json& member_of(Json& object, const std::string& key) { return object[key]; }
Json& append_to(Json& list) { return list.emplace_back(); }

std::optional<std::uint64_t> read_count(const Field& field, JsonObject& request, std::uint64_t maximum) {
  maximum = std::min(maximum, field.maximum);
  if (field.required) static_cast<void>(request.require(field.key));
  const auto count = field.unit == "bytes" ? request.try_size(field.key) : request.try_uint(field.key);
  if (count && *count > maximum) request.fail(field.key, fmt::format("is more than {}", maximum));
  return count;
}

std::uint64_t parse_count(const Field& field, const std::string& option, const std::string& text,
                          std::uint64_t maximum) {
  return field.unit == "bytes" ? parse_bytes(text, option)
                               : parse_count(text, std::min(maximum, field.maximum), option);
}

std::vector<std::string> read_texts(const Field& field, JsonObject& request) {
  return field.required ? request.some_texts(field.key) : request.texts(field.key);
}

}  // namespace sabath
