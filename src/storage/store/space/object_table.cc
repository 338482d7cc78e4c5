#include "store/space/object_table.h"

#include <dirent.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "store/disk/listing.h"

namespace sabath {
namespace {

auto by_content(const StoredObject& object) { return std::tie(object.hash, object.size_bytes); }

}  // namespace

ObjectTable::ObjectTable(const Layout& layout, Packs* packs) {
  std::vector<std::pair<StoredObject, bool>> found;
  if (packs != nullptr) packs_ = packs->all();
  std::ranges::sort(packs_, {}, [](const auto& pack) { return pack->name; });
  for (std::uint32_t number = 0; number < packs_.size(); ++number) {
    for (const PackMember& member : packs->members_of(*packs_[number])) {
      found.push_back({{member.digest.hash, member.digest.size_bytes, number, member.stored_bytes}, false});
    }
  }
  for_each_name(layout.objects(), [&](std::string_view fan, unsigned char fan_type) {
    if (fan_type != DT_DIR || !is_fan_name(fan)) return;  // perhaps a user's, and closed to others
    for_each_name(layout.objects() / fan, [&](std::string_view name, unsigned char type) {
      const auto digest = type == DT_DIR ? std::nullopt : try_parse_object_name(fan, name);
      if (digest) found.push_back({{digest->hash, digest->size_bytes, StoredObject::no_pack, 0}, type == DT_LNK});
    });
  });
  // A file has the greatest number of a pack: plus one it is the least.
  std::ranges::sort(found, {}, [](const auto& one) {
    return std::tuple(one.first.hash, one.first.size_bytes, static_cast<std::uint32_t>(one.first.pack + 1));
  });
  objects_.reserve(found.size());
  linked_.reserve(found.size());
  for (const auto& [object, linked] : found) {
    if (!objects_.empty() && by_content(objects_.back()) == by_content(object)) continue;
    objects_.push_back(object);
    linked_.push_back(linked);
    total_bytes_ += bytes(static_cast<std::uint32_t>(objects_.size() - 1));
  }
}

std::uint64_t ObjectTable::bytes(std::uint32_t index) const {
  if (linked_[index]) return 0;
  const StoredObject& object = objects_[index];
  return object.pack == StoredObject::no_pack ? object.size_bytes : object.stored_bytes;
}

std::filesystem::path ObjectTable::file(std::uint32_t index, const Layout& layout) const {
  const std::uint32_t pack = objects_[index].pack;
  return pack == StoredObject::no_pack ? layout.object(digest(index)) : packs_[pack]->file;
}

std::optional<std::uint32_t> ObjectTable::find(const Digest& object) const {
  const StoredObject wanted{object.hash, object.size_bytes, StoredObject::no_pack, 0};
  const auto at = std::ranges::lower_bound(objects_, by_content(wanted), {}, by_content);
  if (at == objects_.end() || by_content(*at) != by_content(wanted)) return std::nullopt;
  return static_cast<std::uint32_t>(at - objects_.begin());
}

Digest ObjectTable::digest(std::uint32_t index) const {
  return {ContentKind::file, objects_[index].size_bytes, objects_[index].hash};
}

}  // namespace sabath
