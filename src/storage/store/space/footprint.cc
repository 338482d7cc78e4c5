#include "store/space/footprint.h"

#include <algorithm>

#include "store/disk/listing.h"
#include "store/space/object_table.h"
#include "store/state.h"

namespace sabath {
namespace {

constexpr std::uint64_t block_bytes = 4096;            // a file's room is rounded up to this
constexpr std::uint64_t fan_out = 256;                 // directories below objects/
constexpr std::uint64_t own_inodes = 16;               // manifest, ref, logs, and the directories that they stand in
constexpr std::uint64_t pack_threshold_new = 1 << 20;  // of a store that is not made yet
constexpr std::uint64_t member_bytes = 256;            // of a pack's index, at most
constexpr std::uint64_t names_worth_reading = 4096;

std::uint64_t in_blocks(std::uint64_t bytes) { return (bytes + block_bytes - 1) / block_bytes * block_bytes; }

std::uint64_t directories_below(const std::filesystem::path& directory) {
  const auto s = try_lstat(directory);
  return s && s->st_nlink > 2 ? std::min<std::uint64_t>(s->st_nlink - 2, fan_out) : 0;
}

}  // namespace

Footprint::Footprint(Store* store, std::uint64_t of_files)
    : packs_(store == nullptr ? of_files >= pack_files_min : store->packs(of_files)),
      pack_threshold_(store == nullptr ? pack_threshold_new : store->state().pack_threshold) {
  if (store != nullptr) directories_there_ = directories_below(store->state().layout.objects());
}

void Footprint::add_file(std::uint64_t size_bytes, std::uint64_t held_bytes) {
  if (packs_ && size_bytes <= pack_threshold_) {
    ++packed_;
    packed_bytes_ += size_bytes;
    return;
  }
  ++objects_;
  bytes_ += in_blocks(size_bytes - std::min(size_bytes, held_bytes));
}

void Footprint::add_view(const Totals& totals) {
  if (packed_ < pack_files_min) inodes_ += 1 + totals.directories + totals.symlinks;
}

void Footprint::add_copy(std::uint64_t size_bytes) {
  ++inodes_;
  bytes_ += in_blocks(size_bytes);
}

// The gain of compression is not known beforehand.
std::uint64_t Footprint::bytes() const { return bytes_ + in_blocks(packed_bytes_ + packed_ * member_bytes); }

std::uint64_t Footprint::inodes() const {
  if (objects_ + packed_ + inodes_ == 0) return 0;
  // Each writer's groups begin packs of their own, so that not every one is full.
  const std::uint64_t packs =
      packed_ == 0 ? 0 : 2 * std::max(packed_bytes_ / pack_bytes_aim, packed_ / pack_members_aim) + 4;
  const std::uint64_t fans = std::min(objects_, fan_out - std::min(fan_out, directories_there_));
  return objects_ + packs + fans + inodes_ + own_inodes;
}

struct Standing::Names {
  explicit Names(const Layout& layout) : trash_is_empty(list_directory(layout.trash()).empty()), layout_(layout) {}
  const bool trash_is_empty;  // looked at first: content that leaves it is among the objects then
  const ObjectTable& objects() {
    if (!objects_) objects_.emplace(layout_);
    return *objects_;
  }

 private:
  const Layout& layout_;
  std::optional<ObjectTable> objects_;  // read when the first is asked for
};

Standing::Standing(Store* store, std::uint64_t questions) : store_(store) {
  if (store != nullptr && questions >= names_worth_reading) names_ = std::make_unique<Names>(store->state().layout);
}
Standing::~Standing() = default;

bool Standing::may_have(const Digest& file) const { return !names_ || !names_->trash_is_empty || has(file); }

Standing::Place Standing::place_of(const Digest& file) const {
  if (store_ == nullptr) return Place::nowhere;
  Store::State& own = store_->state();
  if (names_ ? names_->objects().find(file) || own.packs.find(file) : store_->has(file)) return Place::here;
  for (const auto& other : own.others) {
    if (!other->has(file)) continue;
    const auto there = try_lstat(other->object_path(file));
    return there && own.owners.trusts(*there) ? Place::linked : Place::copied;
  }
  return Place::nowhere;
}

}  // namespace sabath
