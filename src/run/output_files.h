// What a program prints, on its way to files: as it comes, or by rank where a launcher tags its lines. Keeps the last
// lines for people. One thread.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/run_directory.h"

namespace sabath {

class OutputFiles {
 public:
  // `stream`: "stdout" or "stderr".
  OutputFiles(RunDirectory& directory, std::string stream, bool tagged)
      : directory_(directory), stream_(std::move(stream)), tagged_(tagged) {}

  void take(std::string_view bytes);
  void finish();  // what has no newline yet
  [[nodiscard]] const std::deque<std::string>& last_lines() const { return last_; }

 private:
  void deal(std::string_view bytes);
  void begin_line();  // with what is held
  void write(std::string_view bytes);
  void remember(std::string_view bytes);

  RunDirectory& directory_;
  const std::string stream_;
  const bool tagged_;
  std::string held_;         // the beginning of a line whose rank is not known yet
  std::optional<int> rank_;  // of the line that is being written
  bool in_line_ = false;
  std::string line_;
  std::deque<std::string> last_;
};

}  // namespace sabath
