// The result of one format's reader for one line. One thread. Names point into the line, or into the Reading.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/number.h"
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
  bool doubtful = false;  // a number of this line may mean two things, and was left out; clear() leaves it
  double time = std::numeric_limits<double>::quiet_NaN();  // where the line says one
  std::optional<double> epoch;
  std::optional<std::int64_t> step;
  std::optional<int> rank;  // where the line says one behind the launcher's prefix
  std::vector<Value> values;
  std::deque<std::string> made;  // names that do not stand in the line as they are told
  std::vector<JsonLeaf> leaves;  // of the object that a reader of JSON looks at; clear() leaves them

  void clear() {
    kind = Kind::none;
    time = std::numeric_limits<double>::quiet_NaN();
    epoch.reset();
    step.reset();
    rank.reset();
    values.clear();
    if (!made.empty()) made.clear();
  }
  // Where the line belongs: `position` as position_of_name() gives it, the number and its text. An epoch that is not
  // finite, a step that is no integer and a rank that cannot be one are none.
  void place(char position, double number, std::string_view text) {
    if (position == 'e' && std::isfinite(number)) epoch = number;
    if (position == 's') step = whole(number, text);
    if (position != 'r') return;
    if (const auto id = try_integer(text); id && *id >= 0 && *id < std::numeric_limits<int>::max())
      rank = static_cast<int>(*id);
  }
  // Beyond what a double holds exactly the digits count; "1,234" has none that can be read so.
  static std::optional<std::int64_t> whole(double number, std::string_view text) {
    constexpr double exact_max = 9e15;
    if (const auto integer = try_integer(text)) return integer;
    if (!(std::abs(number) < exact_max) || std::trunc(number) != number) return std::nullopt;
    return static_cast<std::int64_t>(number);
  }
  void add(std::string_view name, double value) { values.push_back({{}, name, value}); }
  void add_made(std::string name, double value) { add(made.emplace_back(std::move(name)), value); }
};

}  // namespace sabath
