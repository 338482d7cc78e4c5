// The output of a launcher that tags what each rank prints, taken apart into one stream for each rank.
//
// Launchers tag lines ("  3: ", "[3] "); Open MPI tags whatever it has read at once, so its tag may stand in the middle
// of a line, and a line's parts belong together by rank. Memory: one tag for each stream. One thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace sabath {

class RankStreams {
 public:
  using Sink = std::function<void(std::optional<int> rank, std::string_view bytes)>;  // nullopt: nobody's

  // Not `tagged`: all that comes is passed on as it is, as nobody's.
  RankStreams(bool tagged, Sink sink) : tagged_(tagged), sink_(std::move(sink)) {}
  void take(std::string_view bytes);
  void finish();  // what could still have become a tag

 private:
  [[nodiscard]] std::size_t take_line_start(std::string_view text, bool last);
  [[nodiscard]] std::size_t take_line(std::string_view text, bool last);

  const bool tagged_;
  const Sink sink_;
  std::string held_;
  std::optional<int> rank_;
  bool in_line_ = false;
};

}  // namespace sabath
