// Whether this machine can run a packed environment: nothing of it is started. Any thread. Throws Error{command}.
#pragma once

#include <string>
#include <vector>

#include "packed/environment_note.h"

namespace sabath {

struct MachineFit {
  std::vector<std::string> against;     // why it cannot run here
  std::vector<std::string> lacking;     // libraries that drivers and modules bring, and that are not found
  std::vector<std::string> unloadable;  // modules of Python's own library, each with a library that is not found
};

// `library_path`: as LD_LIBRARY_PATH is when its programs start.
[[nodiscard]] MachineFit machine_fit(const EnvironmentNote& note, const std::string& library_path);
// Throws Error{command} that says all that is against it.
MachineFit refuse_misfit(const std::string& name, const EnvironmentNote& note, const std::string& library_path);
// What is to be warned of, or "": libraries of drivers and modules, and modules of Python that do not load.
[[nodiscard]] std::string warning_of_lacking(const std::string& name, const MachineFit& fit);
[[nodiscard]] std::string warning_of_unloadable(const std::string& name, const MachineFit& fit);

}  // namespace sabath
