// File lists: one URL, or one path relative to the list, a line. Blank lines and lines that begin with '#' are skipped.
// A file stands below the fragment by its URL's last segment, or by the relative path as given.
// Pure; any thread. Lists come from servers and are hostile until checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/resolver.h"

namespace sabath {

// The first `limit` files. Throws Error{invalid} with the line's number for: "..", an absolute path, an empty or unsafe
// name, a scheme other than the list's own family (a list from the network may not name file: URLs), a name twice, a
// line over 8192 bytes, more than 100 million lines, an empty list.
[[nodiscard]] std::vector<ListedFile> parse_file_list(std::string_view text, const Url& list,
                                                      std::optional<std::uint64_t> limit);

}  // namespace sabath
