#include "store/packs/pack_table.h"

#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>

#include "base/hash.h"
#include "sabath/error.h"
#include "store/disk/layout.h"
#include "store/disk/listing.h"

namespace sabath {
namespace {

constexpr auto settled_after = std::chrono::milliseconds(50);  // more than a tick of a filesystem's clock
constexpr std::size_t open_max = 64;                           // packs whose descriptors are kept

std::uint64_t key_of(const Digest& digest) {
  std::uint64_t key = 0;
  std::memcpy(&key, digest.hash.bytes().data(), sizeof key);
  return key;
}

}  // namespace

bool PackTable::empty() {
  const std::lock_guard lock(mutex_);
  return keys_.empty();
}

std::optional<PackPlace> PackTable::find(const Digest& content) {
  const std::lock_guard lock(mutex_);
  if (auto place = look_locked(content)) return place;
  const auto now = look_at_directories();
  const bool settled = std::ranges::all_of(listed_, &Listed::settled);
  if (settled && now == listed_) return std::nullopt;
  refresh_locked();
  return look_locked(content);
}

std::optional<PackPlace> PackTable::find_seen(const Digest& content) {
  const std::lock_guard lock(mutex_);
  if (!was_listed_) refresh_locked();
  return look_locked(content);
}

std::vector<PackTable::Listed> PackTable::look_at_directories() const {
  std::vector<Listed> seen;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  for (const auto& directory : list_(base_)) {
    const auto s = try_lstat(directory);
    if (!s) continue;
    const std::int64_t mtime = std::int64_t{s->st_mtim.tv_sec} * 1'000'000'000 + s->st_mtim.tv_nsec;
    seen.push_back({directory, mtime, now - std::chrono::nanoseconds(mtime) > settled_after});
  }
  return seen;
}

std::optional<PackPlace> PackTable::look_locked(const Digest& content) {
  const std::uint64_t wanted = key_of(content);
  std::vector<std::uint32_t> gone;
  std::optional<PackPlace> found;
  for (auto at = std::ranges::lower_bound(keys_, wanted, {}, &Key::hash); at != keys_.end() && at->hash == wanted;
       ++at) {
    const auto fd = open_locked(at->pack);
    const auto& pack = packs_[at->pack];
    std::string record(pack_record_size, '\0');
    const std::uint64_t offset = pack->footer.index_offset + std::uint64_t{at->record} * pack_record_size;
    const bool read =
        fd && read_at(fd->get(), std::as_writable_bytes(std::span(record)), offset, pack->file) == record.size();
    if (!read) {
      gone.push_back(at->pack);
      continue;
    }
    const auto member = try_parse_pack_record(record);
    if (!member || member->digest != content) continue;
    if (member->offset > pack->footer.index_offset ||
        member->stored_bytes > pack->footer.index_offset - member->offset) {
      continue;
    }
    found = PackPlace{pack, fd, *member};
    break;
  }
  for (const std::uint32_t pack : gone) forget_locked(pack);
  return found;
}

std::shared_ptr<const Fd> PackTable::open_locked(std::uint32_t pack) {
  if (const auto open = open_.find(pack); open != open_.end()) return open->second;
  auto fd = try_open_file(packs_[pack]->file, O_RDONLY | O_NOFOLLOW);
  if (!fd) return nullptr;
  if (open_.size() >= open_max) open_.clear();  // a reader shares ownership of its descriptor
  return open_.emplace(pack, std::make_shared<const Fd>(std::move(*fd))).first->second;
}

std::vector<std::shared_ptr<const Pack>> PackTable::packs() {
  const std::lock_guard lock(mutex_);
  refresh_locked();
  std::vector<std::shared_ptr<const Pack>> all;
  for (const auto& pack : packs_) {
    if (pack) all.push_back(pack);
  }
  return all;
}

std::vector<PackMember> PackTable::members(const Digest& name) {
  std::shared_ptr<const Pack> pack;
  std::shared_ptr<const Fd> fd;
  {
    const std::lock_guard lock(mutex_);
    const auto known = numbers_.find(name);
    if (known == numbers_.end()) return {};
    pack = packs_[known->second];
    fd = open_locked(known->second);
  }
  std::string index(pack->footer.index_bytes(), '\0');
  const bool read = fd && read_at(fd->get(), std::as_writable_bytes(std::span(index)), pack->footer.index_offset,
                                  pack->file) == index.size();
  return read ? parse_pack_index(index, name.size_bytes) : std::vector<PackMember>{};
}

void PackTable::refresh() {
  const std::lock_guard lock(mutex_);
  refresh_locked();
}

void PackTable::refresh_locked() {
  was_listed_ = true;
  listed_ = look_at_directories();
  std::set<Digest> there;
  for (const auto& listed : listed_) {
    for (const auto& file : list_directory(listed.directory)) {
      const auto name = try_parse_pack_name(file.filename().native());
      if (!name) continue;
      there.insert(*name);
      const auto known = numbers_.find(*name);
      if (known != numbers_.end() && packs_[known->second]->file == file) continue;
      if (known != numbers_.end()) forget_locked(known->second);
      if (!damaged_.contains(*name)) load_locked(file, *name);
    }
  }
  std::vector<std::uint32_t> gone;
  for (const auto& [name, number] : numbers_) {
    if (!there.contains(name)) gone.push_back(number);
  }
  for (const std::uint32_t number : gone) forget_locked(number);
  std::erase_if(damaged_, [&](const auto& entry) { return !there.contains(entry.first); });
}

// A file with a pack's name that is no pack gives no content; `verify` reports it.
void PackTable::load_locked(const std::filesystem::path& file, const Digest& name) {
  const auto there = try_lstat(file);
  auto fd = there && S_ISREG(there->st_mode) ? try_open_file(file, O_RDONLY | O_NONBLOCK | O_NOFOLLOW) : std::nullopt;
  if (!fd) return;
  const auto damaged = [&] { damaged_.emplace(name, file); };
  std::string end(pack_footer_size, '\0');
  if (name.size_bytes < pack_magic.size() + pack_footer_size ||
      read_at(fd->get(), std::as_writable_bytes(std::span(end)), name.size_bytes - end.size(), file) != end.size()) {
    return damaged();
  }
  const auto footer = try_parse_pack_footer(end, name.size_bytes);
  if (!footer) return damaged();
  std::string index(footer->index_bytes(), '\0');
  const bool read =
      read_at(fd->get(), std::as_writable_bytes(std::span(index)), footer->index_offset, file) == index.size();
  if (!read || sha256(index) != name.hash) return damaged();
  try {
    add_locked(name, file, parse_pack_index(index, name.size_bytes));
    // Kept open: some filesystems drop their cache of a file when it is opened again.
    if (open_.size() < open_max) open_.emplace(numbers_.at(name), std::make_shared<const Fd>(std::move(*fd)));
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::invalid) throw;
    damaged();
  }
}

void PackTable::add(const Digest& name, const std::filesystem::path& file, const std::vector<PackMember>& members) {
  const std::lock_guard lock(mutex_);
  if (!numbers_.contains(name)) add_locked(name, file, members);
}

void PackTable::add_locked(const Digest& name, const std::filesystem::path& file,
                           const std::vector<PackMember>& members) {
  const auto number = static_cast<std::uint32_t>(packs_.size());
  const std::uint64_t index = members.size() * pack_record_size + pack_footer_size;
  packs_.push_back(std::make_shared<const Pack>(Pack{name, file, {members.size(), name.size_bytes - index}}));
  numbers_.emplace(name, number);
  std::vector<Key> keys;
  keys.reserve(members.size());
  for (std::uint32_t i = 0; i < members.size(); ++i) keys.push_back({key_of(members[i].digest), number, i});
  std::ranges::sort(keys);
  const auto middle = static_cast<std::ptrdiff_t>(keys_.size());
  keys_.insert(keys_.end(), keys.begin(), keys.end());
  std::inplace_merge(keys_.begin(), keys_.begin() + middle, keys_.end());
}

void PackTable::forget(const Digest& name) {
  const std::lock_guard lock(mutex_);
  if (const auto known = numbers_.find(name); known != numbers_.end()) forget_locked(known->second);
}

void PackTable::forget_locked(std::uint32_t pack) {
  if (!packs_[pack]) return;
  numbers_.erase(packs_[pack]->name);
  packs_[pack] = nullptr;
  open_.erase(pack);
  std::erase_if(keys_, [&](const Key& key) { return key.pack == pack; });
}

}  // namespace sabath
