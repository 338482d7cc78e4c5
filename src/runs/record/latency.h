// latency.json as one type: how long a model takes by its original, in ONNX Runtime, and optimised, on one machine.
// Conversions and runs write it, reports read it. docs/convert.md has its form. Pure; any thread. Reading throws
// Error{invalid} for what is no such file, or is beyond a bound.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

inline constexpr std::size_t latency_bytes_max = 16 << 20;

struct LatencyRow {
  std::string model, what;    // what: "native", "onnxruntime", "onnxruntime optimised"
  std::string provider, set;  // "cpu"; the name of the inputs
  std::int64_t batch = 0;
  std::uint64_t threads = 0, warm_up = 0, calls = 0;
  double median_seconds = 0, p95_seconds = 0;
};

struct LatencyFile {
  std::vector<LatencyRow> rows;
  std::string node, cpu;  // "" where the machine did not say
  std::uint64_t cpus = 0;
};

inline constexpr std::string_view native_latency = "native", plain_latency = "onnxruntime",
                                  optimised_latency = "onnxruntime optimised";
inline constexpr double slower_from = 1.05;  // what lies below differs from run to run

[[nodiscard]] LatencyFile parse_latency(std::string_view text, const std::string& name);
// `machine`: as describe_machine() has it.
[[nodiscard]] std::string latency_text(const std::vector<LatencyRow>& rows, const nlohmann::ordered_json& machine);

}  // namespace sabath
