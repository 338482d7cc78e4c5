// A run as people see it: what is fetched for it, then its epochs, then how it ended. Any thread may tell events.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "cli/show/epoch_board.h"
#include "cli/verb.h"
#include "sabath/event.h"

namespace sabath::cli {

class RunDisplay final : public EventSink {
 public:
  explicit RunDisplay(const Context& context) : context_(context) {}
  ~RunDisplay() override;
  void on(const Event& event) override;

 private:
  [[nodiscard]] bool show_run(const Event& event);  // false: it is of something else
  void start(const event::RunStarted& started);
  void end(const event::RunEnded& ended);

  const Context& context_;
  std::mutex mutex_;
  std::unique_ptr<EventSink> progress_;  // of what is fetched now; it answers a stop request with a word of its own
  std::optional<EpochBoard> board_;
};

}  // namespace sabath::cli
