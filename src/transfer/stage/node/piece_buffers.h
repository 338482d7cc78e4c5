// Pieces in memory, as the exchange passes them on: a header, and the bytes. A piece goes as one message, or as several
// of which the first has the header; each goes to its place, so that nothing is copied. If a piece turns out to be lost
// when some of it is on its way, the rest is sent without bytes: a receiver that gets less than was due knows.
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
    std::uint64_t piece, length;
  };

  PieceBuffer() : memory_(std::make_unique_for_overwrite<std::byte[]>(header_size + chunk_size_bytes)) {}
  [[nodiscard]] Header header() const {
    Header header;
    std::memcpy(&header, memory_.get(), sizeof header);
    return header;
  }
  void set(const Header& header) { std::memcpy(memory_.get(), &header, sizeof header); }
  [[nodiscard]] bool lost() const { return lost_; }
  void set_lost(bool lost) { lost_ = lost; }
  [[nodiscard]] std::span<std::byte> payload(std::size_t length) { return {memory_.get() + header_size, length}; }

  // The i-th of `count` messages. It may be empty: their number is the same for all pieces.
  [[nodiscard]] std::span<std::byte> room(unsigned i, unsigned count) { return cut(i, count, chunk_size_bytes); }
  [[nodiscard]] std::span<const std::byte> message(unsigned i, unsigned count) {
    if (lost_) return {memory_.get(), lost_message_size(i)};
    return cut(i, count, header().length);
  }
  [[nodiscard]] static std::size_t lost_message_size(unsigned i) { return i == 0 ? sizeof(Header) : 0; }
  // How much of the piece is in a message of `size` bytes, its i-th.
  [[nodiscard]] static std::size_t bytes_in(unsigned i, std::size_t size) {
    return i > 0 ? size : size - std::min(size, header_size);
  }
  // How many of `count` messages are filled by the first `here` bytes of a piece that may still be lost: not the one
  // with the last byte.
  [[nodiscard]] static unsigned filled(std::size_t here, std::size_t length, unsigned count) {
    return static_cast<unsigned>(std::min(here, std::max<std::size_t>(length, 1) - 1) / (chunk_size_bytes / count));
  }

 private:
  static constexpr std::size_t header_size = 64;  // what follows stands on a cache line
  static_assert(sizeof(Header) < header_size);
  [[nodiscard]] std::span<std::byte> cut(unsigned i, unsigned count, std::size_t length) {
    const std::size_t each = chunk_size_bytes / count;
    const std::size_t begin = i == 0 ? 0 : header_size + std::min(length, i * each);
    const std::size_t end = header_size + std::min(length, (i + 1) * each);
    return {memory_.get() + begin, end - begin};
  }
  std::unique_ptr<std::byte[]> memory_;
  bool lost_ = false;
};

// At most `count` buffers, made when first wanted. A buffer returns when its last user lets it go. Thread-safe.
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
              back->set_lost(false);
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
