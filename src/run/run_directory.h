// The directory of one run: docs/runs.md. Everything in it is appended to, or replaced by rename, so that it can be
// read at any moment and after any kill. One thread, but for add_resources(). Throws Error{storage}, Error{space}.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "record/run_record.h"
#include "sabath/metric.h"

namespace sabath {

class RunDirectory {
 public:
  // Makes it. Throws Error{usage} if something stands there that is not an empty directory.
  explicit RunDirectory(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] std::filesystem::path work() const { return path_ / "work"; }      // where the steps run
  [[nodiscard]] std::filesystem::path source() const { return path_ / "source"; }  // the run's own copy of the code
  [[nodiscard]] std::filesystem::path metric_log() const { return metric_log_of(path_); }
  // SABATH_METRICS of the programs of this run.
  [[nodiscard]] static std::filesystem::path metric_log_of(const std::filesystem::path& run) {
    return run / "output/metrics";
  }

  void write_run(const RunRecord& record);  // run.json, by rename
  void add(const Metric& metric);           // kept until flush()
  void flush();                             // one write(2) for each of metrics.jsonl and metrics.csv
  void add_output(const std::string& name, std::string_view bytes);  // output/NAME; at most 1,000 names
  void add_resources(std::string_view line);

 private:
  Fd append_to(const std::filesystem::path& name) const;

  std::filesystem::path path_;
  Fd metrics_, table_, resources_;
  std::string metric_lines_, table_lines_;
  std::map<std::string, Fd> outputs_;
};

// The state in the directory's run.json; nullopt if there is none that can be read.
[[nodiscard]] std::optional<std::string> try_run_state(const std::filesystem::path& directory);

}  // namespace sabath
