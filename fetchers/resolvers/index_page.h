// A web server's listing of a directory: the index pages of Apache, nginx and the like, as HTML or nginx's JSON, and
// the answer of WebDAV's PROPFIND. Pure; throws Error{invalid} for names that no file may have, and Error{unavailable}
// for pages that are no listing.
#pragma once

#include <string_view>
#include <vector>

#include "resolvers/directory.h"

namespace sabath {

// The links to what stands directly in `directory`; other links of the page are not followed: up, away, to sort by.
// HTML says no sizes that could be relied on.
[[nodiscard]] std::vector<DirectoryEntry> parse_html_index(std::string_view page, const Url& directory);

// nginx's "autoindex_format json".
[[nodiscard]] std::vector<DirectoryEntry> parse_json_index(std::string_view page, const Url& directory);

// RFC 4918, Depth: 1. The directory itself, which is in the answer, is left out.
[[nodiscard]] std::vector<DirectoryEntry> parse_multistatus(std::string_view answer, const Url& directory);

}  // namespace sabath
