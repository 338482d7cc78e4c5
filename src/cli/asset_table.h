// The list of assets that `list` and `search` print, as a table, as names, or as the JSON record. One thread.
#pragma once

#include <string>
#include <vector>

#include "cli/verb.h"
#include "verbs/assets.h"

namespace sabath::cli {

class AssetTable {
 public:
  void add(const Recipe& recipe, const Holding& holding) { rows_.push_back({recipe, holding}); }
  void add_problem(std::string file, std::string problem) {
    problems_.push_back({std::move(file), std::move(problem)});
  }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  void print(Context& context, bool names_only, int exit) const;

 private:
  struct Row {
    Recipe recipe;
    Holding holding;
  };
  struct Problem {
    std::string file, text;
  };
  std::vector<Row> rows_;
  std::vector<Problem> problems_;
};

}  // namespace sabath::cli
