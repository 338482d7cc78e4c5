// The counts of a rank of an MPI job while it works for rank 0, and its report when it has done its part.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fetch/decide/job.h"
#include "fetch/hosts/reuse_meter.h"
#include "fetch/ranks/rounds.h"
#include "sabath/event.h"
#include "sabath/verbs/fetch.h"

namespace sabath {

// Counts on every rank; on rank 0 it also passes on. Reused bytes are only shown as kept: of a file that all ranks
// share, each rank calls the others' bytes reused, and rank 0 adds up in the end. Any thread.
class RankMeter : public EventSink {
 public:
  // `next`: rank 0's display, elsewhere nullptr. `shared`: names of files that all ranks share: rank 0 counts them.
  RankMeter(EventSink* next, std::set<std::string> shared) : next_(next), shared_(std::move(shared)) {}
  void on(const Event& event) override;
  [[nodiscard]] Rounds::Tally tally() const;
  [[nodiscard]] ReusedBytes reused() const { return reused_.bytes(); }
  void take_back();  // from the display, which is to hear what was reused of all ranks
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  EventSink* const next_;
  const std::set<std::string> shared_;
  std::atomic<std::uint64_t> received_{0};
  std::atomic<std::int64_t> kept_{0};  // or reused, as a display counts it
  ReuseMeter reused_;
  mutable std::mutex mutex_;  // of what follows
  Rounds::Tally tally_;
  std::vector<std::string> warnings_;
};

struct RankReport {
  std::string host;
  std::optional<Failure> failure;  // its own, not a file's: nothing is known of its files
  std::vector<FileOutcome> outcomes;
  std::vector<SourceRecord> sources;
  ReusedBytes reused{};
  std::vector<std::string> warnings;

  [[nodiscard]] std::string parcel() const;
  [[nodiscard]] static RankReport of(const std::string& bytes);  // throws Error{internal} if it is none
};

}  // namespace sabath
