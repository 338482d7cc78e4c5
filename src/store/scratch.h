// Bytes of chunks on their way, kept for a kill's sake: one small file for each lane of each writer, beside the
// partial. docs/store.md, "Scratch". ScratchLanes is thread-safe for different lanes. Throws Error{storage}. Where room
// is short nothing is kept: it is the content's.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"

namespace sabath {

// The start of chunk `index` that a scratch file holds: pieces in order, each checked. Empty if it has none.
[[nodiscard]] std::vector<std::byte> read_scratch(const std::filesystem::path& file, std::uint64_t index,
                                                  std::uint64_t length_max);

// Of which chunk a scratch file holds the start, and how long it is, as the pieces' heads say: the bytes are not read.
struct ScratchStart {
  std::uint64_t index = 0, length = 0;
};
[[nodiscard]] std::optional<ScratchStart> scratch_start(const std::filesystem::path& file);

class ScratchLanes {
 public:
  ScratchLanes(std::filesystem::path directory, std::string writer);
  // `start`: bytes adopted from another's file; they go first when this lane's chunk begins after them.
  void adopt(std::uint64_t index, std::vector<std::byte> start);
  void write(unsigned lane, std::uint64_t index, std::uint64_t offset, std::span<const std::byte> bytes);
  void chunk_done(unsigned lane, std::uint64_t index);
  void clear();                // removes the files
  [[nodiscard]] bool empty();  // nothing is kept

  // A lane whose chunks take less than this has nothing worth keeping: what a kill takes comes again as quickly. One
  // quick chunk says little: a source that stood still catches up.
  static constexpr auto worth_keeping = std::chrono::milliseconds(100);
  static constexpr std::uint64_t room_min = 256 << 20;  // bytes that must be free, for other things than scratch

 private:
  struct Lane {
    unsigned number = 0;
    Fd fd;
    std::uint64_t index = UINT64_MAX;
    std::uint64_t length = 0;  // of the chunk's bytes in the file, from its start
    std::uint64_t file_size = 0;
    bool skipping = false;
    std::chrono::steady_clock::time_point begun{};
    std::chrono::steady_clock::duration usual = 2 * worth_keeping;  // the last chunk's time, or half of what was usual
  };
  Lane& lane_at(unsigned lane);
  void begin(Lane& lane, std::uint64_t index, std::uint64_t offset);
  [[nodiscard]] bool room_is_short() const;
  void append(Lane& lane, std::uint64_t index, std::uint64_t offset, std::span<const std::byte> bytes);

  const std::filesystem::path directory_;
  const std::string writer_;
  std::mutex mutex_;  // of the maps, not of the lanes in them
  std::map<unsigned, Lane> lanes_;
  std::map<std::uint64_t, std::vector<std::byte>> starts_;
};

}  // namespace sabath
