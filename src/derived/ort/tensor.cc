#include "ort/tensor.h"

#include <fmt/format.h>

#include <array>

#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

struct Kind {
  TensorType type;
  std::string_view name;
  std::size_t bytes;
  int onnx;  // TensorProto.DataType
};

constexpr std::array kinds{
    Kind{TensorType::float32, "float32", 4, 1},  Kind{TensorType::float64, "float64", 8, 11},
    Kind{TensorType::float16, "float16", 2, 10}, Kind{TensorType::int8, "int8", 1, 3},
    Kind{TensorType::int16, "int16", 2, 5},      Kind{TensorType::int32, "int32", 4, 6},
    Kind{TensorType::int64, "int64", 8, 7},      Kind{TensorType::uint8, "uint8", 1, 2},
    Kind{TensorType::uint16, "uint16", 2, 4},    Kind{TensorType::uint32, "uint32", 4, 12},
    Kind{TensorType::uint64, "uint64", 8, 13},   Kind{TensorType::boolean, "bool", 1, 9},
};

constexpr const Kind& kind_of(TensorType type) noexcept { return kinds[static_cast<std::size_t>(type)]; }

std::string shape_text(const std::vector<std::int64_t>& shape, const std::vector<std::string>& symbols) {
  std::string text;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ",";
    if (shape[i] >= 0) {
      text += std::to_string(shape[i]);
    } else {
      text += i < symbols.size() && !symbols[i].empty() ? printable(symbols[i]) : "?";
    }
  }
  return text;
}

}  // namespace

std::string_view name(TensorType type) noexcept { return kind_of(type).name; }
std::size_t size_bytes(TensorType type) noexcept { return kind_of(type).bytes; }
int onnx_number(TensorType type) noexcept { return kind_of(type).onnx; }

TensorType tensor_type_of(int onnx, std::string_view what) {
  for (const Kind& kind : kinds) {
    if (kind.onnx == onnx) return kind.type;
  }
  throw Error(FailureKind::invalid, fmt::format("{} has elements of ONNX's type {}", printable(what), onnx),
              "numbers and booleans can be given and taken; strings, complex numbers and bfloat16 cannot");
}

std::size_t bytes_of(TensorType type, const std::vector<std::int64_t>& shape, std::size_t bytes_max) {
  std::size_t bytes = size_bytes(type);
  bool empty = false;
  for (const std::int64_t length : shape) {
    if (length < 0) throw Error(FailureKind::invalid, fmt::format("a tensor of shape [{}]", shape_text(shape, {})));
    empty = empty || length == 0;
    if (!empty && __builtin_mul_overflow(bytes, static_cast<std::size_t>(length), &bytes)) bytes = SIZE_MAX;
  }
  if (empty) return 0;
  if (bytes > bytes_max) {
    throw Error(FailureKind::invalid,
                fmt::format("a tensor {}[{}] has more than {} bytes", name(type), shape_text(shape, {}), bytes_max),
                "give fewer samples at a time");
  }
  return bytes;
}

std::string text_of(const TensorSlot& slot) {
  return fmt::format("{}[{}] {}", printable(slot.name), shape_text(slot.shape, slot.symbols), name(slot.type));
}

std::string why_not_fitting(const TensorSlot& slot, TensorType type, const std::vector<std::int64_t>& shape) {
  return why_not_fitting(slot, TensorSlot{"", type, shape, {}});
}

std::string why_not_fitting(const TensorSlot& slot, const TensorSlot& given) {
  bool fits = slot.type == given.type && slot.shape.size() == given.shape.size();
  for (std::size_t i = 0; fits && i < slot.shape.size(); ++i) {
    fits = slot.shape[i] < 0 || given.shape[i] < 0 || slot.shape[i] == given.shape[i];
  }
  return fits ? "" : fmt::format("it wants {}, and gets {}", text_of(slot), text_of(given));
}

}  // namespace sabath
