#include "store/refs.h"

#include <ctime>

#include "store/disk/listing.h"
#include "store/disk/ref_file.h"
#include "store/disk/small_file.h"
#include "store/state.h"

namespace sabath {
namespace {

constexpr std::time_t settled_after_s = 3;  // clocks of file servers and caches of attributes are no finer

bool same(const struct timespec& a, const struct timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

std::vector<Ref> refs_in(const Store::State& store, const std::filesystem::path& fan) {
  std::vector<Ref> refs;
  for (const auto& file : list_directory(fan)) {
    if (!try_parse_ref_name(fan.filename().native(), file.filename().native())) continue;
    const auto text = try_read_trusted(store.owners, file);
    if (auto ref = text ? try_decode_ref(*text) : std::nullopt) refs.push_back(std::move(*ref));
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
  const std::time_t now = std::time(nullptr);
  for (const auto& directory : list_directory(store.state().layout.refs())) {
    const auto there = try_lstat(directory);
    if (!there || !S_ISDIR(there->st_mode)) continue;
    Fan& fan = fans_[directory.native()];
    if (fan.settled && same(fan.changed, there->st_mtim)) continue;
    fan.settled = now - there->st_mtim.tv_sec > settled_after_s;
    fan.changed = there->st_mtim;
    fan.refs = refs_in(store.state(), directory);
    news = true;
  }
  return news;
}

std::vector<Ref> RefReader::refs() const {
  std::vector<Ref> all;
  for (const auto& [directory, fan] : fans_) all.insert(all.end(), fan.refs.begin(), fan.refs.end());
  return all;
}

}  // namespace sabath
