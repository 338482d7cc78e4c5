#include "formats/unpack_stream.h"

#include <archive.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <vector>

#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t packed_buffer_bytes = 64 << 10, kept_bytes = 64;  // kept: more than libarchive looks ahead

int filter_of(Packing packing) {
  switch (packing) {
    case Packing::bzip2:
      return ARCHIVE_FILTER_BZIP2;
    case Packing::xz:
      return ARCHIVE_FILTER_XZ;
    case Packing::lzma:
      return ARCHIVE_FILTER_LZMA;
    case Packing::lzip:
      return ARCHIVE_FILTER_LZIP;
    case Packing::zstd:
      return ARCHIVE_FILTER_ZSTD;
    case Packing::lz4:
      return ARCHIVE_FILTER_LZ4;
    default:
      return ARCHIVE_FILTER_NONE;
  }
}

class UnpackedStream final : public PackedStream {
 public:
  UnpackedStream(ByteSource& from, Packing packing, std::string name)
      : from_(from), name_(std::move(name)), buffer_(kept_bytes + packed_buffer_bytes), reader_(archive_read_new()) {
    // Appended, and not found out by libarchive, which would take off all layers that there are. Anything but
    // ARCHIVE_OK means an external program.
    if (archive_read_append_filter(reader_.get(), filter_of(packing)) != ARCHIVE_OK) refuse(not_followed);
    archive_read_support_format_raw(reader_.get());
    archive_read_support_format_empty(reader_.get());
    check(archive_read_open(reader_.get(), this, nullptr, give, nullptr));
    if (archive_errno(reader_.get()) != 0) check(ARCHIVE_FATAL);  // damaged bytes, too, look empty
    archive_entry* whole = nullptr;
    const int header = archive_read_next_header(reader_.get(), &whole);
    empty_ = header == ARCHIVE_EOF;
    if (!empty_) check(header);
  }
  std::size_t read(std::span<char> into) override {
    if (empty_) return 0;
    const la_ssize_t got = archive_read_data(reader_.get(), into.data(), into.size());
    if (got < 0) check(static_cast<int>(got));
    return static_cast<std::size_t>(got);
  }
  std::string rest() const override {
    const auto left = given_ - static_cast<std::uint64_t>(archive_filter_bytes(reader_.get(), -1));
    if (left > last_bytes_ + kept_bytes) refuse(not_followed);
    return {buffer_.data() + kept_bytes + last_bytes_ - left, static_cast<std::size_t>(left)};
  }

 private:
  static constexpr std::string_view not_followed = "it is packed in a way that is not looked into";

  struct Free {
    void operator()(archive* reader) const noexcept { archive_read_free(reader); }
  };

  static la_ssize_t give(archive*, void* data, const void** buffer) {
    auto& stream = *static_cast<UnpackedStream*>(data);
    try {
      *buffer = stream.buffer_.data() + kept_bytes;
      return static_cast<la_ssize_t>(stream.fill());
    } catch (...) {
      stream.thrown_ = std::current_exception();
      return -1;
    }
  }
  // Behind the last bytes of what was there.
  std::size_t fill() {
    std::copy_n(buffer_.data() + last_bytes_, kept_bytes, buffer_.data());
    last_bytes_ = from_.read(std::span(buffer_).subspan(kept_bytes));
    given_ += last_bytes_;
    return last_bytes_;
  }
  void check(int result) {
    if (result == ARCHIVE_OK || result == ARCHIVE_WARN) return;
    if (thrown_) std::rethrow_exception(thrown_);
    const char* said = archive_error_string(reader_.get());
    refuse(printable(said == nullptr ? "the packed bytes are damaged" : said));
  }
  [[noreturn]] void refuse(std::string_view why) const {
    throw Error(FailureKind::invalid, fmt::format("cannot unpack {}: {}", name_, why),
                "the file is damaged: get it again");
  }

  ByteSource& from_;
  std::string name_;
  std::vector<char> buffer_;  // kept_bytes, then last_bytes_
  std::size_t last_bytes_ = 0;
  std::uint64_t given_ = 0;
  bool empty_ = false;
  std::exception_ptr thrown_;  // by `from`, waiting here until we are back in C++
  std::unique_ptr<archive, Free> reader_;
};

}  // namespace

std::unique_ptr<PackedStream> unpack_stream(ByteSource& from, Packing packing, const std::string& name) {
  return std::make_unique<UnpackedStream>(from, packing, name);
}

}  // namespace sabath
