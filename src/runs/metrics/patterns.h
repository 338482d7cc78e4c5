// The regular expressions of a recipe, and our own for common lines that no format knows. RE2: for any pattern, time
// linear in the line and bounded memory. One thread. The constructor throws Error{invalid}; read() does not throw.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/reading.h"
#include "metrics/trace.h"

namespace sabath {

// A line's shape as data: a text that each such line has, for a quick first look, and the expression.
struct Shape {
  std::string_view mark, expression;
};

class Patterns {
 public:
  explicit Patterns(const std::vector<std::string>& patterns);
  explicit Patterns(std::span<const Shape> shapes);
  ~Patterns();
  Patterns(Patterns&&) noexcept;
  Patterns& operator=(Patterns&&) noexcept;

  // The first pattern that is found in the line and says something.
  void read(std::string_view line, Trace& trace, Reading& reading) const;

 private:
  struct Pattern;
  void add(const std::string& text, std::string_view mark);
  std::vector<std::unique_ptr<Pattern>> patterns_;
};

}  // namespace sabath
