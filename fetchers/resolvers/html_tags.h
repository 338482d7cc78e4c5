// The tags of a web page: enough of HTML to read the links of pages that machines wrote. Pure; any thread; throws
// nothing.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace sabath {

// One tag after the other; comments are passed over.
class HtmlTags {
 public:
  explicit HtmlTags(std::string_view page) : rest_(page) {}

  // The inside of the next tag; false: there is no more.
  bool next(std::string_view& tag) {
    for (;;) {
      const std::size_t open = rest_.find('<');
      if (open == rest_.npos) return false;
      rest_.remove_prefix(open + 1);
      if (rest_.starts_with("!--")) {
        rest_.remove_prefix(std::min(rest_.find("-->"), rest_.size()));
        continue;
      }
      const std::size_t close = std::min(rest_.find('>'), rest_.size());
      tag = rest_.substr(0, close);
      rest_.remove_prefix(close);
      return true;
    }
  }

 private:
  std::string_view rest_;
};

// The value of an attribute of a tag's inside; nullopt: it is another element's, or has none.
[[nodiscard]] std::optional<std::string_view> attribute_of(std::string_view tag, std::string_view element,
                                                           std::string_view attribute);
// Character references of ASCII characters resolved; anything else that begins with '&' stands as it is.
[[nodiscard]] std::string without_references(std::string_view text);

}  // namespace sabath
