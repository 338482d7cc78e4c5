#include "store/packs/pack_writer.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/hash.h"
#include "sabath/error.h"
#include "store/disk/durable.h"

namespace sabath {
namespace {

constexpr std::size_t buffer_max = 1 << 20, direct_min = 32 << 10;  // a copy costs more than a call from there on
constexpr int zstd_level = 1;
constexpr std::uint64_t trial_bytes = 512 * 1024;  // of content, before it is known whether compressing pays

}  // namespace

PackedContent PackTrial::pack(const Digest& digest, std::span<const std::byte> content) {
  const auto smaller = compress(content);
  const auto stored = smaller.empty() ? content : smaller;
  return {{digest, 0, static_cast<std::uint32_t>(stored.size()), smaller.empty() ? PackCodec::raw : PackCodec::zstd,
           xxh3_64(stored)},
          stored};
}

// Empty: store the content as it is.
std::span<const std::byte> PackTrial::compress(std::span<const std::byte> content) {
  const std::uint64_t seen = seen_;
  if (content.empty() || (seen >= trial_bytes && became_ * 10 > seen * 9)) return {};
  thread_local const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context{ZSTD_createCCtx(), &ZSTD_freeCCtx};
  thread_local std::vector<std::byte> room;
  if (!context) return {};
  room.resize(ZSTD_compressBound(content.size()));
  const std::size_t n =
      ZSTD_compressCCtx(context.get(), room.data(), room.size(), content.data(), content.size(), zstd_level);
  if (ZSTD_isError(n) != 0U) return {};
  if (seen < trial_bytes) {
    became_ += std::min(n, content.size());
    seen_ += content.size();
  }
  return n * 10 <= content.size() * 9 ? std::span(room).first(n) : std::span<const std::byte>{};
}

PackWriter::PackWriter(std::filesystem::path temporary, Members members)
    : temporary_(std::move(temporary)),
      readers_(std::move(members)),
      fd_(open_file(temporary_, O_RDWR | O_CREAT | O_EXCL)) {
  buffer_.reserve(buffer_max);
  put(std::as_bytes(std::span(pack_magic)));
}

PackWriter::~PackWriter() {
  if (!named_) ::unlink(temporary_.c_str());
}

void PackWriter::add(PackMember member, std::span<const std::byte> stored) {
  if (member.digest.size_bytes > pack_member_max || members_.size() >= pack_members_max)
    throw Error(FailureKind::internal, "too much for one pack");
  member.offset = end_;
  put(stored);
  members_.push_back(member);
}

// All of it, or nothing: leftovers of a failed write are overwritten, or cut off.
void PackWriter::put(std::span<const std::byte> bytes) {
  const bool direct = bytes.size() >= direct_min;
  if (direct || buffer_.size() + bytes.size() > buffer_max) flush();
  if (direct) {
    write_all_at(fd_.get(), bytes, end_, temporary_);
  } else {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }
  end_ += bytes.size();
}

void PackWriter::flush() {
  if (!buffer_.empty()) write_all_at(fd_.get(), buffer_, end_ - buffer_.size(), temporary_);
  buffer_.clear();
}

Digest PackWriter::finish() {
  if (name_) return *name_;
  const std::string index = encode_pack_index(members_, end_);
  put(std::as_bytes(std::span(index)));
  flush();
  if (::ftruncate(fd_.get(), static_cast<off_t>(end_)) != 0) throw_errno("cut", temporary_, errno);
  readers_.seal(fd_.get(), temporary_);
  sync_file(fd_.get(), temporary_);
  close_file(std::move(fd_), temporary_);
  name_ = Digest{ContentKind::file, end_, sha256(index)};
  return *name_;
}

}  // namespace sabath
