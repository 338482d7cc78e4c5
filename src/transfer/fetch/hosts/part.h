// The part of this process in a file on which several processes work. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/byte_set.h"
#include "fetch/decide/job.h"
#include "fetch/hosts/context.h"
#include "manifest/file_tree.h"

namespace sabath {

// The bytes that this rank begins with, in whole chunks.
[[nodiscard]] inline ByteRange slice_of(std::uint64_t size_bytes, const Share& share) {
  const std::uint64_t chunks = chunk_count(size_bytes);
  return {chunks * share.rank / share.ranks * chunk_size_bytes,
          std::min(size_bytes, chunks * (share.rank + 1) / share.ranks * chunk_size_bytes)};
}

// Its chunks that are wanted; nullptr: all.
[[nodiscard]] inline const std::vector<bool>* wanted_of(const FetchContext& context, const FileJob& job) {
  if (context.wanted == nullptr || !job.known) return nullptr;
  const auto named = context.wanted->find(job.known->digest);
  return named == context.wanted->end() ? nullptr : &named->second;
}

}  // namespace sabath
