// Sixteen lanes, and thirty-two in two registers: compiled for AVX-512 F and BW.
#include "base/sha256/sha256_lanes.h"

#if defined(SABATH_SHA256_LANES)
#include "base/sha256/sha256_lanes_512.h"
#include "base/sha256/sha256_lanes_kernel.h"

namespace sabath {
namespace {

struct Here {};
using Sixteen = Sha256Width512<Here>;

}  // namespace

void sha256_16_lanes(const std::byte* const* messages, std::size_t size_bytes, std::uint8_t* hashes) noexcept {
  Sha256Lanes<Sixteen, 1>::hash(messages, size_bytes, hashes);
}

void sha256_32_lanes(const std::byte* const* messages, std::size_t size_bytes, std::uint8_t* hashes) noexcept {
  Sha256Lanes<Sixteen, 2>::hash(messages, size_bytes, hashes);
}

}  // namespace sabath
#endif
