// One object on a line, flat: {"epoch": 3, "loss": 0.12, "train": {"acc": 0.9}}; what `sabath log` prints:
// {"time": 1732180000.5, "epoch": 3, "values": {"loss": 0.12}}; and a line of a run's record: {"name": ..., "value":
// ...}.
#include <algorithm>

#include "base/number.h"
#include "base/text.h"
#include "metrics/formats.h"
#include "metrics/words.h"

namespace sabath {
namespace {

// `quoted`: this program prints its numbers as texts.
std::optional<double> number_of_leaf(const JsonLeaf& leaf, bool quoted) {
  if (leaf.kind == JsonLeaf::Kind::number) return leaf.number;
  if (quoted && leaf.kind == JsonLeaf::Kind::text) return try_number(leaf.text);
  if (leaf.kind == JsonLeaf::Kind::text && (leaf.text == "NaN" || leaf.text == "Infinity" || leaf.text == "-Infinity"))
    return try_number(leaf.text);
  return std::nullopt;
}

std::string name_of(const JsonLeaf& leaf, bool with_outer) {
  std::string name = with_outer ? json_unescape(leaf.outer) : std::string{};
  if (!leaf.inner.empty()) name += (name.empty() ? "" : ".") + json_unescape(leaf.inner);
  if (leaf.index >= 0) name += "[" + std::to_string(leaf.index) + "]";
  return name;
}

// Takes the position or the time of the line. A `time` that is no time of day is a duration, and a value.
bool take_place(const JsonLeaf& leaf, double number, Reading& reading) {
  if (!leaf.inner.empty() || leaf.index >= 0) return false;
  const char position = position_of_name(leaf.outer);
  reading.place(position, number, leaf.text);
  if (position != '\0') return true;
  constexpr double year_2001 = 1e9, year_2001_ms = 1e12;
  const bool clock = leaf.outer == "time" || leaf.outer == "timestamp" || leaf.outer == "_timestamp";
  if (!clock || !(number >= year_2001)) return false;
  reading.time = number >= year_2001_ms ? number / 1000 : number;
  return true;
}

// `flat`: an object that must have an epoch or a step, because programs print others, too.
void read_leaves(bool flat, Reading& reading) {
  const auto& leaves = reading.leaves;
  const JsonLeaf* name = nullptr;
  const JsonLeaf* value = nullptr;
  // Transformers now quotes every number: if a line's position is quoted, its values are, too.
  const bool quoted = std::any_of(leaves.begin(), leaves.end(), [](const JsonLeaf& leaf) {
    return leaf.kind == JsonLeaf::Kind::text && leaf.inner.empty() && leaf.index < 0 &&
           position_of_name(leaf.outer) != '\0' && try_number(leaf.text);
  });
  for (const JsonLeaf& leaf : leaves) {
    if (!leaf.inner.empty() || leaf.index >= 0) continue;
    if (leaf.outer == "name" && leaf.kind == JsonLeaf::Kind::text) name = &leaf;
    if (leaf.outer == "value" && number_of_leaf(leaf, quoted)) value = &leaf;
  }
  for (const JsonLeaf& leaf : leaves) {
    const auto number = number_of_leaf(leaf, quoted);
    if (!number || &leaf == value || take_place(leaf, *number, reading)) continue;
    if (name == nullptr || value == nullptr) reading.add_made(name_of(leaf, leaf.outer != "values"), *number);
  }
  if (name != nullptr && value != nullptr) {
    reading.add_made(json_unescape(name->text), *number_of_leaf(*value, quoted));
  } else if (flat && !reading.epoch && !reading.step) {
    reading.clear();
    return;
  }
  if (reading.values.empty()) {
    reading.clear();
  } else {
    reading.kind = Reading::Kind::values;
  }
}

// An object alone, or behind a container's name: "trainer-0  | {...}".
void read_line(std::string_view line, Trace& /*trace*/, Reading& reading) {
  constexpr std::size_t name_max = 128;
  if (line.front() != '{') {
    const std::size_t bar = line.substr(0, name_max).find(" | {");
    if (bar == std::string_view::npos || trim(line).back() != '}') return;
    const std::string_view name = trim(line.substr(0, bar));
    if (name.empty() || name.find_first_of(" \t|{") != std::string_view::npos) return;
    line.remove_prefix(bar + 3);
  }
  if (scan_json_object(line, reading.leaves)) read_leaves(true, reading);
}

void read_record(std::string_view /*object*/, Trace& /*trace*/, Reading& reading) { read_leaves(false, reading); }

}  // namespace

extern constexpr LogFormat json_format{
    .name = "json", .title = "JSON lines", .read = read_line, .habit = Habit::whole_lines};
extern constexpr LogFormat sabath_format{.name = "sabath", .read = read_record, .mark = ":::SABATH"};

}  // namespace sabath
