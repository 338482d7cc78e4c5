// A directory for one run of a program that can only write files; gone with this object. After a kill, the owner of the
// place removes what is left: a store knows its dead writers. One thread. Throws Error{storage}, Error{space}.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/file.h"

namespace sabath {

class Scratch {
 public:
  // `place` is made if need be, and removed with the last directory in it. Empty: the system's temporary directory.
  explicit Scratch(const std::filesystem::path& place);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }
  [[nodiscard]] std::filesystem::path file() const { return directory_ / "content"; }
  // The bytes of all its files, under any name: they grow while the program writes.
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  std::filesystem::path place_, directory_;
};

}  // namespace sabath
