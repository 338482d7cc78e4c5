#include "store/refs.h"

#include <ctime>

#include "store/disk/listing.h"
#include "store/disk/note.h"
#include "store/disk/ref_file.h"
#include "store/state.h"

namespace sabath {
namespace {

constexpr std::time_t settled_after_s = 3;  // clocks of file servers and caches of attributes are no finer

bool same(const struct timespec& a, const struct timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

std::vector<Ref> refs_in(const Store::State& store, const std::filesystem::path& fan) {
  std::vector<Ref> refs;
  for (const auto& file : list_directory(fan)) {
    if (!try_parse_hash_name(fan.filename().native(), file.filename().native(), ".json")) continue;
    const auto note = try_read_note(store, file);
    if (auto ref = note ? try_decode_ref(note->body) : std::nullopt) refs.push_back(std::move(*ref));
  }
  return refs;
}

}  // namespace

bool RefReader::read() {
  bool news = read_one(store_);
  for (const auto& other : store_.state().others) news |= read_one(*other);
  return news;
}

bool RefReader::read_one(Store& store) {
  bool news = false;
  for (const auto& room : believed_rooms(store.state().layout.refs(), store.state().owners)) {
    for (const auto& directory : list_directory(room)) news |= read_fan(store, directory);
  }
  return news;
}

bool RefReader::read_fan(Store& store, const std::filesystem::path& directory) {
  const auto there = try_lstat(directory);
  if (!there || !S_ISDIR(there->st_mode)) return false;
  Fan& fan = fans_[directory.native()];
  if (fan.settled && same(fan.changed, there->st_mtim)) return false;
  fan.settled = std::time(nullptr) - there->st_mtim.tv_sec > settled_after_s;
  fan.changed = there->st_mtim;
  fan.refs = refs_in(store.state(), directory);
  return true;
}

std::vector<Ref> RefReader::refs() const {
  std::vector<Ref> all;
  for (const auto& [directory, fan] : fans_) all.insert(all.end(), fan.refs.begin(), fan.refs.end());
  return all;
}

}  // namespace sabath
