#include "sabath/digest.h"

#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::string_view prefix = "sha256:";

constexpr int digit_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::optional<Sha256> Sha256::try_parse(std::string_view text) noexcept {
  if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  if (text.size() != 2 * size) return std::nullopt;
  std::array<std::uint8_t, size> bytes{};
  for (std::size_t i = 0; i < size; ++i) {
    const int high = digit_value(text[2 * i]);
    const int low = digit_value(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return Sha256(bytes);
}

Sha256 Sha256::parse(std::string_view text) {
  if (const auto hash = try_parse(text)) return *hash;
  throw Error(FailureKind::invalid, "not a SHA-256: \"" + printable(text) + "\"",
              "give 64 hexadecimal digits, with or without \"sha256:\" before them");
}

std::string Sha256::hex() const {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * size);
  for (const std::uint8_t byte : bytes_) {
    text.push_back(digits[byte >> 4]);
    text.push_back(digits[byte & 15]);
  }
  return text;
}

std::string Sha256::prefixed() const { return std::string(prefix) + hex(); }

}  // namespace sabath
