#include "store/pack_read.h"

#include <fcntl.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "manifest/wire.h"
#include "sabath/error.h"
#include "store/state.h"

namespace sabath {
namespace {

constexpr std::uint64_t request_max = chunk_size_bytes;  // bytes of one read
constexpr int read_attempts_max = 3;                     // a collection may have moved a pack just now

struct Wanted {
  std::size_t number;  // of the content
  Digest pack;
  PackMember member;
  std::span<std::byte> room;
};

class ReadBatch {
 public:
  ReadBatch(Store& store, OpenPacks& packs) : store_(store), packs_(packs) {}

  void add(Wanted wanted) { wanted_.push_back(wanted); }

  // Returns the number of a content whose pack is gone.
  std::optional<std::size_t> read() {
    std::ranges::sort(wanted_, {}, [](const Wanted& one) { return std::tuple(one.pack, one.member.offset); });
    for (std::size_t begin = 0; begin < wanted_.size();) {
      const Wanted& first = wanted_[begin];
      std::size_t end = begin + 1;
      for (std::uint64_t at = end_of(first); end < wanted_.size(); at = end_of(wanted_[end++])) {
        const Wanted& next = wanted_[end];
        if (next.pack != first.pack || next.member.offset != at) break;
        if (end_of(next) - first.member.offset > request_max) break;
      }
      if (!read_run(std::span(wanted_).subspan(begin, end - begin))) return first.number;
      begin = end;
    }
    return std::nullopt;
  }

 private:
  static std::uint64_t end_of(const Wanted& wanted) { return wanted.member.offset + wanted.member.stored_bytes; }

  // Reads members of one pack without a gap between them. Their reader will see damage.
  bool read_run(std::span<const Wanted> run) {
    const std::uint64_t begin = run.front().member.offset, bytes = end_of(run.back()) - begin;
    if (const auto room = room_of(run); room.size() == bytes) {
      const auto n = read_pack(run.front().pack, begin, room);
      if (n) std::ranges::fill(room.subspan(*n), std::byte{0});
      return n.has_value();
    }
    buffer_.resize(bytes);
    const auto n = read_pack(run.front().pack, begin, buffer_);
    if (!n) return false;
    for (const Wanted& one : run) {
      const std::size_t at = one.member.offset - begin;
      const auto stored = std::span<const std::byte>(buffer_).subspan(at, one.member.stored_bytes);
      const bool there = at + stored.size() <= *n;
      if (!there || !try_unpack(one.member, stored, one.room)) std::ranges::fill(one.room, std::byte{0});
    }
    return true;
  }

  // The room of the run, if it is laid out as in the pack; else empty.
  static std::span<std::byte> room_of(std::span<const Wanted> run) {
    std::byte* const begin = run.front().room.data();
    std::size_t bytes = 0;
    for (const Wanted& one : run) {
      const bool as_stored = one.member.codec == PackCodec::raw && one.member.stored_bytes == one.room.size();
      if (!as_stored || one.room.data() != begin + bytes) return {};
      bytes += one.room.size();
    }
    return {begin, bytes};
  }

  // nullopt: there is no such pack. A pack opened a while ago may be gone by now (ESTALE).
  std::optional<std::size_t> read_pack(const Digest& pack, std::uint64_t begin, std::span<std::byte> room) {
    const auto path = store_.state().layout.pack(pack);
    for (bool again = true;; again = false) {
      const OpenPacks::File file = packs_.open(store_, pack);
      if (!file) return std::nullopt;
      try {
        return read_at(file->get(), room, begin, path);
      } catch (const Error&) {
        packs_.forget(pack);
        if (!again) throw;
      }
    }
  }

  Store& store_;
  OpenPacks& packs_;
  std::vector<Wanted> wanted_;
  std::vector<std::byte> buffer_;
};

// Returns the first content that is not where it should be.
std::optional<std::size_t> try_read(Store& store, OpenPacks& open, std::span<const Digest> contents, const PackMap& map,
                                    std::span<const PackMap::Place> places, std::span<std::byte> room) {
  ReadBatch batch(store, open);
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const auto its = room.first(contents[i].size_bytes);
    room = room.subspan(its.size());
    if (its.empty()) continue;
    if (!places.empty() && places[i].pack != PackMap::no_pack) {
      const PackMap::Place& at = places[i];
      batch.add({i, map.packs[at.pack], {contents[i], at.offset, at.stored_bytes, at.codec, 0}, its});
      continue;
    }
    if (const auto found = places.empty() ? store.state().packs.find(contents[i]) : std::nullopt) {
      batch.add({i, found->pack->name, found->member, its});
      continue;
    }
    const auto content = store.open_content(contents[i]);
    if (!content) return i;
    if (content->read(0, its) != its.size()) std::ranges::fill(its, std::byte{0});
  }
  return batch.read();
}

}  // namespace

OpenPacks::File OpenPacks::open(Store& store, const Digest& pack) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(files_, pack, &std::pair<Digest, File>::first);
  if (found != files_.end()) return found->second;
  auto fd = try_open_file(store.state().layout.pack(pack), O_RDONLY | O_NOFOLLOW);
  if (!fd) return nullptr;
  ::posix_fadvise(fd->get(), 0, 0, POSIX_FADV_RANDOM);  // no read-ahead: only these bytes are wanted
  if (files_.size() == open_max) files_.pop_back();
  files_.emplace_front(pack, std::make_shared<const Fd>(std::move(*fd)));
  return files_.front().second;
}

void OpenPacks::forget(const Digest& pack) {
  const std::lock_guard lock(mutex_);
  std::erase_if(files_, [&](const auto& one) { return one.first == pack; });
}

std::optional<std::size_t> read_contents(Store& store, OpenPacks& open, std::span<const Digest> contents,
                                         const PackMap& map, std::span<const PackMap::Place> places,
                                         std::span<std::byte> room) {
  for (int attempt = 1;; ++attempt) {
    const auto missing = try_read(store, open, contents, map, places, room);
    if (!missing || attempt == read_attempts_max || !store.present(contents[*missing])) return missing;
    places = {};  // the places are no longer true
  }
}

PackMap map_packs(Store& store, std::span<const Digest> contents) {
  PackMap map;
  std::map<Digest, std::uint32_t> numbers;
  std::uint64_t packed = 0;
  Packs& packs = store.state().packs;
  packs.refresh();
  for (const Digest& content : contents) {
    PackMap::Place& place = map.places.emplace_back();
    const auto found = packs.find_seen(content);
    if (!found) continue;
    ++packed;
    const auto [known, fresh] = numbers.try_emplace(found->pack->name, static_cast<std::uint32_t>(map.packs.size()));
    if (fresh) map.packs.push_back(found->pack->name);
    place = {known->second, found->member.stored_bytes, found->member.offset, found->member.codec};
  }
  if (packed < pack_files_min) return {};
  map.order.resize(contents.size());
  std::iota(map.order.begin(), map.order.end(), 0U);
  std::ranges::stable_sort(map.order, {}, [&](std::uint32_t number) {
    const PackMap::Place& place = map.places[number];
    return std::tuple(place.pack, place.offset);
  });
  return map;
}

std::string PackMap::encode() const {
  std::string out;
  wire::put(out, std::uint64_t{packs.size()});
  wire::put(out, std::uint64_t{places.size()});
  for (const Digest& pack : packs) {
    wire::put_hash(out, pack.hash);
    wire::put(out, pack.size_bytes);
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    wire::put(out, order[i]);
    wire::put(out, places[i].pack);
    wire::put(out, places[i].stored_bytes);
    wire::put(out, places[i].offset);
    wire::put(out, static_cast<std::uint32_t>(places[i].codec));
  }
  return out;
}

PackMap PackMap::parse(std::string_view bytes) {
  PackMap map;
  if (bytes.empty()) return map;
  wire::Reader reader(bytes);
  const auto pack_count = reader.get<std::uint64_t>(), count = reader.get<std::uint64_t>();
  if (pack_count > bytes.size() || count > bytes.size()) wire::refuse("a map of packs is shorter than it says");
  for (std::uint64_t i = 0; i < pack_count; ++i) {
    const Sha256 hash = reader.hash();
    map.packs.push_back({ContentKind::file, reader.get<std::uint64_t>(), hash});
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    map.order.push_back(reader.get<std::uint32_t>());
    Place& place = map.places.emplace_back();
    place.pack = reader.get<std::uint32_t>();
    place.stored_bytes = reader.get<std::uint32_t>();
    place.offset = reader.get<std::uint64_t>();
    const auto codec = reader.get<std::uint32_t>();
    place.codec = static_cast<PackCodec>(codec);
    const bool known = codec <= static_cast<std::uint32_t>(PackCodec::zstd);
    const bool sane = known && (place.pack == no_pack || place.pack < map.packs.size());
    if (!sane || place.stored_bytes > pack_member_max) wire::refuse("a map of packs names a place that cannot be");
  }
  return map;
}

}  // namespace sabath
