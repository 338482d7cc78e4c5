#include "machine/site_choice.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "base/file.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t profile_size_max = 64U << 20U;  // of a machine with many modules

std::optional<Site> try_read_site(const fs::path& file) {
  const auto text = try_read_text(file, profile_size_max);
  if (!text) return std::nullopt;
  Site site = parse_site(*text, file.string());
  site.file = file.string();
  return site;
}

fs::path site_file_named(const std::vector<fs::path>& directories, const std::string& name) {
  for (const fs::path& directory : directories) {
    if (fs::path file = directory / (name + ".json"); try_stat(file)) return file;
  }
  return {};
}

fs::path site_file_of_host(const std::vector<fs::path>& directories) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) return {};
  for (const fs::path& directory : directories) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(directory, none)) {
      if (entry.path().extension() != ".json") continue;
      if (const auto site = try_read_site(entry.path()); site && is_host_of(*site, host.data())) return entry.path();
    }
  }
  return {};
}

std::string names_of(const std::vector<fs::path>& directories) {
  std::string text;
  for (const fs::path& directory : directories) text += (text.empty() ? "" : ", ") + directory.string();
  return text;
}

}  // namespace

std::vector<fs::path> site_directories(const Environment& environment, const fs::path& program) {
  std::vector<fs::path> directories;
  if (const auto config = environment.get("XDG_CONFIG_HOME")) {
    directories.push_back(fs::path(*config) / "sabath/sites");
  } else if (!environment.home.empty()) {
    directories.push_back(environment.home / ".config/sabath/sites");
  }
  directories.emplace_back("/etc/sabath/sites");
  const fs::path bin = program.parent_path();
  directories.push_back((bin / "../share/sabath/sites").lexically_normal());
  if (bin.parent_path().parent_path().filename() == "build")
    directories.push_back((bin / "../../../etc/sites").lexically_normal());
  return directories;
}

fs::path find_site_file(const Environment& environment, const fs::path& program, const std::string& asked) {
  const auto directories = site_directories(environment, program);
  const std::string name = asked.empty() ? environment.get("SABATH_SITE").value_or("") : asked;
  if (name.empty()) return site_file_of_host(directories);
  const bool is_file = name.find('/') != std::string::npos || name.ends_with(".json");
  fs::path file = is_file ? fs::path(name) : site_file_named(directories, name);
  if (file.empty() || !try_stat(file)) {
    throw Error(FailureKind::not_found, fmt::format("there is no site profile {}", printable(name)),
                fmt::format("a name that has a slash or ends with .json is a file; others are looked for in {}",
                            names_of(directories)));
  }
  return file;
}

Site choose_site(const Environment& environment, const fs::path& program, const std::string& asked,
                 const std::function<void(const fs::path& file)>& check) {
  const auto directories = site_directories(environment, program);
  const fs::path generic = site_file_named(directories, "generic");
  if (check && !generic.empty()) check(generic);
  auto base = generic.empty() ? std::nullopt : try_read_site(generic);
  if (!base) {
    throw Error(FailureKind::not_found,
                "the profile generic.json, which says how launchers are called, is not installed",
                fmt::format("it is looked for in {}", names_of(directories)));
  }
  const fs::path file = find_site_file(environment, program, asked);
  if (check && !file.empty()) check(file);
  auto site = file.empty() ? std::nullopt : try_read_site(file);
  return site ? merged(std::move(*base), std::move(*site)) : std::move(*base);
}

}  // namespace sabath
