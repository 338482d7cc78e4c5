#include "software/easybuild.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "sabath/path.h"
#include "software/module_tree.h"
#include "software/module_words.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t installed_max = 50'000;

std::vector<fs::path> plain_folders(const fs::path& directory) {
  std::vector<fs::path> folders;
  std::error_code unknown;
  for (const auto& entry : fs::directory_iterator(directory, unknown)) {
    const std::string name = entry.path().filename().string();
    if (folders.size() < installed_max && !name.starts_with('.') && is_plain_value(name) && entry.is_directory(unknown))
      folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  return folders;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> read_easybuild_tree(const fs::path& directory) {
  std::vector<std::pair<std::string, std::string>> found;
  std::error_code unknown;
  for (const fs::path& name : plain_folders(directory / "software")) {
    for (const fs::path& version : plain_folders(name)) {
      if (found.size() >= installed_max) return found;
      if (fs::is_directory(version / "easybuild", unknown))
        found.emplace_back(name.filename().string(), version.filename().string());
    }
  }
  return found;
}

void detect_easybuild(Programs& programs, SiteProfile& profile) {
  const Environment& environment = programs.environment();
  std::set<fs::path> trees;
  for (const char* variable : {"EASYBUILD_INSTALLPATH", "EASYBUILD_PREFIX", "EESSI_SOFTWARE_PATH"})
    if (const auto tree = environment.get(variable); tree && tree->starts_with('/')) trees.insert(*tree);
  if (trees.empty()) return profile.machine.push_back({"EasyBuild", "none", "EASYBUILD_INSTALLPATH is not set"});
  for (const fs::path& tree : trees) {
    if (const auto why = programs.owners().why_not(tree)) {
      programs.pass_over(tree.string(), *why);
      profile.machine.push_back(
          {"EasyBuild", "not asked", fmt::format("{}: {}", printable(tree.native(), 1000), *why)});
      continue;
    }
    const auto found = read_easybuild_tree(tree);
    profile.machine.push_back({"EasyBuild", fmt::format("{} installed", found.size()), printable(tree.native(), 1000)});
    std::map<std::string, std::vector<std::size_t>> modules;
    for (std::size_t i = 0; i < profile.software.size(); ++i) modules[profile.software[i].module].push_back(i);
    for (const auto& [name, version] : found) {
      const auto known = modules.find(name + "/" + version);
      if (known != modules.end()) {
        for (const std::size_t i : known->second) profile.software[i].known += ", and EasyBuild's tree";
        continue;
      }
      Software one;
      one.name = name;
      one.version = version;
      one.known = "EasyBuild's tree";
      add_features(one);
      profile.software.push_back(std::move(one));
    }
  }
}

}  // namespace sabath
