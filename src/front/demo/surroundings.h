// Where the story's commands run, and what they find there. Pure.
#pragma once

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::demo {

struct Surroundings {
  std::filesystem::path program;         // sabath itself
  std::filesystem::path directory;       // where commands run
  std::vector<std::string> environment;  // "NAME=value", all of it
  std::stop_token stop;
  std::string path;  // the PATH in it; this program's directory is the first
};

// The caller's variables without the settings of SABATH and of a launcher; a store, recipes and a configuration in
// `directory`.
[[nodiscard]] Surroundings surroundings_of(const std::filesystem::path& program, const std::filesystem::path& directory,
                                           const std::map<std::string, std::string>& variables,
                                           const std::stop_token& stop);

}  // namespace sabath::demo
