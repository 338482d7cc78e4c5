// Where a user's credentials lie, by protocol: named by the program, read by the fetcher that needs them when it needs
// them. docs/credentials.md tells users the same. Plain values; any thread.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sabath/secret.h"

namespace sabath {

enum class SshTransport { automatic, library, program };

struct SshSettings {
  // libssh2 or the OpenSSH program carries the conversation. Automatic: the program where the configuration of the
  // host asks for a thing that libssh2 lacks (ProxyCommand, ControlPath), else libssh2.
  SshTransport transport = SshTransport::automatic;
  std::filesystem::path home;    // "~" of the configuration: ~/.ssh has keys and known_hosts; empty: none
  std::filesystem::path config;  // instead of ~/.ssh/config and /etc/ssh/ssh_config; empty: those
  std::string user;              // logs in where neither the configuration nor the URL names another
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
  bool anonymous = false;  // sign nothing, even where there are credentials
};

// Where the bearer token of one origin lies. It is sent to that origin and to no other, redirects included.
struct TokenPlace {
  std::string origin;                // as Url::origin() writes it: "https://data.lab", "sabath://cache.lab"
  Secret token;                      // of the environment; else
  std::filesystem::path file;        // a file that no other user may read; else
  std::vector<std::string> command;  // argv of a program that prints it: a keyring's
};

struct WebSettings {  // http, https, sabath, globus
  std::vector<TokenPlace> tokens;
  std::filesystem::path netrc;          // names and passwords by host, used over TLS only; empty: none
  std::vector<std::string> near_hosts;  // of this network, where a public source may lead: names, "*.lab"
};

// External programs that move bytes: fetchers/command/, docs/commands.md.
struct CommandSettings {
  std::vector<std::filesystem::path> directories;  // of descriptions; the first one that has a name wins
  std::map<std::string, std::string> prefer;       // scheme -> name of a description, or "native"
  std::map<std::string, std::string> environment;  // a description says which of it a program gets
  std::filesystem::path scratch;                   // of this process, for what programs write; empty: the system's
  std::filesystem::path program;                   // this one: what came with it is believed as it is
  long deadline_s = 24L * 3600;                    // of one run
};

struct HubSettings {     // Hugging Face, or a hub that speaks like it
  std::string endpoint;  // "https://host[:port]"; empty: https://huggingface.co
  Secret token;          // of the environment; empty: the file's
  std::filesystem::path token_file;
};

struct RegistrySettings {                         // oci
  std::vector<std::filesystem::path> auth_files;  // as podman and docker leave them; the first that knows one wins
};

// Globus: the token for the Transfer API is that of its origin in WebSettings, and so is that of a collection's own
// server. Where a file is delivered if its collection has no such server, or `by_transfer` is said: to `path` of
// `collection`, which this machine sees as `directory`.
struct GlobusSettings {
  std::string api;         // empty: https://transfer.api.globus.org/v0.10
  std::string collection;  // empty: nothing can be delivered
  std::string path;        // ends in '/'
  std::filesystem::path directory;
  bool by_transfer = false;
};

// Something that a source is asked with, and that ends at a time.
struct Credential {
  std::string what;    // for people, without the secret: "AWS session of the environment"
  std::string scheme;  // of the URLs that it serves; or
  std::string origin;  // of the one place that gets it
  std::chrono::system_clock::time_point expires;
};

}  // namespace sabath
