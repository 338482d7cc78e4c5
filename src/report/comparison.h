// Two runs compared: the same data? the same code? what else differs, and by how much do the results? Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/run.h"

namespace sabath {

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
  Sameness data = Sameness::unknown;  // the manifest roots of all assets but the code
  Sameness code = Sameness::unknown;  // recipe digest and source commit
  std::vector<FactDifference> data_differences, code_differences;
  std::vector<FactDifference> config, environment, machine;
  double epoch_shift = 0;  // B counts from this much more than A: one from 1, the other from 0
  std::vector<MetricDifference> metrics;
  std::vector<std::string> only_a, only_b;  // metrics
  [[nodiscard]] bool within() const;        // every metric that both have, and there is one
};

// Times are not compared with the tolerance: they tell machines apart, not results.
[[nodiscard]] RunComparison compare_runs(const Run& a, const Run& b, const std::vector<std::string>& names,
                                         double tolerance);

}  // namespace sabath
