// A report as one HTML file: figure, results, tables, what each run was. No script, no network, light and dark.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/counted.h"
#include "base/text.h"
#include "report/exporter.h"
#include "report/figure.h"
#include "report/summary.h"
#include "report/svg_canvas.h"
#include "report/text_report.h"

namespace sabath {
namespace {

constexpr std::size_t columns_max = 16;

constexpr std::string_view style = R"(
:root{color-scheme:light dark;--paper:#fff;--ink:#1f2933;--faint:#dfe3e8;--soft:#f5f6f8;--quiet:#5b6672}
@media(prefers-color-scheme:dark){:root{--paper:#14181d;--ink:#e4e8ed;--faint:#323a44;--soft:#1c2229;--quiet:#9aa5b1}}
*{box-sizing:border-box}
body{margin:0 auto;padding:2rem 1.25rem 4rem;max-width:64rem;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,"Segoe UI","DejaVu Sans",sans-serif}
h1{font-size:1.5rem;margin:0 0 1rem}h2{font-size:1.15rem;margin:2.25rem 0 .5rem;overflow-wrap:anywhere}
.quiet{color:var(--quiet)}
figure{margin:0;overflow-x:auto}svg{width:100%;min-width:40rem;height:auto}
svg .paper{fill:var(--paper)}svg .ink{fill:var(--ink)}svg .grid{stroke:var(--faint)}svg .axis{stroke:var(--ink)}
@media(prefers-color-scheme:dark){svg [stroke="#0072B2"]{stroke:#4a9be8}svg [fill="#0072B2"]{fill:#4a9be8}
svg [stroke="#5B4B8A"]{stroke:#a594dc}svg [fill="#5B4B8A"]{fill:#a594dc}
svg [stroke="#8C6D31"]{stroke:#b8995a}svg [fill="#8C6D31"]{fill:#b8995a}}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.2rem .9rem .2rem 0;text-align:right;border-bottom:1px solid var(--faint);white-space:nowrap}
th:first-child,td:first-child{text-align:left}th{font-weight:600}
table.results .run{padding-top:.8rem;white-space:normal;overflow-wrap:anywhere}
table.facts td{text-align:left;white-space:normal;overflow-wrap:anywhere;vertical-align:top}
table.facts td:first-child{white-space:nowrap;color:var(--quiet)}
details{margin:.75rem 0;background:var(--soft);border-radius:6px;padding:.5rem .9rem}
summary{cursor:pointer;font-weight:600}
)";

std::string cell(std::string_view text, std::string_view tag = "td") {
  return fmt::format("<{0}>{1}</{0}>", tag, xml_text(text));
}

std::string results(std::span<const Run> runs, const Shown& shown) {
  std::string out =
      "<div class=\"wide\"><table class=\"results\"><thead><tr><th>metric</th><th>first</th><th>last</th>"
      "<th>least</th><th>at</th><th>greatest</th><th>at</th></tr></thead><tbody>\n";
  std::vector<std::string> names = shown.left;
  if (!shown.right.empty()) names.push_back(shown.right);
  for (const Run& run : runs) {
    if (runs.size() > 1) out += fmt::format("<tr><th class=\"run\" colspan=\"7\">{}</th></tr>\n", xml_text(run.label));
    for (const std::string& name : names) {
      const Series* const series = run.find(name);
      if (series == nullptr) continue;
      const Summary summary = summarize(*series);
      out += "<tr>" + cell(name) + cell(short_number(summary.first)) + cell(short_number(summary.last)) +
             cell(short_number(summary.least)) + cell(fmt::format("{}", summary.least_at)) +
             cell(short_number(summary.greatest)) + cell(fmt::format("{}", summary.greatest_at)) + "</tr>\n";
    }
  }
  return out + "</tbody></table></div>\n";
}

std::string epochs(const Run& run) {
  std::vector<const Series*> columns;
  for (const Series& series : run.series) {
    if (columns.size() < columns_max) columns.push_back(&series);
  }
  std::map<double, std::vector<std::string>> rows;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (std::size_t j = 0; j < columns[i]->x.size(); ++j) {
      auto& row = rows[columns[i]->x[j]];
      row.resize(columns.size());
      row[i] = short_number(columns[i]->y[j]);
    }
  }
  std::string out =
      fmt::format("<details><summary>{} {}</summary><div class=\"wide\"><table><thead><tr>{}", rows.size(),
                  run.by_step ? "steps" : "epochs", cell(run.by_step ? "step" : "epoch", "th"));
  for (const Series* const column : columns) out += cell(column->name, "th");
  out += "</tr></thead><tbody>\n";
  for (const auto& [x, cells] : rows) {
    out += "<tr>" + cell(fmt::format("{}", x));
    for (const std::string& text : cells) out += cell(text);
    out += "</tr>\n";
  }
  out += "</tbody></table></div>";
  if (run.series.size() > columns.size())
    out += fmt::format("<p class=\"quiet\">{} not shown here: the csv has all.</p>",
                       counted(run.series.size() - columns.size(), "metric is", "metrics are"));
  return out + "</details>\n";
}

std::string facts_table(const Run& run) {
  std::string rows;
  for (const auto& [name, text] : run.record ? facts_of(*run.record->document) : Facts{}) {
    if (!text.empty()) rows += "<tr>" + cell(name) + cell(text) + "</tr>\n";
  }
  for (const auto& [name, value] : run.figures) rows += "<tr>" + cell(name) + cell(short_number(value)) + "</tr>\n";
  if (rows.empty()) return {};
  return "<details><summary>What it was</summary><table class=\"facts\"><tbody>\n" + rows +
         "</tbody></table></details>\n";
}

std::string one_run(const Run& run) {
  std::string line = state_of(run);
  if (run.record && run.record->exit) line += fmt::format(", exit {}", *run.record->exit);
  if (const auto seconds = duration_of(run)) line += (line.empty() ? "" : ", ") + format_duration(*seconds);
  std::string out = "<h2>" + xml_text(run.label) + "</h2>\n";
  if (!line.empty()) out += "<p class=\"quiet\">" + xml_text(line) + "</p>\n";
  return out + (run.series.empty() ? std::string("<p>No metric of any epoch or step.</p>\n") : epochs(run)) +
         facts_table(run);
}

void write_html(std::span<const Run> runs, const ExportOptions& options, ExportSink& sink) {
  const Shown shown = shown_in_figure(runs, options.metrics);
  const std::string title = runs.size() == 1 ? runs.front().label : fmt::format("{} runs", runs.size());
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\">\n<title>{0}</title><style>{1}</style></head>\n<body><h1>{0}</"
      "h1>\n",
      xml_text(title), style);
  out += "<figure>" + draw_figure(runs, shown) + "</figure>\n";
  out += results(runs, shown);
  for (const Run& run : runs) out += one_run(run);
  sink.write(out + "</body></html>\n");
}

}  // namespace

extern constexpr Exporter html_exporter{.name = "html", .endings = {".html", ".htm"}, .write = write_html};

}  // namespace sabath
