#include "harness/site_modules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/companion.h"
#include "base/file.h"
#include "machine/site_choice.h"
#include "sabath/error.h"
#include "software/detect.h"
#include "software/profile.h"
#include "software/solve.h"

namespace sabath {

namespace fs = std::filesystem;

std::vector<Software> site_software(const RunCall& call) {
  const fs::path program = find_companion(call.caller.settings.program);
  const fs::path file = find_site_file(call.request.environment, program, call.request.site);
  const auto text = file.empty() ? std::nullopt : try_read_text(file, profile_bytes_max);
  return text ? table_of(parse_profile(*text, file.string())) : std::vector<Software>();
}

std::vector<std::string> modules_of(const RunCall& call, const ResolvedRun& run) {
  if (run.lock) return run.lock->modules;
  const auto& needs = run.model.requirements.system_modules;
  std::vector<std::string> modules = modules_for(run.site, needs);
  std::vector<std::string> open;
  for (const std::string& need : needs) {
    if (modules_for(run.site, {need}) == std::vector<std::string>{need}) open.push_back(need);
  }
  const std::vector<Software> table = open.empty() ? std::vector<Software>() : site_software(call);
  if (table.empty()) return modules;
  std::erase_if(modules, [&](const std::string& one) { return std::ranges::find(open, one) != open.end(); });
  std::vector<SoftwareNeed> asked;
  for (const std::string& need : open) asked.push_back(parse_software_need(need));
  const SoftwareSolution solution = solve_needs(table, asked);
  if (solution.picks.empty()) {
    throw Error(solution.is_whole ? FailureKind::not_found : FailureKind::usage,
                fmt::format("no modules of {} meet the needs of {}: {}", run.site.name, run.model.name,
                            fmt::join(solution.against, "; ")),
                solution.nearest.empty()
                    ? "say in the profile's \"modules\" what meets them"
                    : fmt::format("the nearest that exists: {}", fmt::join(solution.nearest, " ")));
  }
  for (const std::string& module : solution.modules)
    if (std::ranges::find(modules, module) == modules.end()) modules.push_back(module);
  return modules;
}

}  // namespace sabath
