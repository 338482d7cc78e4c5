// Failures and tables as people read them. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sabath/error.h"
#include "verbs/verb.h"

namespace sabath::cli {

// "error: cannot ...\n  hint: ...\n", and with `verbose` the kind and the exit code. Control bytes are escaped.
[[nodiscard]] std::string render_failure(const Failure& failure, bool verbose, bool color);
[[nodiscard]] std::string render_warning(std::string_view text, bool color);

// Columns two spaces apart, each as wide as its widest cell; cells of `right` columns stand to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] bool empty() const { return rows_.size() < 2; }
  // `width` columns at most for the last cell of a line, which is cut; 0: never.
  [[nodiscard]] std::string text(std::vector<std::size_t> right, std::size_t width) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// Columns that the text takes on a terminal, counted in code points.
[[nodiscard]] std::size_t display_width(std::string_view text);
// At most `width` columns, the end cut and marked; `middle` cuts in the middle (for URLs and paths).
[[nodiscard]] std::string shorten(std::string_view text, std::size_t width, bool utf8, bool middle = false);
// Lines of at most `width` columns, broken at spaces, each begun with `indent`.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t width, std::string_view indent);

}  // namespace sabath::cli
