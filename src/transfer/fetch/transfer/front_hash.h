// The whole-file checksums of a file whose chunks arrive in any order: one thread follows the front. While the thread
// keeps up, it hashes offered chunks from memory; it reads back chunks that an earlier process left, or that came too
// early to be kept. At most `kept_max` chunks are kept. Where that costs less, the thread also hashes the leaves of the
// kept chunks, together with the checksums. Thread-safe but for finish().
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "fetch/transfer/chunk_buffers.h"

namespace sabath {

class FrontHash {
 public:
  struct Calls {
    // Bytes of the file that are there; throws Error{storage}.
    std::function<std::size_t(std::uint64_t offset, std::span<std::byte> bytes)> read;
    // The hash of a chunk that was offered without; in the thread, before the front passes it. It can be read from now
    // on. Throws Error{storage}.
    std::function<void(std::uint64_t index, const Sha256& hash)> hashed;
  };
  FrontHash(const Checksums& expected, std::uint64_t size_bytes, ChunkBuffers& buffers, Calls calls,
            bool takes_leaves = StreamSha256::takes_pieces_along());
  ~FrontHash();

  // Where nothing was expected yet, at any time: the front begins at the first chunk, and reads back what is there.
  void expect(const Checksums& expected);
  void present(std::uint64_t index);  // the chunk can be read back
  // Before a chunk is written, and offered: waits while the thread has work and the chunk is too far ahead of it.
  struct Turn {
    bool held_back = false;  // it waited, and no more chunks can be kept: all lanes wait for the thread
    bool unhashed = false;   // the chunk is to be written and offered without its hash
  };
  // `quick`: bytes of it lost to a kill come again soon. A chunk that is not quick is hashed before all else.
  [[nodiscard]] Turn await_turn(std::uint64_t index, bool quick, std::stop_token stop);
  // The chunk stands in `bytes` now; it is written, and can be read back if it has its hash.
  void offer(std::uint64_t index, ChunkBuffers::Buffer bytes, const Turn& turn);
  // After the last chunk: waits for the thread and compares. Throws Error{content}, Error{interrupted}, what the calls
  // threw.
  [[nodiscard]] Checksums finish(std::string_view what, std::stop_token stop, SaidBy by = SaidBy::recipe);
  [[nodiscard]] std::uint64_t read_back() const;  // bytes

  static constexpr std::size_t kept_max = 4;

 private:
  enum class Place : std::uint8_t { missing, present };
  struct Kept {
    ChunkBuffers::Buffer bytes;
    bool unhashed = false;
  };
  using KeptChunks = std::map<std::uint64_t, Kept>;
  void run(std::stop_token stop);
  void start();
  // The mutex is held before and after these two, and not while they hash.
  void hash_front(std::unique_lock<std::mutex>& lock);
  void hash_early(std::unique_lock<std::mutex>& lock);
  void hash_from_disk(std::uint64_t index);
  // The mutex is held.
  [[nodiscard]] KeptChunks::iterator unhashed();
  [[nodiscard]] bool ready() const { return next_ < places_.size() && places_[next_] == Place::present; }

  Checksums expected_;
  const std::uint64_t size_bytes_;
  ChunkBuffers& buffers_;
  const Calls calls_;
  ChecksumSet sums_;

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable_any moved_;
  const bool may_take_leaves_;
  bool takes_leaves_ = false;
  bool hashes_ = false;        // something is expected
  std::vector<Place> places_;  // by chunk
  KeptChunks kept_;
  std::uint64_t next_ = 0, read_back_ = 0;
  std::exception_ptr failure_;
  std::jthread thread_;  // last: it ends before what it uses goes
};

}  // namespace sabath
