#include "formats/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#include <cpuid.h>
#include <immintrin.h>
#define SABATH_CRC_INSTRUCTION
#ifdef __clang__  // from 22 on the intrinsics ask for it by its own name
#define SABATH_CRC_TARGET "sse4.2,crc32"
#else
#define SABATH_CRC_TARGET "sse4.2"
#endif
#endif

namespace sabath {
namespace {

constexpr std::uint32_t polynomial = 0x82f63b78U;  // reflected
constexpr std::size_t slices = 8;

// tables[k][b]: the CRC of byte b with k zero bytes behind it.
using CrcTables = std::array<std::array<std::uint32_t, 256>, slices>;

constexpr CrcTables make_tables() {
  CrcTables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? polynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < slices; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte)
      tables[k][byte] = (tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 0xff];
  }
  return tables;
}

constexpr CrcTables tables = make_tables();

std::uint32_t byte_at(const char* at) { return static_cast<unsigned char>(*at); }

std::uint32_t word_at(const char* at) {
  return byte_at(at) | byte_at(at + 1) << 8 | byte_at(at + 2) << 16 | byte_at(at + 3) << 24;
}

#ifdef SABATH_CRC_INSTRUCTION
bool has_crc_instruction() noexcept {  // some compilers' __builtin_cpu_supports() says no to everything
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) == 1 && (c & bit_SSE4_2) != 0;
}

__attribute__((__target__(SABATH_CRC_TARGET))) std::uint32_t crc32c_by_instruction(std::string_view bytes,
                                                                                   std::uint32_t before) {
  std::uint64_t crc = ~before;
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    crc = _mm_crc32_u64(crc, word);
  }
  auto last = static_cast<std::uint32_t>(crc);
  for (; left > 0; --left, ++at) last = _mm_crc32_u8(last, static_cast<unsigned char>(*at));
  return ~last;
}
#endif

}  // namespace

std::uint32_t crc32c_by_tables(std::string_view bytes, std::uint32_t before) noexcept {
  std::uint32_t crc = ~before;
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= slices; left -= slices, at += slices) {
    const std::uint32_t low = crc ^ word_at(at), high = word_at(at + 4);
    crc = tables[7][low & 0xff] ^ tables[6][low >> 8 & 0xff] ^ tables[5][low >> 16 & 0xff] ^ tables[4][low >> 24] ^
          tables[3][high & 0xff] ^ tables[2][high >> 8 & 0xff] ^ tables[1][high >> 16 & 0xff] ^ tables[0][high >> 24];
  }
  for (; left > 0; --left, ++at) crc = (crc >> 8) ^ tables[0][(crc ^ byte_at(at)) & 0xff];
  return ~crc;
}

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) noexcept {
#ifdef SABATH_CRC_INSTRUCTION
  static const bool has_instruction = has_crc_instruction();
  if (has_instruction) return crc32c_by_instruction(bytes, before);
#endif
  return crc32c_by_tables(bytes, before);
}

}  // namespace sabath
