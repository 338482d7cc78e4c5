#include "harness/module_lock.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/hash.h"
#include "base/split.h"
#include "base/wording.h"
#include "base/working_directory.h"
#include "harness/resolved_run.h"
#include "harness/site_modules.h"
#include "recipe/fields.h"
#include "record/run_record.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "software/locked_modules.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t locking_record_size_max = 16U << 20U;

std::vector<std::string> recorded_modules(const RunRecord& record, const std::string& origin) {
  const auto* environment = record.environment.get();
  const auto found = environment != nullptr && environment->is_object() ? environment->find("modules")
                                                                        : nlohmann::ordered_json::const_iterator();
  if (environment == nullptr || !environment->is_object() || found == environment->end() || !found->is_array()) {
    throw Error(FailureKind::not_found, fmt::format("{} does not say which modules were loaded", origin),
                "name the record of another run");
  }
  std::vector<std::string> modules;
  for (const auto& module : *found) {
    if (!module.is_string())
      throw Error(FailureKind::invalid, fmt::format("{}: a module must be a text", origin),
                  "name the record of a run, as it was written");
    modules.push_back(module.get<std::string>());
  }
  return modules;
}

// The environment of the other run, by its root.
void take_packed(const RunRecord& record, const std::string& origin, ModuleLock& lock) {
  const auto found = record.environment->find("packed");
  if (found == record.environment->end() || found->is_null()) return;
  const auto text = [&](const char* key) {
    const auto value = found->is_object() ? found->find(key) : found->end();
    return found->is_object() && value != found->end() && value->is_string() ? value->get<std::string>() : "";
  };
  constexpr std::string_view kind = "sha256:";
  const std::string root = text("manifest");
  lock.packed = text("name");
  if (root.starts_with(kind)) lock.packed_root = Sha256::try_parse(root.substr(kind.size()));
  const auto words = parts_at(lock.packed, '/');  // CATALOGUE/NAME
  if (lock.packed_root && words.size() <= 2 && std::ranges::all_of(words, is_name)) return;
  throw Error(FailureKind::invalid, fmt::format("{}: the environment of the run must have a name and a root", origin),
              "name the record of a run, as it was written");
}

// The nearest that exists is named: it is for the user to say that this is near enough.
[[noreturn]] void refuse_lock(const Site& site, const std::string& run, const SoftwareSolution& solution) {
  throw Error(
      FailureKind::not_found,
      fmt::format("{} does not have the modules that {} loaded: {}", site.name, run, fmt::join(solution.against, "; ")),
      solution.nearest.empty()
          ? "without the lock the needs of the recipe choose"
          : fmt::format("the nearest that exists: {}; without the lock the needs of the recipe choose",
                        fmt::join(solution.nearest, " ")));
}

void tell_other_names(const RunCall& call, const std::vector<SoftwareNeed>& needs, const std::vector<Software>& table,
                      const std::vector<SoftwarePick>& picks, const std::vector<std::string>& recorded) {
  for (std::size_t i = 0; i < picks.size(); ++i) {
    const std::string& module = table[picks[i].row].module;
    if (std::ranges::find(recorded, module) == recorded.end())
      call.say(fmt::format("{} of the lock is {} here", printable(needs[i].text, 300), printable(module, 300)));
  }
}

}  // namespace

fs::path record_of_lock(const fs::path& asked) {
  const fs::path path = absolute_path(asked);
  const auto status = try_stat(path);
  return status && S_ISDIR(status->st_mode) ? path / "run.json" : path;
}

ModuleLock read_module_lock(const RunCall& call, const Site& site) {
  if (call.request.requirements == "none") {
    throw Error(FailureKind::usage,
                fmt::format("a lock says which modules are loaded, and {} none loads none", option_text("env")),
                "leave out one of them");
  }
  const fs::path file = record_of_lock(call.request.lock);
  const std::string origin = printable(file.native(), 1000);
  auto text = try_read_text(file, locking_record_size_max);
  if (!text) {
    throw Error(FailureKind::not_found, fmt::format("there is no record of a run at {}", origin),
                "name the directory of a run, or its run.json; of a sweep one of its runs");
  }
  const RunRecord record = parse_run_record(*text, file.string());
  ModuleLock lock{record.id, file.string(), sha256(*text).prefixed(), recorded_modules(record, origin), {}, {}};
  lock.text = std::move(*text);
  take_packed(record, origin, lock);
  const auto needs = needs_of_lock(lock.recorded, origin);
  if (needs.empty() && lock.packed_root) return lock;
  if (needs.empty()) {
    call.warn(fmt::format("{} loaded no modules: its lock loads none", origin));
    return lock;
  }
  const std::vector<Software> table = site_software(call);
  if (std::ranges::all_of(table, [](const Software& one) { return one.module.empty(); })) {
    throw Error(FailureKind::not_found,
                fmt::format("the site profile {} has no modules among its \"software\"", site.name),
                "detect what is on this machine, and name the profile of it");
  }
  if (site.module_script.empty()) {
    throw Error(FailureKind::not_found,
                fmt::format("the site profile {} does not say how modules are loaded", site.name),
                "write into its \"module_script\" the file that defines `module`");
  }
  SoftwareSolution solution = solve_lock(table, needs);
  if (solution.picks.empty()) refuse_lock(site, origin, solution);
  tell_other_names(call, needs, table, solution.picks, lock.recorded);
  lock.modules = std::move(solution.modules);
  return lock;
}

nlohmann::ordered_json to_json(const ModuleLock& lock) {
  nlohmann::ordered_json told = {
      {"run", lock.run}, {"path", lock.path}, {"digest", lock.digest}, {"modules", lock.recorded}};
  if (lock.packed_root) told["environment"] = {{"name", lock.packed}, {"manifest", lock.packed_root->prefixed()}};
  return told;
}

}  // namespace sabath
