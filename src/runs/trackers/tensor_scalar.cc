#include "trackers/tensor_scalar.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "formats/protobuf.h"

namespace sabath {
namespace {

using Wire = ProtobufField::Wire;

// tensorflow.DataType, and the field of TensorProto that has such values.
struct TensorType {
  std::uint64_t type;
  int bytes;  // of an element in tensor_content
  std::uint32_t field;
  double (*value)(std::uint64_t bits);
};

double of_half(std::uint64_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 0x1f);
  const auto fraction = static_cast<double>(bits & 0x3ff);
  const double sign = (bits >> 15 & 1) != 0 ? -1 : 1;
  if (exponent == 0x1f) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

template <typename T>
double of_integer(std::uint64_t bits) {
  return static_cast<double>(static_cast<T>(bits));
}

constexpr TensorType tensor_types[] = {
    {1, 4, 5,
     [](std::uint64_t bits) { return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))); }},
    {2, 8, 6, [](std::uint64_t bits) { return std::bit_cast<double>(bits); }},
    {3, 4, 7, of_integer<std::int32_t>},
    {4, 1, 7, of_integer<std::uint8_t>},
    {5, 2, 7, of_integer<std::int16_t>},
    {6, 1, 7, of_integer<std::int8_t>},
    {9, 8, 10, of_integer<std::int64_t>},
    {10, 1, 11, [](std::uint64_t bits) { return bits != 0 ? 1.0 : 0.0; }},
    {14, 2, 13,
     [](std::uint64_t bits) {
       return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits << 16)));
     }},
    {17, 2, 7, of_integer<std::uint16_t>},
    {19, 2, 13, of_half},
    {22, 4, 16, of_integer<std::uint32_t>},
    {23, 8, 17, of_integer<std::uint64_t>},
};

const TensorType* type_of(std::uint64_t number) {
  for (const TensorType& one : tensor_types) {
    if (one.type == number) return &one;
  }
  return nullptr;
}

// The one element of a repeated field, packed or not.
std::optional<std::uint64_t> one_element(const ProtobufField& field, const TensorType& type) {
  if (field.wire != Wire::bytes) return field.bits;
  if (type.type == 1 || type.type == 2) {
    return field.text.size() == static_cast<std::size_t>(type.bytes)
               ? std::optional(little_endian(field.text, type.bytes))
               : std::nullopt;
  }
  std::string_view text = field.text;
  std::uint64_t bits = 0;
  if (!take_varint(text, bits) || !text.empty()) return std::nullopt;
  return bits;
}

// True if each dimension is 1: TensorShapeProto { dim 2 { size 1 } }.
bool has_one_element(std::string_view shape) {
  ProtobufReader reader(shape);
  for (ProtobufField dim; reader.next(dim);) {
    if (!dim.is(2, Wire::bytes)) continue;
    std::uint64_t size = 0;
    ProtobufReader inner(dim.text);
    for (ProtobufField field; inner.next(field);) {
      if (field.is(1, Wire::varint)) size = field.bits;
    }
    if (size != 1) return false;
  }
  return !reader.broken();
}

}  // namespace

std::optional<double> try_scalar_of_tensor(std::string_view tensor) {
  const TensorType* type = nullptr;
  std::string_view content;
  std::optional<ProtobufField> element;
  ProtobufReader types(tensor);
  for (ProtobufField field; types.next(field);) {
    if (field.is(1, Wire::varint)) type = type_of(field.bits);
  }
  if (type == nullptr) return std::nullopt;
  ProtobufReader reader(tensor);
  for (ProtobufField field; reader.next(field);) {
    if (field.is(2, Wire::bytes) && !has_one_element(field.text)) return std::nullopt;
    if (field.is(4, Wire::bytes)) content = field.text;
    if (field.number == type->field) {
      if (element) return std::nullopt;
      element = field;
    }
  }
  if (reader.broken()) return std::nullopt;
  if (!content.empty()) {
    if (content.size() != static_cast<std::size_t>(type->bytes)) return std::nullopt;
    return type->value(little_endian(content, type->bytes));
  }
  if (!element) return 0;  // a default value is not written
  const auto bits = one_element(*element, *type);
  return bits ? std::optional(type->value(*bits)) : std::nullopt;
}

}  // namespace sabath
