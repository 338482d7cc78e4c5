// One tree of an interpreter and its packages, which works in any place: docs/environments.md. No code of a package
// runs; the interpreter does, to compile. One thread a session. Throws Error{usage}, Error{invalid} for what cannot be
// moved, with its name, Error{access} for an interpreter that others can write, Error{not_found} without patchelf,
// Error{command}, Error{content} if the name means another root, Error{space}, Error{storage}, Error{interrupted}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/environment.h"
#include "sabath/event.h"

namespace sabath {

class Session;

struct EnvPackRequest {
  std::string name;                   // of the asset
  std::filesystem::path prefix;       // a virtual environment, a prefix with an interpreter of its own, or a lock
  std::filesystem::path at{};         // the only place where it will be: of files of conda, which name it
  std::string python;                 // of a lock: an interpreter's prefix, file or version; empty: python3 of PATH
  std::vector<std::string> accepted;  // .pth files with code; libraries that each node has
  Environment environment;
};

struct EnvPackedPackage {
  std::string name, version;
  std::string build, channel, sha256;  // of a package of conda; sha256: of its file
  std::uint64_t size_bytes = 0;        // of its file; 0: unknown
};

struct EnvPackRecord {
  std::string manifest;                        // the root, "sha256:<hex>"
  std::string made_of;                         // "venv", "prefix", "conda", "lock", "conda-lock"
  std::string place;                           // the only one where it works; empty: any
  std::string python, abi, platform, machine;  // of the interpreter
  std::uint64_t files = 0, bytes = 0;
  std::uint64_t libraries_changed = 0, scripts_changed = 0, compiled = 0, not_compiled = 0;
  std::vector<EnvPackedPackage> packages;
  std::vector<std::string> system_libraries, node_libraries;
  std::vector<std::string> optional_libraries;  // that only modules of the interpreter's library need
  std::vector<std::string> remarks;
  std::string known_by;              // the recipe's file
  std::filesystem::path path;        // the view; empty: none
  std::uint64_t fetched_bytes = 0;   // of a lock: of its wheels
  std::uint64_t known_packages = 0;  // of a lock: that the store has packed before
  int exit = 0;
};

[[nodiscard]] EnvPackRecord env_pack(Session& session, const EnvPackRequest& request, EventSink& events,
                                     std::stop_token stop = {});
[[nodiscard]] std::string to_json(const EnvPackRecord& record);

}  // namespace sabath
