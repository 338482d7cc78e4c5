#include "record/latency.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_reader.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using SortedJson = nlohmann::json;

// A duration: a finite number from 0 on.
double latency_seconds(const SortedJson& value) {
  const auto seconds = value.get<double>();
  if (!std::isfinite(seconds) || seconds < 0) throw Error(FailureKind::invalid, "a time that is none");
  return seconds;
}

LatencyRow latency_row(const SortedJson& json) {
  LatencyRow row;
  row.model = json.at("model");
  row.what = json.at("what");
  row.provider = json.at("provider");
  row.set = json.at("set");
  row.batch = json.at("batch");
  row.threads = json.at("threads");
  row.warm_up = json.at("warm_up");
  row.calls = json.at("calls");
  row.median_seconds = latency_seconds(json.at("median_seconds"));
  row.p95_seconds = latency_seconds(json.at("p95_seconds"));
  return row;
}

}  // namespace

LatencyFile parse_latency(std::string_view text, const std::string& name) {
  JsonLimits limits;
  limits.size_max = latency_bytes_max;
  static_cast<void>(parse_json(text, name, limits));  // bounds of depth and size
  LatencyFile file;
  try {
    const auto json = SortedJson::parse(text);
    if (json.at("schema") != 1) throw Error(FailureKind::invalid, "another version wrote it");
    for (const SortedJson& row : json.at("rows")) file.rows.push_back(latency_row(row));
    const SortedJson& machine = json.at("machine");
    const auto word = [&](const char* key) {
      return machine.contains(key) && machine[key].is_string() ? machine[key].get<std::string>() : std::string();
    };
    file.node = word("node");
    file.cpu = word("cpu");
    if (machine.contains("cpus") && machine["cpus"].is_number_unsigned()) file.cpus = machine["cpus"];
    return file;
  } catch (const SortedJson::exception& error) {
    throw Error(FailureKind::invalid, fmt::format("{} has no latencies: {}", name, printable(error.what(), 500)));
  } catch (const Error& error) {
    throw Error(FailureKind::invalid, fmt::format("{} has no latencies: {}", name, error.failure().message));
  }
}

std::string latency_text(const std::vector<LatencyRow>& rows, const nlohmann::ordered_json& machine) {
  SortedJson array = SortedJson::array();
  for (const LatencyRow& row : rows) {
    array.push_back({{"model", row.model},
                     {"what", row.what},
                     {"provider", row.provider},
                     {"set", row.set},
                     {"batch", row.batch},
                     {"threads", row.threads},
                     {"warm_up", row.warm_up},
                     {"calls", row.calls},
                     {"median_seconds", row.median_seconds},
                     {"p95_seconds", row.p95_seconds}});
  }
  const SortedJson json = {{"schema", 1}, {"rows", std::move(array)}, {"machine", SortedJson::parse(machine.dump())}};
  return json.dump(1, ' ', false, SortedJson::error_handler_t::replace) + "\n";
}

}  // namespace sabath
