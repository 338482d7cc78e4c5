#include "jobs/held_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/ownership.h"
#include "jobs/job_directory.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/url.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr const char* own_hint = "take a directory in which only you write";

}  // namespace

std::optional<std::string> why_led_by_others(const fs::path& place, std::span<const std::uint32_t> trusted) {
  const std::uint32_t user = other_writer(place, trusted);
  if (user == 0) return std::nullopt;
  if (user == any_user) return "other users own what leads there, or anyone may write it";
  return fmt::format("uid {} owns a directory or a symlink that leads there", user);
}

HeldDirectory::HeldDirectory(fs::path directory, std::span<const std::uint32_t> trusted)
    : named_(std::move(directory)) {
  refuse_job_of_others(named_, trusted);
  fd_ = open_file(named_, O_RDONLY | O_DIRECTORY);
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) throw_errno("look at", named_, errno);
  if (const auto why = why_not_own(status, ::geteuid(), std::nullopt)) {  // what stood there when it was looked at went
    throw Error(FailureKind::access, fmt::format("{} is not believed: {}", printable(named_.native(), 1000), *why),
                own_hint);
  }
}

fs::path HeldDirectory::path() const { return fmt::format("/proc/self/fd/{}", fd_.get()); }

void HeldDirectory::write(const char* name, std::string_view text, mode_t mode) const {
  try {
    write_text_atomically(path() / name, text, mode);
  } catch (const Error& error) {  // by the name that its user knows
    std::string message = error.failure().message;
    const std::string held = path().native();
    if (const auto at = message.find(held); at != message.npos)
      message.replace(at, held.size(), printable(named_.native(), 1000));
    throw Error(error.failure().kind, message, error.failure().hint);
  }
}

std::optional<std::string> HeldDirectory::try_read(const char* name, std::uint64_t size_max) const {
  const std::string shown = printable((named_ / name).native(), 1000);
  const Fd file(::openat(fd_.get(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file && errno == ENOENT) return std::nullopt;
  if (!file && errno != ELOOP) throw_errno("open", named_ / name, errno);
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    throw Error(FailureKind::access, fmt::format("{} is not believed: it is no plain file", shown), own_hint);
  if (const auto why = why_not_own(status, ::geteuid(), std::nullopt))
    throw Error(FailureKind::access, fmt::format("{} is not believed: {}", shown, *why), own_hint);
  if (static_cast<std::uint64_t>(status.st_size) > size_max)
    throw Error(FailureKind::invalid, fmt::format("{} is longer than {} bytes", shown, size_max));
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  text.resize(read_at(file.get(), std::as_writable_bytes(std::span(text)), 0, named_ / name));
  return text;
}

}  // namespace sabath
