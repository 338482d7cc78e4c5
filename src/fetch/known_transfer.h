// One file of several chunks whose digests are known: any lane fetches any run of chunks from any mirror.
//
// Each chunk is hashed in its lane before it is written; a wrong one is thrown away and its mirror demoted. Other
// processes may work on the same partial: what they have done is not fetched, what they have claimed comes last. When
// nothing is left to take, the last chunks of a run that does not advance are fetched a second time: the first wins.
// Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <vector>

#include "fetch/context.h"
#include "fetch/guarded_sink.h"
#include "fetch/job.h"
#include "fetch/lane.h"
#include "fetch/mirrors.h"

namespace sabath {

class KnownTransfer {
 public:
  KnownTransfer(FetchContext& context, const FileJob& job);
  // Fetches one run of chunks. False: there is nothing to take just now. Throws what is fatal.
  bool work(Lane& lane);
  [[nodiscard]] bool over() const { return phase_ == Phase::over; }
  [[nodiscard]] FileOutcome& outcome() { return outcome_; }  // once over()

 private:
  using Clock = std::chrono::steady_clock;
  enum class Phase : std::uint8_t { fresh, opening, open, publishing, over };
  enum class ChunkState : std::uint8_t { missing, taken, done };
  struct Run {  // of chunks, on its way in one lane
    std::uint64_t next = 0, end = 0;
    bool whole = false;  // one pass over a source that has no ranges
    bool second = false;
    Clock::time_point advanced = Clock::now();
    std::stop_source stop{};  // its chunks are all there, or will never be
    // The bytes of chunk `next` that the lane holds: an earlier process's, or of these sources.
    const SourceLine* giver = nullptr;
    bool mixed = false, mixable = true;
    std::uint64_t adopted = 0;  // of them, an earlier process's
  };
  using Place = std::list<Run>::iterator;

  void open();  // the partial, to see what is done
  [[nodiscard]] std::optional<Place> take_run();
  [[nodiscard]] std::optional<Place> take_second();
  void take_news();
  void fetch_run(Lane& lane, Run& run);
  void drop(Lane& lane, Run& run);  // what the lane holds of the chunk: it may be wrong
  void read_run(Lane& lane, Run& run, const MirrorSet::Pick& pick);
  void take_bytes(Lane& lane, Run& run, const MirrorSet::Pick& pick, std::span<const std::byte> bytes);
  void finish_chunk(Lane& lane, Run& run, const MirrorSet::Pick& pick);
  void note_done(Run& run);
  void after_failure(Lane& lane, Run& run, const MirrorSet::Pick& pick, const Error& error, bool progress);
  void give_back(Place place);
  void publish();
  void end();  // the mutex is held
  [[nodiscard]] std::uint64_t size() const { return job_.known->digest.size_bytes; }
  [[nodiscard]] bool all_done(const Run& run) const;

  FetchContext& context_;
  const FileJob& job_;
  MirrorSet mirrors_;
  std::atomic<Phase> phase_{Phase::fresh};  // changed under the mutex
  FileOutcome outcome_;
  std::unique_ptr<Partial> partial_;

  std::mutex mutex_;  // of what follows
  std::vector<ChunkState> chunks_;
  std::uint64_t missing_ = 0, cursor_ = 0;
  std::list<Run> runs_;
  std::set<std::uint64_t> seconded_;
  double chunk_seconds_ = 0;  // moving average, 0: none has come yet
  bool sequential_ = false;   // no mirror honours ranges: one lane reads the whole
};

}  // namespace sabath
