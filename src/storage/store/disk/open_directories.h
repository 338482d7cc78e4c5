// Descriptors of the directories between a root and the place of a depth-first walk. Never follows a symlink below the
// root. One thread. Throws Error{space}, Error{storage}.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace sabath {

class OpenDirectories {
 public:
  explicit OpenDirectories(const std::filesystem::path& root);
  // A descriptor of the directory `relative` ("" is the root); nullopt if it, or one above it, is not a directory.
  [[nodiscard]] std::optional<int> try_at(std::string_view relative);
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }

 private:
  struct Open {
    std::string relative;
    Fd fd;
  };
  const std::filesystem::path root_;
  std::vector<Open> open_;  // at most as many as a path has components
};

}  // namespace sabath
