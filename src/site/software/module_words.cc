#include "software/module_words.h"

#include <algorithm>

#include "base/text.h"

namespace sabath {

bool is_plain_value(std::string_view value) noexcept {
  if (value.empty() || value.size() > 1024 || !is_utf8(value)) return false;
  return std::ranges::none_of(value, [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7f; });
}

void add_module_value(std::vector<std::string>& list, std::string_view value) {
  if (list.size() >= module_values_max || !is_plain_value(value)) return;
  if (std::ranges::find(list, value) == list.end()) list.emplace_back(value);
}

void add_keywords(ModuleText& into, std::string_view description) {
  constexpr std::string_view key = "keywords:";
  description = trim(description);
  if (to_lower(description.substr(0, key.size())) != key) return;
  std::string_view rest = description.substr(key.size());
  while (!rest.empty()) {
    const auto end = rest.find_first_of(", \t");
    add_module_value(into.features, to_lower(rest.substr(0, end)));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
}

void add_directories(ModuleText& into, std::string_view value) {
  bool any = false;
  while (!value.empty()) {
    const auto colon = std::min(value.find(':'), value.size());
    std::string_view directory = value.substr(0, colon);
    value.remove_prefix(std::min(colon + 1, value.size()));
    if (directory.empty()) continue;
    any = true;
    while (directory.size() > 1 && directory.ends_with('/')) directory.remove_suffix(1);
    const bool known = std::ranges::find(into.directories, directory) != into.directories.end();
    if (known) continue;
    if (directory.starts_with('/') && is_plain_value(directory) && into.directories.size() < module_values_max) {
      if (into.needs.empty()) into.opens_first = true;
      into.directories.emplace_back(directory);
    } else {
      ++into.unread;
    }
  }
  if (!any) ++into.unread;
}

std::size_t count_words(std::string_view text, std::string_view word) {
  const auto is_inner = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  std::size_t count = 0;
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + word.size())) {
    const auto end = at + word.size();
    if ((at == 0 || !is_inner(text[at - 1])) && (end == text.size() || !is_inner(text[end]))) ++count;
  }
  return count;
}

}  // namespace sabath
