#include "machine/accelerators.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/process.h"
#include "base/text.h"
#include "sabath/error.h"

namespace sabath {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t devices_max = 64, answer_bytes_max = 64 * 1024;
constexpr int failures_max = 3;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<double> try_figure(std::string_view text) {  // "[N/A]" is none
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > 1e18) return std::nullopt;
  return value;
}

void set_percent(Json& sample, std::size_t device, std::string_view text) {
  if (const auto value = try_figure(text); value && *value <= 100)
    sample[fmt::format("gpu{}_percent", device)] = *value;
}

void set_memory(Json& sample, std::size_t device, std::string_view text, double unit) {
  if (const auto value = try_figure(text))
    sample[fmt::format("gpu{}_memory_bytes", device)] = static_cast<std::uint64_t>(*value * unit);
}

}  // namespace

AcceleratorProbe::AcceleratorProbe(const std::string& path) : nvidia_(find_program("nvidia-smi", path)) {
  if (nvidia_.empty()) rocm_ = find_program("rocm-smi", path);
}

void AcceleratorProbe::add_to(Json& sample, const std::stop_token& stop) {
  if ((nvidia_.empty() && rocm_.empty()) || failures_ >= failures_max) return;
  Command command;
  command.argv = rocm_.empty() ? std::vector<std::string>{nvidia_, "--query-gpu=utilization.gpu,memory.used",
                                                          "--format=csv,noheader,nounits"}
                               : std::vector<std::string>{rocm_, "--showuse", "--showmeminfo", "vram", "--csv"};
  command.deadline = std::chrono::seconds(5);
  command.output_max = answer_bytes_max;
  ++failures_;
  try {
    const CommandResult result = run_command(command, stop);
    if (result.status != 0) return;
    rocm_.empty() ? add_nvidia(sample, result.out) : add_rocm(sample, result.out);
    failures_ = 0;
  } catch (const Error&) {
    // The sample lacks these figures: a driver that hangs must not end a run.
  }
}

void add_nvidia(Json& sample, std::string_view text) {
  const auto rows = split(trim(text), '\n');
  if (rows.size() > devices_max) return;
  if (std::ranges::any_of(rows, [](std::string_view row) { return std::ranges::count(row, ',') != 1; })) return;
  for (std::size_t device = 0; device < rows.size(); ++device) {
    const auto columns = split(rows[device], ',');
    set_percent(sample, device, columns[0]);
    set_memory(sample, device, columns[1], 1 << 20);
  }
}

void add_rocm(Json& sample, std::string_view text) {
  std::vector<std::string_view> header;
  std::size_t devices = 0;
  for (const std::string_view row : split(text, '\n')) {
    const auto columns = split(row, ',');
    if (columns[0] == "device") header = columns;
    if (columns.size() != header.size() || !columns[0].starts_with("card") || devices == devices_max) continue;
    const auto number = try_figure(columns[0].substr(4));
    if (!number || *number >= devices_max) continue;
    ++devices;
    const auto device = static_cast<std::size_t>(*number);
    for (std::size_t i = 1; i < columns.size(); ++i) {
      if (header[i] == "GPU use (%)") set_percent(sample, device, columns[i]);
      if (header[i] == "VRAM Total Used Memory (B)") set_memory(sample, device, columns[i], 1);
    }
  }
}

}  // namespace sabath
