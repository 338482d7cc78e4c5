#include "stage/node/local_disks.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/file.h"
#include "base/hash.h"
#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "stage/plan/deal.h"
#include "store/lookup.h"
#include "store/space/reservation.h"

namespace sabath {
namespace {

// Names, in another disk's refs, its part of an asset.
Sha256 part_key(const Sha256& root) { return sha256(fmt::format("stripe part 1\n{}\n", root.hex())); }

std::uint64_t room_in(Store& store) {
  std::uint64_t room = UINT64_MAX;
  for (const Bound& bound : bounds_of(read_limits(store.directory()), Need{}, promised_by_others(store))) {
    if (bound.unit == Bound::Unit::bytes && bound.what != "file size") room = std::min(room, bound.available());
  }
  return room;
}

}  // namespace

LocalDisks::LocalDisks(Directories directories, const std::string& note, const std::string& job)
    : directories_(std::move(directories)) {
  for (const auto& directory : directories_) {
    auto store = Store::open(directory / ".sabath", true);
    store->work_for(job);
    if (main_) {
      stores_.push_back(&look_also(*main_, std::move(store)));
    } else {
      stores_.push_back((main_ = std::move(store)).get());
    }
    leases_.push_back(stores_.back()->lease({}, note, {true}));
  }
}

void LocalDisks::use(const Sha256& root) {
  view_.reset();
  if (!try_lstat(main().view_path(root))) view_.emplace(main());
  for (std::size_t disk = 0; disk < size(); ++disk) {
    leases_[disk].add(root);
    if (disk == 0) continue;
    if (const auto part = store(disk).ref(part_key(root))) leases_[disk].add(part->root);
  }
}

std::optional<std::uint32_t> LocalDisks::standing(const Digest& file) const {
  for (std::uint32_t disk = 0; disk < size(); ++disk) {
    const auto there = try_lstat(stores_[disk]->object_path(file));
    if (there && S_ISREG(there->st_mode)) return disk;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> LocalDisks::begun(const Digest& file) const {
  for (std::uint32_t disk = 0; disk < size(); ++disk) {
    if (stores_[disk]->held(file) > 0) return disk;
  }
  return std::nullopt;
}

void LocalDisks::link(const Digest& file) {
  if (size() > 1) static_cast<void>(main().present(file));
}

std::vector<std::uint64_t> LocalDisks::rooms(std::span<const Need> needs, std::uint64_t files) {
  std::vector<std::uint64_t> rooms(size());
  if (size() == 1 || files == 0) return rooms;
  for (std::size_t disk = 0; disk < size(); ++disk) {
    const std::uint64_t taken = needs[disk].bytes + (disk == 0 ? files * link_bytes : 0);
    rooms[disk] = room_in(store(disk));
    rooms[disk] -= std::min(rooms[disk], taken);
  }
  return rooms;
}

void LocalDisks::reserve(std::span<const Need> needs, const std::string& what, const std::stop_token& stop) {
  guards_.clear();
  for (std::size_t disk = 0; disk < size(); ++disk) {
    const Need& need = needs[disk];
    if (need.bytes == 0) continue;
    auto& guard = guards_.emplace_back(std::make_unique<SpaceGuard>(
        store(disk), what,
        [&] {
          return SpaceGuard::Ahead{need, what};
        },
        stop));
    try {
      guard->reserve(need, what);
    } catch (const Error& error) {
      Failure failure = error.failure();
      if (failure.kind == FailureKind::space) {
        failure.hint =
            fmt::format("free space there, stage to another directory, or stage a part of a data set ({} shard)",
                        option_text("mode"));
      }
      throw Error(failure);
    }
  }
}

// A manifest alone would be kept for a day, an object for as long; a ref keeps both.
void LocalDisks::keep_parts(const Manifest& manifest) {
  std::unordered_map<Digest, std::uint32_t> disks;
  for (const auto& file : files_of(manifest)) {
    link(file.digest);
    disks.emplace(file.digest, standing(file.digest).value_or(0));  // else packed
  }
  for (std::uint32_t disk = 1; disk < size(); ++disk) {
    const auto here = [&](const Entry& entry) { return disks.at(entry.digest) == disk; };
    if (std::ranges::none_of(disks, [&](const auto& one) { return one.second == disk; })) continue;
    const std::string bytes = shard::part(manifest, here);
    const Sha256 root = Manifest::parse(bytes).root(), key = part_key(manifest.root());
    leases_[disk].add(root);
    if (!store(disk).manifest(root)) store(disk).put_manifest(bytes, root);
    const auto known = store(disk).ref(key);
    if (known && known->root == root) continue;
    const std::string note = "part of " + manifest.root().prefixed();
    store(disk).put_ref(key, {root, "stripe", {}, 0, "", note});
  }
}

std::unique_ptr<ObjectWriter> LocalDisks::write_object(std::uint32_t disk, const std::string& path) {
  return disk == 0 && view_ ? view_->write_object(path) : store(disk).write_object();
}

void LocalDisks::keep_no_view(const Manifest& manifest) noexcept {
  if (view_) view_->abandon(manifest);
}

void LocalDisks::keep(const Manifest& manifest, const std::string& bytes) {
  if (size() > 1) keep_parts(manifest);
  if (!main().manifest(manifest.root())) main().put_manifest(bytes, manifest.root());
  if (main().view_present(manifest)) return keep_no_view(manifest);
  view_ ? view_->show(manifest) : main().make_view(manifest);
}

void LocalDisks::refuse_shared() const {
  std::string names;
  for (const auto& directory : directories_) names += (names.empty() ? "" : ", ") + printable(directory.native());
  throw Error(FailureKind::storage, fmt::format("other nodes see some of {}, and not all of them", names),
              "name this node's own disks, or put {node} into the shared one's name");
}

}  // namespace sabath
