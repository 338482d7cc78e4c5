// What the process was given by its caller, read once and passed on: the only place that reads the environment.
// Plain values; any thread.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace sabath {

struct Environment {
  std::map<std::string, std::string> variables;
  std::filesystem::path home;        // empty if nobody knows
  std::string user;                  // login name; empty if nobody knows
  std::filesystem::path executable;  // this program; empty if /proc does not say

  // nullopt when unset or empty.
  [[nodiscard]] std::optional<std::string> get(const std::string& name) const;

  [[nodiscard]] static Environment of_process();
};

}  // namespace sabath
