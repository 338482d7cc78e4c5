// CRC-32C (Castagnoli; RFC 3720 appendix B.4), and TensorFlow's and LevelDB's masked form of it. By the CPU's own
// instruction where it has one (SSE4.2), else by tables. Pure; any thread; no throw.
#pragma once

#include <cstdint>
#include <string_view>

namespace sabath {

// Of `bytes` behind those whose CRC is `before`: crc32c("ab") == crc32c("b", crc32c("a")). crc32c("123456789") is
// 0xe3069283.
[[nodiscard]] std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0) noexcept;
// The same by tables only: what the other is tested against.
[[nodiscard]] std::uint32_t crc32c_by_tables(std::string_view bytes, std::uint32_t before = 0) noexcept;

// A CRC of bytes that contain CRCs would be weak, so these formats turn and shift it: TFRecord, LevelDB's log.
[[nodiscard]] constexpr std::uint32_t mask_crc(std::uint32_t crc) noexcept {
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

}  // namespace sabath
