// Whose programs and modulefiles are started and loaded: those that no other account but root and trusted owners can
// write or exchange. Any thread; a copy is cheap.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sabath {

class TrustedOwners {
 public:
  explicit TrustedOwners(std::vector<std::uint32_t> users = {}) : users_(std::move(users)) {}
  // Why another account could have written the file or directory, or one above it; nullopt: none could.
  [[nodiscard]] std::optional<std::string> why_not(const std::filesystem::path& file) const;
  // The same of a file in a directory that was asked about before.
  [[nodiscard]] std::optional<std::string> why_not_itself(const std::filesystem::path& file) const;

 private:
  std::vector<std::uint32_t> users_;  // besides root and this user
};

}  // namespace sabath
