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

void add_directory(ModuleText& into, std::string_view directory) {
  if (!directory.starts_with('/') || !is_plain_value(directory)) {
    ++into.unread;
    return;
  }
  while (directory.size() > 1 && directory.ends_with('/')) directory.remove_suffix(1);
  add_module_value(into.directories, directory);
}

}  // namespace sabath
