// The output of a launcher that tags the output of each rank, taken apart into one stream for each rank.
//
// Launchers tag lines ("  3: ", "[3] "). Open MPI tags each piece that it has read at once, so its tag may stand in the
// middle of a line; the parts of a line are joined by rank. Memory: one tag for each stream. One thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace sabath {

class RankStreams {
 public:
  using Sink = std::function<void(std::optional<int> rank, std::string_view bytes)>;  // nullopt: of no rank

  // Not `tagged`: all bytes are passed on as they are, as of no rank.
  RankStreams(bool tagged, Sink sink) : tagged_(tagged), sink_(std::move(sink)) {}
  void take(std::string_view bytes);
  void finish();  // passes on the bytes that could still have become a tag

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
