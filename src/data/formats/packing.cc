#include "formats/packing.h"

#include <fmt/format.h>

#include <bit>

#include "formats/gzip.h"
#include "formats/protobuf.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::size_t zfile_head_bytes = 21, streams_max = 100'000;

// RFC 1950, 2.2. A dictionary, which no reader has, is not taken.
bool has_zlib_head(std::string_view begin) {
  if (begin.size() < 2) return false;
  const unsigned method = static_cast<unsigned char>(begin[0]), flags = static_cast<unsigned char>(begin[1]);
  return (method & 0x0fU) == 8 && method < 0x80 && (method * 256 + flags) % 31 == 0 && (flags & 0x20U) == 0;
}

// It has no mark: the commonest properties, and the first byte of its coder.
bool is_lzma(std::string_view begin) {
  return begin.size() >= 14 && begin.starts_with(std::string_view("\x5d\0", 2)) && begin[13] == 0 && may_be_lzma(begin);
}

// A frame, also of the forms before the first release, or one that is to be skipped.
bool is_zstd(std::string_view begin) {
  if (begin.size() < 4) return false;
  const char first = begin[0];
  return (begin.substr(1, 3) == "\xb5\x2f\xfd" && (first == '\x1e' || (first >= '\x22' && first <= '\x28'))) ||
         ((first & 0xf0) == 0x50 && begin.substr(1, 3) == "\x2a\x4d\x18");
}

// joblib before 0.10: "ZF", a size as Python's int() reads it, and zlib; with Python 2 a blank before that.
Packing zfile_of(std::string_view begin) {
  if (!begin.starts_with("ZF") || begin.size() <= zfile_head_bytes) return Packing::none;
  begin.remove_prefix(zfile_head_bytes);
  if (has_zlib_head(begin)) return Packing::zfile;
  return begin[0] == ' ' && has_zlib_head(begin.substr(1)) ? Packing::zfile_wide : Packing::none;
}

bool is_of_lzma(Packing packing) {
  return packing == Packing::xz || packing == Packing::lzma || packing == Packing::lzip;
}

// Bytes that were read too early, then the others.
class PutBack final : public ByteSource {
 public:
  explicit PutBack(ByteSource& from) : from_(from) {}
  std::size_t read(std::span<char> into) override {
    if (back_.empty()) return from_.read(into);
    const std::size_t piece = back_.copy(into.data(), into.size());
    back_.erase(0, piece);
    return piece;
  }
  void put_back(std::string_view bytes) { back_.insert(0, bytes); }

 private:
  ByteSource& from_;
  std::string back_;
};

// As Python's LZMAFile reads: behind a stream the next one, of any of the three forms, up to what is none.
class LzmaStreams final : public ByteSource {
 public:
  LzmaStreams(ByteSource& from, Packing packing, std::string name)
      : from_(from), name_(std::move(name)), stream_(unpack_stream(from_, packing, name_)) {}
  std::size_t read(std::span<char> into) override {
    for (std::size_t streams = 1; stream_ && !into.empty(); ++streams) {
      if (const std::size_t got = stream_->read(into); got > 0) return got;
      if (streams == streams_max) {
        throw Error(FailureKind::invalid,
                    fmt::format("cannot unpack {}: more empty streams follow each other than are looked at", name_));
      }
      go_on();
    }
    return 0;
  }

 private:
  void go_on() {
    from_.put_back(stream_->rest());
    stream_.reset();
    std::string begin(packing_look_bytes, '\0');
    begin.resize(read_full(from_, begin));
    from_.put_back(begin);
    const Packing packing = packing_of(begin);
    if (is_of_lzma(packing) || may_be_lzma(begin))
      stream_ = unpack_stream(from_, is_of_lzma(packing) ? packing : Packing::lzma, name_);
  }

  PutBack from_;
  std::string name_;
  std::unique_ptr<PackedStream> stream_;
};

}  // namespace

Packing packing_of(std::string_view begin) {
  if (is_gzip(begin)) return Packing::gzip;
  if (begin.starts_with('x') && has_zlib_head(begin)) return Packing::zlib;  // joblib packs so; "x " begins texts, too
  if (const Packing zfile = zfile_of(begin); zfile != Packing::none) return zfile;
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
  return round && (size == ~std::uint64_t{0} || size < std::uint64_t{1} << 38U);
}

std::unique_ptr<ByteSource> make_unpacked(ByteSource& from, Packing packing, const std::string& name) {
  if (packing == Packing::gzip) return std::make_unique<InflateSource>(from, InflateSource::Form::gzip, name);
  if (packing == Packing::zlib) return std::make_unique<InflateSource>(from, InflateSource::Form::zlib, name);
  if (packing == Packing::zfile || packing == Packing::zfile_wide) {
    static_cast<void>(from.skip(packing == Packing::zfile ? zfile_head_bytes : zfile_head_bytes + 1));
    return std::make_unique<InflateSource>(from, InflateSource::Form::zlib, name);
  }
  if (is_of_lzma(packing)) return std::make_unique<LzmaStreams>(from, packing, name);
  return unpack_stream(from, packing, name);
}

}  // namespace sabath
