// Bytes of chunks on their way, kept in case of a kill: one file for each lane of each writer, beside the partial.
// docs/store.md, "Scratch". ScratchLanes is thread-safe for different lanes. Throws Error{storage}. Where room is short
// it keeps nothing: content needs the room.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"

namespace sabath {

// Bytes of a chunk, from `offset` within it on.
struct ScratchBytes {
  std::uint64_t offset = 0;
  std::vector<std::byte> bytes;
};
// The pieces of chunk `index` in a scratch file, checked and disjoint: of two that overlap, the later counts.
[[nodiscard]] std::vector<ScratchBytes> read_scratch(const std::filesystem::path& file, std::uint64_t index,
                                                     std::uint64_t length_max);

// The bytes of the chunk from its start to the first gap between the parts.
[[nodiscard]] std::vector<std::byte> start_of(std::vector<ScratchBytes> parts);

// A part of a chunk in a scratch file, as the pieces' heads say: the bytes are not read.
struct ScratchPart {
  std::uint64_t index = 0, offset = 0, length = 0;
  friend bool operator==(const ScratchPart&, const ScratchPart&) = default;
};
[[nodiscard]] std::vector<ScratchPart> scratch_parts(const std::filesystem::path& file);

class ScratchLanes {
 public:
  // A part that came in less time than this is not written: after a kill it comes again as quickly.
  static constexpr std::chrono::milliseconds worth_keeping{100};
  ScratchLanes(std::filesystem::path directory, std::string writer, std::chrono::milliseconds since = worth_keeping);
  // A part of chunk `index` from `offset` on: all bytes that a lane has brought in a row, of which the last `fresh` are
  // new.
  void write(unsigned lane, std::uint64_t index, std::uint64_t offset, std::span<const std::byte> part,
             std::size_t fresh);
  void chunk_done(unsigned lane, std::uint64_t index);  // no matter which lanes brought it
  void clear();                                         // removes the files
  [[nodiscard]] bool empty();                           // nothing is kept

  static constexpr std::uint64_t room_min = 256 << 20;  // bytes that must be free, for other things than scratch

 private:
  struct Lane {
    unsigned number = 0;
    Fd fd;
    std::uint64_t index = UINT64_MAX, offset = 0, end = 0;  // of the part on its way
    std::uint64_t file_size = 0;
    enum class Part : std::uint8_t { young, kept, skipped } part = Part::young;
    bool held = false;  // bytes of this chunk are kept
    std::chrono::steady_clock::time_point begun{};
  };
  Lane& lane_at(unsigned lane);
  bool make_room(Lane& lane);  // for the part on its way; false: there is none
  void cut(Lane& lane);
  [[nodiscard]] bool needed(const Lane& lane);
  [[nodiscard]] bool room_is_short() const;
  void append(Lane& lane, std::uint64_t index, std::uint64_t offset, std::span<const std::byte> bytes);

  const std::filesystem::path directory_;
  const std::string writer_;
  const std::chrono::milliseconds since_;
  std::mutex mutex_;  // of what follows, not of the lanes in it
  std::map<unsigned, Lane> lanes_;
  std::map<unsigned, std::set<std::uint64_t>> held_;  // chunks that are not done, of which a lane's file holds bytes
};

}  // namespace sabath
