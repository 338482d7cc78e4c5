#include "report/text_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "base/counted.h"
#include "base/text.h"
#include "base/wording.h"
#include "metrics/record.h"
#include "metrics/sparkline.h"
#include "report/exporter.h"
#include "report/letters.h"
#include "report/summary.h"
#include "report/text_table.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t rows_max = 40, rows_at_the_ends = 15, columns_shown_max = 8, sparkline_width = 40;
constexpr std::size_t name_columns_max = 24, figures_shown_max = 40;
constexpr double list_width = 560;  // as figures count it: about 70 columns

std::string short_digest(const std::string& digest) {
  constexpr std::size_t length = 7 + 12;  // "sha256:" and twelve digits
  return digest.size() > length ? digest.substr(0, length) : digest;
}

std::string shown(const std::string& text) { return printable(text, 300); }

void add_line(std::string& out, std::string_view name, const std::string& text) {
  if (!text.empty()) out += fmt::format("  {:<8} {}\n", name, text);
}

std::string recipe_line(const Run& run) {
  const RunRecord::Recipe recipe = recipe_of(run);
  if (recipe.name.empty()) return {};
  std::string line = recipe.name;
  for (const std::string& more :
       {recipe.version.empty() ? "" : " " + recipe.version, run.record->mode.empty() ? "" : ", " + run.record->mode,
        recipe.digest.empty() ? "" : ", " + short_digest(recipe.digest)})
    line += more;
  return shown(line);
}

void add_assets(std::string& out, const Run& run) {
  for (const RunRecord::Asset& asset : assets_of(run)) {
    std::string line = asset.name + "  " + short_digest(asset.manifest);
    if (!asset.verified_by.empty()) line += "  " + asset.verified_by;
    if (asset.warm) line += *asset.warm ? "  warm" : "  cold";
    add_line(out, asset.kind.empty() ? "asset" : asset.kind, shown(line));
  }
}

std::string times_line(const RunTimes& times) {
  std::string line;
  const auto add = [&](std::string_view name, const std::optional<double>& seconds) {
    if (seconds) line += fmt::format("{}{} {}", line.empty() ? "" : ", ", name, format_duration(*seconds));
  };
  add("fetch", times.fetch);
  add("stage", times.stage);
  add("verify", times.verify);
  add("launch", times.launch);
  add("train", times.train);
  return line;
}

std::string state_line(const Run& run) {
  std::string line = state_of(run);
  if (line.empty()) line = run.is_directory ? "no run.json" : "a log";
  if (run.record && run.record->exit) line += fmt::format(", exit {}", *run.record->exit);
  if (run.record && run.record->signal) line += fmt::format(", signal {}", *run.record->signal);
  if (const auto seconds = duration_of(run)) line += ", " + format_duration(*seconds);
  return shown(line + ", " + counted(run.metrics, "value"));
}

std::string head_of(const Run& run) {
  std::string out = fmt::format("{}: {}\n", shown(run.label), state_line(run));
  add_line(out, "recipe", recipe_line(run));
  add_assets(out, run);
  add_line(out, "times", times_line(times_of(run)));
  return out;
}

// The columns of a table: what is shown, and the time.
std::vector<const Series*> columns_for(const Run& run, const Shown& chosen) {
  std::vector<const Series*> columns;
  for (const Series& series : run.series) {
    const bool wanted = std::find(chosen.left.begin(), chosen.left.end(), series.name) != chosen.left.end();
    if (wanted || series.name == chosen.right) columns.push_back(&series);
  }
  return columns;
}

std::vector<std::string> names_of(const std::vector<const Series*>& columns) {
  std::vector<std::string> names;
  for (const Series* const column : columns) names.push_back(column->name);
  return short_names(names, name_columns_max);
}

// The metrics that have no column.
std::string left_out_of(const Run& run, const std::vector<const Series*>& columns) {
  std::vector<std::string> names;
  for (const Series& series : run.series) {
    if (std::ranges::find(columns, &series) == columns.end()) names.push_back(series.name);
  }
  if (names.empty()) return {};
  return fmt::format("  not shown: {}; {} shows one\n", listed(short_names(names, 48), list_width),
                     option_text("metric"));
}

// The values of no epoch and no step.
std::string figures_of(const Run& run, const TextOptions& options) {
  if (run.figures.empty()) return {};
  TextTable table(1);
  std::vector<std::string> names;
  for (const auto& [name, value] : run.figures) names.push_back(name);
  names = short_names(names, 48);
  const std::size_t shown = options.all_rows ? names.size() : std::min(names.size(), figures_shown_max);
  for (std::size_t i = 0; i < shown; ++i) table.add({"  " + names[i], short_number(run.figures[i].second)});
  std::string text = "  of no epoch:\n" + table.text();
  if (shown < names.size())
    text += fmt::format("  {}: {} shows all\n", counted(names.size() - shown, "more", "more"), option_text("all"));
  return text;
}

std::string table_of(const Run& run, const std::vector<const Series*>& columns, const TextOptions& options) {
  std::map<double, std::vector<std::string>> rows;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (std::size_t j = 0; j < columns[i]->x.size(); ++j) {
      auto& row = rows[columns[i]->x[j]];
      row.resize(columns.size());
      row[i] = short_number(columns[i]->y[j]);
    }
  }
  TextTable table(0);
  std::vector<std::string> head{run.by_step ? "step" : "epoch"};
  std::ranges::move(names_of(columns), std::back_inserter(head));
  table.add(std::move(head));
  const bool shortened = !options.all_rows && rows.size() > rows_max;
  std::size_t number = 0;
  for (const auto& [x, cells] : rows) {
    ++number;
    if (shortened && number == rows_at_the_ends + 1) table.add({options.utf8 ? "…" : "..."});
    if (shortened && number > rows_at_the_ends && number + rows_at_the_ends <= rows.size()) continue;
    std::vector<std::string> row{fmt::format("{}", x)};
    row.insert(row.end(), cells.begin(), cells.end());
    table.add(std::move(row));
  }
  return table.text();
}

std::string lines_of(const Run& run, const std::vector<const Series*>& columns, const TextOptions& options) {
  TextTable table(2);
  const std::vector<std::string> names = names_of(columns);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Series* const series = columns[i];
    const Summary summary = summarize(*series);
    std::vector<std::string> row{names[i], sparkline(series->y, sparkline_width, options.utf8),
                                 short_number(summary.first) + " -> " + short_number(summary.last)};
    if (summary.count > 0 && role_of(series->name) == Role::time) {
      row.push_back("mean " + short_number(summary.mean) + " s");
    } else if (summary.count > 0) {
      const bool most = role_of(series->name) == Role::score;
      row.push_back(fmt::format("best {} at {} {}", short_number(most ? summary.greatest : summary.least),
                                run.by_step ? "step" : "epoch", most ? summary.greatest_at : summary.least_at));
    }
    table.add(std::move(row));
  }
  return table.text();
}

std::string side_by_side(std::span<const Run> runs, const Shown& chosen) {
  TextTable table(1);
  std::vector<std::string> head{"run", "epochs"};
  std::vector<std::string> names = chosen.left;
  if (!chosen.right.empty()) names.push_back(chosen.right);
  std::ranges::move(short_names(names, name_columns_max), std::back_inserter(head));
  table.add(std::move(head));
  std::vector<std::string> labels;
  for (const Run& run : runs) labels.push_back(run.label);
  labels = short_names(labels, 48);
  for (const Run& run : runs) {
    std::size_t epochs = 0;
    for (const Series& series : run.series) epochs = std::max(epochs, series.x.size());
    std::vector<std::string> row{labels[&run - runs.data()], fmt::format("{}", epochs)};
    for (const std::string& name : names) {
      const Series* const series = run.find(name);
      const bool mean = name == chosen.right;
      row.push_back(series == nullptr ? "" : short_number(mean ? summarize(*series).mean : series->y.back()));
    }
    table.add(std::move(row));
  }
  return "last values; of times the mean\n" + table.text();
}

}  // namespace

std::string short_number(double value) {
  return std::isfinite(value) ? fmt::format("{:.5g}", value) : number_text(value);
}

std::string text_report(std::span<const Run> runs, const std::vector<std::string>& names, const TextOptions& options) {
  std::string out;
  for (const Run& run : runs) {
    const std::span<const Run> one(&run, 1);
    if (!out.empty()) out += "\n";
    out += head_of(run);
    const Shown chosen = choose_shown(runs.size() == 1 ? one : runs, names, columns_shown_max);
    const auto columns = columns_for(run, chosen);
    if (columns.empty()) {
      if (run.figures.empty()) out += "  no metric of any epoch or step\n";
    } else {
      out += table_of(run, columns, options) + "\n" + lines_of(run, columns, options);
    }
    if (!chosen.asked) out += left_out_of(run, columns);
    out += figures_of(run, options);
  }
  if (runs.size() > 1) out += "\n" + side_by_side(runs, choose_shown(runs, names, columns_shown_max));
  return out;
}

namespace {

void write_text(std::span<const Run> runs, const ExportOptions& options, ExportSink& sink) {
  TextOptions text;
  text.utf8 = options.utf8;
  text.all_rows = options.all_rows;
  sink.write(text_report(runs, options.metrics, text));
}

}  // namespace

extern constexpr Exporter text_exporter{.name = "text", .endings = {".txt"}, .write = write_text};

}  // namespace sabath
