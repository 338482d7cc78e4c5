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

  // A tag inside a line: where a program may print what looks like another rank's, only one of its own rank counts.
  enum class Inside { of_any_rank, of_its_rank };

  // Not `tagged`: all bytes are passed on as they are, as of no rank.
  RankStreams(bool tagged, Sink sink, Inside inside = Inside::of_any_rank)
      : tagged_(tagged), sink_(std::move(sink)), inside_(inside) {}
  void take(std::string_view bytes);
  void finish();  // passes on the bytes that could still have become a tag

 private:
  [[nodiscard]] std::size_t take_line_start(std::string_view text, bool last);
  [[nodiscard]] std::size_t take_line(std::string_view text, bool last);

  const bool tagged_;
  const Sink sink_;
  const Inside inside_;
  std::string held_;
  std::optional<int> rank_;
  bool in_line_ = false;
};

}  // namespace sabath
