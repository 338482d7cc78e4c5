// The chunks of one file of known content that other objects of the store hold: lanes copy them before anything is
// asked of a source. Part of a PinnedTransfer, whose mutex guards it but for look() and copy().
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "fetch/transfer/chunk_buffers.h"
#include "store/chunk_index.h"

namespace sabath {

class ChunkReuse {
 public:
  struct Copy {
    std::uint64_t chunk = 0;  // of the file
    Sha256 hash;
    std::vector<ChunkPlace> places;
  };
  ChunkReuse(Store& store, ChunkIndex& index, ChunkBuffers& buffers)
      : store_(store), index_(index), buffers_(buffers) {}

  // Reads the store's manifests, unless that was done; `name` is the file's path in the asset.
  void look(const std::string& name);
  // True if the chunk is to be copied.
  [[nodiscard]] bool offer(std::uint64_t chunk, const Sha256& hash, std::uint64_t length);
  void start_at(std::uint64_t chunk);  // where this rank of a job begins
  [[nodiscard]] bool any() const { return !copies_.empty(); }
  [[nodiscard]] Copy take();  // if any(); it is under way until over()
  void over() { --under_way_; }
  [[nodiscard]] bool under_way() const { return under_way_ > 0; }
  // False if none of its places has these bytes any more.
  [[nodiscard]] bool copy(const Copy& what, SharedPartial& partial, unsigned lane);

 private:
  Store& store_;
  ChunkIndex& index_;
  ChunkBuffers& buffers_;
  bool looked_ = false;
  std::deque<Copy> copies_;
  unsigned under_way_ = 0;
};

}  // namespace sabath
