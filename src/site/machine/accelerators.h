// This node's accelerators as figures of a resource sample, from nvidia-smi and rocm-smi: gpu0_percent,
// gpu0_memory_bytes. Any thread; a figure that the program does not print is left out.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace sabath {

class AcceleratorProbe {
 public:
  // The first of both programs that `path` (PATH's value) has; none: samples say nothing of accelerators.
  explicit AcceleratorProbe(const std::string& path);
  // Asks it, for five seconds at most. One that fails three times in a row is not asked again.
  void add_to(nlohmann::ordered_json& sample, const std::stop_token& stop);

 private:
  std::string nvidia_, rocm_;
  int failures_ = 0;
};

// "37, 1024" for each device: percent and MiB, as nvidia-smi answers "utilization.gpu,memory.used" without units.
void add_nvidia(nlohmann::ordered_json& sample, std::string_view text);
// rocm-smi's CSV: a header that names the columns, then "card0,37,...", in any order and with columns left out.
void add_rocm(nlohmann::ordered_json& sample, std::string_view text);

}  // namespace sabath
