#include "machine/limits.h"

#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#include <cerrno>

#include "base/file.h"
#include "machine/filesystem_kind.h"

namespace sabath {
namespace {

constexpr auto lfs_deadline = std::chrono::seconds(10);
constexpr std::uint64_t fat_file_max = UINT32_MAX;
constexpr std::uint64_t ext4_blocks_max = UINT32_MAX;  // of one file; ext4's documentation, "Dynamic Structures"

void take_less(std::optional<FileSizeLimit>& least, std::uint64_t bytes, const char* by) {
  if (!least || bytes < least->bytes) least = {bytes, by};
}

std::optional<FileSizeLimit> file_size_limit(const FilesystemKind& kind, std::uint64_t block) {
  std::optional<FileSizeLimit> least;
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    take_less(least, limit.rlim_cur, "ulimit -f");
  }
  if (kind.name == "FAT") take_less(least, fat_file_max, "FAT");
  if (kind.name == "ext4") take_less(least, ext4_blocks_max * block, "ext4");
  return least;
}

void read_quotas(const std::filesystem::path& directory, const FilesystemKind& kind, const std::stop_token& stop,
                 const std::string& lfs, Limits& limits) {
  Quotas quotas;
  if (kind.name != "Lustre") quotas = kernel_quotas(directory);
  if (kind.name == "Lustre" && !lfs.empty()) quotas = lustre_quotas(directory, lfs, lfs_deadline, stop);
  if (kind.name == "Lustre" && lfs.empty()) quotas.unknown.emplace_back("Lustre quotas: no lfs that may be started");
  limits.quotas = std::move(quotas.found);
  limits.unknown = std::move(quotas.unknown);
  if (kind.shared && kind.name != "Lustre") {
    limits.unknown.emplace_back(std::string(kind.name) + " quotas: only its servers know them");
  }
  if (kind.name == "Btrfs") limits.unknown.emplace_back("Btrfs qgroup limits: only administrators may ask");
}

}  // namespace

std::filesystem::path nearest_existing(std::filesystem::path path) {
  path = std::filesystem::absolute(path).lexically_normal();
  while (!try_stat(path) && path.has_relative_path()) path = path.parent_path();
  return path;
}

std::optional<std::uint64_t> quota_bytes_left(const Limits& limits) {
  std::optional<std::uint64_t> left;
  for (const Quota& quota : limits.quotas) {
    if (quota.bytes_left) left = std::min(left.value_or(UINT64_MAX), *quota.bytes_left);
  }
  return left;
}

Limits read_limits(const std::filesystem::path& place, const std::stop_token& stop, const std::string& lfs) {
  const auto directory = nearest_existing(place);
  struct statvfs room {};
  struct statfs about {};
  if (::statvfs(directory.c_str(), &room) != 0 || ::statfs(directory.c_str(), &about) != 0) {
    throw_errno("ask the free space of", directory, errno);
  }
  const FilesystemKind kind = filesystem_kind(static_cast<unsigned long>(about.f_type));
  Limits limits;
  limits.place = place.string();
  limits.filesystem = kind.name;
  limits.bytes_free = std::uint64_t{room.f_bavail} * room.f_frsize;
  if (room.f_files != 0) limits.inodes_free = room.f_favail;
  if (kind.in_memory) limits.memory = memory_left();
  limits.file_size = file_size_limit(kind, room.f_bsize);
  read_quotas(directory, kind, stop, lfs, limits);
  return limits;
}

}  // namespace sabath
