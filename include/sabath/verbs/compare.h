// Two runs compared: the same data? the same code? what else differs, and by how much do the results? A run is a
// directory of sabath/verbs/run.h, or a log. Throws Error{usage} for a tolerance that makes no sense and for a sweep,
// Error{not_found}, Error{invalid} and Error{storage} as reading a run does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/event.h"

namespace sabath {

class Session;

struct CompareRequest {
  std::filesystem::path a, b;
  double tolerance = 0.01;            // relative difference that counts as none
  std::vector<std::string> metrics;   // these only; empty: all but times
  std::vector<std::string> patterns;  // as of MetricsRequest
  bool strict = false;                // a metric beyond the tolerance is a failure: `exit` says so
};

struct FactDifference {
  std::string name, a, b;  // "machine.cpu"; "" for what one of them does not have
};

struct MetricDifference {
  std::string name;
  std::size_t common = 0;         // epochs that both have
  double last_a = 0, last_b = 0;  // of the last common epoch
  double greatest = 0;            // relative difference: |a - b| / max(|a|, |b|); infinite if one is NaN or infinite
  double greatest_at = 0;         // epoch of A
  bool within = true;             // greatest <= tolerance
};

struct RunComparison {
  enum class Sameness : std::uint8_t { unknown, same, different };
  Sameness data = Sameness::unknown;  // the manifest roots of all assets but the code; unknown if one was not verified
  Sameness code = Sameness::unknown;  // the roots of models, the recipe's digest and the source's commit
  std::vector<FactDifference> data_differences, code_differences;
  std::vector<FactDifference> config, environment, machine;
  double epoch_shift = 0;  // B counts from this much more than A: one from 1, the other from 0
  std::vector<MetricDifference> metrics;
  std::vector<std::string> only_a, only_b;  // metrics
  [[nodiscard]] bool within() const;        // every metric that both have, and there is one
};

struct CompareRecord {
  RunComparison found;
  std::string label_a, label_b;  // what the two are called
  double tolerance = 0;
  int exit = 0;
};

[[nodiscard]] CompareRecord compare(Session& session, const CompareRequest& request, EventSink& events,
                                    std::stop_token stop = {});
[[nodiscard]] std::string to_json(const CompareRecord& record);

}  // namespace sabath
