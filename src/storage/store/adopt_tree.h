// Adopts data on the parallel filesystem without copying it: each file becomes an object that is a symlink to it.
// docs/store.md, "Adopted files". Throws Error{invalid} for a file that an asset cannot hold, Error{changed} for a file
// that is being written, Error{usage} for a directory that holds the store or lies in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "store/store.h"

namespace sabath {

struct AdoptedTree {
  Sha256 root;
  Totals totals;
};

// Reads everything once, with `threads` workers (0: one a core). `on_bytes` is called from them, one at a time.
[[nodiscard]] AdoptedTree adopt_tree(Store& store, const std::filesystem::path& directory, unsigned threads,
                                     const std::function<void(std::uint64_t)>& on_bytes);

}  // namespace sabath
