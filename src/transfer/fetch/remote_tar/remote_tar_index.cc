#include "fetch/remote_tar/remote_tar_index.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "manifest/wire.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::string_view index_magic = "sabtidx1";
constexpr std::size_t text_max = UINT16_MAX;
constexpr std::size_t entry_size_fixed = 32;  // at most, without its texts

std::string sealed(const std::string& body) {
  std::string bytes;
  wire::put<std::uint64_t>(bytes, xxh3_64(body));
  return bytes + body;
}

}  // namespace

TarIndex::TarIndex(const std::string& archive, std::uint64_t size_bytes, Validators version)
    : names_(archive, true), size_(size_bytes), version_(std::move(version)) {}

void TarIndex::add(const TarMember& member) {
  next_ = member.next;
  const auto path = names_.path(member.name);
  if (!path) return;
  TarEntry entry{*path, EntryType::directory, 0, 0, {}};
  if (member.kind == TarMember::Kind::symlink) {
    entry.type = EntryType::symlink;
    entry.target = member.target;
  } else if (member.kind == TarMember::Kind::hard_link) {
    const auto file = names_.linked(*path, member.target);
    if (!file) return;
    entry = entries_[*file];  // a symlink, too: it must not leave from here either
    entry.path = *path;
  } else if (member.kind == TarMember::Kind::file) {
    entry.type = member.executable ? EntryType::executable : EntryType::file;
    entry.offset = member.offset;
    entry.size_bytes = member.size_bytes;
  }
  add(std::move(entry));
}

void TarIndex::end() {
  next_ = size_;
  complete_ = true;
}

void TarIndex::add(TarEntry entry) {
  if (entry.type == EntryType::symlink) names_.check_symlink(entry.path, entry.target);
  encoded_size_ += entry_size_fixed + entry.path.text().size() + entry.target.size();
  if (entries_.size() >= archive_entries_max || encoded_size_ > tar_index_size_max) {
    throw Error(FailureKind::invalid,
                fmt::format("an archive has more names than an index of it may hold: {} so far", entries_.size()),
                fetch_it_whole());
  }
  const std::size_t number = names_.add(entry.path, entry.type, entries_.size());
  if (number == entries_.size()) {
    entries_.push_back(std::move(entry));
  } else if (entry.type != EntryType::directory) {
    entries_[number] = std::move(entry);
  }
}

std::string TarIndex::encode() const {
  std::string body(index_magic);
  wire::put<std::uint64_t>(body, size_);
  wire::put<std::uint64_t>(body, next_);
  wire::put<std::uint8_t>(body, complete_ ? 1 : 0);
  wire::put_text(body, version_.etag);
  wire::put_text(body, version_.last_modified);
  wire::put<std::uint64_t>(body, entries_.size());
  for (const TarEntry& entry : entries_) {
    wire::put<std::uint8_t>(body, static_cast<std::uint8_t>(entry.type));
    wire::put_text(body, entry.path.text());
    if (entry.is_file()) {
      wire::put<std::uint64_t>(body, entry.offset);
      wire::put<std::uint64_t>(body, entry.size_bytes);
    } else if (entry.type == EntryType::symlink) {
      wire::put_text(body, entry.target);
    }
  }
  return sealed(body);
}

std::optional<TarIndex> TarIndex::try_decode(const std::string& archive, std::string_view bytes) {
  try {
    wire::Reader reader(bytes);
    if (reader.get<std::uint64_t>() != xxh3_64(bytes.substr(sizeof(std::uint64_t)))) return std::nullopt;
    if (reader.take(index_magic.size()) != index_magic) return std::nullopt;
    const auto size = reader.get<std::uint64_t>();
    const auto next = reader.get<std::uint64_t>();
    const auto complete = reader.get<std::uint8_t>();
    Validators version;
    version.etag = reader.text(text_max);
    version.last_modified = reader.text(text_max);
    TarIndex index(archive, size, std::move(version));
    index.read_entries(reader.take(reader.left()));
    index.next_ = next;
    index.complete_ = complete == 1;
    const bool sound = complete <= 1 && next <= size && (next % tar_block_size == 0 || next == size);
    if (!sound || index.encode() != bytes) return std::nullopt;  // one spelling
    index.complete_ = index.complete_ && next == size;           // 0.1 stopped at an end mark: there may be more
    return index;
  } catch (const Error&) {
    return std::nullopt;
  }
}

void TarIndex::read_entries(std::string_view bytes) {
  wire::Reader reader(bytes);
  const auto count = reader.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto type = reader.get<std::uint8_t>();
    if (type > static_cast<std::uint8_t>(EntryType::symlink)) wire::refuse("an entry of an unknown type");
    TarEntry entry{RelativePath::parse(reader.text(text_max)), static_cast<EntryType>(type), 0, 0, {}};
    if (entry.is_file()) {
      entry.offset = reader.get<std::uint64_t>();
      entry.size_bytes = reader.get<std::uint64_t>();
      if (entry.offset > size_ || entry.size_bytes > size_ - entry.offset) wire::refuse("an entry outside its archive");
    } else if (entry.type == EntryType::symlink) {
      entry.target = reader.text(text_max);
    }
    add(std::move(entry));
  }
}

}  // namespace sabath
