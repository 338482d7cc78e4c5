// The parts of one transfer that are under way: a chunk whose bytes meet in a buffer, a request that brings some of
// them, and a chunk that is whole.
// Owned by a ChunkTransfer, and used under its mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <vector>

#include "fetch/decide/schedule.h"
#include "fetch/hosts/mirrors.h"
#include "fetch/transfer/chunk_buffers.h"

namespace sabath {

struct Flight {  // a chunk on its way
  ChunkBuffers::Buffer bytes;
  std::uint64_t covered = 0;
  std::uint64_t adopted = 0;     // of them, an earlier process's
  double begun = 0;              // seconds; when the first of them came
  std::set<std::size_t> givers;  // mirrors
};
struct Whole {  // a chunk that has come
  std::uint64_t chunk = 0;
  ChunkBuffers::Buffer bytes;
  std::set<std::size_t> givers;
  std::uint64_t adopted = 0;
  bool quick = false;  // it came so soon that it would come as soon again
};
struct Flow {  // one request
  MirrorSet::Pick pick;
  Schedule::Place run;
  bool check = false;  // compares samples only; has no run, as one that reads the whole has none
  bool has_run = false;
  bool versioned = false;   // its source is asked for a version
  bool other_size = false;  // and says that the file has another length
  std::stop_source stop{};
  std::uint64_t request_end = 0;               // of the run when it was asked for
  std::uint64_t start_end = 0;                 // of what came in a row from a chunk's start on
  std::uint64_t part_begin = 0, part_end = 0;  // of what it brought in a row of one chunk
  const std::byte* part_of = nullptr;          // the chunk's buffer then
  std::uint64_t received = 0;
};

}  // namespace sabath
