// Every child process of this program and this library is started here, by posix_spawn(3): no signal blocked, all of
// them as they are by default, no file of a host but its three streams, and out of its starter's process group, so that
// what a terminal or a batch system sends to that is not for the child. Any thread.
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
};

struct Spawned {
  pid_t pid = -1;
  int error = 0;  // errno of what failed; then there is no child
};

[[nodiscard]] Spawned spawn(const ChildProcess& child);

}  // namespace sabath
