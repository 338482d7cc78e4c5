// Settings out of a YAML file that people wrote: mappings of scalars, inner mappings as "outer.inner". Strict: no
// anchors, aliases, tags, lists or second documents, so nothing grows or becomes an object; each key once; at most
// 10,000 settings, 8 mappings deep. Pure; any thread. Throws Error{invalid} as "file:line: what is wrong".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

struct YamlSetting {
  std::string key, value;  // the value as it was written, without quotes
  std::size_t line = 0;
  bool is_list = false;
  std::vector<std::string> items;  // of a list; `value` is empty then
};

// Lists of plain values may be values, too: at most 1,000 of them each.
enum class YamlLists { refused, read };

[[nodiscard]] std::vector<YamlSetting> read_yaml_settings(std::string_view text, const std::string& origin,
                                                          YamlLists lists = YamlLists::refused);

}  // namespace sabath
