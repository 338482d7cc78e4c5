// Values that a model takes and gives: dense, in C order, in the machine's byte order. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

enum class TensorType { float32, float64, float16, int8, int16, int32, int64, uint8, uint16, uint32, uint64, boolean };

[[nodiscard]] std::string_view name(TensorType type) noexcept;             // as NumPy has it: "float32", "bool"
[[nodiscard]] std::size_t size_bytes(TensorType type) noexcept;            // of one element
[[nodiscard]] TensorType tensor_type_of(int onnx, std::string_view what);  // by TensorProto's number; Error{invalid}
[[nodiscard]] int onnx_number(TensorType type) noexcept;

struct Tensor {
  TensorType type = TensorType::float32;
  std::vector<std::int64_t> shape;  // {}: one element
  std::vector<std::byte> bytes;     // as many as shape and type say
};

// What a model says of one input or output.
struct TensorSlot {
  std::string name;
  TensorType type = TensorType::float32;
  std::vector<std::int64_t> shape;   // -1: any length
  std::vector<std::string> symbols;  // the name of each length that may be any; "" otherwise
};

// Bytes of a tensor; Error{invalid} if a length is negative, or the product exceeds `bytes_max`.
[[nodiscard]] std::size_t bytes_of(TensorType type, const std::vector<std::int64_t>& shape, std::size_t bytes_max);
[[nodiscard]] std::string text_of(const TensorSlot& slot);  // "x[batch,32] float32"
// Why a tensor of this type and shape cannot be given to the slot; "": it can.
[[nodiscard]] std::string why_not_fitting(const TensorSlot& slot, TensorType type,
                                          const std::vector<std::int64_t>& shape);
// The same of what another model gives: lengths that may be any fit every length.
[[nodiscard]] std::string why_not_fitting(const TensorSlot& slot, const TensorSlot& given);

}  // namespace sabath
