// The metrics that a reader finds in a text, as lines that a test can write down: "e3 s7 r1 loss=0.5".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "metrics/reader.h"

namespace sabath {

using Lines = std::vector<std::string>;

[[nodiscard]] std::string line_of(const Metric& metric);
// Fed in pieces of `piece` bytes; 0: at once.
[[nodiscard]] Lines told(std::string_view text, MetricReaderOptions options = {}, std::size_t piece = 0);
[[nodiscard]] std::vector<Metric> metrics_of(std::string_view text, MetricReaderOptions options = {});

}  // namespace sabath
