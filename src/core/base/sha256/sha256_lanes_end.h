// Shared by every width of SHA-256 (FIPS 180-4): the constants, the end of a message, and an empty `beside`. Part of
// sha256_lanes_kernel.h, by the same rules: included by each width's own .cc only. Pure, no errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sabath {

inline constexpr std::uint32_t sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
inline constexpr std::uint32_t sha256_initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

// The end of a message: its last bytes, a one bit, zeros, and the message's length in bits. `Unit`: a local type of the
// file that uses it.
template <class Unit>
struct Sha256End {
  static constexpr std::size_t block_size = 64;
  std::byte bytes[2 * block_size];
  std::size_t blocks;

  Sha256End() = default;
  [[gnu::always_inline]] inline Sha256End(const std::byte* message, std::size_t size_bytes) {
    const std::size_t rest = size_bytes % block_size;
    blocks = rest + 9 <= block_size ? 1 : 2;
    std::memset(bytes, 0, sizeof bytes);
    if (rest != 0) std::memcpy(bytes, message + (size_bytes - rest), rest);
    bytes[rest] = std::byte{0x80};
    const std::uint64_t bits = __builtin_bswap64(size_bytes * 8);
    std::memcpy(bytes + blocks * block_size - sizeof bits, &bits, sizeof bits);
  }
};

// Work in the shadow of the lanes' rounds: none.
template <class Unit>
struct Sha256Alone {
  template <std::size_t round>
  [[gnu::always_inline]] inline void beside() {}
};

}  // namespace sabath
