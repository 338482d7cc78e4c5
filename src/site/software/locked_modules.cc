#include "software/locked_modules.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "software/claims.h"
#include "software/module_words.h"
#include "software/version.h"

namespace sabath {
namespace {

constexpr const char* next_step = "name the record of a run, as it was written";

bool is_other_build(const Software& one, const SoftwareNeed& need) {
  const std::string& version = need.bounds.front().version;
  return is_called(one.name, need.name) && one.version != version && compare_versions(one.version, version) == 0;
}

bool is_same_build(const Software& one, const SoftwareNeed& need) {
  return is_called(one.name, need.name) && one.version == need.bounds.front().version;
}

// Rows of the table that have a module and are no other build of what is locked.
std::vector<std::size_t> rows_of_builds(std::span<const Software> table, std::span<const SoftwareNeed> needs) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (!table[row].module.empty()) rows.push_back(row);
  }
  for (const SoftwareNeed& need : needs) {
    if (need.bounds.empty()) continue;
    const bool is_here = std::ranges::any_of(rows, [&](std::size_t row) { return is_same_build(table[row], need); });
    const bool says_build = !parts_of_version(need.bounds.front().version).suffix.empty();
    std::erase_if(rows, [&](std::size_t row) {
      return is_other_build(table[row], need) &&
             (is_here || (says_build && !parts_of_version(table[row].version).suffix.empty()));
    });
  }
  return rows;
}

SoftwareSolution solve_rows(std::span<const Software> table, std::span<const std::size_t> rows,
                            std::span<const SoftwareNeed> needs) {
  std::vector<Software> some;
  for (const std::size_t row : rows) some.push_back(table[row]);
  SoftwareSolution solution = solve_needs(some, needs);
  for (SoftwarePick& pick : solution.picks) pick.row = rows[pick.row];
  return solution;
}

}  // namespace

std::vector<SoftwareNeed> needs_of_lock(std::span<const std::string> modules, const std::string& origin) {
  if (modules.size() > locked_modules_max)
    throw Error(FailureKind::invalid,
                fmt::format("{} names {} modules, more than {}", origin, modules.size(), locked_modules_max),
                next_step);
  std::vector<SoftwareNeed> needs;
  for (const std::string& module : modules) {
    const auto [path, version] = parts_of_module(module);
    const std::string name = path.substr(path.rfind('/') + 1);
    if (!is_plain_value(module) || printable(module, 12 * module.size()) != module || module.front() == '-' ||
        name.empty() || module.ends_with('/'))
      throw Error(FailureKind::invalid, fmt::format("{}: '{}' is no module", origin, printable(module, 200)),
                  next_step);
    SoftwareNeed need{version.empty() ? name : fmt::format("{}=={}", name, version), to_lower(name), {}, {}};
    if (!version.empty()) need.bounds.push_back({VersionBound::Kind::exactly, version});
    const auto is_it = [&](const SoftwareNeed& other) { return other.text == need.text; };
    if (std::ranges::none_of(needs, is_it)) needs.push_back(std::move(need));
  }
  return needs;
}

SoftwareSolution solve_lock(std::span<const Software> table, std::span<const SoftwareNeed> needs) {
  if (needs.empty()) return {};
  SoftwareSolution solution = solve_rows(table, rows_of_builds(table, needs), needs);
  if (!solution.picks.empty()) return solution;
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (!table[row].module.empty()) rows.push_back(row);
  }
  SoftwareSolution near = solve_rows(table, rows, needs);
  if (near.picks.empty()) return near;
  for (std::size_t i = 0; i < needs.size(); ++i) {
    if (!needs[i].bounds.empty() && is_other_build(table[near.picks[i].row], needs[i]))
      near.against.push_back(fmt::format("{} is here as another build, {}", printable(needs[i].text, 300),
                                         printable(table[near.picks[i].row].module, 300)));
  }
  near.nearest = std::move(near.modules);
  near.modules.clear();
  near.picks.clear();
  return near;
}

}  // namespace sabath
