#include "base/percent.h"

#include <fmt/format.h>

#include <cstdint>

namespace sabath {
namespace {

std::string encoded(std::string_view text, std::string_view also_plain) {
  std::string result;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       also_plain.find(c) != also_plain.npos;
    if (plain) {
      result += c;
    } else {
      result += fmt::format("%{:02X}", static_cast<std::uint8_t>(c));
    }
  }
  return result;
}

}  // namespace

std::string percent_encode_path(std::string_view path) { return encoded(path, "-._~/"); }

std::string percent_encode(std::string_view text) { return encoded(text, "-._~"); }

std::string percent_encode_raw(std::string_view reference) {
  std::string text;
  for (const char c : reference) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (byte == ' ' || byte >= 0x80) {
      text += fmt::format("%{:02X}", byte);
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace sabath
