// A package of conda (.conda, .tar.bz2), which anybody may have made, unpacked into a folder of its own and judged: its
// name, each file by info/paths.json, links that stay inside, programs that an installer would make. None of its code
// runs. One thread. Throws Error{invalid} by the package's name, Error{storage}, Error{space}, Error{interrupted}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "conda/conda_notes.h"
#include "wheels/entry_points.h"

namespace sabath {

struct CondaPackageOrder {
  std::filesystem::path file;  // the package's bytes
  std::string file_name;       // "numpy-2.1.0-py311_0.conda"
  std::string name, version;   // as the lock has them
  std::filesystem::path to;    // a folder that is made for it; links are not written there
  std::uint64_t bytes_max = std::uint64_t{64} << 30;
};

struct CondaItem {
  bool is_symlink = false, executable = false;
  std::string sha256, target;  // of a file; of a symlink
  std::uint64_t bytes = 0;
};

struct CondaPackage {
  std::string label;  // "numpy 2.1.0"
  CondaIndex index;
  std::vector<CondaPath> paths;
  std::map<std::string, CondaItem> items;  // files and links but for those of info/, by their path in the package
  std::vector<EntryPoint> programs;        // of noarch packages
  std::vector<std::string> scripts;        // that an installer would run: "bin/.numpy-post-link.sh"
  std::uint64_t bytes = 0;                 // unpacked
};

[[nodiscard]] CondaPackage unpack_conda_package(const CondaPackageOrder& order, const std::stop_token& stop);
// Where a file of the package goes below the prefix. `python`: "python3.11".
[[nodiscard]] std::string place_in_prefix(const CondaIndex& index, const std::string& path, const std::string& python);

}  // namespace sabath
