#include "settings/fetcher_settings.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "base/working_directory.h"
#include "sabath/error.h"
#include "sabath/url.h"
#include "store/disk/writer.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

// SABATH_TOKEN: lines of "ORIGIN TOKEN". Nothing of it is ever shown, not even in the message that it is wrong.
std::vector<TokenPlace> tokens_of_environment(const Environment& environment) {
  std::vector<TokenPlace> places;
  const std::string text = environment.get("SABATH_TOKEN").value_or("");
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = trim(rest.substr(0, end));
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    if (line.empty()) continue;
    const std::size_t space = line.find(' ');
    const auto origin = Url::try_parse(line.substr(0, space));
    if (space == line.npos || !origin) {
      throw Error(FailureKind::usage, "SABATH_TOKEN is not understood", "each line of it is: https://host TOKEN");
    }
    places.push_back({.origin = origin->origin(),
                      .token = Secret(std::string(trim(line.substr(space)))),
                      .file = {},
                      .command = {}});
  }
  return places;
}

bool stands_as_directory(const fs::path& path) {
  const auto status = try_stat(path);
  return status && S_ISDIR(status->st_mode);
}

// Installed as PREFIX/bin/sabath, or built as SOURCE/build/NAME/bin/sabath.
fs::path shipped(const Environment& environment) {
  if (environment.executable.empty()) return {};
  const fs::path bin = environment.executable.parent_path();
  const fs::path installed = (bin / "../share/sabath/fetchers").lexically_normal();
  if (stands_as_directory(installed)) return installed;
  if (bin.parent_path().parent_path().filename() != "build") return {};
  const fs::path source = (bin / "../../../fetchers/command").lexically_normal();
  return stands_as_directory(source) ? source : fs::path();
}

}  // namespace

WebSettings web_settings(const Environment& environment, const std::vector<const ConfigFile*>& files,
                         std::vector<ConfigurationEntry>& settings) {
  WebSettings web;
  web.tokens = tokens_of_environment(environment);
  std::vector<std::string> origins;
  for (const TokenPlace& place : web.tokens) origins.push_back(place.origin + " (SABATH_TOKEN)");
  for (const ConfigFile* file : files) {
    for (const TokenPlace& place : file->tokens) {
      web.tokens.push_back(place);
      origins.push_back(
          fmt::format("{} ({})", place.origin, place.file.empty() ? place.command.front() : place.file.string()));
    }
  }
  settings.push_back({"tokens", origins, origins.empty() ? "default" : "SABATH_TOKEN and files", true});
  for (const ConfigFile* file : files)
    web.near_hosts.insert(web.near_hosts.end(), file->near_hosts.begin(), file->near_hosts.end());
  settings.push_back({"near_hosts", web.near_hosts, web.near_hosts.empty() ? "default" : "files", true});
  std::string origin = "default";
  if (!environment.home.empty()) web.netrc = environment.home / ".netrc";
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    if (!(*file)->netrc) continue;
    web.netrc = *(*file)->netrc;
    origin = (*file)->name;
  }
  const bool given = !files.empty() && files.front()->of_caller && files.front()->netrc;
  if (const auto named = environment.get("NETRC"); named && !given) {
    web.netrc = absolute_path(*named);
    origin = "NETRC";
  }
  settings.push_back({"netrc", {web.netrc.string()}, origin, false});
  return web;
}

GlobusSettings globus_settings(const std::vector<const ConfigFile*>& files, std::vector<ConfigurationEntry>& settings) {
  for (const ConfigFile* file : files) {
    if (!file->globus) continue;
    const GlobusSettings& globus = *file->globus;
    std::vector<std::string> values;
    if (!globus.collection.empty())
      values.push_back(fmt::format("{}{} is {}{}", globus.collection, globus.path, globus.directory.string(),
                                   globus.by_transfer ? ", by transfer" : ""));
    if (!globus.api.empty()) values.push_back("api " + globus.api);
    settings.push_back({"globus", values, file->name, true});
    return globus;
  }
  settings.push_back({"globus", {}, "default", true});
  return {};
}

CommandSettings command_settings(const Environment& environment, const std::vector<const ConfigFile*>& files,
                                 const fs::path& store, std::vector<ConfigurationEntry>& settings) {
  CommandSettings commands;
  commands.environment = environment.variables;
  commands.program = environment.executable;
  commands.scratch = store / "tmp" / WriterId::of_this_process().text();  // the name shows others when it is dead
  for (const ConfigFile* file : files) {
    commands.directories.insert(commands.directories.end(), file->fetchers.begin(), file->fetchers.end());
    commands.prefer.insert(file->prefer.begin(), file->prefer.end());
  }
  const fs::path base = environment.base_directory("XDG_DATA_HOME", ".local/share");
  if (!base.empty() && stands_as_directory(base / "sabath/fetchers"))
    commands.directories.push_back(base / "sabath/fetchers");
  if (const fs::path ours = shipped(environment); !ours.empty()) commands.directories.push_back(ours);
  std::vector<std::string> places, choices;
  for (const fs::path& directory : commands.directories) places.push_back(directory.string());
  for (const auto& [scheme, name] : commands.prefer) choices.push_back(scheme + "=" + name);
  settings.push_back({"fetchers", places, "files, XDG_DATA_HOME and default", true});
  settings.push_back({"prefer", choices, choices.empty() ? "default" : "files", true});
  return commands;
}

}  // namespace sabath
