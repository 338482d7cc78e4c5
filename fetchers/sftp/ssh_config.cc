#include "sftp/ssh_config.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <glob.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/file.h"
#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t config_size_max = 1024 * 1024;
constexpr int include_depth_max = 8;
constexpr std::size_t include_files_max = 256, identities_max = 32;

// Words of one line; double quotes hold blanks together. "Key=value" and "Key value" are the same. Empty: nothing said.
std::optional<std::vector<std::string>> try_split(std::string_view line) {
  std::vector<std::string> words;
  std::size_t i = 0;
  const auto is_gap = [&](char c) { return c == ' ' || c == '\t' || c == '\r' || (c == '=' && words.size() == 1); };
  for (;;) {
    while (i < line.size() && is_gap(line[i])) ++i;
    if (i == line.size() || (line[i] == '#')) return words;
    std::string word;
    bool quoted = false;
    for (; i < line.size() &&
           (quoted || !(line[i] == ' ' || line[i] == '\t' || line[i] == '\r' || (line[i] == '=' && words.empty())));
         ++i) {
      if (line[i] == '"') {
        quoted = !quoted;
      } else {
        word += line[i];
      }
    }
    if (quoted) return std::nullopt;
    words.push_back(std::move(word));
  }
}

// Everything that the files say of one host: key (lower case) -> words of its first mention, identities of all.
class Finder {
 public:
  Finder(const SshSettings& settings, std::string alias) : settings_(settings), alias_(std::move(alias)) {}

  void read(const fs::path& file, int depth = 0) {
    const auto text = try_read_text(file, config_size_max);
    if (!text) return;
    const bool applies_outside = applies_;
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < text->size(); ++number) {
      const std::size_t end = std::min(text->find('\n', begin), text->size());
      hear(std::string_view(*text).substr(begin, end - begin), file, number + 1, depth);
      begin = end + 1;
    }
    applies_ = applies_outside;  // an included file's last Host does not reach beyond it
  }

  [[nodiscard]] const std::vector<std::string>* find(const std::string& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] std::string first(const std::string& key) const {
    const auto* words = find(key);
    return words == nullptr ? "" : words->front();
  }
  [[nodiscard]] const std::vector<std::string>& identities() const { return identities_; }

 private:
  void hear(std::string_view line, const fs::path& file, std::size_t number, int depth) {
    const auto words = try_split(line);
    if (!words) throw Error(FailureKind::invalid, fmt::format("{}:{}: a quote is not closed", file.string(), number));
    if (words->empty()) return;
    const std::string key = to_lower(words->front());
    const std::vector<std::string> values(words->begin() + 1, words->end());
    if (key == "host") {
      applies_ = matches_patterns(alias_, values);
    } else if (key == "match") {
      applies_ = values.size() == 1 && to_lower(values[0]) == "all";
    } else if (values.empty()) {
      throw Error(FailureKind::invalid, fmt::format("{}:{}: {} has no value", file.string(), number, printable(key)));
    } else if (applies_ && key == "include") {
      for (const std::string& pattern : values) include(pattern, file, depth);
    } else if (applies_ && key == "identityfile") {
      if (identities_.size() < identities_max) identities_.push_back(values[0]);
    } else if (applies_) {
      values_.emplace(key, values);
    }
  }

  void include(const std::string& pattern, const fs::path& file, int depth) {
    if (depth >= include_depth_max) {
      throw Error(FailureKind::invalid, fmt::format("{}: Include goes deeper than {}", file.string(), depth));
    }
    fs::path path = pattern.starts_with("~/") ? settings_.home / pattern.substr(2) : fs::path(pattern);
    if (path.is_relative()) path = file.parent_path() / path;
    glob_t found{};
    std::vector<fs::path> files;
    if (::glob(path.c_str(), 0, nullptr, &found) == 0) files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    ::globfree(&found);
    for (const fs::path& each : files) {
      if (++included_ > include_files_max) {
        throw Error(FailureKind::invalid, fmt::format("{}: it includes too many files", file.string()));
      }
      read(each, depth + 1);
    }
  }

  const SshSettings& settings_;
  const std::string alias_;
  bool applies_ = true;
  std::size_t included_ = 0;
  std::map<std::string, std::vector<std::string>> values_;
  std::vector<std::string> identities_;
};

// %-tokens of ssh_config(5) that make sense before a connection is made; "" if there is another.
std::string expand(const std::string& text, const SshHost& host, const SshSettings& settings) {
  std::string out = text;
  if (out == "~" || out.starts_with("~/")) out = settings.home.string() + out.substr(1);
  for (std::size_t i = out.find('%'); i != out.npos && i + 1 < out.size(); i = out.find('%', i)) {
    const std::map<char, std::string> tokens = {{'%', "%"},
                                                {'h', host.name},
                                                {'n', host.alias},
                                                {'r', host.user},
                                                {'u', settings.user},
                                                {'d', settings.home.string()},
                                                {'p', std::to_string(host.port)}};
    const auto token = tokens.find(out[i + 1]);
    if (token == tokens.end()) return {};
    out.replace(i, 2, token->second);
    i += token->second.size();
  }
  return out;
}

std::vector<fs::path> expand_all(const std::vector<std::string>& texts, const SshHost& host,
                                 const SshSettings& settings) {
  std::vector<fs::path> paths;
  for (const std::string& text : texts) {
    const std::string path = text == "none" ? "" : expand(text, host, settings);
    if (!path.empty()) paths.push_back(fs::path(path).is_relative() ? settings.home / path : fs::path(path));
  }
  return paths;
}

std::uint16_t parse_port(const std::string& text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0) {
    throw Error(FailureKind::invalid, "the ssh configuration has the Port " + printable(text));
  }
  return port;
}

std::string without_brackets(const std::string& host) {
  return host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
}

void find_files(const Finder& found, SshHost& host, const SshSettings& settings) {
  std::vector<std::string> names = found.identities();
  if (names.empty()) {
    for (const char* name : {"id_ed25519", "id_ecdsa", "id_rsa"}) names.push_back("~/.ssh/" + std::string(name));
  }
  host.identities = expand_all(names, host, settings);
  const auto* users = found.find("userknownhostsfile");
  const auto* globals = found.find("globalknownhostsfile");
  host.known_hosts = expand_all(users ? *users : std::vector<std::string>{"~/.ssh/known_hosts"}, host, settings);
  const auto more =
      expand_all(globals ? *globals : std::vector<std::string>{"/etc/ssh/ssh_known_hosts"}, host, settings);
  host.known_hosts.insert(host.known_hosts.end(), more.begin(), more.end());
}

}  // namespace

std::string SshHost::known_name() const {
  if (!key_alias.empty()) return key_alias;
  return port == 22 ? name : fmt::format("[{}]:{}", name, port);
}

bool matches_patterns(std::string_view host, const std::vector<std::string>& patterns) {
  bool matched = false;
  const std::string text(host);
  for (const std::string& pattern : patterns) {
    const bool negated = pattern.starts_with('!');
    std::string plain;  // only * and ? are special there, but [ and \ are for fnmatch
    for (const char c : pattern.substr(negated ? 1 : 0))
      plain += c == '[' || c == ']' || c == '\\' ? "\\" + std::string(1, c) : std::string(1, c);
    if (::fnmatch(plain.c_str(), text.c_str(), FNM_CASEFOLD) != 0) continue;
    if (negated) return false;
    matched = true;
  }
  return matched;
}

SshHost resolve_ssh_host(const SshSettings& settings, const Url& url) {
  SshHost host;
  host.alias = without_brackets(url.host());
  Finder found(settings, host.alias);
  if (settings.config.empty()) {
    if (!settings.home.empty()) found.read(settings.home / ".ssh/config");
    found.read("/etc/ssh/ssh_config");
  } else {
    found.read(settings.config);
  }
  host.name = host.alias;
  if (const std::string name = found.first("hostname"); !name.empty())
    host.name = to_lower(expand(name, host, settings));
  if (const std::string port = found.first("port"); !port.empty()) host.port = parse_port(port);
  if (url.port()) host.port = *url.port();
  host.user = found.first("user");
  if (host.user.empty()) host.user = settings.user;
  host.key_alias = found.first("hostkeyalias");
  host.identities_only = to_lower(found.first("identitiesonly")) == "yes";
  host.agent = settings.agent;
  if (const std::string agent = found.first("identityagent"); !agent.empty() && agent != "SSH_AUTH_SOCK") {
    host.agent = agent == "none" ? "" : expand(agent, host, settings);
  }
  const std::string jump = found.first("proxyjump"), command = to_lower(found.first("proxycommand"));
  if (to_lower(jump) != "none") host.proxy_jump = jump;
  host.proxy_command = !command.empty() && command != "none" && host.proxy_jump.empty();
  const std::string control = to_lower(found.first("controlpath"));
  host.control_path = !control.empty() && control != "none";
  host.ciphers = found.find("ciphers") != nullptr;
  find_files(found, host, settings);
  return host;
}

}  // namespace sabath
