#include "store/packs/packs.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sabath/error.h"
#include "store/disk/durable.h"
#include "store/disk/listing.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
constexpr auto believed_for = std::chrono::milliseconds(100);  // between two looks at a pack's stat
constexpr unsigned open_attempts_max = 3;

std::vector<fs::path> packs_alone(const fs::path& packs) { return {packs}; }

std::vector<fs::path> packs_in_trash(const fs::path& trash) {
  std::vector<fs::path> found;
  for (const auto& batch : list_directory(trash)) {
    const bool open = is_open_directory(batch);
    if (open && (!try_lstat(batch / "packs") || is_open_directory(batch / "packs"))) found.push_back(batch / "packs");
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

Packs::Packs(const Layout& layout, Evidence& evidence, Trash& trash, Objects& objects, Temporaries& temporaries)
    : layout_(layout),
      evidence_(evidence),
      trash_(trash),
      objects_(objects),
      temporaries_(temporaries),
      table_(layout.packs(), packs_alone),
      trashed_(layout.trash(), packs_in_trash) {}

bool Packs::present(const Digest& content) {
  if (content.size_bytes > pack_member_max) return false;
  for (unsigned attempt = 0; attempt < open_attempts_max; ++attempt) {
    const auto place = table_.find(content);
    if (!place) {
      if (!recall(content)) return false;
      continue;
    }
    const State state = state_of(*place->pack);
    if (state == State::wrong) static_cast<void>(mend(*place->pack));
    if (state != State::right) continue;
    if (!is_doubted(content)) return true;
    const auto bytes = read(content);
    if (bytes && is_content(*bytes, content)) {
      const std::lock_guard lock(mutex_);
      doubted_.erase(content);
      return true;
    }
    static_cast<void>(mend(*place->pack));
  }
  return false;
}

bool Packs::has_seen(const Digest& content) { return table_.find_seen(content) && present(content); }

bool Packs::recall(const Digest& content) {
  const auto place = trashed_.find(content);
  if (!place) return false;
  trash_.recall(layout_.pack(place->pack->name));
  trashed_.forget(place->pack->name);
  table_.refresh();
  return true;
}

void Packs::distrust(const Digest& content) {
  const std::lock_guard lock(mutex_);
  doubted_.insert(content);
}

bool Packs::is_doubted(const Digest& content) {
  const std::lock_guard lock(mutex_);
  return doubted_.contains(content);
}

Packs::State Packs::state_of(const Pack& pack) {
  const auto now = std::chrono::steady_clock::now();
  {
    const std::lock_guard lock(mutex_);
    const auto looked = looked_at_.find(pack.name);
    if (looked != looked_at_.end() && now - looked->second < believed_for) return State::right;
  }
  State state = State::right;
  if (!is_noted(pack)) {
    const std::lock_guard lock(reading_);
    state = is_noted(pack) ? State::right : read_whole(pack);  // another thread may have read it meanwhile
  }
  if (state == State::right) {
    const std::lock_guard lock(mutex_);
    looked_at_[pack.name] = now;
  }
  return state;
}

bool Packs::is_noted(const Pack& pack) {
  const auto there = try_lstat(pack.file);
  return there && S_ISREG(there->st_mode) && evidence_.matches(pack.name, *there);
}

Packs::State Packs::read_whole(const Pack& pack) {
  const auto fd = try_open_file(pack.file, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  if (!fd) {
    table_.forget(pack.name);
    return State::gone;
  }
  const auto scan = scan_pack(fd->get(), pack.file, pack.name, {});
  if (!scan.whole || !scan.bad.empty()) return State::wrong;
  note(pack);
  return State::right;
}

void Packs::note(const Pack& pack) {
  if (const auto there = try_lstat(pack.file)) evidence_.add(pack.name, *there);
}

std::optional<std::vector<std::byte>> Packs::read(const Digest& content) {
  const auto place = table_.find(content);
  if (!place) return std::nullopt;
  layout_.members().heed(place->fd->get());
  std::vector<std::byte> stored(place->member.stored_bytes), bytes(content.size_bytes);
  const std::size_t n = read_at(place->fd->get(), stored, place->member.offset, place->pack->file);
  if (n != stored.size() || !try_unpack(place->member, stored, bytes)) bytes.clear();
  return bytes;
}

std::unique_ptr<PackWriter> Packs::begin() {
  return std::make_unique<PackWriter>(temporaries_.new_name(), layout_.members());
}

Digest Packs::publish(PackWriter& writer) {
  if (writer.members() == 0) return {};
  const Digest name = writer.finish();
  const Pack pack{name, layout_.pack(name), {}};
  std::set<fs::path> touched{layout_.packs()};
  if (!try_lstat(layout_.packs())) {
    layout_.members().make_directories(layout_.packs());
    touched.insert(layout_.root());
  }
  for (unsigned attempt = 0; !rename_unless_there(writer.temporary(), pack.file); ++attempt) {
    if (is_noted(pack) || read_whole(pack) == State::right) {  // another writer has written the very same
      table_.refresh();
      return name;
    }
    if (attempt == open_attempts_max || !objects_.quarantine(pack.file)) {
      throw Error(FailureKind::storage, fmt::format("{} is wrong and cannot be put aside", pack.file.native()),
                  "remove it by hand, then run again");
    }
    table_.forget(name);
  }
  writer.let_go();
  for (const auto& directory : touched) sync_directory(directory);
  note(pack);
  table_.add(name, pack.file, writer.sorted());
  return name;
}

std::vector<PackMember> Packs::rewrite(const Pack& pack, const Keep& keep, const std::function<void()>& remove) {
  const auto fd = try_open_file(pack.file, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  if (!fd) return {};
  layout_.members().heed(fd->get());
  const auto writer = begin();
  PackScanOptions options;
  options.on_member = [&](const PackMember& member, std::span<const std::byte> stored) {
    if (!keep || keep(member)) writer->add(member, stored);
  };
  auto scan = scan_pack(fd->get(), pack.file, pack.name, options);
  if (publish(*writer) == pack.name) return std::move(scan.bad);  // it replaced the damaged one, or none was damaged
  remove();
  table_.forget(pack.name);
  return std::move(scan.bad);
}

std::optional<Digest> Packs::merge(const std::vector<std::shared_ptr<const Pack>>& packs) {
  const auto writer = begin();
  std::unordered_set<Digest> taken;
  PackScanOptions options;
  options.on_member = [&](const PackMember& member, std::span<const std::byte> stored) {
    if (taken.insert(member.digest).second) writer->add(member, stored);
  };
  for (const auto& pack : packs) {
    const auto fd = try_open_file(pack->file, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
    if (!fd) return std::nullopt;
    layout_.members().heed(fd->get());
    const auto scan = scan_pack(fd->get(), pack->file, pack->name, options);
    if (!scan.whole || !scan.bad.empty()) return std::nullopt;
  }
  return publish(*writer);
}

std::vector<PackMember> Packs::mend(const Pack& pack) {
  const std::lock_guard lock(reading_);
  auto lost = rewrite(pack, {}, [&] { static_cast<void>(objects_.quarantine(pack.file)); });
  evidence_.flush();
  return lost;
}

}  // namespace sabath
