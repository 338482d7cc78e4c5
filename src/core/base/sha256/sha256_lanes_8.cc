// Eight lanes: compiled for AVX2.
#include "base/sha256/sha256_lanes.h"

#if defined(SABATH_SHA256_LANES)
#include "base/sha256/sha256_lanes_kernel.h"

namespace sabath {
namespace {

struct Eight {
  using Vector [[gnu::vector_size(32)]] = std::uint32_t;
  using Bytes [[gnu::vector_size(32)]] = std::uint8_t;
  [[gnu::always_inline]] static inline Vector exclusive_or(Vector x, Vector y, Vector z) { return x ^ y ^ z; }
  [[gnu::always_inline]] static inline Vector choose(Vector x, Vector y, Vector z) { return (x & (y ^ z)) ^ z; }
  // The next round's x ^ y is this round's y ^ z: one instruction less than by "and" and "or".
  [[gnu::always_inline]] static inline Vector majority(Vector x, Vector y, Vector z) { return ((x ^ y) & (y ^ z)) ^ y; }
};

}  // namespace

void sha256_8_lanes(const std::byte* const* messages, std::size_t size_bytes, std::uint8_t* hashes) noexcept {
  Sha256Lanes<Eight, 1>::hash(messages, size_bytes, hashes);
}

}  // namespace sabath
#endif
