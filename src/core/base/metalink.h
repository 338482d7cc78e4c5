// Metalink 4 (RFC 5854): files with their mirrors, sizes and hashes, read and written. Pure; any thread. Throws
// Error{invalid} for a name or URL that no file may have, Error{unavailable} for a text that is no metalink.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/resolver.h"

namespace sabath {

// True if a document is XML that says it is a metalink.
[[nodiscard]] bool is_metalink(std::string_view text);

// Mirrors by falling preference; URLs of protocols that SABATH does not speak are left out, file: is refused unless the
// metalink itself is local. Of several sets of piece hashes the strongest is kept.
[[nodiscard]] std::vector<ListedFile> parse_metalink(std::string_view text, const Url& source);

// `generator`: "sabath/0.1". Files without a URL are an error: Error{usage}.
[[nodiscard]] std::string write_metalink(const std::vector<ListedFile>& files, std::string_view generator);

// The same as headers (RFC 6249), by which a server names each file's mirrors: a paragraph for each, headed by its
// path.
[[nodiscard]] std::string write_links(const std::vector<ListedFile>& files);

}  // namespace sabath
