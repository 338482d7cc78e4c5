// conda, mamba and micromamba plan alike: `create --dry-run --json`. An empty package cache makes conda say of each
// package where it comes from.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <utility>

#include "base/text.h"
#include "environments/lock_entries.h"
#include "environments/readers.h"
#include "environments/resolve.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t plan_max = 64 << 20;

std::map<std::string, LockedFile> files_of(JsonObject& actions, std::string_view key, std::string_view origin) {
  std::map<std::string, LockedFile> files;
  const auto* const list = actions.try_array(key);
  if (list == nullptr) return files;
  check_package_count(list->size(), 0, origin);
  for (const JsonValue& value : *list) {
    JsonObject entry(value, origin, "a package");
    const auto url = entry.try_text("url");
    if (!url) continue;
    LockedFile file = web_file(*url, origin, entry.line());
    file.size_bytes = entry.try_uint("size");
    if (const auto md5 = entry.try_text("md5")) file.md5 = digest_digits(*md5, 32, origin, entry.line());
    if (const auto sha256 = entry.try_text("sha256")) file.sha256 = digest_digits(*sha256, 64, origin, entry.line());
    files.insert_or_assign(entry.text("name"), std::move(file));
  }
  return files;
}

// The plan as an explicit list, so that one reader checks names, versions and platforms.
EnvironmentLock lock_of_plan(const std::string& plan, const std::string& program) {
  const JsonValue root = parse_json(plan, program, {.size_max = plan_max});
  JsonObject object(root, program, "a plan");
  auto actions = object.try_object("actions", "actions");
  if (!actions) object.fail("actions", "are missing");
  std::map<std::string, LockedFile> files = files_of(*actions, "LINK", program);
  for (auto& [name, file] : files_of(*actions, "FETCH", program)) files.insert_or_assign(name, std::move(file));
  if (const auto* const linked = actions->try_array("LINK"))
    for (const JsonValue& value : *linked)
      if (const std::string name = JsonObject(value, program, "a package").text("name"); !files.contains(name))
        throw_at(program, value.line, fmt::format("does not say where {} comes from", printable(name)));
  std::string list = "@EXPLICIT\n";
  for (const auto& [name, file] : files)
    list += fmt::format("{}{}{}\n", file.url, file.sha256.empty() && file.md5.empty() ? "" : "#",
                        file.sha256.empty() ? file.md5 : file.sha256);
  EnvironmentLock lock = read_conda_explicit(list, program);
  for (LockedPackage& package : lock.packages) {
    const auto found = files.find(package.name);
    if (found == files.end()) continue;
    package.files[0].size_bytes = found->second.size_bytes;
    package.files[0].md5 = found->second.md5;
  }
  return lock;
}

}  // namespace

EnvironmentLock resolve_by_conda(Programs& programs, const std::string& program, const CondaEnvironment& environment,
                                 const WheelTarget& target, const std::filesystem::path& scratch) {
  std::vector<std::string> argv{program,
                                "create",
                                "--dry-run",
                                "--json",
                                "--yes",
                                "--prefix",
                                (scratch / "prefix").string(),
                                "--override-channels"};
  for (const std::string& channel : environment.channels) {
    argv.emplace_back("--channel");
    argv.push_back(channel);
  }
  argv.insert(argv.end(), environment.specs.begin(), environment.specs.end());
  const std::string libc = target.is_musl ? "" : target.libc();
  auto changes = index_variables(programs.environment());
  changes["CONDA_PKGS_DIRS"] = (scratch / "packages").string();
  changes["CONDA_SUBDIR"] = changes["MAMBA_PLATFORM"] = conda_platform(target);
  changes["CONDA_OVERRIDE_GLIBC"] = libc;
  changes["CONDA_JSON"] = "1";
  const ProgramAnswer answer = programs.ask(std::move(argv), changes, plan_max);
  if (!answer.came) throw_no_answer(program, answer, "it names what contradicts what: choose other versions");
  EnvironmentLock lock = lock_of_plan(answer.out, program);
  lock.channels = environment.channels;
  return lock;
}

}  // namespace sabath
