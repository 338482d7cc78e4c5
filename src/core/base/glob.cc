#include "base/glob.h"

#include <fnmatch.h>

#include <cstdint>
#include <string>

#include "base/split.h"

namespace sabath {
namespace {

constexpr std::string_view any_depth = "**";

bool component_matches(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

}  // namespace

// As with `*` among letters it is enough to go back to the last `**`: an earlier one would find nothing else.
bool glob_matches(std::string_view pattern, std::string_view path) {
  const auto wanted = parts_at(pattern, '/'), names = parts_at(path, '/');
  std::size_t w = 0, n = 0, after_any = SIZE_MAX, resume = 0;
  while (n < names.size()) {
    if (w < wanted.size() && wanted[w] == any_depth) {
      after_any = ++w;
      resume = n;
    } else if (w < wanted.size() && component_matches(wanted[w], names[n])) {
      ++w;
      ++n;
    } else if (after_any != SIZE_MAX) {
      w = after_any;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (w < wanted.size() && wanted[w] == any_depth) ++w;
  return w == wanted.size();
}

bool glob_may_match_below(std::string_view pattern, std::string_view directory) {
  if (directory.empty()) return true;
  const auto wanted = parts_at(pattern, '/'), names = parts_at(directory, '/');
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i >= wanted.size()) return false;
    if (wanted[i] == any_depth) return true;
    if (!component_matches(wanted[i], names[i])) return false;
  }
  return wanted.size() > names.size();
}

bool is_glob(std::string_view text) noexcept { return text.find_first_of("*?[") != std::string_view::npos; }

}  // namespace sabath
