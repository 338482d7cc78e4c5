// Sixteen lanes, and thirty-two in two registers: compiled for AVX-512 F and BW.
#include "base/sha256_lanes.h"

#if defined(SABATH_SHA256_LANES)
#include <immintrin.h>

#include "base/sha256_lanes_kernel.h"

namespace sabath {
namespace {

struct Sixteen {
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

}  // namespace

void sha256_16_lanes(const std::byte* const* messages, std::size_t size_bytes, std::uint8_t* hashes) noexcept {
  Sha256Lanes<Sixteen, 1>::hash(messages, size_bytes, hashes);
}

void sha256_32_lanes(const std::byte* const* messages, std::size_t size_bytes, std::uint8_t* hashes) noexcept {
  Sha256Lanes<Sixteen, 2>::hash(messages, size_bytes, hashes);
}

}  // namespace sabath
#endif
