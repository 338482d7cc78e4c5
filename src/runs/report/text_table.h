// Columns for a terminal: numbers to the right, words to the left, two blanks between. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

[[nodiscard]] std::size_t columns_of(std::string_view text);  // code points
[[nodiscard]] std::string padded(std::string_view text, std::size_t width, bool right);

class TextTable {
 public:
  explicit TextTable(std::size_t words) : words_(words) {}  // the first columns are words
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::string text() const;

 private:
  std::size_t words_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace sabath
