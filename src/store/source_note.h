// source.json of a partial whose digests are not known: which version of the source its bytes are of. Free functions;
// any thread. A note that is damaged or absent is none. Throws Error{storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "sabath/fetcher.h"

namespace sabath {

struct SourceNote {
  Validators validators;
  std::optional<std::uint64_t> size_bytes;
};

[[nodiscard]] std::optional<SourceNote> try_read_source_note(const std::filesystem::path& directory);

}  // namespace sabath
