// One start of a foreign script: guarded, with bounds on time and memory, in a scratch directory of its own. Any
// thread. Throws Error{command} if it cannot be started, Error{interrupted}.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "run/guarded_process.h"

namespace sabath {

struct ScriptSpec {
  std::vector<std::string> argv, environment;  // "NAME=value", all of it
  std::filesystem::path directory;             // it begins there
  std::filesystem::path companion;             // find_companion()
  std::uint64_t memory_bytes = 0;              // address space of each of its processes; 0: no bound
  std::chrono::seconds time{0};                // 0: no bound
  bool no_network = false;
};

struct ScriptEnd {
  int exit = 0, signal = 0;
  bool timed_out = false;
  Isolation isolation = Isolation::none;
  std::vector<std::string> last_lines;  // that it printed, standard error behind standard output
};

[[nodiscard]] ScriptEnd run_script(const ScriptSpec& spec, const std::stop_token& stop);

}  // namespace sabath
