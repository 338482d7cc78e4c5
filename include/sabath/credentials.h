// Where a user's credentials lie, by protocol: named by the program, read by the fetcher that needs them when it needs
// them. docs/credentials.md tells users the same. Plain values; any thread.
#pragma once

#include <filesystem>
#include <string>

#include "sabath/secret.h"

namespace sabath {

struct SshSettings {
  std::filesystem::path home;    // "~" of the configuration: ~/.ssh has keys and known_hosts; empty: none
  std::filesystem::path config;  // in place of ~/.ssh/config and /etc/ssh/ssh_config; empty: those
  std::string user;              // logs in where neither configuration nor anybody names another
  std::string agent;             // the ssh agent's socket; empty: none
};

struct S3Settings {
  std::string access_key_id;  // of the environment; empty: the profile's
  Secret secret_access_key, session_token;
  std::string profile;                     // empty: "default"
  std::filesystem::path config_file;       // ~/.aws/config
  std::filesystem::path credentials_file;  // ~/.aws/credentials
  std::string region;                      // empty: the profile's, or us-east-1
  std::string endpoint_url;                // "https://host[:port]"; empty: the profile's, or Amazon's
  std::string addressing;  // "path", "virtual"; empty: the profile's, or what the endpoint is known to want
  bool anonymous = false;  // sign nothing, whatever credentials there are
};

}  // namespace sabath
