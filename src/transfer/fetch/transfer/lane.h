// One of the threads that move bytes, and the memory that is its own: a chunk, and small files that are read.
#pragma once

#include <cstddef>
#include <vector>

#include "fetch/transfer/small_files.h"

namespace sabath {

struct Lane {
  unsigned id = 0;
  std::vector<std::byte> buffer;  // the chunk on its way; at most chunk_size_bytes
  SmallFiles small;
};

}  // namespace sabath
