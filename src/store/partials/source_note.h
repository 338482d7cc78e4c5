// source.json of a partial whose digests are not known: which version of the source its bytes are of. Free functions;
// any thread. A note that is damaged or absent is none. Throws Error{storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "store/disk/store_values.h"

namespace sabath {

struct SourceNote {
  SourceVersion version;
  std::optional<std::uint64_t> size_bytes;
};

[[nodiscard]] std::optional<SourceNote> try_read_source_note(const std::filesystem::path& directory);

}  // namespace sabath
