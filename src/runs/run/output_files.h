// A program's output on its way to files: `stdout`, or `stdout.3` for rank 3. Keeps the last lines to show the user.
// One thread.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "run/run_directory.h"

namespace sabath {

class OutputFiles {
 public:
  // `stream`: "stdout" or "stderr".
  OutputFiles(RunDirectory& directory, std::string stream) : directory_(directory), stream_(std::move(stream)) {}

  void write(std::optional<int> rank, std::string_view bytes);
  void finish();  // the last line may have no newline
  [[nodiscard]] const std::deque<std::string>& last_lines() const { return last_; }

 private:
  void remember(std::string_view bytes);

  RunDirectory& directory_;
  const std::string stream_;
  std::string line_;
  std::deque<std::string> last_;
};

}  // namespace sabath
