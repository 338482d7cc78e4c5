// The packed environments that are here, one of them, and how two differ: docs/environments.md. Nothing of them is
// started. One thread a session. Throws Error{usage}, Error{not_found}, Error{offline} for what is not here,
// Error{invalid} for a note or a manifest that is none, Error{interrupted}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/event.h"

namespace sabath {

class Session;

struct EnvListRequest {};

struct ListedEnvironment {
  std::string name, manifest;   // its root, "sha256:<hex>"
  std::string python, machine;  // "3.11.7", "x86_64"
  std::uint64_t packages = 0, files = 0, bytes = 0;
  std::filesystem::path path;  // the view; empty: there is none
};

struct EnvListRecord {
  std::vector<ListedEnvironment> environments;  // in the order of their names
  int exit = 0;
};

struct EnvShowRequest {
  std::string environment;  // a name, "sha256:<hex>", or a directory that holds a packed tree
};

struct EnvironmentPackage {
  std::string name, version;
};

struct EnvShowRecord {
  std::string name;      // as it was asked for
  std::string manifest;  // empty: of a directory
  std::string made_of, python, abi, platform, machine;
  std::string glibc;  // the oldest that nodes may have; empty: unknown
  std::uint64_t files = 0, bytes = 0;
  std::filesystem::path path;  // the view, or the directory; empty: there is none
  std::string activate;        // the line for a shell
  std::vector<EnvironmentPackage> packages;
  std::vector<std::string> system_libraries, node_libraries, optional_libraries;
  bool fits = false;
  std::vector<std::string> against;       // why this machine cannot run it; none: it can
  std::vector<std::string> missing;       // libraries of drivers and modules that are not found here
  std::vector<std::string> not_loadable;  // optional libraries that are not found here, and who needs each
  int exit = 0;
};

struct EnvDiffRequest {
  std::string before, after;  // as of EnvShowRequest
  bool exit_code = false;     // end with 7 when they differ
};

struct EnvironmentDifference {
  std::string what;           // "package", "file", "python", "abi", "glibc", "library", ...
  std::string name;           // of the package, or of the library
  std::string before, after;  // versions; empty: it has none. Of a file: digests
  std::string path;           // of a file
};

struct EnvDiffRecord {
  std::string before, after;  // the roots
  std::vector<EnvironmentDifference> differences;
  std::uint64_t files_left_out = 0;  // that differ as well, beyond the first 1000
  int exit = 0;
};

[[nodiscard]] EnvListRecord env_list(Session& session, const EnvListRequest& request, EventSink& events,
                                     std::stop_token stop = {});
[[nodiscard]] EnvShowRecord env_show(Session& session, const EnvShowRequest& request, EventSink& events,
                                     std::stop_token stop = {});
[[nodiscard]] EnvDiffRecord env_diff(Session& session, const EnvDiffRequest& request, EventSink& events,
                                     std::stop_token stop = {});
[[nodiscard]] std::string to_json(const EnvListRecord& record);
[[nodiscard]] std::string to_json(const EnvShowRecord& record);
[[nodiscard]] std::string to_json(const EnvDiffRecord& record);

}  // namespace sabath
