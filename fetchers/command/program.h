// An external program as it runs: argv, never a shell; an environment that is given wholly; a process group of its own,
// which ends with this object. One thread. Throws Error{unavailable} if it cannot be started.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"

namespace sabath {

class Program {
 public:
  Program(const std::vector<std::string>& argv, const std::vector<std::pair<std::string, std::string>>& environment,
          const std::filesystem::path& directory);
  ~Program();  // SIGTERM to the group, SIGKILL half a second later
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Waits for bytes of its standard output. Empty: none came in time. `ended`: there will be none any more.
  [[nodiscard]] std::span<const std::byte> read(std::chrono::milliseconds limit);
  [[nodiscard]] bool output_ended() const noexcept { return ended_; }
  // Its exit status, 128 + signal; nullopt while it runs.
  [[nodiscard]] std::optional<int> try_status();
  [[nodiscard]] const std::string& complaints() const noexcept { return errors_; }  // the first 64 KiB of its stderr

 private:
  void hear_errors();
  pid_t pid_ = -1;
  Fd out_, err_;
  std::vector<std::byte> buffer_;
  std::string errors_;
  bool ended_ = false;
  std::optional<int> status_;
};

}  // namespace sabath
