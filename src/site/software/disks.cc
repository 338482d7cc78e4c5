#include <fmt/format.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/file.h"
#include "base/text.h"
#include "machine/filesystem_kind.h"
#include "machine/limits.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "software/devices.h"
#include "software/module_words.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t disks_max = 32;

// Places where clusters have disks, and the variables that name them; the first that names a place says how it is
// known.
std::vector<std::pair<fs::path, std::string>> places_of(const Environment& environment) {
  std::vector<std::pair<fs::path, std::string>> places;
  for (const char* name :
       {"SLURM_TMPDIR", "PBS_JOBFS", "JOB_TMPDIR", "TMPDIR", "LOCAL_SCRATCH", "SCRATCH", "WORK", "PROJECT", "HOME"}) {
    if (const auto value = environment.get(name); value && value->starts_with('/')) places.emplace_back(*value, name);
  }
  for (const char* path : {"/tmp", "/local", "/local_scratch", "/scratch", "/localscratch", "/mnt/local", "/dev/shm"})
    places.emplace_back(path, "a usual place");
  return places;
}

// Of the block device that has this number; a volume of several is none.
std::string device_kind(dev_t device) {
  std::error_code unknown;
  fs::path place = fs::canonical(fmt::format("/sys/dev/block/{}:{}", major(device), minor(device)), unknown);
  if (unknown) return "";
  if (fs::exists(place / "partition", unknown)) place = place.parent_path();
  if (place.filename().string().starts_with("nvme")) return "NVMe";
  if (!fs::exists(place / "device", unknown)) return "";  // made of others: they may differ
  try {
    const auto text = try_read_text(place / "queue/rotational", 4096);
    return !text ? "" : trim(*text) == "1" ? "rotating" : trim(*text) == "0" ? "SSD" : "";
  } catch (const Error&) {
    return "";  // it is not known, and no failure
  }
}

SiteDisk disk_at(Programs& programs, const fs::path& place, const std::string& named_by, dev_t device) {
  SiteDisk disk;
  disk.path = place;
  disk.known = named_by + ", and its filesystem";
  std::string why;  // Lustre's own program is started only if no other user can write it
  const Limits limits = read_limits(place, programs.stop(), programs.find("lfs", why).string());
  disk.device = device_kind(device);
  disk.filesystem = limits.filesystem;
  disk.bytes_free = limits.bytes_free;
  disk.in_memory = limits.memory.has_value();
  struct statfs kind {};
  disk.shared = ::statfs(place.c_str(), &kind) == 0 && filesystem_kind(static_cast<unsigned long>(kind.f_type)).shared;
  disk.quota_bytes_left = quota_bytes_left(limits);
  struct statvfs whole {};
  if (::statvfs(place.c_str(), &whole) == 0) disk.bytes = std::uint64_t{whole.f_blocks} * whole.f_frsize;
  for (const std::string& unknown : limits.unknown) disk.known += "; " + unknown;
  return disk;
}

}  // namespace

void detect_disks(Programs& programs, SiteProfile& profile) {
  std::map<std::pair<std::uint64_t, fs::path>, bool> seen;
  for (const auto& [place, named_by] : places_of(programs.environment())) {
    try {
      const auto status = try_stat(place);
      if (!status || !S_ISDIR(status->st_mode) || profile.disks.size() >= disks_max || !is_plain_value(place.native()))
        continue;
      if (!seen.try_emplace({status->st_dev, place}, true).second) continue;
      const bool known = std::ranges::any_of(profile.disks, [&](const SiteDisk& one) {
        const auto other = try_stat(one.path);
        return other && other->st_dev == status->st_dev;
      });
      if (known && named_by == "a usual place") continue;
      profile.disks.push_back(disk_at(programs, place, named_by, status->st_dev));
    } catch (const Error& error) {
      if (error.failure().kind == FailureKind::interrupted) throw;
      programs.pass_over(place.string(), error.failure().message);
    }
  }
}

}  // namespace sabath
