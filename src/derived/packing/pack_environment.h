// A virtual environment or prefix made into one tree that names no place: copied, mended, compiled, tried. The tree
// holds environment.json, which says what it is. One thread. Throws what the files of this room throw, Error{command}
// where the packed interpreter does not work.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "packed/environment_note.h"
#include "packing/mend_packages.h"
#include "packing/prefix_source.h"
#include "packing/tree_copy.h"
#include "software/programs.h"

namespace sabath {

struct PackOrder {
  std::filesystem::path prefix;
  std::filesystem::path to;        // an empty directory
  std::set<std::string> accepted;  // .pth files, libraries of the nodes
  std::stop_token stop;
  AdmitsFile admit = {};  // of the prefix and its interpreter
};

struct PackedTree {
  std::string form;                                   // "venv", "prefix", "conda", "conda-lock"
  std::string python, implementation, abi, platform;  // "3.11.7", "cpython-311", "cpython-311-x86_64-linux-gnu", ...
  std::string machine, glibc;
  std::string place;  // the only one where it works; empty: any
  std::vector<FoundPackage> packages;
  std::set<std::string> of_system, optional, of_nodes;  // libraries
  std::map<std::string, std::string> needed_by;         // as of MendedLibraries
  std::uint64_t libraries_changed = 0, scripts_changed = 0, compiled = 0, not_compiled = 0;
  std::vector<std::string> remarks;
};

// What environment.json says of it.
[[nodiscard]] std::string note_text_of(const PackedTree& tree);
[[nodiscard]] PackedTree pack_environment(Programs& programs, const PackOrder& order);

// Of a tree that stands in PackOrder::to already.
struct FinishOrder {
  const PrefixSource& source;
  std::vector<std::filesystem::path> places;                  // where it was
  std::filesystem::path place = {};                           // the only one where it will be; empty: any
  std::set<std::string> changed = {};                         // files that are not what their packages brought
  std::vector<FoundPackage> packages = {};                    // that are known
  std::set<std::pair<std::string, std::string>> theirs = {};  // names and versions that these brought notes of
};

// Mended, compiled, tried, described. `tree` has its form.
void finish_tree(Programs& programs, const PackOrder& order, const FinishOrder& finish, PackedTree& tree);
// Of a prefix that has its own interpreter, what is left out or made anew: `path` is below the prefix.
[[nodiscard]] bool is_left_out_of_prefix(const PrefixSource& source, const std::string& path);
// Throws Error{usage}: the tree would be copied into itself.
void refuse_store_inside(const PackOrder& order, const PrefixSource& source);

}  // namespace sabath
