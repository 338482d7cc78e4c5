// An FTP server's listing of a directory: MLSD's facts (RFC 3659), or the lines of LIST as Unix and DOS write them.
// Pure; throws Error{invalid} for other lines.
#pragma once

#include <string_view>
#include <vector>

#include "resolvers/directory.h"

namespace sabath {

[[nodiscard]] std::vector<DirectoryEntry> parse_mlsd(std::string_view text, const Url& directory);
// A symlink is taken for a file: if it leads to a directory, a read of it fails with that reason.
[[nodiscard]] std::vector<DirectoryEntry> parse_list(std::string_view text, const Url& directory);

}  // namespace sabath
