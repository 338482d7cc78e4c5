// memory, disk.local: of the node where `sabath run` is.
#include <fmt/format.h>
#include <sys/statfs.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/file.h"
#include "base/text.h"
#include "checks/builtin.h"
#include "machine/filesystem_kind.h"
#include "machine/limits.h"
#include "machine/memory_left.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
using State = CheckFound::State;

struct LocalDisk {
  fs::path place;
  std::string filesystem;
  std::uint64_t free = 0;
};

std::string variable_of(const CheckPlace& place, const char* name) {
  const auto found = place.environment.find(name);
  return found == place.environment.end() ? "" : found->second;
}

// Where clusters have the disks of a node, those that a profile or a scheduler names first.
std::vector<fs::path> disk_places(const CheckPlace& place) {
  std::vector<fs::path> places;
  std::string named = place.node_disk;
  for (std::size_t at = 0; (at = named.find("{user}")) != std::string::npos;)
    named.replace(at, 6, variable_of(place, "USER"));
  const auto add = [&](const std::string& text) {
    if (text.starts_with('/')) places.emplace_back(text);
  };
  add(named);
  for (const char* name : {"SLURM_TMPDIR", "PBS_JOBFS", "JOB_TMPDIR", "LOCAL_SCRATCH", "TMPDIR"})
    add(variable_of(place, name));
  for (const char* usual : {"/local", "/local_scratch", "/localscratch", "/mnt/local", "/tmp"}) add(usual);
  return places;
}

std::uint64_t free_at(const Limits& limits) {
  std::uint64_t free = limits.bytes_free;
  for (const Quota& quota : limits.quotas) free = std::min(free, quota.bytes_left.value_or(free));
  return free;
}

// What is no disk of this node is named in `others`.
std::optional<LocalDisk> disk_at_place(const fs::path& place, const CheckPlace& of, std::string& others) {
  try {
    const auto status = try_stat(place);
    struct statfs kind {};
    if (!status || !S_ISDIR(status->st_mode) || ::statfs(place.c_str(), &kind) != 0) return std::nullopt;
    const Limits limits = read_limits(place, of.stop);
    const bool shared = filesystem_kind(static_cast<unsigned long>(kind.f_type)).shared;
    if (!shared && !limits.memory) return LocalDisk{place, limits.filesystem, free_at(limits)};
    others +=
        fmt::format("{}{} is {}", others.empty() ? "" : ", ", place.native(), shared ? "shared by nodes" : "in memory");
  } catch (const Error& error) {
    if (error.failure().kind == FailureKind::interrupted) throw;
  }
  return std::nullopt;
}

}  // namespace

CheckFound find_memory(const RecipeCheck& check, const CheckPlace&) {
  const auto whole = memory_whole();
  if (!whole) return {State::not_known, "", "/proc/meminfo", "say what the node has where it can be read"};
  const std::uint64_t bound = parse_size(check.bound).value_or(0);
  CheckFound found;
  found.state = meets_number(check, whole->bytes, bound) ? State::met : State::not_met;
  found.found = format_bytes(whole->bytes);
  if (const auto left = memory_left()) found.found += fmt::format(", {} of it free", format_bytes(left->bytes));
  found.known_by = whole->by + ", of this node";
  if (found.state != State::met) found.remedy = "take a node with more memory, or ask the scheduler for more of it";
  return found;
}

CheckFound find_disk_local(const RecipeCheck& check, const CheckPlace& place) {
  std::optional<LocalDisk> best;
  std::string others;
  for (const fs::path& each : disk_places(place)) {
    const auto disk = disk_at_place(each, place, others);
    if (disk && (!best || disk->free > best->free)) best = disk;
  }
  CheckFound found;
  found.known_by = "the filesystems of this node";
  found.remedy = "take a node with a larger disk, or name it in the site profile: jobs.node_disk";
  if (!best) {
    found.state = State::not_met;
    found.found = "no disk of this node" + (others.empty() ? "" : ": " + others);
    return found;
  }
  const std::uint64_t bound = parse_size(check.bound).value_or(0);
  const bool met = check.relation.empty() ? best->free > 0 : meets_number(check, best->free, bound);
  found.state = met ? State::met : State::not_met;
  found.found = fmt::format("{} free at {}{}", format_bytes(best->free), best->place.native(),
                            best->filesystem.empty() ? "" : fmt::format(" ({})", best->filesystem));
  if (met) found.remedy.clear();
  return found;
}

}  // namespace sabath
