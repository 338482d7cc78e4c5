// Searches texts for a user's regular expression: RE2, without regard to case, line by line. The time is proportional
// to the text for any pattern. Any thread. Throws Error{usage}.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace sabath {

class TextSearch {
 public:
  explicit TextSearch(const std::string& pattern);
  ~TextSearch();
  [[nodiscard]] bool in_a_line_of(std::string_view text) const;

 private:
  struct Expression;
  const std::unique_ptr<const Expression> expression_;
};

}  // namespace sabath
