#include "recipe/edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/json_reader.h"
#include "base/text.h"
#include "recipe/parse.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t key_parts_max = 4;
constexpr std::size_t indent = 2;
constexpr std::array<std::string_view, 5> keys_with_numbers{"tags", "metadata", "config", "model", "limits"};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Where things stand in JSON that is known to be well-formed.
struct Span {
  std::size_t begin = 0, end = 0;
};
struct Member {
  std::string key;
  Span quoted, value;
};

std::size_t past_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

std::size_t past_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

std::size_t past_value(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = past_string(text, at);
    } else if (c == '{' || c == '[') {
      ++depth, ++at;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return at;
      --depth, ++at;
    } else if (depth == 0 && (c == ',' || is_space(c))) {
      return at;
    } else {
      ++at;
      continue;
    }
    if (depth == 0) return at;
  }
  return at;
}

std::vector<Member> members_of(std::string_view text, Span object) {
  std::vector<Member> members;
  for (std::size_t at = past_space(text, object.begin + 1); at < object.end && text[at] == '"';) {
    Member member;
    member.quoted = {at, past_string(text, at)};
    member.key = Json::parse(text.substr(at, member.quoted.end - at)).get<std::string>();
    at = past_space(text, past_space(text, member.quoted.end) + 1);  // the colon
    member.value = {at, past_value(text, at)};
    at = past_space(text, member.value.end);
    if (at < object.end && text[at] == ',') at = past_space(text, at + 1);
    members.push_back(std::move(member));
  }
  return members;
}

std::vector<Span> elements_of(std::string_view text, Span array) {
  std::vector<Span> elements;
  for (std::size_t at = past_space(text, array.begin + 1); at < array.end && text[at] != ']';) {
    elements.push_back({at, past_value(text, at)});
    at = past_space(text, elements.back().end);
    if (at < array.end && text[at] == ',') at = past_space(text, at + 1);
  }
  return elements;
}

// The object of a list whose "id" this is.
std::optional<Span> element_named(std::string_view text, Span array, const std::string& id) {
  for (const Span element : elements_of(text, array)) {
    if (text[element.begin] != '{') continue;
    for (const Member& member : members_of(text, element)) {
      const std::string_view value = text.substr(member.value.begin, member.value.end - member.value.begin);
      if (member.key == "id" && value.starts_with('"') && Json::parse(value) == Json(id)) return element;
    }
  }
  return std::nullopt;
}

// Spaces before the first thing on the line of `at`.
std::size_t indent_at(std::string_view text, std::size_t at) {
  const std::size_t line = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 is 0
  return past_space(text.substr(0, at), line) - line;
}

// Objects over lines as the rest of the file has them; what fits one line stands on one.
std::string shown_value(const std::string& value, std::size_t depth) {
  const Json json = Json::parse(value);
  const std::string flat = json.dump();
  if (!json.is_structured() || flat.size() <= 60) return flat;
  std::string shown = json.dump(static_cast<int>(indent));
  for (std::size_t at = shown.find('\n'); at != std::string::npos; at = shown.find('\n', at + 1))
    shown.insert(at + 1, std::string(depth, ' '));
  return shown;
}

void add_member(std::string& text, Span object, const std::vector<Member>& members, const std::string& key,
                const std::string& value) {
  const std::string quoted = Json(key).dump() + ": ";
  if (members.empty()) {
    const std::size_t outer = indent_at(text, object.begin), inner = outer + indent;
    text.replace(object.begin, object.end - object.begin,
                 fmt::format("{{\n{}{}{}\n{}}}", std::string(inner, ' '), quoted, shown_value(value, inner),
                             std::string(outer, ' ')));
    return;
  }
  const std::size_t first = members.front().quoted.begin;
  const bool over_lines = text.find('\n', object.begin) < first;
  const std::size_t depth = indent_at(text, first);
  const std::string before = over_lines ? ",\n" + std::string(depth, ' ') : ", ";
  text.insert(members.back().value.end,
              before + quoted + (over_lines ? shown_value(value, depth) : Json::parse(value).dump()));
}

void take_away(std::string& text, const std::vector<Member>& members, std::size_t at) {
  const std::size_t begin = at > 0 ? members[at - 1].value.end : members[at].quoted.begin;
  const std::size_t end = at == 0 && members.size() > 1 ? members[1].quoted.begin : members[at].value.end;
  text.erase(begin, end - begin);
}

void change(std::string& text, Span object, const std::string& origin, const RecipeEdit& edit, std::size_t level);

// Inside a list: "fragments.main.size". An id may have dots.
void change_element(std::string& text, Span array, const std::string& origin, const RecipeEdit& edit,
                    std::size_t level) {
  std::string id;
  for (std::size_t end = level; end + 1 < edit.key.size(); ++end) {
    id += (end == level ? "" : ".") + edit.key[end];
    if (const auto element = element_named(text, array, id)) return change(text, *element, origin, edit, end + 1);
  }
  throw Error(FailureKind::usage,
              fmt::format("{}: \"{}\" has no \"{}\"", printable(origin, 1000), printable(edit.key[level - 1]),
                          printable(id.empty() ? edit.key[level] : id)),
              "say LIST.ID.KEY=VALUE, or the list as a whole, by a value in JSON");
}

void change(std::string& text, Span object, const std::string& origin, const RecipeEdit& edit, std::size_t level) {
  const std::vector<Member> members = members_of(text, object);
  const std::string& key = edit.key[level];
  const auto found = std::ranges::find(members, key, &Member::key);
  const bool is_last = level + 1 == edit.key.size();
  if (found == members.end()) {
    if (edit.value.empty()) return;
    std::string value = edit.value;
    for (std::size_t i = edit.key.size(); i-- > level + 1;) value = Json{{edit.key[i], Json::parse(value)}}.dump();
    return add_member(text, object, members, key, value);
  }
  const Span value = found->value;
  if (is_last && edit.value.empty()) return take_away(text, members, static_cast<std::size_t>(found - members.begin()));
  if (is_last) {
    text.replace(value.begin, value.end - value.begin, shown_value(edit.value, indent_at(text, found->quoted.begin)));
    return;
  }
  if (text[value.begin] == '{') return change(text, value, origin, edit, level + 1);
  if (text[value.begin] == '[') return change_element(text, value, origin, edit, level + 1);
  if (text.compare(value.begin, 4, "null") != 0) {
    throw Error(FailureKind::usage, fmt::format("{}: \"{}\" is no object", printable(origin, 1000), printable(key)),
                "set it as a whole, by a value in JSON");
  }
  text.replace(value.begin, value.end - value.begin, "{}");
  change(text, {value.begin, value.begin + 2}, origin, edit, level + 1);
}

}  // namespace

RecipeEdit parse_recipe_edit(const std::string& text) {
  const std::size_t equals = text.find('=');
  RecipeEdit edit;
  const std::string key = text.substr(0, equals);
  for (std::size_t at = 0; at <= key.size();) {
    const std::size_t dot = std::min(key.find('.', at), key.size());
    edit.key.push_back(key.substr(at, dot - at));
    at = dot + 1;
  }
  const bool empty = std::ranges::any_of(edit.key, [](const std::string& part) { return part.empty(); });
  if (equals == std::string::npos || empty || edit.key.size() > key_parts_max || !is_utf8(key)) {
    throw Error(FailureKind::usage, fmt::format("\"{}\" changes nothing", printable(text)),
                "say KEY=VALUE, as licence=MIT or tags.task=regression");
  }
  const std::string value = text.substr(equals + 1);
  const Json json = Json::parse(value, nullptr, false);
  // Elsewhere a recipe has texts: the version 1.0 is one.
  const bool has_numbers =
      std::ranges::find(keys_with_numbers, edit.key.front()) != keys_with_numbers.end() ||
      (edit.key.front() == "fragments" && (edit.key.back() == "size" || edit.key.back() == "limit"));
  const bool is_text = json.is_discarded() || ((json.is_number() || json.is_boolean()) && !has_numbers);
  edit.value = value.empty() ? "null" : is_text ? "" : json.dump();
  if (edit.value.empty()) edit.value = Json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
  return edit;
}

std::string edited_recipe(std::string text, const std::string& origin, const RecipeEdit& edit) {
  const JsonValue document = parse_json(text, origin, {recipe_size_max, recipe_depth_max, 1'000'000});
  if (document.get<JsonValue::Object>() == nullptr)
    throw Error(FailureKind::invalid, fmt::format("{} holds no object", printable(origin, 1000)));
  const std::size_t begin = past_space(text, text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
  change(text, {begin, past_value(text, begin)}, origin, edit, 0);
  return text;
}

}  // namespace sabath
