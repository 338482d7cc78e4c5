// The state of the work under way, and how it is drawn. Plain values and pure functions: time goes in, text comes out.
// One thread at a time.
#pragma once

#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sabath/event.h"

namespace sabath::cli {

// Bytes a second, smoothed over about three seconds.
class RateMeter {
 public:
  void advance(double now_s, std::uint64_t bytes_total);
  [[nodiscard]] double rate() const;  // 0 until something is known

 private:
  std::optional<double> last_s_;
  std::uint64_t last_bytes_ = 0;
  double smoothed_ = 0, weight_ = 0;
};

struct SourceProgress {
  std::string url;
  std::uint64_t bytes = 0, failures = 0;
  bool demoted = false;
  RateMeter meter;
};

struct ProgressState {
  std::string name, phase;
  std::optional<std::uint64_t> bytes_total;
  std::uint64_t files_total = 0, files_done = 0, received = 0, reused = 0;
  std::int64_t kept = 0;  // by an earlier try, of files that are under way
  double started_s = 0, now_s = 0;
  RateMeter meter;
  std::map<std::uint32_t, SourceProgress> sources;
  std::map<std::string, double> pauses;  // by host: until when it is waited for
};

struct DrawStyle {
  unsigned width = 80;  // columns of the terminal; no line takes the last one
  bool utf8 = false, color = false;
};

// Takes in what changes figures; the texts of Note, Warning and SourceFailed are for the caller to show.
void apply(ProgressState& state, const Event& event, double now_s);
void advance(ProgressState& state, double now_s);  // before each drawing: time and rates

[[nodiscard]] std::vector<std::string> draw_block(const ProgressState& state, const DrawStyle& style);
[[nodiscard]] std::string how_far(const ProgressState& state);  // " at 45% (450 MB of 1.00 GB)"; empty: not known
[[nodiscard]] std::string pause_text(const std::string& host, double seconds);  // "waiting 12 s: HOST asked for it"
[[nodiscard]] std::string draw_line(const ProgressState& state, std::time_t wall_clock);  // for a log file, no newline

}  // namespace sabath::cli
