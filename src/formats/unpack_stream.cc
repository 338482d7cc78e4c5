#include "formats/unpack_stream.h"

#include <archive.h>
#include <fmt/format.h>

#include <exception>
#include <vector>

#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t packed_buffer_bytes = 64 << 10;

int support_of(archive* reader, Packing packing) {
  switch (packing) {
    case Packing::bzip2:
      return archive_read_support_filter_bzip2(reader);
    case Packing::xz:
      return archive_read_support_filter_xz(reader);
    case Packing::lzma:
      return archive_read_support_filter_lzma(reader);
    case Packing::lzip:
      return archive_read_support_filter_lzip(reader);
    case Packing::zstd:
      return archive_read_support_filter_zstd(reader);
    case Packing::lz4:
      return archive_read_support_filter_lz4(reader);
    default:
      return ARCHIVE_FATAL;
  }
}

class UnpackedStream final : public ByteSource {
 public:
  UnpackedStream(ByteSource& from, Packing packing, std::string name)
      : from_(from), name_(std::move(name)), buffer_(packed_buffer_bytes), reader_(archive_read_new()) {
    archive_read_support_format_raw(reader_.get());
    // Anything but ARCHIVE_OK means an external program.
    if (support_of(reader_.get(), packing) != ARCHIVE_OK) refuse("it is packed in a way that is not looked into");
    check(archive_read_open(reader_.get(), this, nullptr, give, nullptr));
    archive_entry* whole = nullptr;
    check(archive_read_next_header(reader_.get(), &whole));
    if (archive_filter_count(reader_.get()) < 2) refuse("it is packed in a way that is not looked into");
  }
  std::size_t read(std::span<char> into) override {
    const la_ssize_t got = archive_read_data(reader_.get(), into.data(), into.size());
    if (got < 0) check(static_cast<int>(got));
    return static_cast<std::size_t>(got);
  }

 private:
  struct Free {
    void operator()(archive* reader) const noexcept { archive_read_free(reader); }
  };

  static la_ssize_t give(archive*, void* data, const void** buffer) {
    auto& stream = *static_cast<UnpackedStream*>(data);
    try {
      *buffer = stream.buffer_.data();
      return static_cast<la_ssize_t>(stream.from_.read(stream.buffer_));
    } catch (...) {
      stream.thrown_ = std::current_exception();
      return -1;
    }
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
  std::vector<char> buffer_;
  std::exception_ptr thrown_;  // by `from`, waiting here until we are back in C++
  std::unique_ptr<archive, Free> reader_;
};

}  // namespace

std::unique_ptr<ByteSource> unpack_stream(ByteSource& from, Packing packing, const std::string& name) {
  return std::make_unique<UnpackedStream>(from, packing, name);
}

}  // namespace sabath
