// Disk quotas of a user, a group and a project, as the kernel or Lustre's own program says. Free functions; any thread.
// They throw nothing but std::bad_alloc: a quota that cannot be read is named in words, and is no failure.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

enum class QuotaKind { user, group, project };
[[nodiscard]] std::string_view name(QuotaKind kind);

struct Quota {
  QuotaKind kind = QuotaKind::user;
  std::uint32_t id = 0;
  std::optional<std::uint64_t> bytes_left, inodes_left;  // nullopt: no limit
};

struct Quotas {
  std::vector<Quota> found;          // those that limit something
  std::vector<std::string> unknown;  // quotas that could not be asked, and why
};

// The rest of a limit: of the hard one; of the soft one if its time of grace is over, or it stands alone. Zero is no
// limit. Pure.
struct QuotaUse {
  std::uint64_t used = 0, soft = 0, hard = 0;
  std::int64_t grace_until_s = 0;  // since 1970; 0: not begun
};
[[nodiscard]] std::optional<std::uint64_t> left_of(const QuotaUse& use, std::int64_t now_s);

// For files that this process will make in `directory`, which exists: quotactl(2) for this user, for the group that
// files there get, and for the directory's project.
[[nodiscard]] Quotas kernel_quotas(const std::filesystem::path& directory);

// The same by `lfs quota`, for each of the three; `program` is looked up in PATH.
[[nodiscard]] Quotas lustre_quotas(const std::filesystem::path& directory, const std::string& program,
                                   std::chrono::milliseconds deadline, const std::stop_token& stop);
// One answer of `lfs quota -q`; nullopt for any text that Lustre 2.x does not print. Pure.
struct LustreAnswer {
  QuotaUse kib, files;
};
[[nodiscard]] std::optional<LustreAnswer> try_parse_lfs_quota(std::string_view text);

// The device that is mounted with this number, by the text of /proc/self/mountinfo; empty: none. Pure.
[[nodiscard]] std::string device_of_mount(std::string_view mountinfo, dev_t device);

}  // namespace sabath
