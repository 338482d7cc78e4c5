// Starts every child process of this program and this library, by posix_spawn(3): no signal blocked, all with their
// default action, no file of a host but its three streams, and outside its starter's process group, so that signals of
// a terminal or a batch system to that group do not reach the child. Any thread.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath {

struct ChildProcess {
  static constexpr int nowhere = -1;  // instead of a descriptor

  std::filesystem::path program;  // without a slash: the first of PATH
  std::vector<std::string> argv;
  std::optional<std::vector<std::string>> environment{};  // "NAME=value"; absent: this process's own
  std::filesystem::path directory{};                      // empty: this process's own
  int in = nowhere, out = nowhere, err = nowhere;
  bool leads_session = false;  // and not only a group
  bool joins_group = false;    // its starter's: it may read from the terminal, and gets its signals
};

struct Spawned {
  pid_t pid = -1;
  int error = 0;  // errno of the failed step; then there is no child
};

[[nodiscard]] Spawned spawn(const ChildProcess& child);

// The same for a child with a directory, where glibc is older than 2.29: /bin/sh changes to it and becomes the program,
// whose argv[0] is then its file. A shell may add PWD, OLDPWD and SHLVL to the environment.
[[nodiscard]] Spawned spawn_by_shell(const ChildProcess& child);

}  // namespace sabath
