#include "infer/numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstring>
#include <system_error>

#include "formats/npy.h"
#include "ort/element.h"

namespace sabath {

bool try_append_number(TensorType type, std::string_view text, std::vector<std::byte>& bytes) {
  if (type == TensorType::float16) return false;
  return with_element(type, [&](auto value) {
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || text.empty()) return false;
    if (type == TensorType::boolean && value > 1) return false;
    const auto* const raw = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), raw, raw + sizeof value);
    return true;
  });
}

std::string number_text(TensorType type, const std::byte* element) {
  return with_element(type, [&](auto value) {
    std::memcpy(&value, element, sizeof value);
    if (type == TensorType::float16) return fmt::format("{}", double{half_to_float(static_cast<std::uint16_t>(value))});
    if constexpr (sizeof value == 1) return std::to_string(static_cast<int>(value));
    return fmt::format("{}", value);
  });
}

}  // namespace sabath
