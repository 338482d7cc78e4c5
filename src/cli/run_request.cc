#include "cli/run_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/companion.h"
#include "base/file.h"
#include "base/text.h"
#include "run/guarded_process.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/assets.h"

namespace sabath::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t profile_size_max = 1 << 20;

std::optional<Recipe> try_find(const Catalogue& catalogue, const std::string& name, AssetKind kind) {
  try {
    return catalogue.find(name, kind);
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::not_found) throw;
    return std::nullopt;
  }
}

Recipe find_model(const Catalogue& catalogue, const std::string& name) {
  if (auto workflow = try_find(catalogue, name, AssetKind::workflow)) {
    if (!try_find(catalogue, name, AssetKind::model)) return std::move(*workflow);
  }
  return catalogue.find(name, AssetKind::model);
}

// As `sabath fetch MODEL` takes it along.
std::optional<Recipe> default_dataset(const Catalogue& catalogue, const Recipe& model, const RunSets& sets) {
  if (!model.default_dataset.empty()) return catalogue.find(model.default_dataset, AssetKind::dataset);
  for (const auto& [name, steps] : sets) {
    if (auto dataset = try_find(catalogue, name, AssetKind::dataset)) return dataset;
  }
  return try_find(catalogue, model.name, AssetKind::dataset);
}

// DATASET, or the key of a run set that is no dataset, as recipes of the original have them.
void choose_dataset(const Catalogue& catalogue, const RunOptions& options, const RunSets& sets, RunRequest& request) {
  std::string wanted = options.run_set;
  if (options.dataset.empty()) {
    request.dataset = default_dataset(catalogue, request.model, sets);
    if (!request.dataset) {
      throw Error(FailureKind::usage,
                  fmt::format("the recipe of {} names no dataset that is known", request.model.name),
                  fmt::format("name one: sabath run {} DATASET", request.model.name));
    }
  } else {
    request.dataset = try_find(catalogue, options.dataset, AssetKind::dataset);
    const auto is_key = [&](const auto& set) { return set.first == options.dataset; };
    if (!request.dataset && std::ranges::any_of(sets, is_key)) {
      wanted = options.dataset;
      request.dataset = default_dataset(catalogue, request.model, sets);
    }
    if (!request.dataset) request.dataset = catalogue.find(options.dataset, AssetKind::dataset);  // says what is near
  }
  request.steps = choose_set(request.model, sets, *request.dataset, wanted).second;
}

std::vector<Variant> choose_variants(const RunOptions& options, const RunRequest& request) {
  std::vector<std::string> known = config_keys(request.steps);
  for (const auto& [key, value] : request.model.config) {
    if (std::ranges::find(known, key) == known.end()) known.push_back(key);
  }
  Config config = request.model.config;
  if (!options.settings_file.empty()) {
    const auto text = try_read_text(options.settings_file, profile_size_max);
    if (!text) {
      throw Error(FailureKind::usage, fmt::format("there is no file {}", printable(options.settings_file, 4096)),
                  "--set-from takes a JSON or YAML file of settings");
    }
    for (const auto& [key, value] : parse_config(*text, options.settings_file)) config[key] = value;
  }
  std::vector<sabath::Setting> settings;
  for (const std::string& text : options.settings) {
    sabath::Setting setting = parse_setting(text);
    std::erase_if(settings,
                  [&](const sabath::Setting& other) { return other.key == setting.key; });  // the last one counts
    settings.push_back(std::move(setting));
  }
  return variants(config, settings, known);
}

// Where profiles stand: the user's, the system's, and those that come with the program.
std::vector<fs::path> site_directories(const Environment& environment) {
  std::vector<fs::path> directories;
  if (const auto config = environment.get("XDG_CONFIG_HOME")) {
    directories.push_back(fs::path(*config) / "sabath/sites");
  } else if (!environment.home.empty()) {
    directories.push_back(environment.home / ".config/sabath/sites");
  }
  directories.emplace_back("/etc/sabath/sites");
  if (environment.executable.empty()) return directories;
  const fs::path bin = environment.executable.parent_path();
  directories.push_back((bin / "../share/sabath/sites").lexically_normal());
  if (bin.parent_path().parent_path().filename() == "build")
    directories.push_back((bin / "../../../etc/sites").lexically_normal());
  return directories;
}

std::optional<Site> try_read_site(const fs::path& file) {
  const auto text = try_read_text(file, profile_size_max);
  if (!text) return std::nullopt;
  return parse_site(*text, file.string());
}

std::optional<Site> try_find_site(const std::vector<fs::path>& directories, const std::string& name) {
  for (const fs::path& directory : directories) {
    if (auto site = try_read_site(directory / (name + ".json"))) return site;
  }
  return std::nullopt;
}

std::optional<Site> site_of_host(const std::vector<fs::path>& directories) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) return std::nullopt;
  for (const fs::path& directory : directories) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(directory, none)) {
      if (entry.path().extension() != ".json") continue;
      if (auto site = try_read_site(entry.path()); site && is_host_of(*site, host.data())) return site;
    }
  }
  return std::nullopt;
}

std::string names_of(const std::vector<fs::path>& directories) {
  std::string text;
  for (const fs::path& directory : directories) text += (text.empty() ? "" : ", ") + directory.string();
  return text;
}

Site choose_site(const Environment& environment, const std::string& asked) {
  const auto directories = site_directories(environment);
  auto generic = try_find_site(directories, "generic");
  if (!generic) {
    throw Error(FailureKind::not_found,
                "the profile generic.json, which says how launchers are called, is not installed",
                fmt::format("it is looked for in {}", names_of(directories)));
  }
  const std::string name = asked.empty() ? environment.get("SABATH_SITE").value_or("") : asked;
  if (name.empty()) {
    auto here = site_of_host(directories);
    return here ? merged(std::move(*generic), std::move(*here)) : std::move(*generic);
  }
  auto site = name.find('/') != std::string::npos ? try_read_site(name) : try_find_site(directories, name);
  if (!site) {
    throw Error(FailureKind::not_found, fmt::format("there is no site profile {}", printable(name)),
                fmt::format("profiles are NAME.json in {}", names_of(directories)));
  }
  return merged(std::move(*generic), std::move(*site));
}

std::string choose_launcher(const Context& context, const RunOptions& options, const RunRequest& request) {
  std::string launcher = options.launcher;
  if (launcher == "auto") {
    const auto path = context.environment.get("PATH").value_or("");
    const auto there = [&](const char* variable, const char* program) {
      return context.environment.get(variable) && !find_program(program, path).empty();
    };
    launcher = request.ranks == 1 && request.nodes == 1 ? "direct"
               : !request.site.launcher.empty()         ? request.site.launcher
               : there("SLURM_JOB_ID", "srun")          ? "srun"
               : there("FLUX_URI", "flux")              ? "flux"
                                                        : "mpirun";
  }
  if (request.site.launchers.contains(launcher)) {
    if (launcher == "direct" && request.ranks > 1) {
      throw Error(FailureKind::usage, fmt::format("{} ranks need a launcher", request.ranks),
                  "say --launcher mpirun, srun or flux");
    }
    return launcher;
  }
  std::vector<std::string> names;
  for (const auto& [name, wrapper] : request.site.launchers) names.push_back(name);
  throw Error(FailureKind::usage, fmt::format("no launcher is called '{}'", printable(launcher)),
              fmt::format("known are auto, {}", fmt::join(names, ", ")));
}

void choose_container(const RunOptions& options, RunRequest& request) {
  if (options.container.empty()) return;
  const auto colon = options.container.find(':');
  request.container_kind = options.container.substr(0, colon);
  request.container_image = colon == std::string::npos ? "" : options.container.substr(colon + 1);
  if (!request.container_image.empty() && request.container_image.front() != '-' &&
      request.site.containers.contains(request.container_kind))
    return;
  std::vector<std::string> names;
  for (const auto& [name, wrapper] : request.site.containers) names.push_back(name);
  throw Error(FailureKind::usage, fmt::format("--container {} names none", printable(options.container)),
              fmt::format("it is KIND:IMAGE, and KIND is one of {}", fmt::join(names, ", ")));
}

unsigned at_least_one(const std::optional<std::uint64_t>& number, const char* what) {
  if (number && *number == 0) throw Error(FailureKind::usage, fmt::format("{} must be at least 1", what));
  return static_cast<unsigned>(number.value_or(1));
}

}  // namespace

RunRequest resolve(const Context& context, const RunOptions& options) {
  RunRequest request;
  const Catalogue catalogue = make_catalogue(context.configuration.session);
  request.model = find_model(catalogue, options.model);
  const RunSets& sets = options.mode == "infer" ? request.model.infer : request.model.run;
  choose_dataset(catalogue, options, sets, request);
  request.variants = choose_variants(options, request);
  request.site = choose_site(context.environment, options.site);
  request.nodes = at_least_one(options.nodes, "--nodes");
  request.ranks = options.ranks ? at_least_one(options.ranks, "--ranks") : request.nodes;
  request.launcher = choose_launcher(context, options, request);
  choose_container(options, request);
  request.sampler = find_companion(context.configuration.session.program).string();
  return request;
}

}  // namespace sabath::cli
