// One lock for an environment of Python or conda packages: each file's URL, digest and size, chosen for one target.
// What is not locked yet is resolved by the user's uv, pip or conda, without running code of any package. One thread a
// session. Throws Error{usage}, Error{not_found} where no wheel fits, Error{invalid} for what is malformed or not
// taken, Error{content}, Error{command}, Error{offline}, Error{interrupted}.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/environment.h"
#include "sabath/event.h"

namespace sabath {

class Session;

struct EnvLockRequest {
  std::vector<std::filesystem::path> files;    // pylock.toml, uv.lock, requirements.txt, conda lists, environment.yml
  std::filesystem::path output;                // empty: pylock.toml, or conda-lock.yml, in the working directory
  std::string python;                          // "3.11", or an interpreter; empty: the python3 of PATH
  std::string platform;                        // "x86_64"; empty: this machine's
  std::string glibc, musl;                     // of the nodes, "2.28"; empty: this machine's
  std::vector<std::string> indexes, channels;  // that files may name; without any in the files: those that are asked
  std::string resolver;                        // "uv", "pip", "conda", ...; empty: the first that is there
  std::chrono::seconds patience{600};          // with each program that is asked
  Environment environment;
};

struct EnvLockedPackage {
  std::string manager;  // "python", "conda"
  std::string name, version, file, url;
  std::optional<std::uint64_t> size_bytes;
  std::string sha256, md5;  // empty: not stated
};

struct EnvLockRecord {
  std::filesystem::path lock;
  std::string form;  // "pylock", "conda-lock"
  bool changed = false;
  std::string python, platform, libc;                  // of the target: "3.11", "x86_64", "glibc 2.28"
  std::string resolver;                                // the programs that resolved; empty: all was locked
  std::uint64_t bytes = 0;                             // of the files whose sizes are stated
  std::uint64_t without_size = 0, without_sha256 = 0;  // files: the first fetch learns these
  std::vector<EnvLockedPackage> packages;
  std::vector<std::string> remarks;
  int exit = 0;
};

[[nodiscard]] EnvLockRecord env_lock(Session& session, const EnvLockRequest& request, EventSink& events,
                                     std::stop_token stop = {});
[[nodiscard]] std::string to_json(const EnvLockRecord& record);

}  // namespace sabath
