#include "settings/credentials.h"

#include <string>
#include <utility>

#include "base/expiry.h"
#include "base/secret_file.h"
#include "base/working_directory.h"
#include "sabath/error.h"
#include "sabath/fetcher.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

// One text setting: the first variable that is set, else the first file that has it, else the default.
struct Choice {
  std::string key;
  std::vector<const char*> variables;
  std::optional<std::string> ConfigFile::*member;
};

class Chooser {
 public:
  Chooser(const Environment& environment, const std::vector<const ConfigFile*>& files,
          std::vector<ConfigurationEntry>& settings)
      : environment_(environment), files_(files), settings_(settings) {}

  std::string choose(const Choice& choice) {
    auto [value, origin] = find(choice);
    note(choice.key, value, std::move(origin));
    return value;
  }

  void note(const std::string& key, const std::string& value, std::string origin) {
    settings_.push_back(
        {key, value.empty() ? std::vector<std::string>{} : std::vector{value}, std::move(origin), false});
  }

  // A file that a variable names, or one below the home directory.
  fs::path file(const char* variable, const char* below_home) const {
    if (const auto named = environment_.get(variable)) return absolute_path(*named);
    return environment_.home.empty() ? fs::path() : environment_.home / below_home;
  }

 private:
  std::pair<std::string, std::string> find(const Choice& choice) const {
    for (const ConfigFile* each : files_) {
      if (const auto& value = each->*choice.member; value && each->of_caller) return {*value, each->name};
    }
    for (const char* variable : choice.variables) {
      if (auto value = environment_.get(variable)) return {*value, variable};
    }
    for (const ConfigFile* each : files_) {
      if (const auto& value = each->*choice.member) return {*value, each->name};
    }
    return {"", "default"};
  }

  const Environment& environment_;
  const std::vector<const ConfigFile*>& files_;
  std::vector<ConfigurationEntry>& settings_;
};

// A token file that cannot be read is no error here: the fetcher that needs the token reports it.
std::optional<WallTime> end_of(const TokenPlace& place) {
  if (!place.token.empty()) return token_until(place.token.reveal());
  if (place.file.empty()) return std::nullopt;
  try {
    return token_until(read_token_file(place.file).reveal());
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

SshSettings ssh_settings(const Environment& environment, const std::vector<const ConfigFile*>& files,
                         std::vector<ConfigurationEntry>& settings) {
  Chooser chooser(environment, files, settings);
  SshSettings ssh{.home = environment.home,
                  .config = {},
                  .user = environment.user,
                  .agent = environment.get("SSH_AUTH_SOCK").value_or("")};
  ssh.config = chooser.choose({"ssh_config", {}, &ConfigFile::ssh_config});
  const std::string transport = chooser.choose({"ssh_transport", {}, &ConfigFile::ssh_transport});
  if (transport == "libssh2") ssh.transport = SshTransport::library;
  if (transport == "program") ssh.transport = SshTransport::program;
  return ssh;
}

S3Settings s3_settings(const Environment& environment, const std::vector<const ConfigFile*>& files,
                       std::vector<ConfigurationEntry>& settings) {
  Chooser chooser(environment, files, settings);
  S3Settings s3;
  s3.access_key_id = environment.get("AWS_ACCESS_KEY_ID").value_or("");
  s3.secret_access_key = Secret(environment.get("AWS_SECRET_ACCESS_KEY").value_or(""));
  s3.session_token = Secret(environment.get("AWS_SESSION_TOKEN").value_or(""));
  s3.config_file = chooser.file("AWS_CONFIG_FILE", ".aws/config");
  s3.credentials_file = chooser.file("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials");
  s3.profile = chooser.choose({"s3_profile", {"AWS_PROFILE"}, &ConfigFile::s3_profile});
  s3.region = chooser.choose({"s3_region", {"AWS_REGION", "AWS_DEFAULT_REGION"}, &ConfigFile::s3_region});
  s3.endpoint_url =
      chooser.choose({"s3_endpoint", {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}, &ConfigFile::s3_endpoint});
  s3.addressing = chooser.choose({"s3_addressing", {}, &ConfigFile::s3_addressing});
  std::string origin = "default";
  for (const ConfigFile* file : files) {
    if (!file->s3_anonymous) continue;
    s3.anonymous = *file->s3_anonymous;
    origin = file->name;
    break;
  }
  chooser.note("s3_anonymous", s3.anonymous ? "true" : "false", origin);
  return s3;
}

// The variables are those of the hub's own tools.
HubSettings hub_settings(const Environment& environment, std::vector<ConfigurationEntry>& settings) {
  const std::vector<const ConfigFile*> no_files;
  Chooser chooser(environment, no_files, settings);
  HubSettings hub;
  const auto endpoint = environment.get("HF_ENDPOINT");
  hub.endpoint = endpoint.value_or("");
  chooser.note("hf_endpoint", hub.endpoint, endpoint ? "HF_ENDPOINT" : "default");
  hub.token = Secret(environment.get("HF_TOKEN").value_or(""));
  if (const auto home = environment.get("HF_HOME")) hub.token_file = absolute_path(*home) / "token";
  hub.token_file =
      chooser.file("HF_TOKEN_PATH", hub.token_file.empty() ? ".cache/huggingface/token" : hub.token_file.c_str());
  return hub;
}

// The files to which podman, then docker, write logins.
RegistrySettings registry_settings(const Environment& environment) {
  if (const auto file = environment.get("REGISTRY_AUTH_FILE")) return {{absolute_path(*file)}};
  RegistrySettings registries;
  const auto add = [&](const std::optional<std::string>& directory, const fs::path& home, const char* file) {
    if (directory) registries.auth_files.push_back(absolute_path(*directory) / file);
    if (!directory && !home.empty()) registries.auth_files.push_back(home / file);
  };
  const fs::path& home = environment.home;
  add(environment.get("XDG_RUNTIME_DIR"), {}, "containers/auth.json");
  add(environment.get("XDG_CONFIG_HOME"), home.empty() ? home : home / ".config", "containers/auth.json");
  add(environment.get("DOCKER_CONFIG"), home.empty() ? home : home / ".docker", "config.json");
  return registries;
}

std::vector<Credential> known_ends(const Environment& environment, const FetcherSettings& fetchers) {
  std::vector<Credential> known;
  if (!fetchers.s3.session_token.empty()) {
    const auto until = try_parse_time(environment.get("AWS_CREDENTIAL_EXPIRATION").value_or(""));
    if (until) known.push_back({"AWS session (AWS_CREDENTIAL_EXPIRATION)", "s3", "", *until});
  }
  for (const TokenPlace& place : fetchers.web.tokens) {
    const auto until = end_of(place);
    if (until) known.push_back({"token for " + place.origin, "", place.origin, *until});
  }
  return known;
}

}  // namespace sabath
