// The modulefiles below directories of MODULEPATH, and below the directories that these put there in turn: compiler,
// MPI, package. Read, never run. One thread. What another account could write is not read, but named.
#pragma once

#include <cstddef>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/verbs/site.h"
#include "software/owners.h"

namespace sabath {

struct ModuleTreeBounds {
  std::size_t files = 100'000, directories = 20'000, chains = 8, depth = 6;  // chains: to one directory
};

struct ModuleTree {
  std::vector<Software> software;
  std::vector<std::string> directories;  // of MODULEPATH, those that modules add, too
  std::vector<PassedOver> passed_over;
  std::size_t unread = 0;  // directories that only a run of a modulefile would tell
  bool whole = true;       // false: it ended at its bounds
  std::string unsure;      // why a module system could run more than was seen here; empty: it could not
};

[[nodiscard]] ModuleTree read_module_tree(const std::vector<std::string>& module_path, const TrustedOwners& owners,
                                          const std::stop_token& stop = {}, const ModuleTreeBounds& bounds = {});

// Fills in what follows from the name of a module: "cuda" of OpenMPI/4.1.4-CUDA-11.7.0, of what needs cuda/12.2.
void add_features(Software& one);
// A module's row: "compiler/gcc/12.3" is gcc 12.3 of its name; `name` and `version` are empty before.
[[nodiscard]] Software software_of_module(const std::string& module, std::vector<std::string> chain);

}  // namespace sabath
