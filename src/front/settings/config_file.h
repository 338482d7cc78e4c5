// One configuration file as written: a key that it does not have is absent. Format: see configuration.h.
// Pure but for reading the file; any thread. Throws Error{invalid} as "file:line: what is wrong".
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sabath/credentials.h"
#include "sabath/environment.h"
#include "sabath/host_rule.h"

namespace sabath {

struct ConfigFile {
  std::string name;        // empty: there is no such file
  bool of_caller = false;  // it is no file, and wins over the environment
  std::optional<std::filesystem::path> store, ca_file;
  std::vector<std::filesystem::path> stores, roots, recipes;
  std::vector<std::string> trusted_owners;
  std::vector<std::pair<std::string, std::string>> rewrites;
  std::optional<std::uint64_t> lanes, limit_rate, connect_timeout_s, stall_timeout_s, command_deadline_s;
  std::optional<bool> offline, s3_anonymous;
  std::vector<HostRule> hosts;
  std::vector<TokenPlace> tokens;
  std::vector<std::string> near_hosts;
  std::map<std::string, std::string> prefer;
  std::map<std::string, std::string> job_programs;
  std::vector<std::filesystem::path> fetchers;
  std::optional<std::filesystem::path> netrc;
  std::optional<GlobusSettings> globus;
  std::optional<std::string> hash_kernel;
  std::optional<std::string> config, deadline;  // of a caller alone
  std::optional<std::string> ssh_config, ssh_transport, s3_profile, s3_region, s3_endpoint, s3_addressing;
};

// Throws Error{access} for one that another account may write (why_not_own), and that decides what runs as this user.
[[nodiscard]] ConfigFile read_config_file(const std::filesystem::path& file, const Environment& environment,
                                          const std::filesystem::path& program = {});
[[nodiscard]] ConfigFile parse_config_file(const std::string& text, const std::filesystem::path& file,
                                           const Environment& environment);
// The settings of ConfigurationSources::settings; their faults are Error{usage}.
[[nodiscard]] ConfigFile parse_settings(const std::string& text, const Environment& environment);

}  // namespace sabath
