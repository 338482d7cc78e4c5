// The name of a wheel's file: "numpy-2.1.0-1-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl". Strict, as
// the file is looked up and unpacked by it. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "environments/python_version.h"

namespace sabath {

struct WheelName {
  std::string name;  // normalised
  PythonVersion version;
  std::uint64_t build = 0;   // the build tag's number; the higher one is taken
  std::string build_suffix;  // what follows it
  std::vector<std::string> pythons, abis, platforms;
};

// nullopt: no such name: other bytes than letters, digits and ._+!- , other parts than five or six, more than 300
// bytes.
[[nodiscard]] std::optional<WheelName> try_wheel_name(std::string_view file_name);

}  // namespace sabath
