// Which bytes of one file are read next, by which lane: decisions only, in any kind of time. No threads, no clock, no
// I/O: the same object drives real transfers and the simulation in tests. The caller has a mutex.
//
// Bytes are free, or belong to one run, or are there. A run is one request: an interval that one lane reads in order
// from one source. Runs are whole chunks until each lane's part of the free bytes is less than a chunk (the endgame):
// from then on lanes of one source share a chunk, and at the very end lanes of several sources. When nothing is free, a
// late run is split: another lane gets the end of it that it can bring sooner. Where bytes are hashed in order, a very
// late run at the front is split before that. No byte is ever in two runs. A silent run can lose all that it has left;
// so can one with little left of which a packet seems lost. So the lane of a run looks at left() now and then, and ends
// at 0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/byte_set.h"

namespace sabath {

inline constexpr double far_s = 0.005;  // a host this far away is bound by windows and waits, not by its rate

class Schedule {
 public:
  struct Limits {
    std::uint64_t chunk_bytes = 4ULL << 20;
    std::uint64_t run_chunks_max = 16;         // one request; the last ones are smaller
    std::uint64_t split_bytes_min = 64 << 10;  // less is not worth a request
    std::uint64_t first_bytes = 1 << 20;       // of a lane whose rate is not known, in the endgame
    unsigned lanes_soon = 1;                   // the number that there may be before long
    bool in_order = false;                     // from the front, in short runs: a hash follows
  };

  // The speed of one lane of a source, as measured.
  struct Speed {
    double rate = 0;     // bytes a second of one more lane; 0: not known yet
    double latency = 0;  // seconds from a request to its first byte
    double login = 0;    // seconds before that, where each connection costs one
  };

  struct Run {
    std::size_t source = 0;
    std::uint64_t position = 0, end = 0;  // the next byte, and where it stops: may shrink while it is read
    double rate = 0;        // bytes a second: expected at first, then measured over the time before the mark
    double mark_time = 0;   // seconds
    double heard_time = 0;  // when bytes came last; at first, when the first ones are expected
    bool heard = false;     // something came
    double latency = 0;     // of its source, when it began
    double patience = 0;    // seconds of silence after which another lane may take it all
    std::uint64_t mark_position = 0;
    bool busy = false;  // its lane works on what came: that is not the source's lateness
    [[nodiscard]] std::uint64_t left() const { return end - position; }
  };
  using Place = std::list<Run>::iterator;

  Schedule(std::uint64_t size_bytes, const Limits& limits) : size_(size_bytes), limits_(limits) {}
  void start_at(std::uint64_t position) { cursor_ = position; }  // several writers begin in different places
  void add_free(ByteRange range);                                // is wanted: at first, given back, or to be read again
  void remove_free(ByteRange range) { free_.remove(range); }     // another lane or process has it

  // The next run for a lane of `source`. nullopt: it would bring nothing sooner; or its other lanes receive nothing
  // either, and one has tried. `lanes`: how many are at work or could be.
  using Ask = std::function<bool(std::uint64_t chunk)>;
  struct Asks {
    Ask taken{}, whole{};                 // another process is at the chunk; it may not be split
    Ask first{};                          // a run may begin with it, but not come to it
    std::uint64_t most = UINT64_MAX;      // bytes; for a source that has proved nothing yet,
    std::optional<std::uint64_t> only{};  // and then of this chunk alone
    bool last = true;   // nothing else is left to begin: small pieces, and splitting late runs, are worth it
    bool dear = false;  // each request costs much, or may be refused: make few
  };
  [[nodiscard]] std::optional<Place> take(std::size_t source, Speed speed, unsigned lanes, double now) {
    return take(source, speed, lanes, now, {});
  }
  [[nodiscard]] std::optional<Place> take(std::size_t source, Speed speed, unsigned lanes, double now,
                                          const Asks& asks);
  // Bytes that came, at most left(): returns how many of them still belong to the run.
  std::uint64_t advance(Place run, std::uint64_t bytes, double now);
  void resume(Place run, double worked, double now);  // its lane reads again, after `worked` seconds
  void shorten(Place run, std::uint64_t end);         // what comes after `end` is free again
  void release(Place run);                            // done, or given up: what it did not bring is free again
  // Bytes came from elsewhere: returns those of `range` that were free or this run's, and now are there. The bytes of
  // the run behind them become free.
  std::vector<ByteRange> pass(Place run, ByteRange range);

  // Less is free than two chunks for each lane, or for as many as there soon may be.
  [[nodiscard]] bool in_endgame(unsigned lanes) const {
    const std::uint64_t sharing = std::max(lanes, limits_.lanes_soon);
    return sharing > 1 && free_.size() <= 2 * sharing * limits_.chunk_bytes;
  }
  [[nodiscard]] bool complete() const { return free_.empty() && runs_.empty(); }
  [[nodiscard]] std::uint64_t free_bytes() const { return free_.size(); }
  [[nodiscard]] bool free_in(ByteRange range) const;
  [[nodiscard]] std::list<Run>& runs() { return runs_; }
  [[nodiscard]] bool in_run(ByteRange range) const;
  // Its source has not answered it for `seconds`, and answered others meanwhile: it only keeps a place there.
  [[nodiscard]] bool mute(const Run& run, double seconds, double now) const;
  // Bytes a second over the last while, falling while nothing comes.
  [[nodiscard]] double rate_of(const Run& run, double now) const;
  [[nodiscard]] bool split() const { return split_; }  // what was taken last is the end of another's run
  [[nodiscard]] const std::string& reason() const { return reason_; }  // of the last split, with its rates

 private:
  struct Share {
    double bytes = 0;   // of what is free, this lane's, were all to end together
    bool last = false;  // so little that its next request is its last
  };
  struct Cut {
    Run* run = nullptr;
    std::uint64_t at = 0;
    double theirs = 0, ours = 0;  // bytes a second
    double alone = 0, both = 0;   // seconds until it ends: as it is, and with us
    double patience = 0;          // of the new run
  };
  [[nodiscard]] std::optional<ByteRange> next_free(std::size_t source, std::uint64_t bytes, const Asks& asks) const;
  [[nodiscard]] std::optional<ByteRange> find_free(std::uint64_t from, std::uint64_t until, const Ask& avoided) const;
  [[nodiscard]] ByteRange begin_of(ByteRange found, std::uint64_t bytes, const Asks& asks) const;
  [[nodiscard]] bool silent(std::size_t source, double now) const;
  [[nodiscard]] bool last_hope(std::size_t source, double now) const;
  [[nodiscard]] std::uint64_t run_bytes(Speed speed, unsigned lanes, double now, bool endgame) const;
  [[nodiscard]] Share share_of_free(Speed speed, unsigned lanes, double now) const;
  std::optional<Place> split_late(std::size_t source, Speed speed, double now, const Ask& whole);
  std::optional<Place> split_front(std::size_t source, Speed speed, double now, const Ask& whole);
  Place give(const Cut& cut, std::size_t source, Speed speed, double now);
  [[nodiscard]] std::optional<Cut> cut_of(Run& run, std::size_t source, Speed speed, double now,
                                          const Ask& whole) const;
  [[nodiscard]] std::optional<std::uint64_t> cut_near(const Run& run, std::uint64_t given, const Ask& whole) const;
  Place begin(std::size_t source, ByteRange range, Speed speed, double now, double patience = 0);
  [[nodiscard]] std::uint64_t chunk_of(std::uint64_t byte) const { return byte / limits_.chunk_bytes; }
  [[nodiscard]] std::uint64_t chunk_end(std::uint64_t byte) const;

  const std::uint64_t size_;
  const Limits limits_;
  ByteSet free_;
  std::list<Run> runs_;
  std::set<std::size_t> doubted_;         // sources that were silent, until one of their runs is heard
  std::map<std::size_t, double> heard_;   // sources, and when something came of them last
  std::uint64_t cursor_ = 0, dealt_ = 0;  // the second: runs of the endgame
  bool split_ = false;
  std::string reason_;
};

}  // namespace sabath
