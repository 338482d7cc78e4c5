// What SABATH saw of a job's tasks, or did to them: outcome.json beside job.json. So a task keeps its state when the
// scheduler has forgotten the job. The first that was seen of a start stays; one that began again has another start.
// One thread. A file that is damaged says nothing. Throws Error{storage}, Error{space} when it writes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace sabath {

struct SeenEnd {
  std::string state, reason;
  int exit = 0;
  unsigned starts = 0;  // how often the task had begun
};

class JobOutcome {
 public:
  explicit JobOutcome(const std::filesystem::path& directory);

  // nullptr: nothing was seen of this start.
  [[nodiscard]] const SeenEnd* find(std::uint64_t task, unsigned starts) const;
  void note(std::uint64_t task, SeenEnd end);
  void save();  // if something was noted

 private:
  void read(std::string_view text);

  std::filesystem::path file_;
  std::map<std::uint64_t, SeenEnd> ends_;
  bool changed_ = false;
};

}  // namespace sabath
