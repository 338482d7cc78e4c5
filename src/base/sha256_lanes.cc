#include "base/sha256_lanes.h"

#include <algorithm>
#include <array>

#if defined(SABATH_SHA256_LANES)
#include <cpuid.h>
#endif

namespace sabath {

#if defined(SABATH_SHA256_LANES)
Sha256Cpu sha256_cpu() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  __builtin_cpu_init();
  const bool sha = __get_cpuid_count(7, 0, &a, &b, &c, &d) == 1 &&
                   (b & 1U << 29) != 0 &&  // clang 14 has no name for it
                   __builtin_cpu_supports("sse4.1") != 0;
  return {.sha = sha,
          .avx2 = __builtin_cpu_supports("avx2") != 0,
          .avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0};
}
#else  // another architecture: its plan is always the stream
Sha256Cpu sha256_cpu() noexcept { return {}; }
void sha256_2_lanes(const std::byte* const*, std::size_t, std::uint8_t*) noexcept {}
void sha256_8_lanes(const std::byte* const*, std::size_t, std::uint8_t*) noexcept {}
void sha256_16_lanes(const std::byte* const*, std::size_t, std::uint8_t*) noexcept {}
void sha256_32_lanes(const std::byte* const*, std::size_t, std::uint8_t*) noexcept {}
#endif

namespace {

auto function_for(std::size_t lanes, std::size_t group) {
  if (lanes == 32) return group > 16 ? sha256_32_lanes : sha256_16_lanes;
  return lanes == 16 ? sha256_16_lanes : lanes == 8 ? sha256_8_lanes : sha256_2_lanes;
}

}  // namespace

std::size_t sha256_in_lanes(Sha256Plan plan, std::span<const std::byte* const> messages, std::size_t size_bytes,
                            std::span<Sha256> hashes) noexcept {
  constexpr std::size_t widest = 32;
  std::size_t done = 0;
  while (const std::size_t group = sha256_group(plan, messages.size() - done)) {
    std::array<const std::byte*, widest> lanes{};
    lanes.fill(messages[done]);  // idle lanes repeat the first message
    std::ranges::copy(messages.subspan(done, group), lanes.begin());
    std::array<std::array<std::uint8_t, Sha256::size>, widest> results;
    function_for(plan.lanes, group)(lanes.data(), size_bytes, results.front().data());
    for (std::size_t i = 0; i < group; ++i) hashes[done + i] = Sha256(results[i]);
    done += group;
  }
  return done;
}

}  // namespace sabath
