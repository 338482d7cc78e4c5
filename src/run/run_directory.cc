#include "run/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/wording.h"
#include "metrics/record.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t outputs_max = 1000;

void append(const Fd& fd, std::string_view text, const std::filesystem::path& name) {
  write_all(fd.get(), std::as_bytes(std::span(text)), name);
}

}  // namespace

RunDirectory::RunDirectory(const std::filesystem::path& path) : path_(path) {
  std::error_code unknown;
  if (try_lstat(path) && !std::filesystem::is_empty(path, unknown)) {
    throw Error(FailureKind::usage, fmt::format("{} is there already", printable(path.string(), 4096)),
                "a record is never written over: name another directory with " + option_text("run_dir"));
  }
  make_directories(path);
  make_directories(work());
  make_directories(path / "output");
  metrics_ = append_to("metrics.jsonl");
  table_ = append_to("metrics.csv");
  resources_ = append_to("resources.jsonl");
  append(table_, std::string(metric_csv_head) + "\n", path / "metrics.csv");
}

Fd RunDirectory::append_to(const std::filesystem::path& name) const {
  return open_file(path_ / name, O_WRONLY | O_CREAT | O_APPEND);
}

void RunDirectory::write_run(const RunRecord& record) {
  write_text_atomically(path_ / "run.json",
                        to_json(record).dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void RunDirectory::add(const Metric& metric) {
  metric_lines_ += metric_json(metric) + "\n";
  table_lines_ += metric_csv(metric) + "\n";
}

void RunDirectory::flush() {
  if (metric_lines_.empty()) return;
  append(metrics_, metric_lines_, path_ / "metrics.jsonl");
  append(table_, table_lines_, path_ / "metrics.csv");
  metric_lines_.clear();
  table_lines_.clear();
}

void RunDirectory::add_output(const std::string& name, std::string_view bytes) {
  auto found = outputs_.find(name);
  if (found == outputs_.end()) {
    if (outputs_.size() >= outputs_max) return add_output(name.substr(0, name.find('.')), bytes);
    found = outputs_.emplace(name, append_to("output/" + name)).first;
  }
  append(found->second, bytes, path_ / "output" / name);
}

void RunDirectory::add_resources(std::string_view line) {
  append(resources_, std::string(line) + "\n", path_ / "resources.jsonl");
}

std::optional<std::string> try_run_state(const std::filesystem::path& directory) {
  try {
    const auto record = try_read_run_record(directory);
    return record ? std::optional(record->state) : std::nullopt;
  } catch (const Error&) {  // not ours, or not readable: nothing is known of it
    return std::nullopt;
  }
}

}  // namespace sabath
