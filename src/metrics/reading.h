// What the reader of one format made of one line. One thread. Names point into the line, or into the Reading.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/json_scan.h"

namespace sabath {

struct Reading {
  enum class Kind : std::uint8_t {
    none,      // not a line of this format
    state,     // a line of this format that tells nothing by itself: a header, a bar on its way
    values,    // final
    repeated,  // final, but the next line may tell it again with more: it is held back until then
  };
  struct Value {
    std::string_view group, name;  // told as "group name", or "name"
    double value = 0;
  };

  Kind kind = Kind::none;
  double time = std::numeric_limits<double>::quiet_NaN();  // where the line says one
  std::optional<double> epoch;
  std::optional<std::int64_t> step;
  std::optional<int> rank;  // where the line says one behind the launcher's prefix
  std::vector<Value> values;
  std::deque<std::string> made;  // names that do not stand in the line as they are told

  void clear() {
    kind = Kind::none;
    time = std::numeric_limits<double>::quiet_NaN();
    epoch.reset();
    step.reset();
    rank.reset();
    values.clear();
    if (!made.empty()) made.clear();
  }
  void add(std::string_view name, double value) { values.push_back({{}, name, value}); }
  void add_made(std::string name, double value) { add(made.emplace_back(std::move(name)), value); }
};

}  // namespace sabath
