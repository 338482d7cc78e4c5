// The whole-file checksums of a file whose chunks arrive in any order: one thread follows the front. A chunk that is
// offered is hashed from memory while the thread keeps up; what an earlier process left, and what came too early to be
// kept, is read back. At most `kept_max` chunks are kept. Thread-safe but for finish() and restart().
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
#include "fetch/chunk_buffers.h"

namespace sabath {

class FrontHash {
 public:
  // Bytes of the file that are there; throws Error{storage}.
  using Read = std::function<std::size_t(std::uint64_t offset, std::span<std::byte> bytes)>;
  FrontHash(const Checksums& expected, std::uint64_t size_bytes, ChunkBuffers& buffers, Read read);
  ~FrontHash();

  void present(std::uint64_t index);  // the chunk can be read back
  // The chunk can be read back, and stands in `bytes` now. Waits while the thread is what everybody waits for; true: it
  // did.
  bool offer(std::uint64_t index, ChunkBuffers::Buffer bytes, std::stop_token stop);
  // After the last chunk: waits for the thread and compares. Throws Error{content}, Error{interrupted}, what Read
  // threw.
  [[nodiscard]] Checksums finish(std::string_view what, std::stop_token stop);
  void restart();                                 // the file begins anew
  [[nodiscard]] std::uint64_t read_back() const;  // bytes

  static constexpr std::size_t kept_max = 6;

 private:
  enum class Place : std::uint8_t { missing, present };
  void run(std::stop_token stop);
  void start();
  void hash(std::uint64_t index, const std::byte* bytes);
  [[nodiscard]] bool ready() const { return next_ < places_.size() && places_[next_] == Place::present; }

  const Checksums expected_;
  const std::uint64_t size_bytes_;
  ChunkBuffers& buffers_;
  const Read read_;
  ChecksumSet sums_;

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable_any moved_;
  std::vector<Place> places_;  // by chunk
  std::map<std::uint64_t, ChunkBuffers::Buffer> kept_;
  std::uint64_t next_ = 0, read_back_ = 0;
  std::exception_ptr failure_;
  std::jthread thread_;  // last: it ends before what it uses goes
};

}  // namespace sabath
