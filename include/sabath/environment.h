// The environment that the caller gave the process, read once and passed on: no other place reads it.
// Plain values; any thread.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace sabath {

struct Environment {
  std::map<std::string, std::string> variables;
  std::filesystem::path home;        // empty: not known
  std::string user;                  // login name; empty: not known
  std::filesystem::path executable;  // this program; empty if /proc does not say

  // nullopt when unset or empty.
  [[nodiscard]] std::optional<std::string> get(const std::string& name) const;
  // An XDG base directory of the user, e.g. ("XDG_CACHE_HOME", ".cache"). Empty: neither the variable, which must be an
  // absolute path, nor a home is known.
  [[nodiscard]] std::filesystem::path base_directory(const char* variable, const char* below_home) const;

  [[nodiscard]] static Environment of_process();
};

}  // namespace sabath
