// A directory for one run of a program that can only write files; gone with this object. What a killed process left is
// taken away by the next one: its lock tells. One thread. Throws Error{storage}, Error{space}.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/file.h"

namespace sabath {

class Scratch {
 public:
  explicit Scratch(const std::filesystem::path& parent);  // empty: the system's temporary directory
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }
  [[nodiscard]] std::filesystem::path file() const { return directory_ / "content"; }
  // Bytes of everything in it: it grows while a program works, under whatever name that writes.
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  void try_make(const std::filesystem::path& parent);
  std::filesystem::path directory_;
  Fd lock_;
};

}  // namespace sabath
