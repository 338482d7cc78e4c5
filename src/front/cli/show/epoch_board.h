// A run's epochs as users see them: one line for each epoch as it ends, with its time, the time left, and the course of
// a value so far; on a terminal also a live line. One thread. The input is the output of a program: hostile.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/metric.h"

namespace sabath::cli {

struct BoardStyle {
  bool live = false, utf8 = false, quiet = false;
  std::optional<std::uint64_t> epochs;  // how many there will be, if that is known
};

class EpochBoard {
 public:
  // `now_s`: a steady clock; `width`: of the terminal; `write`: to it.
  EpochBoard(BoardStyle style, std::function<double()> now_s, std::function<unsigned()> width,
             std::function<void(std::string_view)> write);
  void on(const Metric& metric);
  void tick();    // draws what goes on, on a terminal
  void finish();  // the last epoch has ended
  void clear();   // takes the live line away, before other output
  [[nodiscard]] std::uint64_t epochs() const { return done_; }

 private:
  struct Value {
    std::string name;
    double value;
  };
  void end_epoch();
  [[nodiscard]] std::string values_text(std::size_t most) const;
  [[nodiscard]] std::string line_of(const std::string& took, const std::string& left) const;
  [[nodiscard]] std::string epoch_text() const;
  void remember();

  const BoardStyle style_;
  const std::function<double()> now_s_;
  const std::function<unsigned()> width_;
  const std::function<void(std::string_view)> write_;
  std::optional<double> epoch_;
  std::optional<int> rank_;  // the one that is shown
  std::vector<Value> values_;
  std::vector<std::string> complete_;  // the names that the epoch before had
  bool shown_ = false, drawn_ = false;
  double begin_s_, last_s_, first_begin_s_;  // of this epoch; of the last value; of all
  std::uint64_t done_ = 0;
  std::string leading_;  // the value whose course is drawn
  std::vector<double> course_;
};

}  // namespace sabath::cli
