// The C++ type of a tensor's elements. Pure.
#pragma once

#include <cstdint>

#include "ort/tensor.h"

namespace sabath {

// Calls `use` with a value of the type's own C++ type. Half precision is two bytes as they stand.
template <typename Use>
auto with_element(TensorType type, Use use) {
  switch (type) {
    case TensorType::float32:
      return use(float{});
    case TensorType::float64:
      return use(double{});
    case TensorType::float16:
    case TensorType::uint16:
      return use(std::uint16_t{});
    case TensorType::int8:
      return use(std::int8_t{});
    case TensorType::int16:
      return use(std::int16_t{});
    case TensorType::int32:
      return use(std::int32_t{});
    case TensorType::int64:
      return use(std::int64_t{});
    case TensorType::uint32:
      return use(std::uint32_t{});
    case TensorType::uint64:
      return use(std::uint64_t{});
    case TensorType::uint8:
    case TensorType::boolean:
      break;
  }
  return use(std::uint8_t{});
}

}  // namespace sabath
