#include "formats/protobuf.h"

namespace sabath {
namespace {

using Wire = ProtobufField::Wire;
constexpr int varint_bytes_max = 10;
constexpr std::uint64_t field_number_max = (1U << 29) - 1;

void append_varint(std::string& text, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) text += static_cast<char>(value | 0x80);
  text += static_cast<char>(value);
}

bool take_fixed(std::string_view& text, int bytes, std::uint64_t& value) {
  if (text.size() < static_cast<std::size_t>(bytes)) return false;
  value = little_endian(text, bytes);
  text.remove_prefix(static_cast<std::size_t>(bytes));
  return true;
}

bool take_bytes(std::string_view& text, std::string_view& bytes) {
  std::uint64_t length = 0;
  if (!take_varint(text, length) || length > text.size()) return false;
  bytes = text.substr(0, static_cast<std::size_t>(length));
  text.remove_prefix(static_cast<std::size_t>(length));
  return true;
}

bool take_field(std::string_view& text, ProtobufField& field) {
  std::uint64_t key = 0;
  if (!take_varint(text, key) || key >> 3 == 0 || key >> 3 > field_number_max) return false;
  field.number = static_cast<std::uint32_t>(key >> 3);
  field.bits = 0;
  field.text = {};
  field.wire = static_cast<Wire>(key & 7);
  switch (field.wire) {
    case Wire::varint:
      return take_varint(text, field.bits);
    case Wire::fixed64:
      return take_fixed(text, 8, field.bits);
    case Wire::bytes:
      return take_bytes(text, field.text);
    case Wire::fixed32:
      return take_fixed(text, 4, field.bits);
  }
  return false;  // a group, or nothing that there is
}

}  // namespace

bool take_varint(std::string_view& text, std::uint64_t& value) {
  value = 0;
  for (int i = 0; i < varint_bytes_max && static_cast<std::size_t>(i) < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[static_cast<std::size_t>(i)]);
    if (i == varint_bytes_max - 1 && byte > 1) return false;  // more than 64 bits
    value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      text.remove_prefix(static_cast<std::size_t>(i) + 1);
      return true;
    }
  }
  return false;
}

bool ProtobufReader::next(ProtobufField& field) {
  if (rest_.empty() || broken_) return false;
  broken_ = !take_field(rest_, field);
  return !broken_;
}

void ProtobufWriter::add_key(std::uint32_t number, Wire wire) {
  append_varint(text_, static_cast<std::uint64_t>(number) << 3 | static_cast<std::uint64_t>(wire));
}

void ProtobufWriter::add_varint(std::uint32_t number, std::uint64_t value) {
  add_key(number, Wire::varint);
  append_varint(text_, value);
}

void ProtobufWriter::add_double(std::uint32_t number, double value) {
  add_key(number, Wire::fixed64);
  append_little_endian(text_, std::bit_cast<std::uint64_t>(value), 8);
}

void ProtobufWriter::add_float(std::uint32_t number, float value) {
  add_key(number, Wire::fixed32);
  append_little_endian(text_, std::bit_cast<std::uint32_t>(value), 4);
}

void ProtobufWriter::add_bytes(std::uint32_t number, std::string_view text) {
  add_key(number, Wire::bytes);
  append_varint(text_, text.size());
  text_ += text;
}

void append_little_endian(std::string& text, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
}

std::uint64_t little_endian(std::string_view text, int bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[static_cast<std::size_t>(i)])) << (8 * i);
  return value;
}

}  // namespace sabath
