#include "machine/quota.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <linux/quota.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/file.h"
#include "base/process.h"
#include "sabath/error.h"

// Linux 5.14; the number is the same on all of its architectures but alpha.
#ifndef SYS_quotactl_fd
#define SYS_quotactl_fd 443
#endif

namespace sabath {
namespace {

constexpr std::uint64_t quota_block = 1024;  // quotactl(2): limits are in blocks of this size, use is in bytes
constexpr std::uint64_t mountinfo_size_max = 16ULL << 20;

int type_of(QuotaKind kind) {
  switch (kind) {
    case QuotaKind::user:
      return USRQUOTA;
    case QuotaKind::group:
      return GRPQUOTA;
    default:
      return PRJQUOTA;
  }
}

std::uint64_t blocks(std::uint64_t count) {
  return count > UINT64_MAX / quota_block ? UINT64_MAX : count * quota_block;
}

// What the kernel's error means to a caller that needs a number; empty: there is no quota, and nothing to report.
std::string meaning(int error) {
  switch (error) {
    case ESRCH:  // none of this kind is switched on
    case ENOTSUP:
    case ENODEV:
    case ENOTBLK:
      return "";
    case ENOSYS:
      return "this kernel has no quotas";
    case EPERM:
    case EACCES:
      return "it may not be asked";
    default:
      return std::strerror(error);
  }
}

class Kernel {
 public:
  explicit Kernel(const std::filesystem::path& directory)
      : fd_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

  // 0, or errno.
  int ask(QuotaKind kind, std::uint32_t id, struct if_dqblk& answer) {
    const auto command = QCMD(Q_GETQUOTA, type_of(kind));
    if (::syscall(SYS_quotactl_fd, fd_.get(), command, id, &answer) == 0) return 0;
    if (errno != ENOSYS) return errno;
    if (!device_) device_ = device();
    if (device_->empty()) return ENOTBLK;
    return ::syscall(SYS_quotactl, command, device_->c_str(), id, &answer) == 0 ? 0 : errno;
  }

  [[nodiscard]] std::optional<std::uint32_t> project() const {
    struct fsxattr attributes {};
    if (::ioctl(fd_.get(), FS_IOC_FSGETXATTR, &attributes) != 0 || attributes.fsx_projid == 0) return std::nullopt;
    return attributes.fsx_projid;
  }

 private:
  [[nodiscard]] std::string device() const {
    struct stat s {};
    if (::fstat(fd_.get(), &s) != 0) return "";
    try {
      return device_of_mount(try_read_text("/proc/self/mountinfo", mountinfo_size_max).value_or(""), s.st_dev);
    } catch (const Error&) {
      return "";
    }
  }

  Fd fd_;
  std::optional<std::string> device_;
};

// The users, groups and projects whose quotas count this process's writes there.
std::vector<std::pair<QuotaKind, std::uint32_t>> payers(const std::filesystem::path& directory, const Kernel& kernel) {
  struct stat s {};
  const bool inherits = ::stat(directory.c_str(), &s) == 0 && (s.st_mode & S_ISGID) != 0;
  std::vector<std::pair<QuotaKind, std::uint32_t>> all{{QuotaKind::user, ::geteuid()},
                                                       {QuotaKind::group, inherits ? s.st_gid : ::getegid()}};
  if (const auto project = kernel.project()) all.emplace_back(QuotaKind::project, *project);
  return all;
}

void add(Quotas& quotas, Quota quota) {
  if (quota.bytes_left || quota.inodes_left) quotas.found.push_back(quota);
}

}  // namespace

std::string_view name(QuotaKind kind) {
  switch (kind) {
    case QuotaKind::user:
      return "user";
    case QuotaKind::group:
      return "group";
    default:
      return "project";
  }
}

std::optional<std::uint64_t> left_of(const QuotaUse& use, std::int64_t now_s) {
  std::uint64_t limit = use.hard;
  const bool grace_over = use.grace_until_s != 0 && use.grace_until_s <= now_s;
  if (use.soft != 0 && (limit == 0 || (use.used > use.soft && grace_over))) limit = use.soft;
  if (limit == 0) return std::nullopt;
  return limit > use.used ? limit - use.used : 0;
}

Quotas kernel_quotas(const std::filesystem::path& directory) {
  Quotas quotas;
  Kernel kernel(directory);
  const auto now = static_cast<std::int64_t>(std::time(nullptr));
  std::string last;
  for (const auto& [kind, id] : payers(directory, kernel)) {
    struct if_dqblk told {};
    const int error = kernel.ask(kind, id, told);
    if (error != 0) {
      const std::string why = meaning(error);
      if (!why.empty() && why != last) quotas.unknown.push_back(fmt::format("{} quota: {}", name(kind), why));
      last = why;
      continue;
    }
    const QuotaUse bytes{told.dqb_curspace, blocks(told.dqb_bsoftlimit), blocks(told.dqb_bhardlimit),
                         static_cast<std::int64_t>(told.dqb_btime)};
    const QuotaUse inodes{told.dqb_curinodes, told.dqb_isoftlimit, told.dqb_ihardlimit,
                          static_cast<std::int64_t>(told.dqb_itime)};
    add(quotas, {kind, id, left_of(bytes, now), left_of(inodes, now)});
  }
  return quotas;
}

Quotas lustre_quotas(const std::filesystem::path& directory, const std::string& program,
                     std::chrono::milliseconds deadline, const std::stop_token& stop) {
  Quotas quotas;
  const Kernel kernel(directory);
  for (const auto& [kind, id] : payers(directory, kernel)) {
    const std::string option = fmt::format("-{}", name(kind).front());
    std::string why;
    try {
      const auto result =
          run_command({.argv = {program, "quota", "-q", option, fmt::format("{}", id), directory.native()},
                       .environment = {{"LC_ALL", "C"}},
                       .directory = {},
                       .deadline = deadline,
                       .output_max = 4096},
                      stop);
      const auto answer = result.status == 0 ? try_parse_lfs_quota(result.out) : std::nullopt;
      if (answer) {
        const auto now = static_cast<std::int64_t>(std::time(nullptr));
        const QuotaUse bytes{blocks(answer->kib.used), blocks(answer->kib.soft), blocks(answer->kib.hard),
                             answer->kib.grace_until_s};
        add(quotas, {kind, id, left_of(bytes, now), left_of(answer->files, now)});
        continue;
      }
      why = result.status == 0 ? "its answer is not understood" : fmt::format("it ended with {}", result.status);
    } catch (const Error& error) {
      if (error.failure().kind == FailureKind::interrupted) throw;
      why = error.failure().message;
    }
    quotas.unknown.push_back(fmt::format("{} quota, by {}: {}", name(kind), program, why));
  }
  return quotas;
}

}  // namespace sabath
