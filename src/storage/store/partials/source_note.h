// source.json of a partial whose digests are not known: the version of the source that its bytes are from. Free
// functions; any thread. A damaged note counts as absent. Throws Error{storage}.
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
