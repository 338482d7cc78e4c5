// The alphabet of the manifest format: little-endian integers, hashes, short texts and 16-byte tags.
// Pure; any thread. Everything that reads throws Error{invalid} instead of passing the end.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "sabath/digest.h"

namespace sabath::wire {

inline constexpr std::size_t tag_size = 16;  // 14 letters, NUL, and one byte whose meaning the reader knows

[[noreturn]] void refuse(std::string what);  // Error{invalid} with the hint that all bad manifests share

template <std::unsigned_integral T>
void put(std::string& out, T value) {
  std::array<char, sizeof(T)> raw;
  for (std::size_t i = 0; i < sizeof(T); ++i) raw[i] = static_cast<char>((value >> (8 * i)) & 0xff);
  out.append(raw.data(), raw.size());
}
void put_hash(std::string& out, const Sha256& hash);
void put_text(std::string& out, std::string_view text);  // u16 length, bytes
void put_tag(std::string& out, std::string_view letters, std::uint8_t last);
// The checksum before a record of a log: it shows a torn or foreign record. `tag` is the log's own.
[[nodiscard]] std::uint64_t guard(std::string_view record, std::uint64_t tag);

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  [[nodiscard]] std::size_t left() const noexcept { return bytes_.size(); }
  template <std::unsigned_integral T>
  [[nodiscard]] T get() {
    const std::string_view raw = take(sizeof(T));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) value |= std::uint64_t{static_cast<std::uint8_t>(raw[i])} << (8 * i);
    return static_cast<T>(value);
  }
  [[nodiscard]] Sha256 hash();
  [[nodiscard]] std::string_view text(std::size_t length_max);  // u16 length, bytes; views the reader's bytes
  [[nodiscard]] std::string_view take(std::size_t length);
  [[nodiscard]] std::uint8_t tag(std::string_view letters);  // the last byte of the tag

 private:
  std::string_view bytes_;
};

}  // namespace sabath::wire
