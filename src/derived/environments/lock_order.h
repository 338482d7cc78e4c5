// What a lock is made of and for, and what makes it: for the resolvers and lock_environment.h. One thread.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "environments/wheel_target.h"

namespace sabath {

struct LockOrder {
  std::vector<std::filesystem::path> files;
  std::string python;                          // "3.11", or an interpreter; empty: the python3 of PATH is asked
  std::string platform;                        // "x86_64"; empty: this machine's
  std::string libc;                            // "2.28", "musl 1.2"; empty: this machine's
  std::vector<std::string> indexes, channels;  // that the user allows
  std::string resolver;  // "uv", "pip", "conda", "mamba", "micromamba"; empty: the first that is there
  bool offline = false;
};

}  // namespace sabath
