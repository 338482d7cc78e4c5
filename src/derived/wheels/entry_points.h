// entry_points.txt of a wheel: the programs that an installer makes for it. Strict, as both names become a file and
// code. Pure; any thread. Throws Error{invalid} as "origin:line ...".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sabath {

struct EntryPoint {
  std::string name;                // of the program: a file's name
  std::string module, attributes;  // "pip._internal.cli.main", "main"
};

// Those of [console_scripts] and [gui_scripts], in the order of their names.
[[nodiscard]] std::vector<EntryPoint> parse_entry_points(std::string_view text, const std::string& origin);
// The program: it finds the interpreter beside it, in any place.
[[nodiscard]] std::string entry_point_script(const EntryPoint& point);

}  // namespace sabath
