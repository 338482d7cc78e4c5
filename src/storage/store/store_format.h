// The file `format`: it makes a directory a store. docs/store.md, "Layout". Free functions; any thread. Throws
// Error{storage}.
#pragma once

#include <cstdint>
#include <optional>

#include "store/disk/layout.h"

namespace sabath {

inline constexpr std::uint64_t format_size_max = 64 * 1024;

struct StoreFormat {
  std::uint64_t pack_threshold = 0;  // bytes; 0: no packs
};

// nullopt: it is not there. Throws Error{invalid} if it is another program's, or a newer one's.
[[nodiscard]] std::optional<StoreFormat> try_read_format(const Layout& layout);

// Empty, but for files of another process that is making this store now; or one user's store without its format file,
// as cleaners of /tmp remove files not read for long: it contains only what stores have.
[[nodiscard]] bool may_become_store(const std::filesystem::path& directory);

// Makes a directory that is absent, or may become one, a store.
void make_store(const Layout& layout);
void write_format(const Layout& layout, bool shared);

}  // namespace sabath
