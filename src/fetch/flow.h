// What is under way of one transfer: a chunk whose bytes meet in a buffer, a request that brings some of them, and a
// chunk that is whole.
// Owned by a ChunkTransfer, and used under its mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <vector>

#include "fetch/chunk_buffers.h"
#include "fetch/mirrors.h"
#include "fetch/schedule.h"

namespace sabath {

struct Flight {  // a chunk on its way
  ChunkBuffers::Buffer bytes;
  std::uint64_t covered = 0;
  std::uint64_t adopted = 0;     // of them, an earlier process's
  std::set<std::size_t> givers;  // mirrors
};
struct Whole {  // a chunk that has come
  std::uint64_t chunk = 0;
  ChunkBuffers::Buffer bytes;
  Sha256 hash;
  std::set<std::size_t> givers;
  std::uint64_t adopted = 0;
};
struct Flow {  // one request
  MirrorSet::Pick pick;
  Schedule::Place run;
  bool check = false;  // compares samples only; has no run, as one that reads the whole has none
  bool has_run = false;
  std::stop_source stop{};
  std::uint64_t request_end = 0;  // of the run when it was asked for
  std::uint64_t start_end = 0;    // of what came in a row from a chunk's start on
  std::uint64_t received = 0;
};

// Which mirrors of content that is not known are believed, and what that rests on.
struct Trust {
  bool mixable = false;                       // several may be believed together
  std::optional<std::size_t> leader;          // the first, which the others are compared with
  std::set<std::size_t> admitted, comparing;  // those that agree with it, and those that are being compared
  std::set<std::size_t> agreed;               // were admitted: what they gave is believed, also when they give no more
  std::set<std::size_t> givers, suspects;     // of chunks that are kept; and of a whole that was wrong
  std::vector<Whole> held;                    // until the sources that gave them are believed
  std::map<std::size_t, Failure> differing;   // from the leader: one of them is wrong
  std::uint64_t sample_begin = 0;             // what the leader gave first, for the others to be compared with
  std::vector<std::byte> sample;
  std::map<std::size_t, Validators> versions;  // by mirror
};

}  // namespace sabath
