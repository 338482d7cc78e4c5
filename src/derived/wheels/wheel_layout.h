// Where a wheel's files go below a prefix, judged by their names alone: a wheel is the upload of a stranger. Pure; any
// thread. Throws Error{invalid} by the package's name.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "environments/wheel_name.h"

namespace sabath {

struct WheelLayout {
  std::string label;               // "flute 1.2", for messages
  std::string python;              // "python3.11": the folder of the library
  std::string stem;                // "flute-1.2": of its .dist-info and .data
  std::string header_folder;       // "flute"
  std::set<std::string> accepted;  // names of libraries beside the interpreter's own that a user vouches for

  [[nodiscard]] std::string packages() const { return "lib/" + python + "/site-packages"; }
  [[nodiscard]] std::string info() const { return stem + ".dist-info"; }
};

// What a wheel's member is named, without the '/' of a directory: nothing that another program would take for another
// place. `utf8`: the archive says that its names are.
void check_wheel_name(const std::string& label, std::string_view name, bool utf8);
// "flute-1.2" of "flute-1.2.dist-info", if that belongs to this wheel; nullopt: it is another's, or none.
[[nodiscard]] std::optional<std::string> info_stem(std::string_view folder, const WheelName& wheel);
// The member's place below the prefix: "lib/python3.11/site-packages/flute/note.py", "bin/flute".
[[nodiscard]] std::string wheel_place(const WheelLayout& layout, const std::string& name);
// Text by which places are compared: two that differ by case alone are one on some disks.
[[nodiscard]] std::string place_key(std::string_view place);

}  // namespace sabath
