#include "cli/run_environment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/hash.h"
#include "sabath/error.h"
#include "store/clone.h"

namespace sabath::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

bool needs_python(const RunRequest& request) {
  if (!request.model.requirements.pip.empty() || !request.model.requirements.python.empty()) return true;
  for (const Step& step : request.steps) {
    if (step.argv.front().starts_with("python")) return true;
  }
  return false;
}

// As the caller says, else what PATH has, else the system's: on many machines only that has the packages.
std::vector<std::string> candidates(const Environment& environment) {
  if (const auto named = environment.get("SABATH_PYTHON")) return {*named};
  return {"python3", "python", "/usr/bin/python3"};
}

fs::path cache_of(const Environment& environment) {
  if (const auto cache = environment.get("XDG_CACHE_HOME")) return fs::path(*cache) / "sabath-environments";
  return environment.home / ".cache/sabath-environments";
}

std::string digest_of(const Requirements& requirements, const std::string& base) {
  return sha256(fmt::format("{}\n{}\n{}", base, requirements.python, fmt::join(requirements.pip, "\n")))
      .hex()
      .substr(0, 16);
}

void choose_interpreter(Context& context, const RunRequest& request, const RunOptions& options,
                        RunEnvironment& environment) {
  const Requirements& needs = request.model.requirements;
  environment.python = choose_python(candidates(context.environment), needs, environment.variables, context.stop);
  if (environment.python.missing.empty()) return;
  if (options.env == "create" && !options.dry_run && !environment.python.program.empty()) {
    const fs::path directory = cache_of(context.environment) / digest_of(needs, environment.python.program);
    context.say(fmt::format("making the Python environment {}", directory.string()));
    const std::string program =
        make_python(directory, environment.python.program, needs, environment.variables, context.stop);
    environment.variables["PATH"] = fmt::format("{}:{}", (directory / "bin").string(), environment.variables["PATH"]);
    environment.variables["VIRTUAL_ENV"] = directory.string();
    environment.python = choose_python({program}, needs, environment.variables, context.stop);
    if (environment.python.missing.empty()) return;
  }
  const std::string missing = fmt::format("{}", fmt::join(environment.python.missing, ", "));
  if (options.env == "warn" || options.dry_run) {
    context.warn(fmt::format("{} lacks what the recipe of {} needs: {}", environment.python.program, request.model.name,
                             missing));
    return;
  }
  throw Error(
      FailureKind::command,
      fmt::format("{} lacks what the recipe of {} needs: {}", environment.python.program, request.model.name, missing),
      "install it, name another interpreter in SABATH_PYTHON, or say --env create; --env none does not ask");
}

}  // namespace

RunEnvironment prepare_environment(Context& context, const RunRequest& request, const RunOptions& options) {
  RunEnvironment environment;
  environment.variables = context.environment.variables;
  if (options.env == "none") {
    add_recipe_variables(environment.variables, request.model.env_vars);
    if (const auto named = context.environment.get("SABATH_PYTHON")) environment.python.program = *named;
    return environment;
  }
  environment.modules = modules_for(request.site, request.model.requirements.system_modules);
  if (!options.dry_run && !environment.modules.empty()) {
    if (options.env == "warn" && request.site.module_script.empty()) {
      context.warn(fmt::format("modules are not loaded, because the site profile {} does not say how: {}",
                               request.site.name, fmt::join(environment.modules, ", ")));
      environment.modules.clear();
    } else {
      environment.variables = load_modules(request.site, environment.modules, environment.variables, context.stop);
    }
  }
  add_recipe_variables(environment.variables, request.model.env_vars);
  // In a container another Python runs, and only it knows what it has.
  if (request.container_kind.empty() && needs_python(request))
    choose_interpreter(context, request, options, environment);
  if (const auto image = try_stat(request.container_image); image && S_ISREG(image->st_mode) && !options.dry_run) {
    const Fd fd = open_file(request.container_image, O_RDONLY);
    StreamHash hasher("sha256");
    read_through(fd.get(), request.container_image, [&](std::span<const std::byte> bytes) { hasher.update(bytes); });
    environment.container_digest = "sha256:" + hasher.finish_hex();
  }
  return environment;
}

Json to_json(const RunEnvironment& environment, const Environment& caller, const RunRequest& request) {
  Json variables = Json::object();
  for (const auto& [name, value] : environment.variables) {
    const auto found = caller.variables.find(name);
    if (found == caller.variables.end() || found->second != value) variables[name] = value;
  }
  // What decides how a run computes, even where nobody changed it for this run.
  for (const char* name : {"OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HDF5_USE_FILE_LOCKING",
                           "LOADEDMODULES", "CONDA_PREFIX", "VIRTUAL_ENV"}) {
    if (const auto found = environment.variables.find(name); found != environment.variables.end())
      variables[name] = found->second;
  }
  Json container = nullptr;
  if (!request.container_kind.empty()) {
    container = {{"kind", request.container_kind},
                 {"image", request.container_image},
                 {"digest", environment.container_digest.empty() ? Json(nullptr) : Json(environment.container_digest)}};
  }
  Json python = nullptr;
  if (!environment.python.program.empty()) {
    python = {{"program", environment.python.program},
              {"version", environment.python.version},
              {"missing", environment.python.missing}};
  }
  return {{"site", request.site.name},
          {"modules", environment.modules},
          {"variables", variables},
          {"python", python},
          {"packages", Json(environment.python.packages)},
          {"container", container}};
}

}  // namespace sabath::cli
