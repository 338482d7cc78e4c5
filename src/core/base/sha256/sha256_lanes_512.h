// Sixteen lanes: AVX-512 F and BW. By the rules of sha256_lanes_kernel.h.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace sabath {

template <class Unit>
struct Sha256Width512 {
  using Vector [[gnu::vector_size(64)]] = std::uint32_t;
  using Bytes [[gnu::vector_size(64)]] = std::uint8_t;
  // vpternlogd with the function's truth table: bit 4x + 2y + z.
  [[gnu::always_inline]] static inline Vector exclusive_or(Vector x, Vector y, Vector z) {
    return (Vector)_mm512_ternarylogic_epi32((__m512i)x, (__m512i)y, (__m512i)z, 0x96);
  }
  [[gnu::always_inline]] static inline Vector choose(Vector x, Vector y, Vector z) {
    return (Vector)_mm512_ternarylogic_epi32((__m512i)x, (__m512i)y, (__m512i)z, 0xca);
  }
  [[gnu::always_inline]] static inline Vector majority(Vector x, Vector y, Vector z) {
    return (Vector)_mm512_ternarylogic_epi32((__m512i)x, (__m512i)y, (__m512i)z, 0xe8);
  }
};

}  // namespace sabath
