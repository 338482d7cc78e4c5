// One child process: argv, never a shell; its own process group, so that it can be ended whole. Any thread.
#pragma once

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace sabath {

struct Command {
  std::vector<std::string> argv;                                 // argv[0] is looked up in PATH
  std::vector<std::pair<std::string, std::string>> environment;  // set on top of the caller's; empty value: unset
  std::filesystem::path directory;                               // empty: the caller's
  std::chrono::milliseconds deadline = std::chrono::hours(24);
  std::size_t output_max = 1024 * 1024;  // bytes kept of each stream, the first ones
};

struct CommandResult {
  int status = 0;  // exit status, or 128 + signal
  std::string out, err;
};

// Runs to its end. On a stop request or the deadline the group gets SIGTERM, two seconds later SIGKILL, and
// Error{interrupted} or Error{command} is thrown; Error{command} too if the program cannot be started.
[[nodiscard]] CommandResult run_command(const Command& command, std::stop_token stop);

// The file that a program's name stands for in this PATH; empty if there is none.
[[nodiscard]] std::string find_program(const std::string& name, const std::string& path);

}  // namespace sabath
