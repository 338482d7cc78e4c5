// The regular expressions of a recipe, for lines that no format knows. RE2: time linear in the line whatever the
// pattern is, and bounded memory. One thread. The constructor throws Error{invalid}, read() nothing.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/reading.h"
#include "metrics/trace.h"

namespace sabath {

class Patterns {
 public:
  explicit Patterns(const std::vector<std::string>& patterns);
  ~Patterns();
  Patterns(Patterns&&) noexcept;
  Patterns& operator=(Patterns&&) noexcept;

  // The first pattern that is found in the line and says something.
  void read(std::string_view line, Trace& trace, Reading& reading) const;

 private:
  struct Pattern;
  std::vector<std::unique_ptr<Pattern>> patterns_;
};

}  // namespace sabath
