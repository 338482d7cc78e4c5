// Elements of tensors as text, and back. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ort/tensor.h"

namespace sabath {

// Appends the element that the text names. False: it is no number of this type. float16 has no text.
[[nodiscard]] bool try_append_number(TensorType type, std::string_view text, std::vector<std::byte>& bytes);
// The shortest text that reads back as the same value. "nan", "inf" and "-inf" are what they are.
[[nodiscard]] std::string number_text(TensorType type, const std::byte* element);

}  // namespace sabath
