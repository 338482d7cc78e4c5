// A directory for one run of a program that can only write files; gone with this object. What a killed process leaves
// is for whoever owns the place: a store knows its dead writers. One thread. Throws Error{storage}, Error{space}.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/file.h"

namespace sabath {

class Scratch {
 public:
  // `place` is made if need be, and goes with the last who is in it. Empty: the system's temporary directory.
  explicit Scratch(const std::filesystem::path& place);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }
  [[nodiscard]] std::filesystem::path file() const { return directory_ / "content"; }
  // Bytes of everything in it: it grows while a program works, under whatever name that writes.
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  std::filesystem::path place_, directory_;
};

}  // namespace sabath
