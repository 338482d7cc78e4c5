#include "harness/environment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/companion.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/text.h"
#include "base/wording.h"
#include "base/working_directory.h"
#include "checks/builtin.h"
#include "harness/packed_choice.h"
#include "harness/site_modules.h"
#include "packed/activation.h"
#include "run/conda.h"
#include "sabath/error.h"
#include "software/profile_owner.h"
#include "store/disk/clone.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

bool needs_python(const ResolvedRun& run) {
  if (!run.model.requirements.pip.empty() || !run.model.requirements.python.empty()) return true;
  if (std::ranges::any_of(run.model.requirements.checks, asks_python)) return true;
  for (const Step& step : run.all_steps()) {
    if (step.argv.front().starts_with("python")) return true;
  }
  return false;
}

// The caller's choice, else those of PATH, else the system's: on many machines only the last has the packages.
std::vector<std::string> candidates(const Environment& environment) {
  if (const auto named = environment.get("SABATH_PYTHON")) return {*named};
  return {"python3", "python", "/usr/bin/python3"};
}

fs::path cache_of(const Environment& environment) {
  if (const auto cache = environment.get("XDG_CACHE_HOME")) return fs::path(*cache) / "sabath-environments";
  return environment.home / ".cache/sabath-environments";
}

std::string digest_of(const std::string& base, const std::string& more, const std::vector<std::string>& packages) {
  return sha256(fmt::format("{}\n{}\n{}", base, more, fmt::join(packages, "\n"))).hex().substr(0, 16);
}

// If packages are missing: makes an environment, warns or refuses, as --env says. True: it was made.
bool settle_conda(const RunCall& call, const ResolvedRun& run, RunEnvironment& environment) {
  const auto& packages = run.model.requirements.conda;
  const auto prefix = environment.variables.find("CONDA_PREFIX");
  const auto missing = missing_conda(prefix == environment.variables.end() ? "" : prefix->second, packages);
  if (missing.empty()) return false;
  if (call.request.requirements == "create" && !call.dry) {
    const fs::path directory = cache_of(call.request.environment) / ("conda-" + digest_of("", "", packages));
    call.say(fmt::format("making the conda environment {}", directory.string()));
    make_conda(directory, packages, environment.variables, call.stop);
    enter_conda(environment.variables, directory);
    return true;
  }
  const std::string text = fmt::format("the conda environment does not have what the recipe of {} needs: {}",
                                       run.model.name, fmt::join(missing, ", "));
  if (call.request.requirements == "check" && !call.dry) {
    throw Error(FailureKind::command, text,
                fmt::format("enter one that has it, or say {0} create; {0} none does not ask", option_text("env")));
  }
  call.warn(text);
  return false;
}

std::string interpreter_of(const RunAsset& packed) { return packed.path + "/bin/python3"; }

// Of a dry run: it would be fetched.
bool is_absent(const std::optional<RunAsset>& packed) { return packed && !fs::path(packed->path).is_absolute(); }

void enter_packed(const RunCall& call, RunEnvironment& environment) {
  if (!environment.packed) return;
  environment.python.program = interpreter_of(*environment.packed);
  if (!is_absent(environment.packed))
    check_packed(call, *environment.packed, variable_of(environment.variables, "LD_LIBRARY_PATH"));
  activate_packed(environment.variables, environment.packed->path);
}

void choose_interpreter(const RunCall& call, const ResolvedRun& run, bool in_conda, RunEnvironment& environment) {
  const Requirements& needs = run.model.requirements;
  // A conda environment without a Python of its own leaves the caller's.
  const std::string own = in_conda ? environment.variables.at("CONDA_PREFIX") + "/bin/python" : "";
  const auto named = environment.packed          ? std::vector{interpreter_of(*environment.packed)}
                     : in_conda && try_stat(own) ? std::vector{own}
                                                 : candidates(call.request.environment);
  VariableMap asked = environment.variables;  // over this process's own
  if (environment.packed)
    for (const char* name : variables_of_other_environments) asked.try_emplace(name, "");
  environment.python = choose_python(named, needs, asked, call.stop);
  if (environment.python.missing.empty()) return;
  const bool makes = call.request.requirements == "create" && !environment.packed;  // a packed one stays what it is
  if (makes && !call.dry && !environment.python.program.empty()) {
    const fs::path directory =
        cache_of(call.request.environment) / digest_of(environment.python.program, needs.python, needs.pip);
    call.say(fmt::format("making the Python environment {}", directory.string()));
    const std::string program =
        make_python(directory, environment.python.program, needs, environment.variables, call.stop);
    environment.variables["PATH"] = fmt::format("{}:{}", (directory / "bin").string(), environment.variables["PATH"]);
    environment.variables["VIRTUAL_ENV"] = directory.string();
    environment.python = choose_python({program}, needs, environment.variables, call.stop);
    if (environment.python.missing.empty()) return;
  }
  const std::string missing = fmt::format("{}", fmt::join(environment.python.missing, ", "));
  if (call.request.requirements == "warn" || call.dry) {
    call.warn(fmt::format("{} does not have what the recipe of {} needs: {}", environment.python.program,
                          run.model.name, missing));
    return;
  }
  throw Error(
      FailureKind::command,
      fmt::format("{} does not have what the recipe of {} needs: {}", environment.python.program, run.model.name,
                  missing),
      fmt::format("install it, name another interpreter in SABATH_PYTHON, or say {0} create; {0} none does not ask",
                  option_text("env")));
}

// The digest of an image that is no file, from the container's own program; empty if it prints none.
std::string told_digest(const RunCall& call, const ResolvedRun& run, const VariableMap& variables) {
  const Wrapper& container = run.site.containers.at(run.container_kind);
  if (container.digest.empty()) return "";
  Wrapper asking;
  asking.argv = container.digest;
  WrapperValues values;
  values.image = run.container_image;
  Command command;
  command.argv = wrap(asking, values, {});
  command.environment.assign(variables.begin(), variables.end());
  command.directory = "/";
  command.deadline = std::chrono::seconds(20);
  try {
    const CommandResult answer = run_command(command, call.stop);
    const std::string_view text = trim(answer.out);
    constexpr std::string_view kind = "sha256:";
    const bool good = answer.status == 0 && text.starts_with(kind) && Sha256::try_parse(text.substr(kind.size()));
    return good ? std::string(text) : "";
  } catch (const Error& error) {
    if (error.failure().kind == FailureKind::interrupted) throw;
    return "";
  }
}

}  // namespace

RunEnvironment prepare_environment(const RunCall& call, const ResolvedRun& run, bool trusted,
                                   const std::optional<RunAsset>& packed) {
  RunEnvironment environment;
  environment.packed = packed;
  environment.variables = call.request.environment.variables;
  if (call.request.requirements == "none") {
    enter_packed(call, environment);
    add_recipe_variables(environment.variables, run.model.env_vars);
    if (const auto named = call.request.environment.get("SABATH_PYTHON"); named && !packed)
      environment.python.program = *named;
    return environment;
  }
  environment.modules = modules_of(call, run);
  if (!call.dry && !environment.modules.empty()) {
    if (call.request.requirements == "warn" && run.site.module_script.empty()) {
      call.warn(fmt::format("modules are not loaded, because the site profile {} does not say how: {}", run.site.name,
                            fmt::join(environment.modules, ", ")));
      environment.modules.clear();
    } else {
      if (!run.site.module_script.empty()) {
        refuse_others_program(absolute_path(run.site.module_script), "module_script",
                              call.caller.settings.trusted_owners, find_companion(call.caller.settings.program));
      }
      environment.variables = load_modules(run.site, environment.modules, environment.variables, call.stop);
    }
  }
  enter_packed(call, environment);
  add_recipe_variables(environment.variables, run.model.env_vars);
  // A container has a conda and a Python of its own, which are not visible from here.
  if (run.container_kind.empty()) {
    const bool in_conda = !packed && settle_conda(call, run, environment);
    if (needs_python(run) && trusted && !is_absent(packed)) choose_interpreter(call, run, in_conda, environment);
  }
  if (const auto image = try_stat(run.container_image); image && S_ISREG(image->st_mode) && !call.dry) {
    const Fd fd = open_file(run.container_image, O_RDONLY);
    StreamHash hasher("sha256");
    read_through(fd.get(), run.container_image, [&](std::span<const std::byte> bytes) { hasher.update(bytes); });
    environment.container_digest = "sha256:" + hasher.finish_hex();
  } else if (!run.container_kind.empty() && !call.dry) {
    environment.container_digest = told_digest(call, run, environment.variables);
  }
  return environment;
}

Json to_json(const RunEnvironment& environment, const Environment& caller, const ResolvedRun& run) {
  Json variables = Json::object();
  for (const auto& [name, value] : environment.variables) {
    const auto found = caller.variables.find(name);
    if (found == caller.variables.end() || found->second != value) variables[name] = value;
  }
  // These decide how a run computes: they are recorded even if they are as the caller's.
  for (const char* name : {"OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HDF5_USE_FILE_LOCKING",
                           "LOADEDMODULES", "CONDA_PREFIX", "VIRTUAL_ENV"}) {
    if (const auto found = environment.variables.find(name); found != environment.variables.end())
      variables[name] = found->second;
  }
  Json container = nullptr;
  if (!run.container_kind.empty()) {
    container = {{"kind", run.container_kind},
                 {"image", run.container_image},
                 {"digest", environment.container_digest.empty() ? Json(nullptr) : Json(environment.container_digest)}};
  }
  Json python = nullptr;
  if (!environment.python.program.empty()) {
    python = {{"program", environment.python.program},
              {"version", environment.python.version},
              {"missing", environment.python.missing}};
  }
  Json described{{"site", run.site.name},
                 {"modules", environment.modules},
                 {"variables", variables},
                 {"python", python},
                 {"packages", Json(environment.python.packages)},
                 {"container", container}};
  if (environment.packed)
    described["packed"] = {{"name", environment.packed->name},
                           {"manifest", environment.packed->manifest},
                           {"path", environment.packed->path}};
  if (run.lock) described["lock"] = to_json(*run.lock);
  return described;
}

}  // namespace sabath
