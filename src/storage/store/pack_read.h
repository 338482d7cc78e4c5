// Reads many small files' content at once, as staging needs it: one read for members side by side in a pack, and no
// index read for a rank that was sent a PackMap. Values and free functions; any thread. Throws Error{storage}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "store/packs/pack_format.h"
#include "store/store.h"

namespace sabath {

// Where content stands, for ranks that do not look for themselves.
struct PackMap {
  static constexpr std::uint32_t no_pack = UINT32_MAX;
  struct Place {
    std::uint32_t pack = no_pack, stored_bytes = 0;  // pack: in `packs`
    std::uint64_t offset = 0;
    PackCodec codec = PackCodec::raw;
  };
  std::vector<Digest> packs;         // names
  std::vector<std::uint32_t> order;  // numbers of the contents, as they stand in packs; those in no pack last
  std::vector<Place> places;         // by number
  [[nodiscard]] bool empty() const { return packs.empty(); }
  [[nodiscard]] std::string encode() const;
  [[nodiscard]] static PackMap parse(std::string_view bytes);  // throws Error{invalid}
};

// Empty where fewer than pack_files_min of them are packed.
[[nodiscard]] PackMap map_packs(Store& store, std::span<const Digest> contents);

// Keeps the packs that were read last open: a filesystem may drop its cache of a file when that is opened again, and
// each opening asks its server. Thread-safe.
class OpenPacks {
 public:
  using File = std::shared_ptr<const Fd>;
  [[nodiscard]] File open(Store& store, const Digest& pack);  // nullptr: it is not there
  void forget(const Digest& pack);

 private:
  static constexpr std::size_t open_max = 8;
  std::mutex mutex_;
  std::deque<std::pair<Digest, File>> files_;  // newest first
};

// Reads one content after the other into `room`, whose size is their sum. `places`: one for each content, or none. The
// reader must check the bytes. Returns the first content that is not here; then `room` holds nothing of use.
[[nodiscard]] std::optional<std::size_t> read_contents(Store& store, OpenPacks& open, std::span<const Digest> contents,
                                                       const PackMap& map, std::span<const PackMap::Place> places,
                                                       std::span<std::byte> room);

}  // namespace sabath
