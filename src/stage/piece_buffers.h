// Pieces in memory, as the exchange passes them on: a header, and the bytes. A piece goes as one message, or as several
// of which the first has the header; each goes to its place, so that nothing is copied.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "sabath/digest.h"

namespace sabath {

class PieceBuffer {
 public:
  struct Header {
    std::uint64_t piece;
    std::uint32_t length, missing;  // missing: nobody could read it, and there are no bytes
  };

  PieceBuffer() : memory_(std::make_unique_for_overwrite<std::byte[]>(header_size + chunk_size_bytes)) {}
  [[nodiscard]] Header header() const {
    Header header;
    std::memcpy(&header, memory_.get(), sizeof header);
    return header;
  }
  void set(const Header& header) { std::memcpy(memory_.get(), &header, sizeof header); }
  [[nodiscard]] std::span<std::byte> payload(std::size_t length) { return {memory_.get() + header_size, length}; }

  // The i-th of `count` messages. It may be empty: their number is the same for all pieces.
  [[nodiscard]] std::span<std::byte> room(unsigned i, unsigned count) { return cut(i, count, chunk_size_bytes); }
  [[nodiscard]] std::span<const std::byte> message(unsigned i, unsigned count) {
    return cut(i, count, header().length);
  }

 private:
  static constexpr std::size_t header_size = 64;  // what follows stands on a cache line
  static_assert(sizeof(Header) <= header_size);
  [[nodiscard]] std::span<std::byte> cut(unsigned i, unsigned count, std::size_t length) {
    const std::size_t each = chunk_size_bytes / count;
    const std::size_t begin = i == 0 ? 0 : header_size + std::min(length, i * each);
    const std::size_t end = header_size + std::min(length, (i + 1) * each);
    return {memory_.get() + begin, end - begin};
  }
  std::unique_ptr<std::byte[]> memory_;
};

// So many buffers, made when first wanted. One returns when the last who uses it lets it go. Thread-safe.
class PieceBuffers {
 public:
  explicit PieceBuffers(std::size_t count) : left_(count) {}
  [[nodiscard]] std::shared_ptr<PieceBuffer> try_take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty() && left_ == 0) return nullptr;
    std::unique_ptr<PieceBuffer> buffer;
    if (free_.empty()) {
      buffer = std::make_unique<PieceBuffer>();
      --left_;
    } else {
      buffer = std::move(free_.back());
      free_.pop_back();
    }
    return {buffer.release(), [this](PieceBuffer* back) {
              const std::lock_guard again(mutex_);
              free_.emplace_back(back);
            }};
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<PieceBuffer>> free_;
  std::size_t left_;
};

}  // namespace sabath
