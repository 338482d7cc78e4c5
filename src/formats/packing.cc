#include "formats/packing.h"

#include <bit>

#include "formats/gzip.h"
#include "formats/protobuf.h"

namespace sabath {
namespace {

constexpr std::size_t zfile_head_bytes = 21;

// RFC 1950, 2.2: joblib packs so. A dictionary, which no reader has, is not taken, and "x " begins texts, too.
bool is_zlib(std::string_view begin) {
  if (begin.size() < 2 || begin[0] != 0x78) return false;
  const unsigned flags = static_cast<unsigned char>(begin[1]);
  return (0x78U * 256 + flags) % 31 == 0 && (flags & 0x20U) == 0;
}

// joblib before 0.10: the size in hexadecimal digits with blanks behind them, then zlib.
bool is_zfile(std::string_view begin) {
  return begin.size() > zfile_head_bytes && begin.starts_with("ZF") &&
         begin.substr(0, zfile_head_bytes).find_first_not_of("0123456789abcdefABCDEFxXL ", 2) == begin.npos;
}

// It has no mark: the commonest properties, a size that is unknown or may be true, the first byte of its coder.
bool is_lzma(std::string_view begin) {
  if (begin.size() < 14 || begin[0] != 0x5d || begin[1] != 0 || begin[13] != 0) return false;
  const std::uint64_t size = little_endian(begin.substr(5, 8), 8);
  return size == ~std::uint64_t{0} || (size > 0 && size < std::uint64_t{1} << 48);
}

// A frame, or one that is to be skipped.
bool is_zstd(std::string_view begin) {
  return begin.starts_with("\x28\xb5\x2f\xfd") ||
         (begin.size() >= 4 && (begin[0] & 0xf0) == 0x50 && begin.substr(1, 3) == "\x2a\x4d\x18");
}

}  // namespace

Packing packing_of(std::string_view begin) {
  if (is_gzip(begin)) return Packing::gzip;
  if (is_zlib(begin)) return Packing::zlib;
  if (is_zfile(begin)) return Packing::zfile;
  if (begin.starts_with("BZh")) return Packing::bzip2;
  if (begin.starts_with(std::string_view("\xfd"
                                         "7zXZ\0",
                                         6)))
    return Packing::xz;
  if (begin.starts_with("LZIP")) return Packing::lzip;  // Python's lzma takes it, too
  if (is_lzma(begin)) return Packing::lzma;
  if (is_zstd(begin)) return Packing::zstd;
  if (begin.starts_with("\x04\x22\x4d\x18") || begin.starts_with("\x02\x21\x4c\x18")) return Packing::lz4;
  return Packing::none;
}

bool may_be_lzma(std::string_view begin) {
  if (begin.size() < 13 || static_cast<unsigned char>(begin[0]) >= 225) return false;
  const std::uint64_t dictionary = little_endian(begin.substr(1, 4), 4), size = little_endian(begin.substr(5, 8), 8);
  const std::uint64_t highest = std::bit_floor(dictionary);
  const bool round = dictionary == highest || dictionary == (highest | highest >> 1U) || dictionary == 0xffff'ffffU;
  return round && size != 0 && (size == ~std::uint64_t{0} || size < std::uint64_t{1} << 38U);
}

std::unique_ptr<ByteSource> make_unpacked(ByteSource& from, Packing packing, const std::string& name) {
  if (packing == Packing::gzip) return std::make_unique<InflateSource>(from, InflateSource::Form::gzip, name);
  if (packing == Packing::zlib) return std::make_unique<InflateSource>(from, InflateSource::Form::zlib, name);
  if (packing == Packing::zfile) {
    static_cast<void>(from.skip(zfile_head_bytes));
    return std::make_unique<InflateSource>(from, InflateSource::Form::zlib, name);
  }
  return unpack_stream(from, packing, name);
}

}  // namespace sabath
