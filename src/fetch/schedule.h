// Which bytes of one file are read next, and by whom: decisions only, in any kind of time. No threads, no clock, no
// I/O: the same object drives real transfers and the simulation in tests. The caller has a mutex.
//
// Bytes are free, or belong to one run, or are there. A run is one request: an interval that one lane reads in order
// from one source. Runs begin as whole chunks. Only when nothing is free, the end of a late run is split: the rest of
// its bytes that another lane can bring sooner is given to that lane (the endgame). No byte is ever in two runs.
// A silent run can lose all that it has left: who reads for it looks at left() now and then, and ends at 0.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fetch/byte_set.h"

namespace sabath {

class Schedule {
 public:
  struct Limits {
    std::uint64_t chunk_bytes = 4ULL << 20;
    std::uint64_t run_chunks_max = 16;         // one request; the last ones are smaller
    std::uint64_t split_bytes_min = 64 << 10;  // less is not worth a request
    bool in_order = false;                     // from the front, in short runs: a hash follows
  };

  // What one lane of a source can do, by what was measured.
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
    double patience = 0;    // seconds of silence after which another lane may take it all
    std::uint64_t mark_position = 0;
    bool busy = false;  // its lane works on what came: that is not the source's lateness
    [[nodiscard]] std::uint64_t left() const { return end - position; }
  };
  using Place = std::list<Run>::iterator;

  Schedule(std::uint64_t size_bytes, const Limits& limits) : size_(size_bytes), limits_(limits) {}

  void start_at(std::uint64_t position) { cursor_ = position; }  // several writers begin in different places
  void add_free(ByteRange range);                                // is wanted: at first, given back, or to be read again
  void remove_free(ByteRange range) { free_.remove(range); }     // somebody else has it

  // The next run for a lane of `source`, or nullopt: there is nothing that it would bring sooner, or nothing comes to
  // its other lanes, either. `lanes`: how many are at work or could be. `taken(chunk)`: another process is at it.
  // `whole(chunk)`: it may not be split. `first(chunk)`: a run may begin with it, but not come to it.
  using Ask = std::function<bool(std::uint64_t chunk)>;
  [[nodiscard]] std::optional<Place> take(std::size_t source, Speed speed, unsigned lanes, double now,
                                          const Ask& taken = {}, const Ask& whole = {}, const Ask& first = {});
  // Bytes that came, at most left(): returns how many of them still belong to the run.
  std::uint64_t advance(Place run, std::uint64_t bytes, double now);
  void resume(Place run, double worked, double now);  // its lane reads again, after `worked` seconds
  void shorten(Place run, std::uint64_t end);         // what comes after `end` is free again
  void release(Place run);                            // done, or given up: what it did not bring is free again

  [[nodiscard]] bool complete() const { return free_.empty() && runs_.empty(); }
  [[nodiscard]] std::uint64_t free_bytes() const { return free_.size(); }
  [[nodiscard]] bool free_in(ByteRange range) const {
    const auto next = free_.find_from(range.begin);
    return next && next->begin < range.end;
  }
  [[nodiscard]] std::list<Run>& runs() { return runs_; }
  [[nodiscard]] bool in_run(ByteRange range) const;
  // Bytes a second over the last while, falling while nothing comes.
  [[nodiscard]] double rate_of(const Run& run, double now) const;
  [[nodiscard]] const std::string& reason() const { return reason_; }  // of the last split, with its rates

 private:
  struct Cut {
    Run* run = nullptr;
    std::uint64_t at = 0;
    double theirs = 0, ours = 0;  // bytes a second
    double alone = 0, both = 0;   // seconds until it ends: as it is, and with us
    double patience = 0;          // of the new run
  };
  [[nodiscard]] std::optional<ByteRange> next_free(Speed speed, unsigned lanes, double now, const Ask& taken,
                                                   const Ask& first) const;
  [[nodiscard]] bool silent(std::size_t source, double now) const;
  [[nodiscard]] std::uint64_t run_chunks(Speed speed, unsigned lanes, double now) const;
  std::optional<Place> split_late(std::size_t source, Speed speed, double now, const Ask& whole);
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
  std::set<std::size_t> doubted_;  // sources that were silent, until one of their runs is heard
  std::uint64_t cursor_ = 0;
  std::string reason_;
};

}  // namespace sabath
