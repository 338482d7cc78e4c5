// A tree of directories on a server, listed one by one: the meaning of a URL with a pattern, and the walk, bounded in
// depth and number. The caller lists one directory, by its protocol. Pure but for that; any thread.
// Throws Error{invalid} for names that no file may have, and for a tree without an end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.h"
#include "sabath/resolver.h"

namespace sabath {

struct DirectoryEntry {
  std::string name;  // decoded, one component; hostile until walk() has checked it, if the pattern asks for it
  bool is_directory = false;
  std::optional<std::uint64_t> size_bytes;
  std::string stands_for = {};  // the file beside it that a link is said to be: it is asked for in its place
};

// The text of a key, as it stands: a name that is judged where it is wanted.
[[nodiscard]] std::string name_in(JsonObject& object, std::string_view key);

struct DirectoryPage {
  Url url;  // the directory itself, ends in '/': where redirects led
  std::vector<DirectoryEntry> entries;
  // Set where the listing does not tell directories from files: asks what is at a URL.
  std::function<bool(const Url&)> is_directory = {};
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

// The files below `at.top` in the order of their paths. Entries that the pattern leaves out may have any name. `list`
// may be called up to 100,000 times.
[[nodiscard]] std::vector<ListedFile> walk(const DirectoryPattern& at,
                                           const std::function<DirectoryPage(const Url& directory)>& list);

// "a b" below https://host/data/ is https://host/data/a%20b.
[[nodiscard]] Url child_of(const Url& directory, std::string_view path);

}  // namespace sabath
