#include "report/heading.h"
#include "base/counted.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>

namespace sabath {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t listed_max = 3;
constexpr double last_second = 253402300799;  // of the year 9999

class Names {  // each once, in the order of the runs
 public:
  void add(const std::string& name) {
    if (!name.empty() && std::ranges::find(names_, name) == names_.end()) names_.push_back(name);
  }
  [[nodiscard]] std::string text() const {
    const std::size_t listed = std::min(names_.size(), listed_max);
    const std::string text = fmt::format("{}", fmt::join(names_.begin(), names_.begin() + listed, ", "));
    return names_.size() == listed ? text : fmt::format("{} and {} more", text, names_.size() - listed);
  }

 private:
  std::vector<std::string> names_;
};

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// "4 x NVIDIA A100", of lines that begin with a device's name (src/site/machine/machine.cc).
std::string accelerators_of(const Json& machine) {
  const auto found = machine.find("accelerators");
  if (found == machine.end() || !found->is_array()) return {};
  std::map<std::string, std::size_t> counts;
  for (const Json& line : *found) {
    if (!line.is_string()) continue;
    const auto text = line.get<std::string>();
    ++counts[text.substr(0, text.find(','))];
  }
  Names names;
  for (const auto& [name, count] : counts) names.add(count == 1 ? name : fmt::format("{} x {}", count, name));
  return names.text();
}

// "node12: AMD EPYC 7763, 4 x NVIDIA A100".
std::string machine_of(const RunRecord& record) {
  if (record.machine == nullptr || !record.machine->is_object()) return {};
  std::string text = text_at(*record.machine, "node");
  for (const auto& [part, before] :
       {std::pair{text_at(*record.machine, "cpu"), ": "}, {accelerators_of(*record.machine), ", "}}) {
    if (!part.empty()) text += (text.empty() ? "" : before) + part;
  }
  return text;
}

std::string ranks_of(const RunRecord& record) {
  if (record.ranks.value_or(1) < 2) return {};
  const std::string ranks = fmt::format("{} ranks", *record.ranks);
  if (!record.nodes) return ranks;
  return fmt::format("{} on {}", ranks, counted(static_cast<std::uint64_t>(*record.nodes), "node"));
}

std::string date_of(const RunRecord& record) {
  const double started = record.started.value_or(-1);
  if (!(started > 0 && started < last_second)) return {};
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(started)));
}

}  // namespace

Heading heading_of(std::span<const Run> runs) {
  Names models, datasets, labels, machines, ranks;
  std::string first_date, last_date;  // texts that sort as days do
  for (const Run& run : runs) {
    labels.add(run.label);
    if (!run.record) continue;
    if (run.record->recipe) models.add(run.record->recipe->name);
    for (const RunRecord::Asset& asset : run.record->assets.value_or(std::vector<RunRecord::Asset>{})) {
      if (asset.kind == "dataset") datasets.add(asset.name);
    }
    machines.add(machine_of(*run.record));
    ranks.add(ranks_of(*run.record));
    if (const std::string date = date_of(*run.record); !date.empty()) {
      first_date = first_date.empty() ? date : std::min(first_date, date);
      last_date = std::max(last_date, date);
    }
  }
  Heading heading{models.text(), machines.text()};
  if (heading.title.empty()) heading.title = labels.text();
  if (!datasets.text().empty()) heading.title += " on " + datasets.text();
  for (const std::string& part :
       {ranks.text(), first_date == last_date ? first_date : first_date + " to " + last_date}) {
    if (!part.empty()) heading.detail += (heading.detail.empty() ? "" : " · ") + part;
  }
  return heading;
}

}  // namespace sabath
