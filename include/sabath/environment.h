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

  [[nodiscard]] static Environment of_process();
};

}  // namespace sabath
