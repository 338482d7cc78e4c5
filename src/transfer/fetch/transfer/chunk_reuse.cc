#include "fetch/transfer/chunk_reuse.h"

#include <algorithm>

namespace sabath {

void ChunkReuse::look(const std::string& name) {
  index_.build(name);
  looked_ = index_.size() > 0;
}

bool ChunkReuse::offer(std::uint64_t chunk, const Sha256& hash, std::uint64_t length) {
  if (!looked_) return false;
  auto places = index_.find(hash, length);
  if (places.empty()) return false;
  copies_.push_back({chunk, hash, std::move(places)});
  return true;
}

void ChunkReuse::start_at(std::uint64_t chunk) {
  std::rotate(copies_.begin(), std::ranges::lower_bound(copies_, chunk, {}, &Copy::chunk), copies_.end());
}

ChunkReuse::Copy ChunkReuse::take() {
  Copy next = std::move(copies_.front());
  copies_.pop_front();
  ++under_way_;
  return next;
}

bool ChunkReuse::copy(const Copy& what, SharedPartial& partial, unsigned lane) {
  const auto buffer = buffers_.take();
  return std::ranges::any_of(what.places, [&](const ChunkPlace& place) {
    return copy_chunk(store_, place, what.hash, partial, lane, what.chunk, {buffer.get(), chunk_size_bytes});
  });
}

}  // namespace sabath
