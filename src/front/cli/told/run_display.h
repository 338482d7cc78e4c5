// A run as users see it: the fetches for it, then its epochs, then its end. Any thread may send events.
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
  [[nodiscard]] bool show_run(const Event& event);  // false: the event is not about the run
  void start(const event::RunStarted& started);
  void end(const event::RunEnded& ended);

  const Context& context_;
  std::mutex mutex_;
  std::unique_ptr<EventSink> progress_;  // of what is fetched now; it answers a stop request with a word of its own
  std::optional<EpochBoard> board_;
};

}  // namespace sabath::cli
