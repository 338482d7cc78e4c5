#include "software/module_systems.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "software/easybuild.h"
#include "software/module_tree.h"
#include "software/module_words.h"
#include "software/places.h"
#include "software/spack.h"
#include "software/spider.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t module_path_max = 256;
constexpr const char* of_files = "its modulefile";

struct ModulePath {
  std::vector<std::string> all, trusted;
};

ModulePath module_path_of(const Programs& programs) {
  ModulePath path;
  path.all = parts_between(programs.environment().get("MODULEPATH").value_or(""), ':', module_path_max);
  for (const std::string& directory : path.all) {
    if (directory.starts_with('/') && !programs.owners().why_not(directory)) path.trusted.push_back(directory);
  }
  return path;
}

std::string joined_path(const std::vector<std::string>& directories) {
  std::string text;
  for (const std::string& one : directories) text += (text.empty() ? "" : ":") + one;
  return text;
}

std::vector<fs::path> cache_files(const Environment& environment) {
  std::vector<fs::path> files;
  auto directories = parts_between(environment.get("LMOD_SPIDER_CACHE_DIRS").value_or(""), ':', 16);
  if (!environment.home.empty()) {
    directories.push_back(environment.home / ".lmod.d/.cache");
    directories.push_back(environment.home / ".cache/lmod");
  }
  for (const std::string& directory : directories) {
    std::error_code unknown;
    std::size_t seen = 0;
    for (const auto& entry : fs::directory_iterator(directory, unknown)) {
      const std::string name = entry.path().filename().string();
      if (++seen <= 100 && name.starts_with("spiderT") && name.ends_with(".lua")) files.push_back(entry.path());
    }
  }
  return files;
}

// What either system reads in a home, and the caches, which Lmod runs.
std::optional<std::string> why_not_of_home(const Programs& programs) {
  const Environment& environment = programs.environment();
  std::vector<fs::path> files = cache_files(environment);
  for (const char* name : {".lmodrc.lua", ".modulerc", ".modulerc.lua", ".lmod.d", ".cache/lmod", ".config/lmod"})
    if (!environment.home.empty()) files.push_back(environment.home / name);
  std::error_code unknown;
  for (const auto& entry : fs::directory_iterator(environment.get("LMOD_DIR").value_or(""), unknown))
    files.push_back(entry.path());
  for (const fs::path& file : files) {
    if (!try_lstat(file)) continue;
    if (const auto why = programs.owners().why_not(file))
      return fmt::format("not asked: {}: {}", printable(file.native(), 1000), *why);
  }
  return std::nullopt;
}

// Modules of a trusted directory may lead to what another account can write: asking would run that, too.
std::optional<std::string> why_not_asked(const Programs& programs, const ModuleTree& tree, const ModulePath& path) {
  for (const PassedOver& one : tree.passed_over) {
    if (std::ranges::find(path.all, one.what) == path.all.end())
      return fmt::format("not asked: {} is {}", one.what, one.why);
  }
  if (!tree.whole) return "not asked: there are more modulefiles than the bounds of a reading";
  if (!tree.unsure.empty()) return "not asked: " + tree.unsure;
  for (const char* prefix : {"LMOD_", "MODULE"})
    if (const auto place = place_of_others(programs.environment(), programs.owners(), prefix))
      return "not asked: " + *place;
  return why_not_of_home(programs);
}

// Of the first cache file that is readable and trusted and knows a module of ours.
std::optional<std::vector<Software>> cached(Programs& programs, const ModuleTree& tree, const ModulePath& path) {
  for (const fs::path& file : cache_files(programs.environment())) {
    if (const auto why = programs.owners().why_not(file)) {
      programs.pass_over(file.string(), *why);
      continue;
    }
    try {
      const auto text = try_read_text(file, spider_bytes_max);
      auto modules = parse_spider_cache(text.value_or(""), path.trusted);
      if (!modules.empty())
        return joined(std::move(modules), tree.software, "Lmod's cache " + printable(file.native(), 1000));
    } catch (const Error& error) {
      programs.pass_over(file.string(), error.failure().message);
    }
  }
  return std::nullopt;
}

// How the table of modules is known, in words; fills it.
std::string ask_lmod(Programs& programs, const ModuleTree& tree, const ModulePath& path, std::vector<Software>& into) {
  const std::string directory = programs.environment().get("LMOD_DIR").value_or("");
  auto why = why_not_asked(programs, tree, path);
  if (!why) {
    const std::string program = directory + "/spider", all = joined_path(path.trusted);
    const ProgramAnswer answer =
        programs.ask_module_system({program, "-o", "spider-json", all}, {{"MODULEPATH", all}}, spider_bytes_max);
    why = answer.why;
    if (answer.came) {
      try {
        into = joined(parse_spider_json(answer.out), tree.software, "Lmod's spider");
        return "Lmod's spider";
      } catch (const Error& error) {
        why = "its answer could not be read: " + error.failure().message;
      }
    }
  }
  if (auto known = cached(programs, tree, path)) {
    into = std::move(*known);
    return fmt::format("{}; its spider: {}", into.front().known.substr(0, into.front().known.find(", and")), *why);
  }
  into = tree.software;
  return fmt::format("the modulefiles; Lmod's spider: {}", *why);
}

std::string ask_tcl(Programs& programs, const ModuleTree& tree, const ModulePath& path, std::vector<Software>& into) {
  into = tree.software;
  if (const auto why = why_not_asked(programs, tree, path))
    return fmt::format("the modulefiles; `module avail`: {}", *why);
  const std::string program = programs.environment().get("MODULES_CMD").value_or("modulecmd");
  const ProgramAnswer answer = programs.ask_module_system({program, "bash", "avail", "--no-pager", "-t"},
                                                          {{"MODULEPATH", joined_path(path.trusted)}}, 16U << 20U);
  if (!answer.came) return fmt::format("the modulefiles; `module avail`: {}", answer.why);
  const auto names = parse_terse_avail(answer.out.find(':') != std::string::npos ? answer.out : answer.err);
  std::set<std::string, std::less<>> open(names.begin(), names.end());
  for (Software& one : into) {
    if (one.chain.empty() && open.erase(one.module) != 0) one.known = "`module avail`, and its modulefile";
  }
  for (const std::string& name : open) {  // a virtual one
    Software one = software_of_module(name, {});
    one.known = "`module avail`";
    add_features(one);
    into.push_back(std::move(one));
  }
  return "`module avail`, and the modulefiles";
}

void set_script(const Programs& programs, SiteProfile& profile) {
  for (const char* home : {"LMOD_PKG", "MODULESHOME"}) {
    const auto directory = programs.environment().get(home);
    const fs::path script = fs::path(directory.value_or("")) / "init/bash";
    if (!directory || !script.is_absolute() || !try_stat(script) || programs.owners().why_not(script)) continue;
    profile.module_script = script.string();
    return;
  }
}

}  // namespace

std::vector<std::string> parse_terse_avail(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string& line : parts_between(text, '\n', 200'000)) {
    std::string_view name = line;
    if (name.ends_with(':') || name.ends_with('/')) continue;
    name = name.substr(0, name.find_first_of("(<@"));
    if (!name.empty() && is_plain_value(name)) names.emplace_back(name);
  }
  return names;
}

void detect_modules(Programs& programs, SiteProfile& profile) {
  const Environment& environment = programs.environment();
  const ModulePath path = module_path_of(programs);
  const bool lmod = environment.get("LMOD_DIR") || environment.get("LMOD_CMD");
  const bool tcl = !lmod && (environment.get("MODULES_CMD") || environment.get("MODULESHOME"));
  ModuleTree tree = read_module_tree(path.all, programs.owners(), programs.stop());
  for (const PassedOver& one : tree.passed_over) programs.pass_over(one.what, one.why);
  std::string how = "MODULEPATH is not set";
  if (!path.all.empty()) {
    how = lmod  ? ask_lmod(programs, tree, path, profile.software)
          : tcl ? ask_tcl(programs, tree, path, profile.software)
                : "the modulefiles; no module system is set up";
    if (!lmod && !tcl) profile.software = tree.software;
  }
  const std::string version = environment.get("LMOD_VERSION").value_or("");
  profile.machine.push_back({"module system",
                             lmod  ? std::string(trim("Lmod " + version))
                             : tcl ? "environment-modules"
                                   : "none",
                             lmod  ? "LMOD_DIR"
                             : tcl ? "MODULES_CMD"
                                   : "neither LMOD_DIR nor MODULES_CMD is set"});
  std::string count = fmt::format("{}", profile.software.size());
  if (!tree.whole) count += ", and more than the bounds of a reading";
  profile.machine.push_back({"modules", count, how});
  if (tree.unread != 0)
    profile.machine.push_back({"module directories of unknown place", fmt::format("{}", tree.unread), of_files});
  set_script(programs, profile);
  detect_spack(programs, profile);
  detect_easybuild(programs, profile);
}

}  // namespace sabath
