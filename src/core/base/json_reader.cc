#include "base/json_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

// Walks the text and shows how far the lexer has come, which SAX events do not tell.
class CountedIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountedIterator(const char* at, const char** reached) : at_(at), reached_(reached) {}
  reference operator*() const { return *at_; }
  CountedIterator& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  CountedIterator operator++(int) {
    CountedIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountedIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountedIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** reached_;
};

// Builds the tree. Its stack of open containers holds pointers into it: a container grows only at its end while it is
// innermost, so the pointers of the outer ones stay good.
class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, std::string_view origin, const JsonLimits& limits)
      : counted_(text.data()), reached_(text.data()), origin_(origin), limits_(limits) {}

  const char** reached() { return &reached_; }
  JsonValue take_root() { return std::move(root_); }

  bool null() { return add({}); }
  bool boolean(bool value) { return add({value}); }
  bool number_integer(std::int64_t value) {
    return value < 0 ? add({JsonNumber{static_cast<double>(value), fmt::to_string(value)}})
                     : number_unsigned(static_cast<std::uint64_t>(value));
  }
  bool number_unsigned(std::uint64_t value) { return add({value}); }
  bool number_float(double value, const std::string& text) { return add({JsonNumber{value, text}}); }
  bool string(std::string& value) { return add({std::move(value)}); }
  bool binary(std::vector<std::uint8_t>&) { return false; }  // no such thing in JSON text

  bool start_object(std::size_t) { return open(JsonValue::Object{}); }
  bool start_array(std::size_t) { return open(JsonValue::Array{}); }
  bool key(std::string& text) {
    std::get<JsonValue::Object>(open_.back()->data).push_back({std::move(text), line(), {}});
    return true;
  }
  bool end_array() {
    open_.pop_back();
    return true;
  }
  bool end_object() {
    refuse_duplicates(std::get<JsonValue::Object>(open_.back()->data));
    open_.pop_back();
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
    std::string_view what = error.what();  // "[id] parse error at line 1, column 2: reason"
    if (const std::size_t column = what.find("column "); column != std::string_view::npos) {
      what.remove_prefix(column);
      what.remove_prefix(std::min(what.find(": "), what.size() - 2) + 2);
    }
    throw_at(origin_, line(), fmt::format("malformed JSON: {}", printable(what)));
  }

 private:
  // The lexer may have read one character beyond the token, but the token's last character is never a newline.
  std::size_t line() {
    const char* const end = reached_ == counted_ ? counted_ : std::max(counted_, reached_ - 1);
    line_ += static_cast<std::size_t>(std::count(counted_, end, '\n'));
    counted_ = end;
    return line_;
  }

  JsonValue* place(JsonValue&& value) {
    if (++values_ > limits_.values_max)
      throw_at(origin_, line(), fmt::format("more than {} values", limits_.values_max));
    value.line = line();
    if (open_.empty()) return &(root_ = std::move(value));
    if (auto* array = std::get_if<JsonValue::Array>(&open_.back()->data)) return &array->emplace_back(std::move(value));
    return &(std::get<JsonValue::Object>(open_.back()->data).back().value = std::move(value));
  }
  bool add(decltype(JsonValue::data)&& data) {
    place({std::move(data)});
    return true;
  }
  bool open(decltype(JsonValue::data)&& data) {
    if (open_.size() >= limits_.depth_max) {
      throw_at(origin_, line(), fmt::format("nested deeper than {} levels", limits_.depth_max));
    }
    open_.push_back(place({std::move(data)}));
    return true;
  }
  void refuse_duplicates(const JsonValue::Object& members) const {
    std::vector<const JsonMember*> sorted;
    for (const JsonMember& member : members) sorted.push_back(&member);
    std::stable_sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->key < b->key; });
    const auto twice =
        std::adjacent_find(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->key == b->key; });
    if (twice == sorted.end()) return;
    throw_at(origin_, twice[1]->line,
             fmt::format("key \"{}\" appears twice, first in line {}", printable(twice[1]->key), twice[0]->line));
  }

  const char* counted_;
  const char* reached_;
  std::string_view origin_;
  JsonLimits limits_;
  std::size_t line_ = 1;
  std::size_t values_ = 0;
  JsonValue root_;
  std::vector<JsonValue*> open_;
};

std::string_view type_name(const JsonValue& value) {
  constexpr std::string_view names[] = {"null",     "a boolean", "a whole number", "a number",
                                        "a string", "an array",  "an object"};
  static_assert(std::size(names) == std::variant_size_v<decltype(JsonValue::data)>);
  return names[value.data.index()];
}

template <typename T>
const T& expect(const JsonValue& value, std::string_view origin, std::string_view name, std::string_view wanted,
                FailureKind kind) {
  if (const T* found = value.get<T>()) return *found;
  throw_at(origin, value.line, fmt::format("{} must be {}, not {}", name, wanted, type_name(value)), {}, kind);
}

std::string in_quotes(std::string_view key) { return fmt::format("\"{}\"", printable(key)); }

JsonValue parse_tree(std::string_view text, std::string_view origin, const JsonLimits& limits) {
  if (text.size() > limits.size_max) {
    throw Error(FailureKind::invalid, fmt::format("{}: {} long, at most {} are read", printable(origin, 1000),
                                                  format_bytes(text.size()), format_bytes(limits.size_max)));
  }
  TreeBuilder builder(text, origin, limits);
  const CountedIterator begin(text.data(), builder.reached());
  const CountedIterator end(text.data() + text.size(), builder.reached());
  nlohmann::json::sax_parse(begin, end, &builder);
  return builder.take_root();
}

}  // namespace

void throw_at(std::string_view origin, std::size_t line, std::string_view message, std::string hint, FailureKind kind) {
  throw Error(kind, fmt::format("{}:{}: {}", printable(origin, 1000), line, message), std::move(hint));
}

JsonValue parse_json(std::string_view text, std::string_view origin, const JsonLimits& limits, FailureKind kind) {
  try {
    return parse_tree(text, origin, limits);
  } catch (const Error& error) {
    Failure failure = error.failure();
    if (failure.kind == FailureKind::invalid) failure.kind = kind;
    throw Error(failure);
  }
}

const std::string& checked_text(const JsonValue& value, std::string_view origin, std::string_view name,
                                FailureKind kind) {
  const auto& text = expect<std::string>(value, origin, name, "a string", kind);
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(1)) {
    if (begins_with_control(rest) && rest[0] != '\n' && rest[0] != '\t') {
      throw_at(origin, value.line, fmt::format("{} holds a control character", name), {}, kind);
    }
  }
  return text;
}

JsonObject::JsonObject(const JsonValue& value, std::string_view origin, std::string what, FailureKind kind)
    : members_(&expect<JsonValue::Object>(value, origin, what, "an object", kind)),
      origin_(origin),
      line_(value.line),
      what_(std::move(what)),
      kind_(kind) {}

const JsonValue* JsonObject::find(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  for (const JsonMember& member : *members_) {
    if (member.key == key) return member.value.is_null() ? nullptr : &member.value;
  }
  return nullptr;
}

const JsonValue& JsonObject::require(std::string_view key) {
  if (const JsonValue* value = find(key)) return *value;
  refuse_misspelt(key);
  throw_at(origin_, line_of(key), fmt::format("{} needs the key {}", what_, in_quotes(key)), {}, kind_);
}

std::optional<std::string> JsonObject::try_text(std::string_view key) {
  const JsonValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  const std::string& text = checked_text(*value, origin_, in_quotes(key), kind_);
  if (text.empty()) fail(key, "is empty", "leave the key out, or write null, if it is not known");
  return text;
}

std::string JsonObject::text(std::string_view key) {
  (void)require(key);
  return *try_text(key);
}

bool JsonObject::flag(std::string_view key) {
  const JsonValue* value = find(key);
  return value != nullptr && expect<bool>(*value, origin_, in_quotes(key), "true or false", kind_);
}

std::optional<std::uint64_t> JsonObject::try_uint(std::string_view key) {
  const JsonValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  return expect<std::uint64_t>(*value, origin_, in_quotes(key), "a whole number of at least 0", kind_);
}

std::optional<std::uint64_t> JsonObject::try_size(std::string_view key) {
  const JsonValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* number = value->get<std::uint64_t>()) return *number;
  const auto* text = value->get<std::string>();
  const auto bytes = text == nullptr ? std::nullopt : parse_size(*text);
  if (!bytes) fail(key, "is not a number of bytes", "write 10000000 or \"10M\"");
  return bytes;
}

const JsonValue::Array* JsonObject::try_array(std::string_view key) {
  const JsonValue* value = find(key);
  if (value != nullptr && value->get<std::string>() != nullptr)
    fail(key, "must be an array, not a string", "write it in brackets: [\"...\"]");
  return value == nullptr ? nullptr : &expect<JsonValue::Array>(*value, origin_, in_quotes(key), "an array", kind_);
}

std::vector<std::string> JsonObject::texts(std::string_view key) {
  std::vector<std::string> texts;
  if (const JsonValue::Array* array = try_array(key)) {
    for (const JsonValue& value : *array) {
      texts.push_back(checked_text(value, origin_, fmt::format("an element of {}", in_quotes(key)), kind_));
      if (!texts.back().empty()) continue;
      throw_at(origin_, value.line, fmt::format("an element of {} is empty", in_quotes(key)), {}, kind_);
    }
  }
  return texts;
}

std::vector<std::string> JsonObject::some_texts(std::string_view key) {
  (void)require(key);
  std::vector<std::string> found = texts(key);
  if (found.empty()) fail(key, "is empty");
  return found;
}

std::optional<JsonObject> JsonObject::try_object(std::string_view key, std::string what) {
  const JsonValue* value = find(key);
  return value == nullptr ? std::nullopt : std::optional(JsonObject(*value, origin_, std::move(what), kind_));
}

void JsonObject::finish() const {
  for (const JsonMember& member : *members_) {
    if (std::find(known_.begin(), known_.end(), member.key) != known_.end()) continue;
    const std::optional<std::string> meant = nearest(member.key, known_);
    throw_at(origin_, member.line,
             fmt::format("unknown key {}{}", in_quotes(member.key),
                         meant ? fmt::format(" (did you mean \"{}\"?)", *meant) : ""),
             fmt::format("{} may have: {}", what_, fmt::join(known_, ", ")), kind_);
  }
}

std::size_t JsonObject::line_of(std::string_view key) const noexcept {
  for (const JsonMember& member : *members_) {
    if (member.key == key) return member.line;
  }
  return line_;
}

void JsonObject::fail(std::string_view key, std::string_view why, std::string hint) const {
  refuse_misspelt(key);
  throw_at(origin_, line_of(key), fmt::format("{} {}", in_quotes(key), why), std::move(hint), kind_);
}

void JsonObject::refuse_misspelt(std::string_view absent) const {
  const std::string wanted[] = {std::string(absent)};
  if (std::ranges::find(*members_, absent, &JsonMember::key) != members_->end()) return;
  for (const JsonMember& member : *members_) {
    const bool known = std::find(known_.begin(), known_.end(), member.key) != known_.end();
    if (known || !nearest(member.key, wanted)) continue;
    throw_at(origin_, member.line,
             fmt::format("unknown key {} (did you mean {}?)", in_quotes(member.key), in_quotes(absent)), {}, kind_);
  }
}

}  // namespace sabath
