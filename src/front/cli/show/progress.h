// Shows events on standard error: a live block on a terminal, one line every ten seconds in a log, little with -q.
// Thread-safe: events come from any lane. A thread of its own draws at most ten times a second. When an asset is
// finished, its block is removed, and the verb prints one line with the outcome. Drawing never throws: the loss of the
// terminal must not stop a fetch.
#pragma once

#include <condition_variable>
#include <ctime>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "cli/frame/presentation.h"
#include "cli/show/progress_state.h"
#include "sabath/event.h"

namespace sabath::cli {

// The world that a Progress lives in; tests give another one.
struct ProgressWorld {
  std::function<double()> now_s;            // steady
  std::function<std::time_t()> wall_clock;  // for log lines
  std::function<unsigned()> width;
  std::function<void(std::string_view)> write;
};

[[nodiscard]] ProgressWorld make_world_of_stderr(const Environment& environment);

class Progress final : public EventSink {
 public:
  enum class Ticks { by_thread, by_caller };
  // A stop request is answered with a line, so that the user does not take the orderly end for a hang.
  Progress(const Presentation& presentation, ProgressWorld world, Ticks ticks, std::stop_token stop = {});
  ~Progress() override;
  void on(const Event& event) override;
  void tick();  // draws if there is something to draw and it is time

 private:
  void say(const std::string& line);  // a line that stays, above the block
  void announce(const Event& event);
  void draw(double now_s);
  void write_cleared(const std::string& text);

  const Presentation presentation_;
  const ProgressWorld world_;
  std::mutex mutex_;
  ProgressState state_;
  bool active_ = false;
  double next_line_s_ = 0;
  std::size_t lines_shown_ = 0;
  std::condition_variable_any wake_;
  std::jthread thread_;  // these two use all the others
  std::optional<std::stop_callback<std::function<void()>>> stopping_;
};

}  // namespace sabath::cli
