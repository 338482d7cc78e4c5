// Content whose digests are not known has one leading writer; other writers that want it follow that writer's directory
// instead of fetching all of it a second time. docs/store.md, "Leading and following".
//
// Owned by the waiting fetch, beside an open Store. One thread at a time for each; any number of watches. Writers are
// judged by their files' growth, by this clock; on this machine also by whether they live. Throws Error{storage}.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/packs/stock.h"
#include "store/partials/other_writers.h"
#include "store/partials/partial.h"

namespace sabath {

enum class Leader : std::uint8_t {
  none,       // no writer to wait for: open your own partial
  active,     // a writer is at work, and is ahead of us
  published,  // it is here: Store::arrival() of the source has its digest
};

class LeaderWatch {
 public:
  LeaderWatch(Stock& store, const Sha256& source_key, SteadyNow now = std::chrono::steady_clock::now);

  [[nodiscard]] Leader look();  // at the disk at most once in the interval
  [[nodiscard]] Leader look_now();
  [[nodiscard]] bool saw_nothing() const { return looked_ && writers_.empty() && !own_; }  // no writer's directory
  // Call after opening a partial because no writer led. Of several writers that opened theirs at the same moment, one
  // goes on; the others get false, and discard theirs.
  [[nodiscard]] bool take_lead(OwnPartial& own);

  // The source version that the farthest other writer noted; nullopt if there is nothing to copy.
  [[nodiscard]] std::optional<SourceVersion> left_version();
  // Copies into `own` the chunks that it lacks, from others' directories that noted `expected`: each is hashed and
  // compared with its writer's journal. For writers that stand still and cannot be known to be dead: their files are
  // read and never touched. Calls `tee` with the bytes that follow the front, in order; returns how many were copied.
  std::uint64_t copy_left(OwnPartial& own, const SourceVersion& expected,
                          const std::function<void(std::span<const std::byte>)>& tee);

  static constexpr auto interval = std::chrono::milliseconds(100);
  static constexpr auto vanished_max = std::chrono::seconds(2);  // between its directory's end and its note

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Rank {  // of two writers the one with more records leads; if equal, the one with the greater name
    std::uint64_t records = 0;
    std::string name;
    friend auto operator<=>(const Rank&, const Rank&) = default;
  };
  struct Writer {
    std::optional<WriterId> id;
    std::uint64_t records = 0;
    std::uint64_t trace = 0;  // changes with every file of the directory
    Time advanced{};
    std::optional<Time> vanished{};
    bool dead = false, seen = false;
  };
  void list_directories();
  void look_at(const std::filesystem::path& directory);
  void forget_vanished();
  [[nodiscard]] bool someone_leads() const;
  [[nodiscard]] bool noted_since() const;
  [[nodiscard]] std::vector<std::filesystem::path> farthest_first() const;

  Stock& store_;
  const Sha256 key_;
  const SteadyNow now_;
  const std::optional<std::int64_t> noted_before_;  // the time of the note that was known when the watch began
  std::optional<Time> looked_;
  Leader last_ = Leader::none;
  std::map<std::string, Writer> writers_;  // the others', by their directories' names
  std::optional<Rank> own_;                // of this writer's own directory, when it has one
};

}  // namespace sabath
