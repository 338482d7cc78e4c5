#include "base/sha256/sha256_lanes.h"

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
  unsigned a = 0, b = 0, c = 0, d = 0, basic = 0;
  if (__get_cpuid(1, &a, &b, &basic, &d) != 1 || __get_cpuid_count(7, 0, &a, &b, &c, &d) != 1) return {};
  // Which registers the system saves. __builtin_cpu_supports() knows it too, but not with every compiler's run time:
  // some say no to everything, and hashing then takes twice as long.
  unsigned saved = 0, high = 0;
  if ((basic >> 27 & 1) != 0) __asm__ volatile("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  constexpr unsigned avx_state = 0x6, avx512_state = 0xe6;
  const std::uint64_t features = b & shown;
  const auto has = [&](unsigned bit) { return (features >> bit & 1) != 0; };
  return {.sha = has(29) && (basic >> 19 & 1) != 0,  // and SSE4.1
          .avx2 = has(5) && (saved & avx_state) == avx_state,
          .avx512 = has(16) && has(30) && (saved & avx512_state) == avx512_state};
}
#else  // another architecture: OpenSSL's stream is all there is
Sha256Cpu sha256_cpu(std::uint64_t) noexcept { return {}; }
void sha256_2_lanes(const std::byte* const*, std::size_t, std::uint8_t*) noexcept {}
void sha256_8_lanes(const std::byte* const*, std::size_t, std::uint8_t*) noexcept {}
void sha256_16_lanes(const std::byte* const*, std::size_t, std::uint8_t*) noexcept {}
void sha256_32_lanes(const std::byte* const*, std::size_t, std::uint8_t*) noexcept {}
void sha256_1_along(std::uint32_t*, const std::byte*, std::size_t, std::uint8_t*) noexcept {}
void sha256_16_along(std::uint32_t*, const std::byte*, std::size_t, std::uint8_t*) noexcept {}
#endif

std::vector<Sha256Kernel> sha256_kernels(Sha256Cpu cpu) {
  std::vector<Sha256Kernel> kernels;
  if (cpu.sha) kernels.push_back({"sha-ni", 2, sha256_2_lanes});
  if (cpu.avx2) kernels.push_back({"avx2", 8, sha256_8_lanes});
  if (cpu.avx512) kernels.insert(kernels.end(), {{"avx512", 16, sha256_16_lanes}, {"avx512x2", 32, sha256_32_lanes}});
  return kernels;
}

std::vector<Sha256Along> sha256_alongs(Sha256Cpu cpu) {
  std::vector<Sha256Along> alongs;
  if (cpu.sha) alongs.push_back({"sha-ni+stream", 1, sha256_1_along});
  if (cpu.sha && cpu.avx512) alongs.push_back({"avx512+stream", 16, sha256_16_along});
  return alongs;
}

}  // namespace sabath
