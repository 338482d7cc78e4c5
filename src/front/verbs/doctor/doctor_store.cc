#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "base/wording.h"
#include "machine/filesystem_kind.h"
#include "machine/limits.h"
#include "sabath/path.h"
#include "store/shared.h"
#include "verbs/assets/assets.h"
#include "verbs/doctor/examination.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t bytes_free_min = 10'000'000'000, inodes_free_min = 100'000;
constexpr double clock_skew_max_s = 5;

// A directory for trials; the destructor removes it.
class Probe {
 public:
  explicit Probe(const fs::path& beside) {
    std::string name = (beside / ".sabath-doctor-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw_errno("make a directory in", beside, errno);
    directory_ = name;
  }
  ~Probe() { remove_tree(directory_); }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  [[nodiscard]] fs::path operator/(const char* name) const { return directory_ / name; }
  [[nodiscard]] const fs::path& directory() const { return directory_; }

 private:
  fs::path directory_;
};

std::string reflink_trait(const Probe& probe) {
  const Fd from = open_file(probe / "file", O_RDONLY);
  const Fd to = open_file(probe / "clone", O_RDWR | O_CREAT);
  return ::ioctl(to.get(), FICLONE, from.get()) == 0 ? "reflinks" : "no reflinks";
}

std::string link_trait(const Probe& probe) {
  return ::link((probe / "file").c_str(), (probe / "link").c_str()) == 0 ? "hard links"
                                                                         : "no hard links (views are copies)";
}

std::string lock_trait(const Probe& probe, bool shared) {
  const Fd fd = open_file(probe / "file", O_RDWR);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return fmt::format("no locks ({}; not needed)", std::strerror(errno));
  return shared ? "locks are granted, but may lie between nodes (not needed)" : "locks";
}

// The time to publish one small file: write, fsync, rename, fsync of the directory.
double publish_once_ms(const Probe& probe) {
  const auto begin = std::chrono::steady_clock::now();
  write_text_atomically(probe / "file", "sabath doctor\n");
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// The server's clock stamps the files; leases and purges go by it.
void check_skew(const Probe& probe, Examination& findings) {
  const auto status = try_stat(probe / "file");
  if (!status) return;
  const double skew_s = std::difftime(std::time(nullptr), status->st_mtim.tv_sec);
  if (std::abs(skew_s) > clock_skew_max_s) {
    findings.warn("file clock", fmt::format("the filesystem's clock differs by {:.0f} s from this machine's", skew_s),
                  "tell the administrators: times of files will mislead people and purges");
  }
}

void check_traits(const fs::path& place, bool shared, Examination& findings) {
  try {
    const Probe probe(place);
    const double publish_ms = publish_once_ms(probe);
    findings.ok("traits", fmt::format("{}, {}, {}; one small file is published in {:.1f} ms", link_trait(probe),
                                      reflink_trait(probe), lock_trait(probe, shared), publish_ms));
    check_skew(probe, findings);
  } catch (const Error& error) {
    findings.fail("writable", error.failure().message,
                  fmt::format("name a store that you may write: {} DIR or SABATH_STORE", option_text("store")),
                  error.failure().kind);
  }
}

void check_room(const fs::path& place, Examination& findings) {
  struct statvfs room {};
  if (::statvfs(place.c_str(), &room) != 0) return;
  const std::uint64_t bytes = static_cast<std::uint64_t>(room.f_bavail) * room.f_frsize;
  const std::string remedy = fmt::format(
      "name a larger place with {} DIR or SABATH_STORE; quotas may leave you less still", option_text("store"));
  const std::string text = fmt::format("{} free", format_bytes(bytes));
  if (bytes == 0) {
    findings.fail("space", text, remedy, FailureKind::space);
  } else if (bytes < bytes_free_min) {
    findings.warn("space", text, remedy);
  } else {
    findings.ok("space", text);
  }
  if (room.f_files == 0) {
    findings.ok("inodes", "not counted by this filesystem");
  } else if (room.f_favail == 0) {
    findings.fail("inodes", "none free", remedy, FailureKind::space);
  } else if (room.f_favail < inodes_free_min) {
    findings.warn("inodes", fmt::format("{} free", room.f_favail), remedy);
  } else {
    findings.ok("inodes", fmt::format("{} free", room.f_favail));
  }
}

void check_kind(const fs::path& place, const FilesystemKind& kind, unsigned long type, Examination& findings) {
  if (kind.name.empty()) {
    findings.ok("filesystem", fmt::format("of a kind not known here (0x{:x}), at {}", type, place.string()));
  } else if (!kind.caution.empty()) {
    findings.warn("filesystem", fmt::format("{} at {}", kind.name, place.string()), std::string(kind.caution));
  } else {
    findings.ok("filesystem", fmt::format("{}{} at {}", kind.name, kind.shared ? ", shared" : "", place.string()));
  }
}

void check_place(const fs::path& store, Examination& findings) {
  if (is_below(store, findings.environment.home) && store.string().find("scratch") == std::string::npos) {
    findings.warn("home", fmt::format("the store {} lies in your home", store.string()),
                  "homes have small quotas: set SABATH_STORE to a place on scratch or project space");
  }
}

// The files that another member of a shared store's group could not use.
void check_members(Store& store, Examination& findings) {
  constexpr std::uint64_t entries_max = 100'000;
  if (!store.members().group()) return;
  const Unreadable seen = look_as_member(store, entries_max);
  const std::string so_far = seen.looked_at >= entries_max ? fmt::format(" of the first {}", entries_max) : "";
  if (seen.files == 0) {
    return findings.ok("members",
                       fmt::format("all files{} can be used by the group {}", so_far, *store.members().group()));
  }
  findings.fail(
      "members",
      fmt::format("{}{} cannot be used by all members of the group {}, the first is {}, of user {}",
                  seen.files == 1 ? "1 file" : fmt::format("{} files", seen.files), so_far, *store.members().group(),
                  printable(seen.first.native()), seen.owner),
      fmt::format("user {0} runs: cd {1} && find objects packs manifests refs indexes alias verified arrivals "
                  "-user {0} -exec chgrp {2} {{}} + '(' -type d -exec chmod 2775 {{}} + -o -exec chmod g+r {{}} + "
                  "')'; or the files are removed, and fetched anew",
                  seen.owner, shell_word(store.directory().native()), *store.members().group()),
      FailureKind::storage);
}

}  // namespace

void check_store(Examination& findings) {
  const SessionSettings& settings = findings.settings;
  try {
    const auto store = try_open_store(settings);
    findings.ok("store", settings.store.string() + (store ? "" : " (will be made by the first fetch)"));
    check_place(settings.store, findings);
    if (store) check_members(*store, findings);
    const fs::path place = nearest_existing(settings.store);
    struct statfs about {};
    if (::statfs(place.c_str(), &about) != 0) throw_errno("ask for the filesystem of", place, errno);
    const auto type = static_cast<unsigned long>(about.f_type);
    const FilesystemKind kind = filesystem_kind(type);
    check_kind(place, kind, type, findings);
    check_traits(place, kind.shared, findings);
    check_room(place, findings);
  } catch (const Error& error) {
    findings.fail("store", error.failure().message, error.failure().hint, error.failure().kind);
  }
}

}  // namespace sabath
