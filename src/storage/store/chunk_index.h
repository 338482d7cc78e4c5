// An index of the chunks in this store's objects: a new version of a file need not fetch them. docs/store.md, "Reuse".
//
// The table is made from the manifests, which say where each file has each chunk, when it is first asked for; it is
// kept in memory, 16 bytes a chunk, and thrown away. It is a hint: the user of a place hashes the bytes there. Owned by
// one fetch; any thread. Throws Error{storage}.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "manifest/manifest.h"
#include "store/partials/partial.h"
#include "store/store.h"

namespace sabath {

struct ChunkPlace {
  Digest object;
  std::uint64_t index = 0;  // of the chunk in it
  friend bool operator==(const ChunkPlace&, const ChunkPlace&) = default;
};

class ChunkIndex {
 public:
  struct Limits {
    std::size_t chunks = 4U << 20;                    // 16 TiB of content, 64 MiB of memory
    std::uint64_t entries = 4'000'000;                // of the manifests walked: about two seconds
    std::size_t manifests = 10'000;                   // opened at most
    std::uint64_t file_bytes_min = chunk_size_bytes;  // shorter files hold no whole chunk
  };
  explicit ChunkIndex(Store& store) : ChunkIndex(store, Limits{}) {}
  ChunkIndex(Store& store, Limits limits) : store_(store), limits_(limits) {}

  // Reads the manifests, once: first those in which a file of this name stands, then the others, newest first.
  void build(const std::string& name);
  // At most `places_max` places where a chunk with this hash and length stands, by what the manifests say.
  [[nodiscard]] std::vector<ChunkPlace> find(const Sha256& hash, std::uint64_t length) const;
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] bool cut() const { return cut_; }  // a limit was met: there may be more

  static constexpr std::size_t places_max = 4;

 private:
  struct Row {
    std::uint64_t prefix = 0;  // of the chunk's hash
    std::uint32_t object = 0, index = 0;
  };
  void add(const Manifest& manifest);
  void add(const Manifest& manifest, const Entry& file);

  Store& store_;
  const Limits limits_;
  std::mutex mutex_;  // of building
  bool built_ = false, cut_ = false;
  std::uint64_t entries_ = 0;
  std::unordered_set<Digest> seen_;
  std::vector<Digest> objects_;
  std::vector<Row> rows_;  // sorted
};

// Copies the chunk at `place` into `partial`, if its bytes have this hash. It shares blocks where the filesystem can
// and no other user may write to the object; else it writes. `buffer` has room for a chunk. False: the chunk is not
// there; a wrong object is distrusted from now on.
[[nodiscard]] bool copy_chunk(Store& store, const ChunkPlace& place, const Sha256& hash, SharedPartial& partial,
                              unsigned lane, std::uint64_t index, std::span<std::byte> buffer);

}  // namespace sabath
