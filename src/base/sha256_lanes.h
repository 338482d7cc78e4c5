// Several SHA-256 of equal length side by side, one in each 32-bit lane of the vector registers, or two in turn by the
// CPU's SHA extensions: what is behind sha256_pieces and sha256_each. Internal to base, its tests and its benchmark.
// Pure functions, any thread, no errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sabath/digest.h"

namespace sabath {

// What decides here of the CPU. avx2 and avx512 (F and BW) are true only if the system saves those registers and the
// code for them was built.
struct Sha256Cpu {
  bool sha = false;  // instructions for SHA-256, and SSE 4.1
  bool avx2 = false;
  bool avx512 = false;
};
// `shown`: the bits of CPUID leaf 7, EBX, that may be used.
[[nodiscard]] Sha256Cpu sha256_cpu(std::uint64_t shown = ~0ULL) noexcept;

// Who hides a CPU's features from OpenSSL means us as well: those bits, as its OPENSSL_INFO_CPU_SETTINGS say them,
// "OPENSSL_ia32cap=0x...:0x...", in the second word. Whatever else is said: all.
[[nodiscard]] std::uint64_t sha256_features_shown(const char* settings) noexcept;

struct Sha256Plan {
  std::size_t lanes = 0;   // messages side by side: 0 (none: one stream is all there is), 2, 8, 16 or 32
  std::size_t fewest = 0;  // a group takes as long with idle lanes: with fewer messages than this, a stream is faster
                           // (half of 32 lanes are left out if nobody needs them)
  std::size_t along = 0;   // pieces of a stream that it takes along in one go: 0 (none), 1 or 16

  friend bool operator==(const Sha256Plan&, const Sha256Plan&) = default;
};

// The rates are those of bench/hash.cc, in multiples of one stream without the SHA extensions. Golden Cove: 3.7 with
// them and 7 for two streams in turn, 3.3 for eight lanes, 8.2 for sixteen. Zen 5: 3.0, 4.2, 2.7, 6.4, and 8.5 for
// thirty-two. Zen 3: 3.3, 6.4, 3.4. So sixteen lanes beat a stream with the extensions from 8 messages on, and eight
// lanes never do. A stream with the extensions waits for itself: half of their unit, or sixteen lanes, run meanwhile.
[[nodiscard]] constexpr Sha256Plan sha256_plan(Sha256Cpu cpu) noexcept {
  if (cpu.avx512) return cpu.sha ? Sha256Plan{32, 8, 16} : Sha256Plan{32, 3, 0};
  if (cpu.sha) return {2, 2, 1};
  if (cpu.avx2) return {8, 3, 0};
  return {};
}

// How many of `left` messages the next group holds; 0: the stream takes them.
[[nodiscard]] constexpr std::size_t sha256_group(Sha256Plan plan, std::size_t left) noexcept {
  const std::size_t size = left < plan.lanes ? left : plan.lanes;
  return size < plan.fewest ? 0 : size;
}

// hashes[i] = SHA-256 of the size_bytes at messages[i], for the first messages, by groups of lanes; returns how many:
// the caller hashes the others. hashes.size() == messages.size(); the plan must fit this CPU.
[[nodiscard]] std::size_t sha256_in_lanes(Sha256Plan plan, std::span<const std::byte* const> messages,
                                          std::size_t size_bytes, std::span<Sha256> hashes) noexcept;

// One group: `messages` are 2, 8, 16 or 32 addresses, with any alignment, of size_bytes each; hashes: 32 bytes for
// each.
void sha256_2_lanes(const std::byte* const* messages, std::size_t size_bytes, std::uint8_t* hashes) noexcept;
void sha256_8_lanes(const std::byte* const* messages, std::size_t size_bytes, std::uint8_t* hashes) noexcept;
void sha256_16_lanes(const std::byte* const* messages, std::size_t size_bytes, std::uint8_t* hashes) noexcept;
void sha256_32_lanes(const std::byte* const* messages, std::size_t size_bytes, std::uint8_t* hashes) noexcept;

// The first whole pieces of `bytes`, by groups of plan.along, of piece_size each, and the stream that they are the next
// part of: `words` are its state, a to h, before and after. Returns how many: the caller hashes the others.
[[nodiscard]] std::size_t sha256_along(Sha256Plan plan, std::uint32_t* words, std::span<const std::byte> bytes,
                                       std::size_t piece_size, std::span<Sha256> hashes) noexcept;

// One group: one piece or sixteen in a row, piece_size a multiple of 64; hashes: 32 bytes for each.
void sha256_1_along(std::uint32_t* words, const std::byte* bytes, std::size_t piece_size, std::uint8_t* hash) noexcept;
void sha256_16_along(std::uint32_t* words, const std::byte* bytes, std::size_t piece_size,
                     std::uint8_t* hashes) noexcept;

}  // namespace sabath
