// The bodies of the notes in refs/ and alias/. Each has a checksum and exactly one spelling: any other text is damage.
// Pure but for ref_files(); any thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/digest.h"
#include "store/disk/layout.h"
#include "store/disk/store_values.h"

namespace sabath {

[[nodiscard]] std::string encode_ref(const Ref& ref);
[[nodiscard]] std::optional<Ref> try_decode_ref(std::string_view text);

// Every owner's ref of a source.
[[nodiscard]] std::vector<std::filesystem::path> ref_files(const Layout& layout, const Sha256& source_key);

[[nodiscard]] std::string encode_alias(const Digest& digest);  // "sha256:<hex> <size> <xxh3>\n"
[[nodiscard]] std::optional<Digest> try_decode_alias(std::string_view text);

}  // namespace sabath
