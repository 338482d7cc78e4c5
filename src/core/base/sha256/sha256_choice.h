// Chooses the quickest way to hash several messages on this machine: it tries all kernels that the CPU can run, for
// some five milliseconds, against one stream of OpenSSL's. It infers nothing from a CPU's name or features: a kernel
// that is three times as fast on one CPU is two hundred times slower on another (SHA instructions between 512-bit ones:
// Zen 5 and Golden Cove). It does not take a kernel that gives a wrong hash. Internal to base, its tests and its
// benchmark. Any thread; throws nothing but std::bad_alloc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/sha256/sha256_lanes.h"
#include "sabath/digest.h"

namespace sabath {

struct Sha256Candidates {
  static constexpr std::string_view stream_name = "openssl";
  void (*stream)(std::span<const std::byte> message, Sha256& hash) = nullptr;  // one message
  std::vector<Sha256Kernel> kernels;
  std::vector<Sha256Along> alongs;
};

// The result of one of them.
struct Sha256Timing {
  std::string_view name;
  double seconds_per_byte = 0;  // hashed, with all lanes at work; of a stream with its pieces: of the stream
  bool wrong = false;           // it gave another hash than the stream
};

struct Sha256Timings {
  Sha256Timing stream;
  std::vector<Sha256Timing> kernels, alongs;  // in the order of the candidates
};

// One that is more than four times slower than the quickest is given up after a few kilobytes.
[[nodiscard]] Sha256Timings time_sha256(const Sha256Candidates& candidates);

class Sha256Choice {
 public:
  Sha256Choice() = default;  // the stream for everything
  Sha256Choice(const Sha256Candidates& candidates, const Sha256Timings& timings, unsigned cores);
  // Always these two, at any cost.
  Sha256Choice(const Sha256Kernel& kernel, const Sha256Along& along);

  // hashes[i] = SHA-256 of the size_bytes at messages[i], for the first messages; returns how many: the caller gives
  // the others to the stream. hashes.size() == messages.size().
  [[nodiscard]] std::size_t hash(std::span<const std::byte* const> messages, std::size_t size_bytes,
                                 std::span<Sha256> hashes) const noexcept;
  // The first whole pieces of `bytes`, of piece_size each, and the stream that they are the next part of, whose state
  // is in `words`. Returns how many pieces: the caller hashes the others.
  [[nodiscard]] std::size_t hash_along(std::uint32_t* words, std::span<const std::byte> bytes, std::size_t piece_size,
                                       std::span<Sha256> hashes) const noexcept;

  // For the first of `left` messages; lanes == 0: the stream is quicker.
  [[nodiscard]] const Sha256Kernel& kernel_for(std::size_t left) const {
    return groups_[left < groups_.size() ? left : groups_.size() - 1];
  }
  [[nodiscard]] const Sha256Along& along() const { return along_; }  // pieces == 0: stream and pieces each by itself

 private:
  static constexpr std::size_t widest = 32;
  std::array<Sha256Kernel, widest + 1> groups_{};  // by how many messages are left
  Sha256Along along_{};
};

}  // namespace sabath
