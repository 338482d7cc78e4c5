#include "report/latency_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "metrics/record.h"
#include "report/text_table.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using LatencyJson = nlohmann::ordered_json;

int rank_of(const std::string& what) {
  return what == native_latency ? 0 : what == plain_latency ? 1 : what == optimised_latency ? 2 : 3;
}

std::string latency_word(const std::string& text) { return printable(text, 100); }

// A cell of a Markdown table.
std::string markdown_cell(const std::string& text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|' || c == '\\' || c == '`' || c == '<' || c == '*' || c == '_') cell += '\\';
    cell += c;
  }
  return cell;
}

std::string machine_text(const LatencyTable::Machine& machine) {
  std::string text = machine.cpu.empty() ? "its processor is not known" : machine.cpu;
  if (machine.cpus > 0) text += fmt::format(", {} processors", machine.cpus);
  return text;
}

}  // namespace

std::vector<std::size_t> LatencyTable::take_machines(const std::vector<LatencySource>& sources) {
  std::map<std::tuple<std::string, std::string, std::uint64_t>, std::size_t> known;
  std::set<std::string> labels;
  std::vector<std::size_t> taken;
  for (const LatencySource& source : sources) {
    const LatencyFile& file = source.file;
    const std::string name = file.node.empty() ? source.label : file.node;
    const auto [place, is_new] = known.emplace(std::tuple(name, file.cpu, file.cpus), machines_.size());
    taken.push_back(place->second);
    if (!is_new) continue;
    std::string label = name;
    for (std::size_t n = 2; !labels.insert(label).second; ++n) label = fmt::format("{} #{}", name, n);
    machines_.push_back({std::move(label), file.cpu, file.cpus});
  }
  return taken;
}

LatencyTable::Key LatencyTable::key_of(const LatencyRow& row, std::size_t model) {
  return {model, row.batch, row.set, row.provider, rank_of(row.what), row.what};
}

LatencyTable::LatencyTable(const std::vector<LatencySource>& sources) {
  const std::vector<std::size_t> machine_of = take_machines(sources);
  std::map<std::tuple<std::size_t, std::string, Key>, std::size_t> users;  // the file, by machine, model and row
  std::set<std::string> ambiguous;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    for (const LatencyRow& row : sources[i].file.rows) {
      const auto [user, is_new] = users.emplace(std::tuple(machine_of[i], row.model, key_of(row, 0)), i);
      if (user->second != i) ambiguous.insert(row.model);
    }
  }
  std::map<std::string, std::size_t> appeared;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    for (LatencyRow row : sources[i].file.rows) {
      if (ambiguous.contains(row.model)) row.model += fmt::format(" ({})", sources[i].label);
      const std::size_t model = appeared.emplace(row.model, appeared.size()).first->second;
      lines_[key_of(row, model)].insert_or_assign(machine_of[i], std::move(row));
    }
  }
}

double LatencyTable::slowdown(const Key& key, std::size_t machine) const {
  if (std::get<5>(key) != optimised_latency) return 0;
  Key unoptimised = key;
  std::get<5>(unoptimised) = plain_latency;
  std::get<4>(unoptimised) = rank_of(std::get<5>(unoptimised));
  const auto plain = lines_.find(unoptimised), optimised = lines_.find(key);
  if (plain == lines_.end() || !plain->second.contains(machine) || !optimised->second.contains(machine)) return 0;
  const double before = plain->second.at(machine).median_seconds;
  return before > 0 ? optimised->second.at(machine).median_seconds / before : 0;
}

std::vector<std::string> LatencyTable::slower() const {
  std::vector<std::string> told;
  for (const auto& [key, values] : lines_) {
    for (const auto& [machine, row] : values) {
      if (const double times = slowdown(key, machine); times > slower_from) {
        told.push_back(fmt::format("{}, batch {}, on {}: the optimised graph is slower, {:.2f} times",
                                   latency_word(row.model), row.batch, latency_word(machines_[machine].label), times));
      }
    }
  }
  return told;
}

std::vector<std::vector<std::string>> LatencyTable::cells() const {
  std::vector<std::vector<std::string>> rows{{"model", "batch", "runtime"}};
  for (const Machine& machine : machines_) rows.front().push_back(latency_word(machine.label));
  std::set<std::tuple<std::size_t, std::int64_t, std::string>> seen;
  bool several_sets = false;
  for (const auto& [key, values] : lines_) {
    if (!seen.emplace(std::get<0>(key), std::get<1>(key), std::get<3>(key) + "/" + std::get<5>(key)).second)
      several_sets = true;
  }
  for (const auto& [key, values] : lines_) {
    const LatencyRow& row = values.begin()->second;
    std::string runtime = latency_word(row.what);
    if (!row.provider.empty() && row.provider != "cpu") runtime += ", " + latency_word(row.provider);
    if (several_sets) runtime += ", " + latency_word(row.set);
    std::vector<std::string> cells{latency_word(row.model), fmt::to_string(row.batch), std::move(runtime)};
    for (std::size_t machine = 0; machine < machines_.size(); ++machine) {
      const auto value = values.find(machine);
      const std::string mark = slowdown(key, machine) > slower_from ? " slower" : "";
      cells.push_back(value == values.end() ? "-" : fmt::format("{:.3g}{}", value->second.median_seconds * 1e3, mark));
    }
    rows.push_back(std::move(cells));
  }
  return rows;
}

std::string LatencyTable::text() const {
  TextTable table(3);
  for (auto& row : cells()) table.add(std::move(row));
  std::string text = "medians in milliseconds\n" + table.text() + "\n";
  for (const Machine& machine : machines_)
    text += fmt::format("{}: {}\n", latency_word(machine.label), printable(machine_text(machine), 300));
  for (const std::string& line : slower()) text += line + "\n";
  return text;
}

std::string LatencyTable::markdown() const {
  std::string text = "Medians in milliseconds.\n\n";
  const auto rows = cells();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const std::string& cell : rows[i]) text += "| " + markdown_cell(cell) + " ";
    text += "|\n";
    for (std::size_t k = 0; i == 0 && k < rows[i].size(); ++k) text += k == 1 || k > 2 ? "|---:" : "|---";
    if (i == 0) text += "|\n";
  }
  text += "\n";
  for (const Machine& machine : machines_)
    text += fmt::format("- {}: {}\n", markdown_cell(latency_word(machine.label)),
                        markdown_cell(printable(machine_text(machine), 300)));
  for (const std::string& line : slower()) text += "- " + markdown_cell(line) + "\n";
  return text;
}

std::string LatencyTable::csv() const {
  std::string text = "model,batch,runtime,provider,set,threads,machine,cpu,calls,median_seconds,p95_seconds,slowdown\n";
  for (const auto& [key, values] : lines_) {
    for (const auto& [machine, row] : values) {
      const double times = slowdown(key, machine);
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_cell(row.model), row.batch, csv_cell(row.what),
                          csv_cell(row.provider), csv_cell(row.set), row.threads, csv_cell(machines_[machine].label),
                          csv_cell(machines_[machine].cpu), row.calls, row.median_seconds, row.p95_seconds,
                          times > 0 ? fmt::format("{:.4g}", times) : "");
    }
  }
  return text;
}

LatencyJson LatencyTable::json() const {
  LatencyJson machines = LatencyJson::array(), rows = LatencyJson::array();
  for (const Machine& machine : machines_) {
    machines.push_back({{"name", printable(machine.label, 300)},
                        {"cpu", machine.cpu.empty() ? LatencyJson() : LatencyJson(printable(machine.cpu, 300))},
                        {"cpus", machine.cpus > 0 ? LatencyJson(machine.cpus) : LatencyJson()}});
  }
  for (const auto& [key, values] : lines_) {
    for (const auto& [machine, row] : values) {
      const double times = slowdown(key, machine);
      rows.push_back({{"model", printable(row.model, 300)},
                      {"batch", row.batch},
                      {"runtime", printable(row.what, 300)},
                      {"provider", printable(row.provider, 300)},
                      {"set", printable(row.set, 300)},
                      {"threads", row.threads},
                      {"machine", machine},
                      {"calls", row.calls},
                      {"median_seconds", row.median_seconds},
                      {"p95_seconds", row.p95_seconds},
                      {"slowdown", times > 0 ? LatencyJson(times) : LatencyJson()}});
    }
  }
  return {{"machines", std::move(machines)}, {"rows", std::move(rows)}};
}

}  // namespace sabath
