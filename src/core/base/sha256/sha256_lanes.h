// Several SHA-256 of equal length side by side, one in each 32-bit lane of the vector registers, or two in turn by the
// CPU's SHA extensions. Internal to base, its tests and its benchmark. Pure functions, any thread, no errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sabath {

// The CPU features that decide here. avx2 and avx512 (F and BW) are true only if the system saves those registers and
// the code for them was built.
struct Sha256Cpu {
  bool sha = false;  // instructions for SHA-256, and SSE 4.1
  bool avx2 = false;
  bool avx512 = false;
};
// `shown`: the bits of CPUID leaf 7, EBX, that may be used.
[[nodiscard]] Sha256Cpu sha256_cpu(std::uint64_t shown = ~0ULL) noexcept;

// A user who hides CPU features from OpenSSL means us as well: returns the bits of the second word in its
// OPENSSL_INFO_CPU_SETTINGS, "OPENSSL_ia32cap=0x...:0x...". For any other text: all bits.
[[nodiscard]] std::uint64_t sha256_features_shown(const char* settings) noexcept;

// Hashes messages of one length side by side.
struct Sha256Kernel {
  std::string_view name;
  std::size_t lanes = 0;  // messages that it takes at once
  // messages: `lanes` addresses, with any alignment, of size_bytes each; hashes: 32 bytes for each.
  void (*hash)(const std::byte* const* messages, std::size_t size_bytes, std::uint8_t* hashes) noexcept = nullptr;
};

// Hashes the next pieces of a stream, and the stream with them.
struct Sha256Along {
  std::string_view name;
  std::size_t pieces = 0;  // that it takes at once, one after the other in memory
  // words: the stream's state, a to h, before and after. piece_size is a multiple of 64. hashes: 32 bytes for each
  // piece.
  void (*hash)(std::uint32_t* words, const std::byte* bytes, std::size_t piece_size,
               std::uint8_t* hashes) noexcept = nullptr;
};

// The kernels that the CPU can run. sha256_choice.h finds out which of them pay.
[[nodiscard]] std::vector<Sha256Kernel> sha256_kernels(Sha256Cpu cpu);
[[nodiscard]] std::vector<Sha256Along> sha256_alongs(Sha256Cpu cpu);

void sha256_2_lanes(const std::byte* const* messages, std::size_t size_bytes, std::uint8_t* hashes) noexcept;
void sha256_8_lanes(const std::byte* const* messages, std::size_t size_bytes, std::uint8_t* hashes) noexcept;
void sha256_16_lanes(const std::byte* const* messages, std::size_t size_bytes, std::uint8_t* hashes) noexcept;
void sha256_32_lanes(const std::byte* const* messages, std::size_t size_bytes, std::uint8_t* hashes) noexcept;
void sha256_1_along(std::uint32_t* words, const std::byte* bytes, std::size_t piece_size, std::uint8_t* hash) noexcept;
void sha256_16_along(std::uint32_t* words, const std::byte* bytes, std::size_t piece_size,
                     std::uint8_t* hashes) noexcept;

}  // namespace sabath
