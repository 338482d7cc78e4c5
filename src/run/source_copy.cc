#include "run/source_copy.h"

#include <fcntl.h>
#include <fmt/format.h>

#include "base/file.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/clone.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t entries_max = 1'000'000;

void copy_one(const fs::path& from, const fs::path& to) {
  const Fd in = open_file(from, O_RDONLY);  // an adopted file of the store is a symlink to its place
  struct stat status {};
  if (::fstat(in.get(), &status) != 0) throw_errno("stat", from, errno);
  const mode_t mode = (status.st_mode & S_IXUSR) != 0 ? 0777 : 0666;
  Fd out = open_file(to, O_WRONLY | O_CREAT | O_EXCL, mode);
  if (!try_clone(in.get(), out.get(), to)) {
    read_through(in.get(), from, [&](std::span<const std::byte> bytes) { write_all(out.get(), bytes, to); });
  }
  close_file(std::move(out), to);
}

}  // namespace

void copy_source(const fs::path& from, const fs::path& to, const std::stop_token& stop) {
  make_directories(to);
  std::size_t entries = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(from, error), end; !error && it != end; it.increment(error)) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped while the source was copied");
    if (++entries > entries_max) {
      throw Error(FailureKind::invalid, fmt::format("{} has more than {} entries", from.string(), entries_max));
    }
    const fs::path relative = it->path().lexically_relative(from);
    const fs::path target = to / relative;
    const fs::file_type type = it->symlink_status().type();
    if (type == fs::file_type::directory) {
      make_directories(target);
    } else if (type == fs::file_type::regular) {
      copy_one(it->path(), target);
    } else if (type == fs::file_type::symlink) {
      const fs::path link = fs::read_symlink(it->path());
      if (link.is_absolute()) {
        copy_one(it->path(), target);
      } else if (symlink_stays_inside(RelativePath::parse(relative.string()), link.string())) {
        fs::create_symlink(link, target);
      } else {
        throw Error(FailureKind::invalid, fmt::format("{} leads out of the source", printable(relative.string())));
      }
    } else {
      throw Error(FailureKind::invalid,
                  fmt::format("{} is neither a file nor a directory", printable(relative.string())));
    }
  }
  if (error) throw_errno("copy", from, error.value());
}

}  // namespace sabath
