// The submodules that a repository names, and where they may be. Pure, but for local_path(). Throws Error{invalid}.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

struct Submodule {
  std::string url, update;
};
// By path: of "submodule.NAME.path\nVALUE\0" and its like, as `git config --null` lists them.
[[nodiscard]] std::map<std::string, Submodule> parse_submodules(std::string_view listed);

// "./x" and "../x" are relative to the repository's own origin; "git@host:path" and ssh are asked by https where the
// origin is.
[[nodiscard]] std::string submodule_origin(std::string origin, std::string url);

// A repository leads to no program, and to no file unless it is one: throws for a submodule that would.
void check_submodule(const std::string& origin, const std::string& url);

// The directory of an origin of this machine; empty: it is elsewhere.
[[nodiscard]] std::filesystem::path local_path(const std::string& origin);

// The first of them, for a message.
[[nodiscard]] std::string some_of(const std::vector<std::string>& names);

}  // namespace sabath
