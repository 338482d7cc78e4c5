#include "formats/protobuf_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t window_bytes = 64 << 10, field_head_bytes_max = 20;

}  // namespace

void ProtobufFile::refuse(std::uint64_t at) const {
  throw Error(FailureKind::invalid,
              fmt::format("cannot read {}: what is at byte {} is no field of a protocol buffer",
                          printable(path_.native(), 4096), at),
              "the file is damaged, cut off, or of another format");
}

// At least `bytes` from `at` on, if there are as many before `end`.
std::string_view ProtobufFile::window(std::uint64_t at, std::uint64_t end, std::size_t bytes) {
  const std::uint64_t wanted = std::min<std::uint64_t>(bytes, end - at);
  if (at < buffer_at_ || at + wanted > buffer_at_ + buffer_.size()) {
    buffer_.resize(std::max(window_bytes, bytes));
    buffer_at_ = at;
    buffer_.resize(read_at(bytes_.fd(), std::as_writable_bytes(std::span(buffer_)), at, path_));
    if (buffer_.size() < wanted) refuse(at);
  }
  return std::string_view(buffer_).substr(at - buffer_at_, end - at);
}

bool ProtobufFile::next(Cursor& cursor, Field& field) {
  using Wire = ProtobufField::Wire;
  if (cursor.at >= cursor.end) return false;
  const std::string_view begin = window(cursor.at, cursor.end, field_head_bytes_max);
  std::string_view rest = begin;
  std::uint64_t key = 0;
  if (!take_varint(rest, key) || key >> 3 == 0 || key >> 3 >= 1U << 29) refuse(cursor.at);
  field = {static_cast<std::uint32_t>(key >> 3), static_cast<Wire>(key & 7)};
  const std::uint64_t at = cursor.at;
  switch (field.wire) {
    case Wire::varint:
      if (!take_varint(rest, field.bits)) refuse(at);
      break;
    case Wire::fixed64:
    case Wire::fixed32: {
      const int bytes = field.wire == Wire::fixed64 ? 8 : 4;
      if (rest.size() < static_cast<std::size_t>(bytes)) refuse(at);
      field.bits = little_endian(rest, bytes);
      rest.remove_prefix(static_cast<std::size_t>(bytes));
      break;
    }
    case Wire::bytes:
      if (!take_varint(rest, field.length)) refuse(at);
      field.offset = at + (begin.size() - rest.size());
      if (field.length > cursor.end - field.offset) refuse(at);
      cursor.at = field.offset + field.length;
      return true;
    default:
      refuse(at);
  }
  cursor.at += begin.size() - rest.size();
  return true;
}

std::string ProtobufFile::text(const Field& field, std::size_t bytes_max) {
  const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(field.length, bytes_max));
  return std::string(window(field.offset, field.offset + field.length, bytes).substr(0, bytes));
}

}  // namespace sabath
