// Whether this machine can run a packed environment: nothing of it is started. Any thread. Throws Error{command}.
#pragma once

#include <string>
#include <vector>

#include "packed/environment_note.h"

namespace sabath {

struct MachineFit {
  std::vector<std::string> against;  // why it cannot run here
  std::vector<std::string> lacking;  // libraries that drivers and modules bring, and that are not found
};

// `library_path`: as LD_LIBRARY_PATH is when its programs start.
[[nodiscard]] MachineFit machine_fit(const EnvironmentNote& note, const std::string& library_path);
// Throws Error{command} that says all of it; else what is to be warned of, or "".
[[nodiscard]] std::string refuse_misfit(const std::string& name, const EnvironmentNote& note,
                                        const std::string& library_path);

}  // namespace sabath
