#include "sabath/configuration.h"

#include <fmt/format.h>
#include <pwd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "base/companion.h"
#include "base/file.h"
#include "base/text.h"
#include "base/wording.h"
#include "base/working_directory.h"
#include "machine/batch_job.h"
#include "machine/walltime.h"
#include "recipe/catalogue.h"
#include "recipe/shipped.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "settings/config_file.h"
#include "settings/credentials.h"
#include "settings/default_store.h"
#include "settings/fetcher_settings.h"
#include "settings/local_places.h"
#include "store/lookup.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> path_list(std::string_view text) {
  std::vector<fs::path> paths;
  while (!text.empty()) {
    const auto colon = text.find(':');
    const std::string_view entry = text.substr(0, colon);
    if (!entry.empty()) paths.push_back(absolute_path(entry));
    text.remove_prefix(colon == std::string_view::npos ? text.size() : colon + 1);
  }
  return paths;
}

bool parse_switch(const std::string& name, const std::string& text) {
  const std::string word = to_lower(text);
  for (const char* yes : {"1", "true", "yes", "on"}) {
    if (word == yes) return true;
  }
  for (const char* no : {"0", "false", "no", "off"}) {
    if (word == no) return false;
  }
  throw Error(FailureKind::usage, fmt::format("{} cannot be '{}'", name, printable(text)), "set it to 1 or 0");
}

std::uint32_t user_id(const std::string& name, const std::string& file) {
  std::uint32_t id = 0;
  const char* end = name.data() + name.size();
  if (const auto [last, error] = std::from_chars(name.data(), end, id); error == std::errc() && last == end) return id;
  struct passwd entry {};
  struct passwd* user = nullptr;
  std::string buffer(16384, '\0');
  if (::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &user) == 0 && user != nullptr)
    return user->pw_uid;
  throw Error(FailureKind::usage, fmt::format("{}: trusted_owners: there is no user '{}'", file, printable(name)),
              "give a user's name, or a numeric id");
}

// The program `sabath` of this installation: named, this very process, beside the library, or the first of PATH. Empty:
// there is none; the part that needs one reports it.
fs::path find_installed_program(const Environment& environment) {
  if (const auto named = environment.get("SABATH_PROGRAM")) return absolute_path(*named);
  if (environment.executable.filename() == "sabath") return environment.executable;
  try {
    return find_companion({});
  } catch (const Error&) {
    for (const fs::path& directory : path_list(environment.get("PATH").value_or(""))) {
      const auto status = try_stat(directory / "sabath");
      if (status && S_ISREG(status->st_mode) && (status->st_mode & S_IXOTH) != 0) return directory / "sabath";
    }
  }
  return {};
}

class Loader {
 public:
  Loader(const ConfigurationSources& sources, const Environment& environment)
      : sources_(sources), environment_(environment), program_(find_installed_program(environment)) {
    if (sources.settings) given_ = parse_settings(*sources.settings, environment);
  }

  Configuration load() {
    read_files();
    store();
    roots();
    recipes();
    rewrites();
    hosts();
    job_programs();
    numbers();
    return std::move(result_);
  }

 private:
  void read_files() {
    const auto said = given_.config ? given_.config : sources_.config;
    const auto named = said ? said : environment_.get("SABATH_CONFIG");
    if (named) {
      user_ = read_config_file(absolute_path(*named), environment_, program_);
      if (user_.name.empty()) {
        throw Error(FailureKind::usage,
                    fmt::format("cannot read the configuration {}: no such file", printable(*named)),
                    fmt::format("{} names it", said ? option_name("config") : "SABATH_CONFIG"));
      }
    } else if (const fs::path directory = environment_.base_directory("XDG_CONFIG_HOME", ".config");
               !directory.empty()) {
      user_ = read_config_file(directory / "sabath/config.json", environment_, program_);
    }
    if (!program_.empty()) {
      const fs::path prefix = program_.parent_path().parent_path();
      site_ = read_config_file(prefix / "etc/sabath/config.json", environment_, program_);
    }
    if (site_.name.empty()) site_ = read_config_file("/etc/sabath/config.json", environment_, program_);
    note("config", user_.name.empty() ? std::vector<std::string>{} : std::vector{user_.name},
         given_.config     ? given_.name
         : sources_.config ? option_name("config")
         : named           ? "SABATH_CONFIG"
                           : "default");
    note("site_config", site_.name.empty() ? std::vector<std::string>{} : std::vector{site_.name}, "default");
  }

  void note(std::string key, std::vector<std::string> values, std::string origin, bool list = false) {
    result_.settings.push_back({std::move(key), std::move(values), std::move(origin), list});
  }

  void store() {
    auto [paths, origin] = choose_stores();
    const auto writable = paths.begin() + static_cast<std::ptrdiff_t>(paths.size() > 1 ? first_writable(paths) : 0);
    result_.session.store = *writable;
    paths.erase(writable);
    note("store", {result_.session.store.string()}, origin);
    result_.session.other_stores = std::move(paths);
    note_paths("other_stores", result_.session.other_stores, result_.session.other_stores.empty() ? "default" : origin);
    trusted_owners();
  }

  void trusted_owners() {
    std::string origin = "default";
    std::vector<std::string> names;
    for (const ConfigFile* file : files_) {
      for (const std::string& name : file->trusted_owners) {
        result_.session.trusted_owners.push_back(user_id(name, file->name));
        names.push_back(name);
        origin = file->name;
      }
    }
    note("trusted_owners", names, origin, true);
  }

  // Several, separated by colons: the first that can be written is the store, the others are looked into.
  std::pair<std::vector<fs::path>, std::string> choose_stores() {
    const auto listed = [](const std::string& text, std::string origin) {
      auto paths = path_list(text);
      if (paths.empty()) {
        throw Error(FailureKind::usage, fmt::format("{} names no directory", origin),
                    fmt::format("e.g. {} /scratch/me/store", option_text("store")));
      }
      return std::pair(std::move(paths), std::move(origin));
    };
    if (given_.store) return listed(given_.store->native(), given_.name);
    if (!given_.stores.empty()) return {given_.stores, given_.name};
    if (sources_.store) return listed(*sources_.store, option_name("store"));
    if (auto named = store_variable(environment_)) return listed(named->first, std::move(named->second));
    for (const ConfigFile* file : files_) {
      if (file->store) return {{*file->store}, file->name};
      if (!file->stores.empty()) return {file->stores, file->name};
    }
    DefaultStore usual = default_store(environment_);
    if (!usual.doubt.empty()) doubt(std::move(usual.doubt));
    result_.session.store_in_home = usual.in_home;
    return {{std::move(usual.directory)}, std::move(usual.origin)};
  }

  void note_paths(const char* key, const std::vector<fs::path>& paths, std::string origin) {
    std::vector<std::string> values;
    for (const fs::path& path : paths) values.push_back(path.string());
    note(key, std::move(values), std::move(origin), true);
  }

  void roots() {
    auto& roots = result_.session.roots;
    std::string origin = "default";
    if (!given_.roots.empty()) {
      roots = given_.roots;
      origin = given_.name;
    } else if (!sources_.roots.empty()) {
      for (const std::string& text : sources_.roots) roots.push_back(absolute_path(text));
      origin = option_name("roots");
    } else if (const auto text = environment_.get("SABATH_ROOT")) {
      roots.push_back(absolute_path(*text));
      origin = "SABATH_ROOT";
    } else if (const ConfigFile& file = user_.roots.empty() ? site_ : user_; !file.roots.empty()) {
      roots = file.roots;
      origin = file.name;
    }
    note_paths("roots", roots, origin);
    for (const fs::path& root : roots) doubt(doubt_about_root(root));
  }

  void doubt(std::string text) {
    if (!text.empty()) result_.doubts.push_back(std::move(text));
  }

  void add_recipes(const std::vector<fs::path>& paths, const std::string& origin) {
    auto& all = result_.session.recipe_directories;
    for (const fs::path& path : paths) {
      if (std::ranges::find(all, path) != all.end()) continue;
      all.push_back(path);
      doubt(doubt_about_recipes(path));
      if (!recipe_origins_.ends_with(origin)) recipe_origins_ += (recipe_origins_.empty() ? "" : ", ") + origin;
    }
  }

  void recipes() {
    add_recipes(given_.recipes, given_.name);
    if (const auto text = environment_.get("SABATH_RECIPES")) add_recipes(path_list(*text), "SABATH_RECIPES");
    add_recipes(user_.recipes, user_.name);
    auto& homes = result_.session.recipe_homes;
    homes = existing(result_.session.recipe_directories);
    std::vector<fs::path> usual;
    if (const fs::path data = environment_.base_directory("XDG_DATA_HOME", ".local/share"); !data.empty()) {
      usual.push_back(data / "sabath/recipes");
      homes.push_back(usual.back());
    }
    add_recipes(existing(usual), "default");
    const auto own = result_.session.recipe_directories.size();
    add_recipes(site_.recipes, site_.name);
    add_recipes(existing({shipped_recipes(program_)}), "default");
    std::vector<fs::path> shown = result_.session.recipe_directories;
    // Where the user's own belong, also before the first is there.
    if (existing(usual).empty())
      shown.insert(shown.begin() + static_cast<std::ptrdiff_t>(own), usual.begin(), usual.end());
    note_paths("recipes", shown, recipe_origins_.empty() ? "default" : recipe_origins_);
  }

  static std::vector<fs::path> existing(const std::vector<fs::path>& paths) {
    std::vector<fs::path> found;
    for (const fs::path& path : paths) {
      if (const auto status = try_stat(path); status && S_ISDIR(status->st_mode)) found.push_back(path);
    }
    return found;
  }

  // Adds what both files list, the user's first; returns their names.
  template <typename T>
  std::string join(std::vector<T>& all, std::vector<T> ConfigFile::*member) const {
    std::string origin;
    for (const ConfigFile* file : files_) {
      const auto& own = file->*member;
      if (own.empty()) continue;
      all.insert(all.end(), own.begin(), own.end());
      origin += (origin.empty() ? "" : ", ") + file->name;
    }
    return origin.empty() ? "default" : origin;
  }

  void rewrites() {
    auto& rules = result_.session.rewrites;
    std::string origin = join(rules, &ConfigFile::rewrites);
    std::vector<std::string> values;
    for (const auto& [from, to] : rules) values.push_back(fmt::format("{}={}", from, to));
    note("rewrites", std::move(values), std::move(origin), true);
  }

  // Both files' rules hold.
  void hosts() {
    auto& rules = result_.session.host_rules;
    std::string origin = join(rules, &ConfigFile::hosts);
    std::vector<std::string> values;
    for (const auto& [host, limits] : rules) {
      const std::string connections =
          limits.connections == 0 ? "as many as help" : fmt::format("{}", limits.connections);
      const std::string rate = limits.rate == 0 ? "no limit" : fmt::format("{} B/s", limits.rate);
      values.push_back(fmt::format("{}: connections {}, rate {}", printable(host), connections, rate));
    }
    note("hosts", std::move(values), std::move(origin), true);
  }

  // The user's file wins for a host that both name.
  void job_programs() {
    auto& programs = result_.session.job_programs;
    for (const ConfigFile* file : files_) programs.insert(file->job_programs.begin(), file->job_programs.end());
    std::vector<std::string> values;
    for (const auto& [host, program] : programs) values.push_back(fmt::format("{}: {}", host, program));
    note("job_programs", values, values.empty() ? "default" : "files", true);
  }

  // The first file that has the value, and its name.
  template <typename T>
  std::pair<T, std::string> from_files(std::optional<T> ConfigFile::*member, T fallback) const {
    for (const ConfigFile* file : files_) {
      if (file->*member) return {*(file->*member), file->name};
    }
    return {std::move(fallback), "default"};
  }

  void numbers() {
    const auto [lanes, lanes_origin] = from_files<std::uint64_t>(&ConfigFile::lanes, 0);
    result_.session.lanes = static_cast<unsigned>(lanes);
    note("lanes", {lanes == 0 ? "chosen" : fmt::format("{}", lanes)}, lanes_origin);
    const auto [rate, rate_origin] = from_files<std::uint64_t>(&ConfigFile::limit_rate, 0);
    result_.session.limit_rate = rate;
    note("limit_rate", {rate == 0 ? "none" : fmt::format("{}", rate)}, rate_origin);

    auto [offline, offline_origin] = from_files<bool>(&ConfigFile::offline, false);
    if (const auto text = environment_.get("SABATH_OFFLINE"); text && !given_.offline) {
      offline = parse_switch("SABATH_OFFLINE", *text);
      offline_origin = "SABATH_OFFLINE";
    }
    if (sources_.offline) {
      offline = true;
      offline_origin = option_name("offline");
    }
    result_.session.offline = offline;
    note("offline", {offline ? "true" : "false"}, offline_origin);

    auto [kernel, kernel_origin] = from_files<std::string>(&ConfigFile::hash_kernel, "auto");
    if (const auto text = environment_.get("SABATH_HASH_KERNEL"); text && !given_.hash_kernel) {
      kernel = *text;
      kernel_origin = "SABATH_HASH_KERNEL";
    }
    result_.session.hash_kernel = kernel;
    note("hash_kernel", {kernel}, kernel_origin);

    FetcherSettings& fetchers = result_.session.fetchers;
    fetchers.user_agent = "sabath/" SABATH_VERSION;
    auto [ca_file, ca_origin] = from_files<fs::path>(&ConfigFile::ca_file, {});
    if (const auto file = environment_.get("SSL_CERT_FILE");
        file && ca_file.empty()) {  // every program's, so it comes last
      ca_file = *file;
      ca_origin = "SSL_CERT_FILE";
    }
    fetchers.ca_file = ca_file.string();
    note("ca_file", ca_file.empty() ? std::vector<std::string>{} : std::vector{ca_file.string()}, ca_origin);
    timeout("connect_timeout_s", &ConfigFile::connect_timeout_s, fetchers.connect_timeout_ms);
    timeout("stall_timeout_s", &ConfigFile::stall_timeout_s, fetchers.stall_timeout_ms);
    fetchers.ssh = ssh_settings(environment_, files_, result_.settings);
    fetchers.s3 = s3_settings(environment_, files_, result_.settings);
    fetchers.web = web_settings(environment_, files_, result_.settings);
    Environment installed = environment_;
    installed.executable = program_;
    fetchers.commands = command_settings(installed, files_, result_.session.store, result_.settings);
    auto& deadline_s = fetchers.commands.deadline_s;
    const auto [deadline, deadline_origin] =
        from_files<std::uint64_t>(&ConfigFile::command_deadline_s, static_cast<std::uint64_t>(deadline_s));
    deadline_s = static_cast<long>(deadline);
    note("command_deadline_s", {fmt::format("{}", deadline)}, deadline_origin);
    fetchers.globus = globus_settings(files_, result_.settings);
    fetchers.hub = hub_settings(environment_, result_.settings);
    fetchers.registries = registry_settings(environment_);
    result_.session.program = program_;
    result_.session.job = batch_job(environment_);
    result_.session.local_places = local_places(environment_);
    result_.session.deadline = deadline_of(environment_, given_.deadline);
    if (given_.deadline) note("deadline", {*given_.deadline}, given_.name);
    result_.session.credentials = [environment = environment_, fetchers] { return known_ends(environment, fetchers); };
  }

  void timeout(const char* key, std::optional<std::uint64_t> ConfigFile::*member, long& target_ms) {
    const auto [seconds, origin] = from_files<std::uint64_t>(member, static_cast<std::uint64_t>(target_ms / 1000));
    target_ms = static_cast<long>(seconds * 1000);
    note(key, {fmt::format("{}", seconds)}, origin);
  }

  const ConfigurationSources& sources_;
  const Environment& environment_;
  const fs::path program_;
  ConfigFile given_, user_, site_;
  const std::vector<const ConfigFile*> files_{&given_, &user_, &site_};
  Configuration result_;
  std::string recipe_origins_;
};

}  // namespace

Configuration load_configuration(const ConfigurationSources& sources, const Environment& environment) {
  return Loader(sources, environment).load();
}

}  // namespace sabath
