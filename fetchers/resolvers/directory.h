// A tree of directories on a server, listed one by one: what a URL with a pattern means, and the walk, bounded in depth
// and number. How one directory is listed is the protocol's. Pure but for what it is given; any thread.
// Throws Error{invalid} for names that no file may have, and for what has no end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/resolver.h"

namespace sabath {

struct DirectoryEntry {
  std::string name;  // decoded, one component; hostile until walk() has checked it
  bool is_directory = false;
  std::optional<std::uint64_t> size_bytes;
};

struct DirectoryPage {
  Url url;  // the directory itself, ends in '/': where redirects led
  std::vector<DirectoryEntry> entries;
};

// https://host/data/**/*.h5 is the directory https://host/data/ and the pattern **/*.h5; a URL that ends in '/' has
// none, and everything below it is meant.
struct DirectoryPattern {
  Url top;
  std::string pattern;  // empty: everything
};

// True if the URL's path ends in '/' or holds a pattern.
[[nodiscard]] bool names_directory(const Url& url);
[[nodiscard]] DirectoryPattern parse_directory_pattern(const Url& url);

// The files below `at.top` in the order of their paths. `list` may be called up to 100,000 times.
[[nodiscard]] std::vector<ListedFile> walk(const DirectoryPattern& at,
                                           const std::function<DirectoryPage(const Url& directory)>& list);

// "a b" below https://host/data/ is https://host/data/a%20b.
[[nodiscard]] Url child_of(const Url& directory, std::string_view path);

}  // namespace sabath
