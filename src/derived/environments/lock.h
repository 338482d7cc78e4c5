// What lock files say, of every format: packages with their files and digests. Plain values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sabath {

inline constexpr std::size_t locked_packages_max = 10'000, locked_files_max = 200'000;
inline constexpr std::uint64_t lock_text_max = 64 << 20;  // bytes of a lock file

enum class PackageManager { python, conda };

struct LockedFile {
  std::string name, url;  // a wheel's, or a conda package's; the URL without its fragment
  std::optional<std::uint64_t> size_bytes;
  std::string sha256, md5;  // lower-case hexadecimal digits; empty: not stated
  bool is_direct = false;   // named by its URL, and not as one of an index
};

struct LockedPackage {
  PackageManager manager = PackageManager::python;
  std::string name, version;
  std::string place;   // "file:12", for messages
  std::string marker;  // when it is wanted
  std::string requires_python;
  std::vector<LockedFile> files;  // wheels; of conda: one
  std::string instead;            // what there is beside wheels: "an sdist", "a git repository"; empty: nothing
  std::string platform;           // of conda: "linux-64", "noarch"; empty: by its URL
  std::vector<std::pair<std::string, std::string>> dependencies;  // of conda-lock.yml, which other tools read
  std::string category = "main";                                  // of conda-lock.yml
};

struct EnvironmentLock {
  std::string origin;
  std::string requires_python;
  std::vector<std::string> environments;  // markers: the lock is for one of these
  std::set<std::string> default_groups;
  std::vector<LockedPackage> packages;
  std::vector<std::string> channels;  // of conda
  std::vector<std::string> remarks;   // what was passed over, for people
};

}  // namespace sabath
