// The wire format of protocol buffers: a walker over the fields of one message, and a writer. It knows no schema: the
// caller names fields by their numbers, and walks an inner message by a reader of its own, so depth is what the caller
// writes. The reader copies nothing and allocates nothing; hostile bytes end the walk. Pure; one thread; no throw but
// std::bad_alloc of the writer. Source: protobuf.dev/programming-guides/encoding.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace sabath {

struct ProtobufField {
  enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  std::uint32_t number = 0;
  Wire wire = Wire::varint;
  std::uint64_t bits = 0;  // of varint, fixed64 and fixed32
  std::string_view text;   // of bytes: a string, an inner message, or packed numbers

  [[nodiscard]] bool is(std::uint32_t wanted, Wire kind) const { return number == wanted && wire == kind; }
  [[nodiscard]] double as_double() const { return std::bit_cast<double>(bits); }
  [[nodiscard]] float as_float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
  [[nodiscard]] std::int64_t as_integer() const { return static_cast<std::int64_t>(bits); }  // int32, int64, bool, enum
};

class ProtobufReader {
 public:
  explicit ProtobufReader(std::string_view message) : rest_(message) {}

  // The next field; false at the end, and where the bytes are no field: broken() tells which. Groups are skipped as
  // broken.
  [[nodiscard]] bool next(ProtobufField& field);
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  std::string_view rest_;
  bool broken_ = false;
};

// A varint at the front of `text`, which is moved behind it; false if there is none of at most 64 bits.
[[nodiscard]] bool take_varint(std::string_view& text, std::uint64_t& value);

class ProtobufWriter {
 public:
  void add_varint(std::uint32_t number, std::uint64_t value);
  void add_double(std::uint32_t number, double value);
  void add_float(std::uint32_t number, float value);
  void add_bytes(std::uint32_t number, std::string_view text);
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void add_key(std::uint32_t number, ProtobufField::Wire wire);

  std::string text_;
};

// Appends it with the lowest byte first.
void append_little_endian(std::string& text, std::uint64_t value, int bytes);
// The number in the first `bytes` (at most 8) of `text`, which has that many.
[[nodiscard]] std::uint64_t little_endian(std::string_view text, int bytes);

}  // namespace sabath
