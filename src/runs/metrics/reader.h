// Reads metrics from the output of a training program: one reader for one stream (the standard output or error of one
// rank, or the merged output of a launcher that puts ranks in front of lines). docs/metrics.md lists what it reads.
//
// Input is hostile: memory is bounded for any input, and no input makes it throw. One thread at a time. The
// constructor throws Error{invalid} for a pattern that makes no sense, or a format that does not exist.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/metric.h"

namespace sabath {

struct MetricReaderOptions {
  // Regular expressions (RE2) with named groups, tried before every format, in order; docs/metrics.md.
  std::vector<std::string> patterns;
  std::string only{};              // the name of the one format that is looked for; empty: every one
  std::optional<int> rank;         // whose output this is, where lines do not say
  std::size_t line_max = 1 << 20;  // bytes; what is longer is skipped to its end
};

struct MetricReaderCounts {
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;           // pieces that end with a newline or a carriage return
  std::uint64_t lines_too_long = 0;  // skipped
  std::uint64_t malformed = 0;       // began like a record (":::MLLOG {") and could not be read
  std::uint64_t metrics = 0;
  std::uint64_t not_understood = 0;  // lines that look like metrics and are none, or have a number with two meanings
  std::uint64_t first_not_understood = 0;  // its number, from 1
  std::string not_understood_line;         // the first one, at most 160 bytes of it
};

class MetricReader {
 public:
  using Sink = std::function<void(const Metric&)>;  // called from feed() and finish(); what it throws passes through

  MetricReader(MetricReaderOptions options, Sink sink);
  ~MetricReader();
  MetricReader(const MetricReader&) = delete;
  MetricReader& operator=(const MetricReader&) = delete;

  // The next bytes of the stream, cut anywhere; `time` is when they came, in seconds since 1970 (NaN: not known).
  void feed(std::string_view bytes, double time);
  // The stream has ended: its last line may have no newline, and a bar that is held back is told.
  void finish();
  [[nodiscard]] const MetricReaderCounts& counts() const noexcept;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sabath
