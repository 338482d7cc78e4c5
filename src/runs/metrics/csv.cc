// Tables that grow by a row: history.csv of Keras, metrics.csv of Lightning, metrics.csv of a run. A header has an
// epoch or a step column, or is a record's own. A row has as many cells as the header, and a number in each column of a
// position. Also tables for people, with blanks between the cells.
#include <algorithm>

#include "base/number.h"
#include "base/text.h"
#include "metrics/formats.h"
#include "metrics/pairs.h"
#include "metrics/words.h"

namespace sabath {
namespace {

constexpr std::size_t cells_max = 4096, columns_max = 64;

// False: the line is no row, or has more cells than any real table.
bool split(std::string_view line, char separator, std::vector<std::string>& cells) {
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
    } else if (c == separator && !quoted) {
      if (cells.size() == cells_max) return false;
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  for (std::string& cell : cells) cell = trim(cell);  // some writers pad each cell to a width
  return !quoted && cells.size() > 1;
}

bool is_header(const std::vector<std::string>& cells) {
  const auto has = [&](std::string_view name) { return std::find(cells.begin(), cells.end(), name) != cells.end(); };
  const bool positioned =
      std::any_of(cells.begin(), cells.end(), [](const auto& cell) { return position_of_name(cell) != '\0'; });
  const bool words = std::none_of(cells.begin(), cells.end(), [](const std::string& cell) {
    return cell.size() > 128 || try_number(cell) || cell.find_first_of("=:{") != std::string::npos;
  });
  return words && (positioned || (has("name") && has("value")));
}

bool are_numbers(const std::vector<std::string>& cells) {
  return std::all_of(cells.begin(), cells.end(),
                     [](const std::string& cell) { return cell.empty() || try_number(cell); });
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
    if (columns[i] == "value") value = try_number(cells[i]);
    if (columns[i] == "time") reading.time = try_number(cells[i]).value_or(reading.time);
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
    const std::string_view cell = cells[i];
    if (const char position = position_of_name(columns[i])) {
      if (!take_position(position, cell, reading)) return false;
    } else if (!named && !columns[i].empty()) {
      std::string_view rest = cell;
      const PrintedNumber number = printed_number(cell, trace.separator == ',');
      rest.remove_prefix(number.length);
      reading.doubtful = reading.doubtful || number.doubtful;
      if (number.length > 0 && rest.empty()) reading.add_made(columns[i], number.value);
    }
  }
  if (named) take_named(columns, cells, reading);
  return true;
}

// Words between blanks; none if there are more than in any real table.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (skip_blanks(line); !line.empty(); skip_blanks(line)) {
    if (words.size() == columns_max) return {};
    words.push_back(line.substr(0, line.find_first_of(" \t")));
    line.remove_prefix(words.back().size());
  }
  return words;
}

bool is_table_header(const std::vector<std::string_view>& words) {
  constexpr std::size_t columns_min = 3;
  if (words.size() < columns_min || position_of_name(words.front()) == '\0') return false;
  return std::all_of(words.begin(), words.end(), is_metric_name) &&
         std::any_of(words.begin(), words.end(), has_metric_word);
}

// The part of "1/3 1.2 640: 100%|...|" in front of the bar; nullopt while the bar is not full.
std::optional<std::string_view> front_of_bar(std::string_view line) {
  const std::size_t colon = line.find(": ");
  if (colon == std::string_view::npos) return line;
  std::string_view bar = line.substr(colon + 2);
  skip_blanks(bar);
  return bar.starts_with("100%") ? std::optional(line.substr(0, colon)) : std::nullopt;
}

bool take_first_cell(std::string_view column, std::string_view cell, Reading& reading) {
  const std::string_view digits = cell.substr(0, cell.find('/'));
  const auto number = try_integer(digits);
  if (number) reading.place(position_of_name(column), static_cast<double>(*number), digits);
  return number.has_value();
}

void take_cell(const std::string& column, std::string_view cell, bool grouped, Reading& reading) {
  std::string_view rest = cell;
  const auto clock = cell.find(':') == std::string_view::npos ? std::nullopt : take_duration(rest);
  const Quantity number = clock ? Quantity{*clock, true, false} : take_quantity(rest, grouped);
  reading.doubtful = reading.doubtful || number.doubtful;
  if (number.found && rest.empty()) reading.add_made(column, number.value);
}

void read_csv(std::string_view line, Trace& trace, Reading& reading) {
  const bool may_be_row = !trace.columns.empty() && line.find(trace.separator) != std::string_view::npos;
  const std::size_t mark = may_be_row ? 0 : line.find_first_of(",\t;");
  if (mark == std::string_view::npos) return;
  const char separator = may_be_row ? trace.separator : line[mark];
  std::string_view text = line;
  skip_blanks(text);
  const char front = text.empty() ? '\0' : text.front();
  const bool may_be_header =
      (is_letter(front) || front == '_' || front == '"' || front == separator) && line.size() < 65536;
  if (!may_be_row && !may_be_header) return;
  std::vector<std::string> cells;
  if (!split(line, separator, cells)) return;
  if (may_be_row && cells.size() == trace.columns.size() && take_row(trace, cells, reading)) {
    reading.kind = reading.values.empty() ? Reading::Kind::state : Reading::Kind::values;
    return;
  }
  // More cells than names: a comma may be within a number.
  reading.doubtful = reading.doubtful || (may_be_row && cells.size() > trace.columns.size() && are_numbers(cells));
  reading.clear();
  if (!may_be_header || !is_header(cells)) return;
  trace.columns = std::move(cells);
  trace.separator = separator;
  reading.kind = Reading::Kind::state;
}

// Columns by blanks: fastai's, and Ultralytics', whose rows end with a bar.
//   epoch     train_loss  valid_loss  time
//   0         0.512345    0.412345    00:12
void read_table(std::string_view line, Trace& trace, Reading& reading) {
  std::string_view text = line;
  skip_blanks(text);
  const bool may_be_row = !trace.table.empty() && !text.empty() && is_digit(text.front());
  if (!may_be_row && position_of_name(text.substr(0, text.find_first_of(" \t"))) == '\0') return;
  const auto front = front_of_bar(text);
  const auto words = words_of(front.value_or(text.substr(0, text.find(": "))));
  if (!may_be_row) {
    if (!is_table_header(words)) return;
    trace.table.assign(words.begin(), words.end());
    reading.kind = Reading::Kind::state;
    return;
  }
  if (words.size() != trace.table.size() || !take_first_cell(trace.table.front(), words.front(), reading)) return;
  if (reading.epoch) trace.epoch = reading.epoch;
  const bool grouped = writes_points(line);
  for (std::size_t i = 1; front && i < words.size(); ++i) take_cell(trace.table[i], words[i], grouped, reading);
  reading.kind = reading.values.empty() ? Reading::Kind::state : Reading::Kind::values;
}

}  // namespace

extern constexpr LogFormat csv_format{.name = "csv", .title = "CSV", .read = read_csv, .habit = Habit::whole_lines};
extern constexpr LogFormat table_format{.name = "table", .read = read_table};

}  // namespace sabath
