// What the text of a modulefile says, read without running it: constants and what is put together of constants. Of a
// condition both sides are read. Pure; any thread. The text is hostile: all that is kept of it is bounded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sabath {

struct ModuleText {
  std::vector<std::string> directories;  // put in front of MODULEPATH: what is below it in a hierarchy
  std::vector<std::string> needs;        // loads, depends on, or asks for
  bool opens_first = false;              // a directory comes before the first need
  std::vector<std::string> conflicts, features, provides;
  std::string family;
  unsigned unread = 0;             // directories that only a run of it would tell
  std::vector<std::string> files;  // that a run of it reads
  std::string unsure;              // why a run may do more than this says: "it has dofile"; empty: it does not
};

inline constexpr std::size_t module_text_max = 256 * 1024;

[[nodiscard]] ModuleText read_lua_module(std::string_view text, std::string_view module);  // "gcc/12.3"
[[nodiscard]] ModuleText read_tcl_module(std::string_view text);
[[nodiscard]] bool is_tcl_module(std::string_view text) noexcept;  // it begins with "#%Module"

}  // namespace sabath
