// The mirrors of one file: which one is read next, and what became of each. Thread-safe.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "fetch/job.h"
#include "fetch/ledger.h"
#include "fetch/retry.h"

namespace sabath {

class MirrorSet {
 public:
  // `ranges_needed`: a mirror that ignores ranges is of no use (several lanes share the file).
  MirrorSet(const FileJob& job, Ledger& ledger, bool ranges_needed);

  struct Pick {
    std::size_t index = 0;
    const Url* url = nullptr;
    SourceLine* line = nullptr;
    std::chrono::steady_clock::time_point at{};
  };
  // Waits while every living mirror is in its pause; throws the most telling failure when all are dead, and
  // Error{interrupted} on a stop request. Each pick is given back by succeeded(), failed() or released().
  [[nodiscard]] Pick pick(std::stop_token stop);
  void succeeded(const Pick& pick, std::uint64_t bytes, double seconds);
  // `progress`: bytes were kept, so the row of failures starts anew. Rethrows what is fatal.
  void failed(const Pick& pick, const Error& error, bool progress);
  void released(const Pick& pick);                       // neither: it was ended from here
  [[nodiscard]] bool rangeless(const Pick& pick) const;  // it has ignored a range
  // What this mirror gave turned out to be wrong when another had given the whole.
  void demote(std::size_t index, const Failure& failure);
  void revive_rangeless();  // mirrors that died for want of ranges may be read from their start
  [[nodiscard]] bool only_rangeless() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Mirror {
    Url url;
    SourceLine* line;
    MirrorState state;
    Clock::time_point ready_at, failed_at;
    std::optional<Failure> last;
    unsigned restarts = 0;  // whatever progress was between them
    bool rangeless = false;
  };
  mutable std::mutex mutex_;
  std::vector<Mirror> mirrors_;
  bool ranges_needed_;
};

}  // namespace sabath
