#include "settings/config_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/asked_file.h"
#include "base/file.h"
#include "base/json_reader.h"
#include "base/login_name.h"
#include "base/ownership.h"
#include "base/text.h"
#include "base/working_directory.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/url.h"

namespace sabath {
namespace {

constexpr const char* settings_origin = "settings";
constexpr std::uint64_t file_size_max = 1024 * 1024;
constexpr std::uint64_t lanes_max = 1024;
constexpr std::uint64_t timeout_s_max = 24 * 3600;
constexpr std::uint64_t command_deadline_s_max = 7 * 24 * 3600;

class Reader {
 public:
  Reader(const JsonValue& document, const std::filesystem::path& file, const Environment& environment)
      : origin_(file.string()),
        directory_(file.parent_path()),
        environment_(environment),
        object_(document, origin_, "the configuration") {}
  Reader(const JsonValue& document, const Environment& environment)  // of a caller
      : origin_(settings_origin),
        of_caller_(true),
        kind_(FailureKind::usage),
        environment_(environment),
        object_(document, origin_, "the settings of a session", kind_) {}

  ConfigFile read() {
    ConfigFile config;
    config.name = origin_;
    config.of_caller = of_caller_;
    if (of_caller_) {
      config.config = object_.try_text("config");
      config.deadline = object_.try_text("deadline");
    }
    if (const auto text = object_.try_text("store")) {
      if (text->find_first_not_of(':') == std::string::npos) object_.fail("store", "names no directory");
      config.store = path("store", *text);
    }
    if (const auto text = object_.try_text("ca_file")) config.ca_file = path("ca_file", *text);
    config.stores = paths("stores");
    if (config.store && !config.stores.empty()) object_.fail("stores", "is beside `store`: one of them is enough");
    config.trusted_owners = object_.texts("trusted_owners");
    config.roots = paths("roots");
    config.recipes = paths("recipes");
    config.rewrites = rewrites();
    config.lanes = bounded("lanes", lanes_max);
    config.connect_timeout_s = bounded("connect_timeout_s", timeout_s_max);
    config.stall_timeout_s = bounded("stall_timeout_s", timeout_s_max);
    config.command_deadline_s = bounded("command_deadline_s", command_deadline_s_max);
    config.limit_rate = object_.try_size("limit_rate");
    config.offline = boolean("offline");
    if (const auto text = object_.try_text("ssh_config")) config.ssh_config = path("ssh_config", *text).string();
    config.ssh_transport = ssh_transport();
    config.hash_kernel = object_.try_text("hash_kernel");
    config.s3_profile = object_.try_text("s3_profile");
    config.s3_region = object_.try_text("s3_region");
    config.s3_endpoint = object_.try_text("s3_endpoint");
    config.s3_addressing = object_.try_text("s3_addressing");
    config.s3_anonymous = boolean("s3_anonymous");
    config.hosts = hosts();
    config.tokens = tokens();
    for (const auto& host : object_.texts("near_hosts")) config.near_hosts.push_back(to_lower(host));
    config.prefer = prefer();
    config.job_programs = job_programs();
    config.fetchers = paths("fetchers");
    config.globus = globus();
    if (const auto text = object_.try_text("netrc")) config.netrc = path("netrc", *text);
    object_.finish();
    return config;
  }

 private:
  std::optional<std::uint64_t> bounded(const char* key, std::uint64_t maximum) {
    const auto value = object_.try_uint(key);
    if (value && *value > maximum) object_.fail(key, fmt::format("is more than {}", maximum));
    return value;
  }

  std::optional<std::string> ssh_transport() {
    auto text = object_.try_text("ssh_transport");
    if (text && *text != "auto" && *text != "libssh2" && *text != "program") {
      object_.fail("ssh_transport", "is none of auto, libssh2, program");
    }
    return text;
  }

  std::optional<bool> boolean(const char* key) {
    const JsonValue* value = object_.find(key);
    if (value == nullptr || value->is_null()) return std::nullopt;
    if (const bool* flag = value->get<bool>()) return *flag;
    object_.fail(key, "is neither true nor false");
  }

  std::vector<std::filesystem::path> paths(const char* key) {
    std::vector<std::filesystem::path> result;
    for (const std::string& text : object_.texts(key)) result.push_back(path(key, text));
    return result;
  }

  std::vector<std::pair<std::string, std::string>> rewrites() {
    std::vector<std::pair<std::string, std::string>> rules;
    const JsonValue::Array* array = object_.try_array("rewrites");
    if (array == nullptr) return rules;
    for (const JsonValue& value : *array) {
      JsonObject rule(value, origin_, "a rewrite rule", kind_);
      rules.emplace_back(rule.text("from"), rule.text("to"));
      rule.finish();
    }
    return rules;
  }

  std::vector<HostRule> hosts() {
    std::vector<HostRule> rules;
    const JsonValue::Array* array = object_.try_array("hosts");
    if (array == nullptr) return rules;
    for (const JsonValue& value : *array) {
      JsonObject host(value, origin_, "what a host is asked for", kind_);
      HostRule rule{to_lower(host.text("host")), {}};
      if (rule.host.find_first_of("/: ") != rule.host.npos)
        host.fail("host", "is no name of a host", "write \"data.lab\", or \"*.lab\" for all below it");
      const auto connections = host.try_uint("connections");
      if (connections && *connections > lanes_max) host.fail("connections", fmt::format("is more than {}", lanes_max));
      rule.limits = {static_cast<unsigned>(connections.value_or(0)), host.try_size("limit_rate").value_or(0)};
      host.finish();
      rules.push_back(std::move(rule));
    }
    return rules;
  }

  std::vector<TokenPlace> tokens() {
    std::vector<TokenPlace> places;
    const JsonValue::Array* array = object_.try_array("tokens");
    if (array == nullptr) return places;
    for (const JsonValue& value : *array) {
      JsonObject place(value, origin_, "a token's place", kind_);
      TokenPlace one;
      one.origin = Url::parse(place.text("origin")).origin();
      if (const auto text = place.try_text("file")) one.file = path("tokens", *text);
      one.command = place.texts("command");
      if (one.file.empty() == one.command.empty()) place.fail("origin", "needs a file or a command that has its token");
      place.finish();
      places.push_back(std::move(one));
    }
    return places;
  }

  std::map<std::string, std::string> prefer() {
    std::map<std::string, std::string> choices;
    auto object = object_.try_object("prefer", "what is preferred");
    if (!object) return choices;
    for (const JsonMember& member : object->members()) choices[member.key] = object->text(member.key);
    return choices;
  }

  std::map<std::string, std::string> job_programs() {
    std::map<std::string, std::string> programs;
    auto object = object_.try_object("job_programs", "how `sabath` is called on login nodes");
    if (!object) return programs;
    for (const JsonMember& member : object->members()) {
      const std::string program = object->text(member.key);
      if (!is_login_name(member.key) || !is_login_program(program))
        object->fail(member.key, "is not LOGIN: PATH as ssh and a shell there take them",
                     R"(e.g. {"me@login1": "/opt/sabath/bin/sabath"})");
      programs[member.key] = program;
    }
    return programs;
  }

  std::optional<GlobusSettings> globus() {
    auto object = object_.try_object("globus", "what Globus may do");
    if (!object) return std::nullopt;
    GlobusSettings settings;
    settings.api = object->try_text("api").value_or("");
    if (!settings.api.empty()) static_cast<void>(Url::parse(settings.api));
    settings.collection = to_lower(object->try_text("collection").value_or(""));
    settings.path = object->try_text("path").value_or("");
    if (const auto text = object->try_text("directory")) settings.directory = path("globus", *text);
    const std::string by = object->try_text("by").value_or("https");
    if (by != "https" && by != "transfer") object->fail("by", "is neither https nor transfer");
    settings.by_transfer = by == "transfer";
    const bool none = settings.collection.empty() && settings.path.empty() && settings.directory.empty();
    const bool all = !settings.collection.empty() && settings.path.starts_with('/') && !settings.directory.empty();
    if (!none && !all)
      object_.fail("globus",
                   "needs a collection, a path in it that begins with '/', and the directory that it is here");
    if (none && settings.by_transfer) object->fail("by", "needs a collection to deliver to");
    if (all && !settings.path.ends_with('/')) settings.path += '/';
    object->finish();
    return settings;
  }

  // A site's file is written once for all users, hence the variables.
  std::filesystem::path path(const char* key, const std::string& text) {
    if (of_caller_) return absolute_path(text);
    std::string expanded;
    std::size_t i = 0;
    if (text == "~" || text.starts_with("~/")) {
      expanded = environment_.home.string();
      i = 1;
    }
    while (i < text.size()) {
      if (text[i] != '$') {
        expanded += text[i++];
        continue;
      }
      const bool braces = i + 1 < text.size() && text[i + 1] == '{';
      const std::size_t begin = i + (braces ? 2 : 1);
      std::size_t end = begin;
      while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) ++end;
      if (end == begin || (braces && (end == text.size() || text[end] != '}'))) {
        object_.fail(key, fmt::format("has a '$' without a variable's name: '{}'", printable(text)));
      }
      const std::string name = text.substr(begin, end - begin);
      const auto value = environment_.get(name);
      if (!value) object_.fail(key, fmt::format("uses ${}, which is not set", name));
      expanded += *value;
      i = end + (braces ? 1 : 0);
    }
    return (directory_ / expanded).lexically_normal();
  }

  std::string origin_;
  bool of_caller_ = false;
  FailureKind kind_ = FailureKind::invalid;
  std::filesystem::path directory_;
  const Environment& environment_;
  JsonObject object_;
};

// Programs, where programs are described, whose configuration may name some, and whose notes are believed.
std::string_view key_that_decides_what_runs(const ConfigFile& config) {
  if (std::ranges::any_of(config.tokens, [](const TokenPlace& place) { return !place.command.empty(); }))
    return "tokens";
  if (!config.fetchers.empty()) return "fetchers";
  if (config.ssh_config) return "ssh_config";
  if (!config.job_programs.empty()) return "job_programs";
  return config.trusted_owners.empty() ? "" : "trusted_owners";
}

}  // namespace

ConfigFile parse_config_file(const std::string& text, const std::filesystem::path& file,
                             const Environment& environment) {
  const std::string origin = file.string();
  const JsonValue document = parse_json(text, origin);
  return Reader(document, file, environment).read();
}

ConfigFile parse_settings(const std::string& text, const Environment& environment) {
  const JsonValue document = parse_json(text, settings_origin, {}, FailureKind::usage);
  return Reader(document, environment).read();
}

ConfigFile read_config_file(const std::filesystem::path& file, const Environment& environment,
                            const std::filesystem::path& program) {
  std::error_code absent;
  const std::filesystem::path real = std::filesystem::canonical(file, absent);  // what is judged is what is read
  refuse_directory(file);
  const auto text = try_read_text(absent ? file : real, file_size_max);
  if (!text) return {};
  ConfigFile config = parse_config_file(*text, file, environment);
  const std::string_view key = key_that_decides_what_runs(config);
  const auto why = key.empty() ? std::nullopt : why_not_own(real, program);
  if (!why) return config;
  throw Error(FailureKind::access,
              fmt::format("{} is not used: its `{}` decides what runs as you, and it is not yours alone: {}",
                          printable(file.string()), key, *why),
              fmt::format("chmod go-w {}, or its directory; or take the key away", shell_word(file.string())));
}

}  // namespace sabath
