// A target's content in the store, open for reading. The store verifies it first: it reads and hashes content without a
// matching verification record. Any thread. Throws Error{storage}.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/file.h"
#include "serve/target.h"
#include "store/store.h"

namespace sabath {

struct ServedContent {
  Fd file;  // none: `bytes` has all, because it was small and stood in a pack
  std::string bytes{};
  std::uint64_t size_bytes = 0;
  std::string etag;  // with its quotes; names the bytes, so it never changes its meaning
};

// nullopt: the store does not have it (any more).
[[nodiscard]] std::optional<ServedContent> open_content(Store& store, const Target& target);

}  // namespace sabath
