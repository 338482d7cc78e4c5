#include "packing/mend_sysconfig.h"

#include <string_view>

#include "base/file.h"
#include "packing/rewritten_file.h"
#include "packing/tree_copy.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view place_word = "@sabath-prefix@", pc_word = "${pcfiledir}/../..";

constexpr std::string_view places_follow = R"(

def _places_follow():
    import sys
    for key, value in build_time_vars.items():
        if isinstance(value, str) and '@sabath-prefix@' in value:
            build_time_vars[key] = value.replace('@sabath-prefix@', sys.base_prefix)


_places_follow()
)";

// The value of `prefix` as the interpreter was configured; empty: not found.
std::string configured_prefix(std::string_view text) {
  for (const std::string_view key : {"'prefix': '", "\"prefix\": \""}) {
    const std::size_t found = text.find(key);
    if (found == std::string_view::npos) continue;
    const std::string_view rest = text.substr(found + key.size());
    const std::string_view value = rest.substr(0, std::min(rest.find_first_of("'\""), rest.size()));
    if (value.starts_with('/') && value.size() > 1) return std::string(value);
  }
  return {};
}

}  // namespace

std::set<std::string> mend_sysconfig(const fs::path& top, const std::string& python) {
  std::set<std::string> changed;
  std::string prefix;
  for_each_packed_file(top / "lib" / python, [&](const std::string& name) {
    if (!name.starts_with("_sysconfigdata_") || !name.ends_with(".py")) return;
    const fs::path file = top / "lib" / python / name;
    const std::string text = try_read_text(file, 4 << 20).value_or("");
    const std::string old = configured_prefix(text);
    if (old.empty() || text.find(place_word) != std::string::npos) return;  // a packed tree packed again
    prefix = old;
    if (rewrite_file(file, with_place(text, old, place_word) + std::string(places_follow)))
      changed.insert("lib/" + python + "/" + name);
  });
  if (prefix.empty() || !try_stat(top / "lib/pkgconfig")) return changed;
  for_each_packed_file(top / "lib/pkgconfig", [&](const std::string& name) {
    if (!name.ends_with(".pc")) return;
    const fs::path file = top / "lib/pkgconfig" / name;
    if (rewrite_file(file, with_place(try_read_text(file, 1 << 20).value_or(""), prefix, pc_word)))
      changed.insert("lib/pkgconfig/" + name);
  });
  return changed;
}

}  // namespace sabath
