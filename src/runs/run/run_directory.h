// The directory of one run: docs/runs.md. Everything in it is appended to, or replaced by rename, so that it can be
// read at any moment and after any kill. A disk that is full, or fails, ends no run: what cannot be appended is
// counted. One thread, but for add_resources(). To make it and write_run() throw Error{storage}, Error{space}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "record/run_record.h"
#include "sabath/metric.h"

namespace sabath {

[[nodiscard]] std::string new_run_id();  // "20261130T101500-1a2b3c": now, and what no other process draws

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
  // One write(2) for each of metrics.jsonl and metrics.csv. What does not go in is kept for the next time, in bounds.
  void flush();
  void add_output(const std::string& name, std::string_view bytes);  // output/NAME; at most 1,000 names
  void add_resources(std::string_view line);
  // The last thing before the last write_run(): gives up the room that was held for it.
  void finish();

  struct Unwritten {
    std::uint64_t lines = 0;
    std::string why;  // of the first
  };
  [[nodiscard]] Unwritten unwritten() const;

 private:
  Fd append_to(const std::filesystem::path& name) const;
  [[nodiscard]] bool try_append(const Fd& fd, std::string_view text, const std::filesystem::path& name);
  [[nodiscard]] bool unless_failing(const std::function<void()>& act);
  void give_up(std::string_view text);
  void flush(std::string& lines, const Fd& fd, const char* name);
  void hold_room() const;

  std::filesystem::path path_;
  Fd metrics_, table_, resources_;
  std::string metric_lines_, table_lines_;
  std::map<std::string, Fd> outputs_;
  mutable std::mutex mutex_;  // of what follows
  Unwritten unwritten_;
};

// The state in the directory's run.json; nullopt if there is none that can be read.
[[nodiscard]] std::optional<std::string> try_run_state(const std::filesystem::path& directory);

}  // namespace sabath
