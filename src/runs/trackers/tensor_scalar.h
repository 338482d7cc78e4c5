// The one number in a TensorProto of TensorFlow (framework/tensor.proto). Pure; any thread; no throw.
#pragma once

#include <optional>
#include <string_view>

namespace sabath {

// nullopt: it has no element or several, or elements that are no real numbers.
[[nodiscard]] std::optional<double> try_scalar_of_tensor(std::string_view tensor);

}  // namespace sabath
