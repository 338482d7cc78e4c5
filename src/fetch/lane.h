// One of the threads that move bytes, and the memory that is its own: a chunk.
#pragma once

#include <cstddef>
#include <vector>

namespace sabath {

struct Lane {
  unsigned id = 0;
  std::vector<std::byte> buffer;  // the chunk on its way; at most chunk_size_bytes
};

}  // namespace sabath
