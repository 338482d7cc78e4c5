// ELF files of a tree: each finds the tree's libraries from its own place, by patchelf where it does not, and none
// needs one that only this machine has. One thread. Throws Error{invalid} with a list, Error{not_found} without
// patchelf.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "packing/elf_view.h"
#include "software/programs.h"

namespace sabath {

struct LibrariesOrder {
  std::filesystem::path top, interpreter;     // the tree; the interpreter's file in it
  std::vector<std::filesystem::path> places;  // where the tree was
  std::set<std::string> accepted;             // names of libraries that the nodes bring, of files for other machines
  std::map<std::string, ElfView> known = {};  // files that will join the tree, mended already: paths below `top`
  // Whether a file may look in the tree's lib for one that lies there; empty: each may.
  std::function<bool(const std::string& path, const std::string& library)> may_lead = {};
};

struct MendedLibraries {
  std::set<std::string> changed;                 // paths below `top`
  std::string machine;                           // "x86_64"
  std::string glibc;                             // the oldest that has what they need, "2.34"
  std::set<std::string> of_system;               // libraries that the nodes' system must have
  std::set<std::string> optional;                // that only modules of the interpreter's library need
  std::set<std::string> of_nodes;                // accepted ones, and those of drivers
  std::map<std::string, std::string> needed_by;  // of both kinds of the system: a file that needs it
  std::vector<std::string> remarks;
  std::map<std::string, ElfView> views;  // of the tree's files, as they were before
};

[[nodiscard]] MendedLibraries mend_libraries(Programs& programs, const LibrariesOrder& order);

}  // namespace sabath
