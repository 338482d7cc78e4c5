// One file of several chunks whose digests are known: any lane fetches any run of chunks from any mirror.
//
// Each chunk is hashed in its lane before it is written; a wrong one is thrown away and its mirror demoted. Other
// processes may work on the same partial: what they have done is not fetched, what they have claimed comes last.
// Thread-safe.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
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
  [[nodiscard]] bool over() const { return over_.load(); }
  [[nodiscard]] FileOutcome& outcome() { return outcome_; }  // once over()

 private:
  enum class ChunkState : std::uint8_t { missing, taken, done };
  struct Run {
    std::uint64_t first = 0, count = 0;
  };

  void start();  // opens the partial and sees what is done
  [[nodiscard]] std::optional<Run> take_run();
  [[nodiscard]] Run run_from(std::uint64_t first) const;
  void fetch_run(Lane& lane, const Run& run);
  void read_run(Lane& lane, const Run& run, const MirrorSet::Pick& pick, std::uint64_t& kept);
  void on_chunk(Lane& lane, std::uint64_t index, const MirrorSet::Pick& pick);
  void give_back(const Run& run);
  void complete();
  void fail(const Failure& failure);

  FetchContext& context_;
  const FileJob& job_;
  MirrorSet mirrors_;
  std::mutex mutex_;
  std::unique_ptr<Partial> partial_;
  std::vector<ChunkState> chunks_;
  std::uint64_t missing_ = 0, taken_ = 0;
  bool sequential_ = false;  // no mirror honours ranges: one lane reads the whole
  std::atomic<bool> over_{false};
  FileOutcome outcome_;
};

}  // namespace sabath
