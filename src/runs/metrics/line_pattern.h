// What a line must have, as a stranger wrote it: the text itself ("[X] MPI"), or an RE2 expression that is found
// in the line. For any text, time linear in the line and bounded memory. One thread. The constructor throws
// Error{invalid}.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace sabath {

class LinePattern {
 public:
  explicit LinePattern(const std::string& text);
  ~LinePattern();
  LinePattern(LinePattern&&) noexcept;
  LinePattern& operator=(LinePattern&&) noexcept;
  [[nodiscard]] bool is_in(std::string_view line) const;

 private:
  struct Expression;
  std::string text_;
  std::unique_ptr<Expression> expression_;
};

}  // namespace sabath
