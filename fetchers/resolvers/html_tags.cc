#include "resolvers/html_tags.h"

#include <charconv>
#include <system_error>
#include <utility>

#include "base/text.h"

namespace sabath {

std::optional<std::string_view> attribute_of(std::string_view tag, std::string_view element,
                                             std::string_view attribute) {
  if (tag.size() <= element.size() || to_lower(tag.substr(0, element.size())) != element ||
      std::string_view(" \t\r\n").find(tag[element.size()]) == tag.npos)
    return std::nullopt;
  tag.remove_prefix(element.size());
  for (tag = trim(tag); !tag.empty(); tag = trim(tag)) {
    const std::size_t end = std::min(tag.find_first_of("= \t\r\n"), tag.size());
    const std::string name = to_lower(tag.substr(0, end));
    tag = trim(tag.substr(end));
    if (!tag.starts_with('=')) {
      if (end == 0) return std::nullopt;
      continue;
    }
    tag = trim(tag.substr(1));
    const bool quoted = tag.starts_with('"') || tag.starts_with('\'');
    const std::size_t from = quoted ? 1 : 0;
    const std::size_t to = std::min(quoted ? tag.find(tag[0], 1) : tag.find_first_of(" \t\r\n"), tag.size());
    if (name == attribute) return tag.substr(from, to - std::min(from, to));
    tag.remove_prefix(std::min(to + from, tag.size()));
  }
  return std::nullopt;
}

std::string without_references(std::string_view text) {
  constexpr std::pair<std::string_view, char> names[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  std::string result;
  while (!text.empty()) {
    const std::size_t end = text.front() == '&' ? text.substr(0, 10).find(';') : text.npos;
    if (end == text.npos) {
      result += text.front();
      text.remove_prefix(1);
      continue;
    }
    std::string_view name = text.substr(1, end - 1);
    int code = 0;
    const auto* const known = std::ranges::find(names, name, &std::pair<std::string_view, char>::first);
    if (known != std::end(names)) code = known->second;
    if (name.starts_with('#')) {
      const int base = name.starts_with("#x") || name.starts_with("#X") ? 16 : 10;
      name.remove_prefix(base == 16 ? 2 : 1);
      const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), code, base);
      if (error != std::errc() || stop != name.data() + name.size() || code < 1 || code > 0x7F) code = 0;
    }
    if (code == 0) {
      result += text.front();
      text.remove_prefix(1);
    } else {
      result += static_cast<char>(code);
      text.remove_prefix(end + 1);
    }
  }
  return result;
}

}  // namespace sabath
