// Package indexes that the user's own configuration allows: what he names now, variables and files of pip and uv, and
// the public one. Reads files. Any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "environments/requirements_file.h"
#include "sabath/environment.h"

namespace sabath {

class UserIndexes {
 public:
  UserIndexes(const Environment& environment, std::span<const std::string> named);
  [[nodiscard]] bool allows(const std::string& url) const;

 private:
  void add(const std::string& url);
  void add_pip_file(const std::string& text);
  void add_uv_file(const std::string& text, const std::string& origin);

  std::vector<std::string> urls_;  // without passwords and slashes at the end
};

// Indexes that a file names and the user does not allow, as refusals: "requirements.txt:2: --index-url ... (...)".
[[nodiscard]] std::vector<std::string> refused_indexes(const RequirementsFile& file, const UserIndexes& allowed);

}  // namespace sabath
