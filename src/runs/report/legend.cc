#include "report/legend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "report/letters.h"

namespace sabath {
namespace {

constexpr double row_height = 22, swatch = 30, swatch_gap = 8, entry_gap = 22, above = 14, below = 18;
constexpr std::size_t label_length_max = 48, label_length_min = 16;

}  // namespace

Legend::Legend(const Curves& curves, double width) {
  const auto metrics = std::ranges::find_if(curves.legend, [](const LegendEntry& entry) { return !entry.marker; });
  place_entries({curves.legend.begin(), metrics}, width);
  place_entries({metrics, curves.legend.end()}, width);
  place_notes(curves, width);
}

// In one row, or in columns of one width: two at least, for which labels are cut.
void Legend::place_entries(std::span<const LegendEntry> entries, double width) {
  if (entries.empty()) return;
  const double label_width = (width - entry_gap) / 2 - swatch - swatch_gap;
  std::vector<std::string> names, labels;
  for (const LegendEntry& entry : entries) names.push_back(entry.label);
  for (std::size_t length = label_length_max; length >= label_length_min; length -= 2) {
    labels = short_names(names, length);
    const auto fits = [&](const std::string& label) { return text_width(label) <= label_width; };
    if (entries.size() == 1 || std::ranges::all_of(labels, fits)) break;
  }
  double all = -entry_gap, column = 0;
  for (std::string& label : labels) {
    label = cut_to_width(label, width - swatch - swatch_gap);
    const double entry = swatch + swatch_gap + text_width(label) + entry_gap;
    all += entry;
    column = std::max(column, entry);
  }
  const auto columns = static_cast<std::size_t>(std::max(1.0, std::floor((width + entry_gap) / column)));
  double x = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const bool in_row = all <= width;
    places_.push_back(
        {entries[i], in_row ? x : static_cast<double>(i % columns) * column, rows_ + (in_row ? 0 : i / columns)});
    places_.back().entry.label = labels[i];
    x += swatch + swatch_gap + text_width(labels[i]) + entry_gap;
  }
  rows_ = places_.back().row + 1;
}

void Legend::place_notes(const Curves& curves, double width) {
  const auto note = [&](const std::string& before, const std::vector<std::string>& names, const std::string& after) {
    if (names.empty()) return;
    const double room = width - text_width(before + after);
    const std::string text = before + listed(short_names(names, label_length_max), room) + after;
    places_.push_back({{cut_to_width(text, width), "", "", {}}, 0, rows_++});
  };
  note("beyond the axis: ", curves.beyond, "");
  note("metrics not drawn: ", curves.metrics_left_out, "");
  note(
      fmt::format("{} not drawn: ", counted(curves.runs_left_out.size(), "run")), curves.runs_left_out,
      curves.left_out_by.empty() ? "" : fmt::format("; these have the best {}", cut_to_length(curves.left_out_by, 24)));
}

double Legend::height() const {
  return above + below + row_height * (std::max<double>(1, static_cast<double>(rows_)) - 1);
}

void Legend::draw(SvgCanvas& canvas, double left, double top) const {
  canvas.put("<g class=\"legend\">\n");
  for (const auto& [entry, offset, row] : places_) {
    const double x = left + offset, y = top + above + row_height * static_cast<double>(row);
    if (entry.colour.empty()) {
      canvas.text(x, y, "start", entry.label);
      continue;
    }
    canvas.put(R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" stroke-width="2.5")", x, y - 4,
               x + swatch, y - 4, entry.colour);
    if (!entry.dash.empty()) canvas.put(R"( stroke-dasharray="{}")", entry.dash);
    canvas.put("/>\n");
    if (entry.marker) canvas.marker(*entry.marker, x + swatch / 2, y - 4, 3.2, entry.colour, "");
    canvas.text(x + swatch + swatch_gap, y, "start", entry.label);
  }
  canvas.put("</g>\n");
}

}  // namespace sabath
