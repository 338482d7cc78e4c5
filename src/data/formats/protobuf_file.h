// The wire format of protocol buffers in a file of any size: what protobuf.h is for a message in memory. Inner messages
// are walked by a cursor of their own; large values are passed over without being read. One thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "formats/bytes.h"
#include "formats/protobuf.h"

namespace sabath {

class ProtobufFile {
 public:
  explicit ProtobufFile(const std::filesystem::path& file) : path_(file), bytes_(file) {}

  struct Field {
    std::uint32_t number = 0;
    ProtobufField::Wire wire = ProtobufField::Wire::varint;
    std::uint64_t bits = 0;                // of varint, fixed64, fixed32
    std::uint64_t offset = 0, length = 0;  // of bytes: their place in the file
    [[nodiscard]] bool is(std::uint32_t wanted, ProtobufField::Wire kind) const {
      return number == wanted && wire == kind;
    }
  };
  struct Cursor {
    std::uint64_t at = 0, end = 0;
  };

  [[nodiscard]] Cursor whole() const { return {0, bytes_.size_bytes()}; }
  [[nodiscard]] static Cursor in(const Field& field) { return {field.offset, field.offset + field.length}; }
  // The next field, which moves the cursor; false at the end. Throws Error{invalid} where the bytes are no field.
  [[nodiscard]] bool next(Cursor& cursor, Field& field);
  [[nodiscard]] std::string text(const Field& field, std::size_t bytes_max);  // its first bytes

 private:
  std::string_view window(std::uint64_t at, std::uint64_t end, std::size_t bytes);
  [[noreturn]] void refuse(std::uint64_t at) const;

  std::filesystem::path path_;
  FileBytes bytes_;
  std::string buffer_;
  std::uint64_t buffer_at_ = 0;
};

}  // namespace sabath
