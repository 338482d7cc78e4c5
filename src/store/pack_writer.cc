#include "store/pack_writer.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include "base/hash.h"
#include "sabath/error.h"
#include "store/durable.h"

namespace sabath {
namespace {

constexpr std::size_t buffer_max = 1 << 20;
constexpr int zstd_level = 1;
constexpr std::uint64_t trial_bytes = 512 * 1024;  // of content, before it is known whether compressing pays

}  // namespace

// Data is compressed if the first of it became at least a tenth smaller, and a member only if it itself does.
struct PackWriter::Compressor {
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context{ZSTD_createCCtx(), &ZSTD_freeCCtx};
  std::vector<std::byte> room;
  std::uint64_t seen = 0, became = 0;

  // Empty: it is stored as it is.
  std::span<const std::byte> compress(std::span<const std::byte> content) {
    if (!context || content.empty() || (seen >= trial_bytes && became * 10 > seen * 9)) return {};
    room.resize(ZSTD_compressBound(content.size()));
    const std::size_t n =
        ZSTD_compressCCtx(context.get(), room.data(), room.size(), content.data(), content.size(), zstd_level);
    if (ZSTD_isError(n) != 0U) return {};
    if (seen < trial_bytes) {
      seen += content.size();
      became += std::min(n, content.size());
    }
    return n * 10 <= content.size() * 9 ? std::span(room).first(n) : std::span<const std::byte>{};
  }
};

PackWriter::PackWriter(std::filesystem::path temporary)
    : temporary_(std::move(temporary)),
      fd_(open_file(temporary_, O_RDWR | O_CREAT | O_EXCL)),
      compressor_(std::make_unique<Compressor>()) {
  buffer_.reserve(buffer_max);
  put(std::as_bytes(std::span(pack_magic)));
}

PackWriter::~PackWriter() {
  if (fd_) ::unlink(temporary_.c_str());
}

void PackWriter::add(const Digest& digest, std::span<const std::byte> content) {
  const auto smaller = compressor_->compress(content);
  const auto stored = smaller.empty() ? content : smaller;
  PackMember member{digest, 0, static_cast<std::uint32_t>(stored.size()),
                    smaller.empty() ? PackCodec::raw : PackCodec::zstd, xxh3_64(stored)};
  add_stored(member, stored);
}

void PackWriter::add_stored(PackMember member, std::span<const std::byte> stored) {
  if (member.digest.size_bytes > pack_member_max || members_.size() >= pack_members_max)
    throw Error(FailureKind::internal, "too much for one pack");
  member.offset = end_;
  members_.push_back(member);
  put(stored);
}

void PackWriter::put(std::span<const std::byte> bytes) {
  end_ += bytes.size();
  if (buffer_.size() + bytes.size() > buffer_max) flush();
  if (bytes.size() >= buffer_max) return write_all(fd_.get(), bytes, temporary_);
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

void PackWriter::flush() {
  if (!buffer_.empty()) write_all(fd_.get(), buffer_, temporary_);
  buffer_.clear();
}

Digest PackWriter::finish() {
  const std::string index = encode_pack_index(members_, end_);
  put(std::as_bytes(std::span(index)));
  flush();
  seal_file(fd_.get(), temporary_);
  sync_file(fd_.get(), temporary_);
  return {ContentKind::file, end_, sha256(index)};
}

}  // namespace sabath
