// environment.json of a packed environment: what it is, and what a node must have to run it. docs/environments.md.
// Plain values; any thread. Throws Error{invalid} as "file:line: ..." for a text that is none, Error{storage}.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/manifest.h"
#include "store/store.h"

namespace sabath {

inline constexpr const char* environment_note_name = "environment.json";
inline constexpr std::uint64_t environment_note_max = 16 << 20;

struct NotedPackage {
  std::string name, version;
  std::string build{};  // of a package of conda
};

struct EnvironmentNote {
  std::string made_of;                                // "venv", "prefix", "conda", "lock", "conda-lock"
  std::string python, implementation, abi, platform;  // "3.11.7", "cpython-311", "cpython-311-x86_64-linux-gnu", ...
  std::string machine;                                // of its programs: "x86_64"
  std::string glibc;                                  // the oldest that has all their symbols: "2.34"; empty: unknown
  std::vector<NotedPackage> packages = {};
  std::vector<std::string> system_libraries = {}, node_libraries = {};  // that no file of it is
  std::vector<std::string> optional_libraries = {};   // that only modules of the interpreter's library need
  std::map<std::string, std::string> needed_by = {};  // a library of the system: a file that needs it
  std::string place = {};                             // the only one where it works; empty: any
};

[[nodiscard]] std::string environment_note_text(const EnvironmentNote& note);
[[nodiscard]] EnvironmentNote parse_environment_note(std::string_view text, const std::string& origin);
// nullopt: the tree has no environment.json, or the store not its bytes.
[[nodiscard]] std::optional<EnvironmentNote> try_note_in(const Store& store, const Manifest& tree,
                                                         const std::string& name);
// True if the tree is a packed environment, as far as its names say.
[[nodiscard]] bool has_environment_note(const Manifest& tree);

}  // namespace sabath
