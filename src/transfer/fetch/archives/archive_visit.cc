#include "fetch/archives/archive_visit.h"

#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

ArchiveItem item_of(archive_entry* entry, const std::string& archive) {
  const char* raw = archive_entry_pathname(entry);
  if (raw == nullptr) raw = archive_entry_pathname_utf8(entry);
  if (raw == nullptr)
    throw Error(FailureKind::invalid, fmt::format("the archive {} has an entry whose name is no text", archive));
  ArchiveItem item;
  item.name = raw;
  item.executable = (archive_entry_perm(entry) & 0111) != 0;
  const auto type = archive_entry_filetype(entry);
  const char* target = archive_entry_hardlink(entry);
  if (target != nullptr) {
    item.kind = ArchiveItem::Kind::hard_link;
  } else if (type == AE_IFLNK) {
    item.kind = ArchiveItem::Kind::symlink;
    target = archive_entry_symlink(entry);
  } else {
    item.kind = type == AE_IFREG   ? ArchiveItem::Kind::file
                : type == AE_IFDIR ? ArchiveItem::Kind::folder
                                   : ArchiveItem::Kind::other;
  }
  if (target != nullptr) item.target = target;
  return item;
}

void give_zeros(ArchiveVisitor& visitor, std::uint64_t zeros) {
  static const std::vector<std::byte> nothing(1 << 16);
  while (zeros > 0) {
    const auto piece = std::min<std::uint64_t>(zeros, nothing.size());
    visitor.write(std::span(nothing).first(piece));
    zeros -= piece;
  }
}

void give_content(ArchiveStream& stream, archive_entry* entry, const ArchiveItem& item, ArchiveVisitor& visitor) {
  const bool sized = archive_entry_size_is_set(entry) != 0;
  const std::uint64_t size = sized ? static_cast<std::uint64_t>(archive_entry_size(entry)) : UINT64_MAX;
  const auto refuse = [&](const char* why) {
    throw Error(FailureKind::invalid, fmt::format("{} {}", printable(item.name), why), "get the archive again");
  };
  std::uint64_t written = 0;
  while (const auto block = stream.next_block()) {
    if (block->offset < written) refuse("has data that overlap");
    if (block->bytes.size() > size || block->offset > size - block->bytes.size()) refuse("is longer than it says");
    give_zeros(visitor, block->offset - written);
    visitor.write(block->bytes);
    written = block->offset + block->bytes.size();
  }
  if (sized) give_zeros(visitor, size - written);  // a hole at the end is no block
}

}  // namespace

void visit_archive(const std::string& name, const ReadAt& read, ArchiveVisitor& visitor) {
  ArchiveStream stream(name, read);
  while (archive_entry* const entry = stream.next()) {
    const ArchiveItem item = item_of(entry, name);
    visitor.begin(item);
    if (item.kind != ArchiveItem::Kind::file) continue;
    give_content(stream, entry, item, visitor);
    visitor.end();
  }
  stream.drain();
}

}  // namespace sabath
