// Tables that grow by a row: history.csv of Keras, metrics.csv of Lightning, metrics.csv of a run. A header has an
// epoch or a step column, or is a record's own; rows have as many cells as it, and a number wherever a position is
// named.
#include <algorithm>

#include "base/text.h"
#include "metrics/formats.h"
#include "metrics/number.h"
#include "metrics/words.h"

namespace sabath {
namespace {

constexpr std::size_t cells_max = 4096;

// False: the line is no row, or has more cells than anybody's table.
bool split(std::string_view line, std::vector<std::string>& cells) {
  cells.clear();
  cells.emplace_back();
  bool quoted = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '"') {
      if (quoted && at + 1 < line.size() && line[at + 1] == '"') {
        cells.back() += c;
        ++at;
      } else {
        quoted = !quoted;
      }
    } else if (c == ',' && !quoted) {
      if (cells.size() == cells_max) return false;
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return !quoted && cells.size() > 1;
}

bool is_header(const std::vector<std::string>& cells) {
  const auto has = [&](std::string_view name) { return std::find(cells.begin(), cells.end(), name) != cells.end(); };
  const bool positioned =
      std::any_of(cells.begin(), cells.end(), [](const auto& cell) { return position_of_name(trim(cell)) != '\0'; });
  const bool words = std::none_of(cells.begin(), cells.end(), [](const std::string& cell) {
    return cell.size() > 128 || try_number(trim(cell)) || cell.find_first_of("=:{") != std::string::npos;
  });
  return words && (positioned || (has("name") && has("value")));
}

bool take_position(char position, std::string_view cell, Reading& reading) {
  if (cell.empty()) return true;
  const auto number = try_number(cell);
  if (!number) return false;
  reading.place(position, *number, cell);
  return true;
}

// A row of "time,epoch,step,rank,name,value".
void take_named(const std::vector<std::string>& columns, const std::vector<std::string>& cells, Reading& reading) {
  std::string name;
  std::optional<double> value;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (columns[i] == "name") name = cells[i];
    if (columns[i] == "value") value = try_number(trim(cells[i]));
    if (columns[i] == "time") reading.time = try_number(trim(cells[i])).value_or(reading.time);
  }
  if (value) reading.add_made(std::move(name), *value);
}

bool take_row(const Trace& trace, const std::vector<std::string>& cells, Reading& reading) {
  const auto& columns = trace.columns;
  const auto has = [&](std::string_view name) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  };
  const bool named = has("name") && has("value");
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string_view cell = trim(cells[i]);
    if (const char position = position_of_name(columns[i])) {
      if (!take_position(position, cell, reading)) return false;
    } else if (const auto number = named ? std::nullopt : try_number(cell)) {
      reading.add_made(columns[i], *number);
    }
  }
  if (named) take_named(columns, cells, reading);
  return true;
}

}  // namespace

void read_csv(std::string_view line, Trace& trace, Reading& reading) {
  if (line.find(',') == std::string_view::npos) return;
  const bool may_be_row = !trace.columns.empty();
  const char front = line.front();
  const bool may_be_header = (is_letter(front) || front == '_' || front == '"') && line.size() < 65536;
  if (!may_be_row && !may_be_header) return;
  std::vector<std::string> cells;
  if (!split(line, cells)) return;
  if (may_be_row && cells.size() == trace.columns.size() && take_row(trace, cells, reading)) {
    reading.kind = reading.values.empty() ? Reading::Kind::state : Reading::Kind::values;
    return;
  }
  reading.clear();
  if (!may_be_header || !is_header(cells)) return;
  for (std::string& cell : cells) cell = trim(cell);
  trace.columns = std::move(cells);
  reading.kind = Reading::Kind::state;
}

}  // namespace sabath
