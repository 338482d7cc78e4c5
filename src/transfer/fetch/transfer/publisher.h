// Publishes finished content, so that small files share their fsyncs. Thread-safe.
//
// A kill loses the content that waits, so groups of objects are only as large as the disk makes them: a lane publishes
// the group that has gathered, and rests twice as long as that took. The size of a group is bounded, too. Small files
// that go into packs are written at once. A pack is published when it is full or ten seconds have passed, as many small
// packs would be many files again.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "store/pack_stream.h"
#include "store/store.h"

namespace sabath {

struct HashedContent {
  const FileTree& tree;  // of at most a chunk
  std::span<const std::byte> bytes;
};

class Publisher {
 public:
  // `files`: how many belong together, as far as is known.
  Publisher(Store& store, std::uint64_t files);
  void expect(std::uint64_t files) { files_ = files; }  // more of them than was known
  // May publish in the caller's thread.
  void add(std::span<const HashedContent> contents);
  void add(const FileTree& tree, std::span<const std::byte> content) { add({{HashedContent{tree, content}}}); }
  void add(std::unique_ptr<ObjectWriter> finished);
  void flush();

 private:
  using Clock = std::chrono::steady_clock;
  using Group = std::vector<std::unique_ptr<ObjectWriter>>;
  void pack(std::span<const PackStream::Content> contents);
  [[nodiscard]] bool due() const;  // the mutex is held
  [[nodiscard]] Group take();      // the mutex is held

  Store& store_;
  std::atomic<std::uint64_t> files_;
  PackStream packs_;
  std::mutex mutex_;
  Group waiting_;
  std::uint64_t waiting_bytes_ = 0;
  unsigned publishing_ = 0;                   // lanes that are at it
  Clock::time_point next_;                    // not before this, unless the group is full
  std::optional<Clock::time_point> seal_at_;  // of packs that are not full; nullopt: there was none yet
};

}  // namespace sabath
