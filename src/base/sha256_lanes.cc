#include "base/sha256_lanes.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#if defined(SABATH_SHA256_LANES)
#include <cpuid.h>
#endif

namespace sabath {

std::uint64_t sha256_features_shown(const char* settings) noexcept {
  constexpr std::string_view name = "OPENSSL_ia32cap=";
  const std::string_view all = settings == nullptr ? "" : settings;
  if (!all.starts_with(name)) return ~0ULL;
  const std::size_t colon = all.find(':');
  return colon == std::string_view::npos ? ~0ULL : std::strtoull(settings + colon + 1, nullptr, 16);
}

#if defined(SABATH_SHA256_LANES)
Sha256Cpu sha256_cpu(std::uint64_t shown) noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  __builtin_cpu_init();
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 1) return {};
  const std::uint64_t features = b & shown;
  const auto has = [&](unsigned bit) { return (features >> bit & 1) != 0; };
  return {.sha = has(29) && __builtin_cpu_supports("sse4.1") != 0,  // clang 14 has no name for it
          .avx2 = has(5) && __builtin_cpu_supports("avx2") != 0,
          .avx512 =
              has(16) && has(30) && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0};
}
#else  // another architecture: its plan is always the stream
Sha256Cpu sha256_cpu(std::uint64_t) noexcept { return {}; }
void sha256_2_lanes(const std::byte* const*, std::size_t, std::uint8_t*) noexcept {}
void sha256_8_lanes(const std::byte* const*, std::size_t, std::uint8_t*) noexcept {}
void sha256_16_lanes(const std::byte* const*, std::size_t, std::uint8_t*) noexcept {}
void sha256_32_lanes(const std::byte* const*, std::size_t, std::uint8_t*) noexcept {}
void sha256_1_along(std::uint32_t*, const std::byte*, std::size_t, std::uint8_t*) noexcept {}
void sha256_16_along(std::uint32_t*, const std::byte*, std::size_t, std::uint8_t*) noexcept {}
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

std::size_t sha256_along(Sha256Plan plan, std::uint32_t* words, std::span<const std::byte> bytes,
                         std::size_t piece_size, std::span<Sha256> hashes) noexcept {
  constexpr std::size_t most = 16, block_size = 64;
  if (plan.along == 0 || piece_size % block_size != 0) return 0;
  const auto function = plan.along == most ? sha256_16_along : sha256_1_along;
  std::size_t done = 0;
  for (; (done + plan.along) * piece_size <= bytes.size(); done += plan.along) {
    std::array<std::array<std::uint8_t, Sha256::size>, most> results;
    function(words, bytes.data() + done * piece_size, piece_size, results.front().data());
    for (std::size_t i = 0; i < plan.along; ++i) hashes[done + i] = Sha256(results[i]);
  }
  return done;
}

}  // namespace sabath
