#include "store/objects/objects.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "manifest/file_tree.h"
#include "sabath/error.h"
#include "store/disk/below.h"
#include "store/disk/durable.h"

namespace sabath {
namespace {
constexpr unsigned put_attempts_max = 3;  // another process may put a wrong object there again

// A file that another user keeps from us, by its mode or by a symlink's target, counts as absent.
std::optional<struct stat> try_stat_readable(const std::filesystem::path& path) {
  const auto name = try_lstat(path);
  if (!name || name->st_uid == ::geteuid()) return name && S_ISLNK(name->st_mode) ? try_stat(path) : name;
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0) return std::nullopt;
  return try_stat(path);
}
}  // namespace

bool holds(Evidence& evidence, const std::filesystem::path& path, const Digest& digest) {
  const auto there = try_stat_readable(path);
  if (!there || !S_ISREG(there->st_mode) || static_cast<std::uint64_t>(there->st_size) != digest.size_bytes)
    return false;
  if (evidence.matches(digest, *there)) return true;
  const auto fd = try_open_file(path, O_RDONLY | O_NONBLOCK);
  if (!fd) return false;
  struct stat before {
  }, after{};
  if (::fstat(fd->get(), &before) != 0) throw_errno("stat", path, errno);
  try {
    if (hash_file(fd->get(), digest.size_bytes, path).digest != digest) return false;
  } catch (const Error& error) {
    if (error.failure().kind == FailureKind::changed) return false;  // it became shorter
    throw;
  }
  if (::fstat(fd->get(), &after) != 0) throw_errno("stat", path, errno);
  // The bytes read are right. Note a fact only if nothing changed meanwhile, not even the link count.
  if (Fact::of(digest, before) == Fact::of(digest, after)) evidence.add(digest, after);
  return true;
}

bool Objects::present(const Digest& file) {
  const auto path = layout_.object(file);
  if (holds(evidence_, path, file)) return true;
  if (!try_lstat(path)) {
    trash_.recall(path);  // collected content that is missed comes back
    if (!try_lstat(path)) return false;
    if (holds(evidence_, path, file)) return true;
  }
  // A file that stands where this object belongs, and is not it, must not stand there.
  const auto aside = quarantine(path);
  // Another process may have put the right one there a moment ago: then it goes back.
  if (!aside || !holds(evidence_, *aside, file)) return false;
  if (rename_unless_there(*aside, path)) attest(file, path);
  return true;
}

Objects::Placed Objects::place(const Digest& digest, Directories& touched,
                               const std::function<Move(const std::filesystem::path& to)>& move) {
  const auto to = layout_.object(digest);
  const std::string directory = to.native().substr(0, to.native().rfind('/'));
  std::atomic<bool>& seen = seen_[digest.hash.bytes().front()];
  const auto make_directory = [&] {
    if (!try_lstat(directory)) {
      layout_.members().make_directories(directory);
      touched.insert({layout_.root().native(), layout_.objects().native()});
    }
    seen = true;
  };
  const auto try_move = [&] {
    if (!seen) make_directory();
    try {
      return move(to);
    } catch (const Error&) {
      if (try_lstat(directory)) throw;
    }
    make_directory();  // it was empty, and another process removed it
    return move(to);
  };
  for (unsigned attempt = 0; attempt < put_attempts_max; ++attempt) {
    switch (try_move()) {
      case Move::vanished:
        return Placed::vanished;
      case Move::done:
        touched.insert(directory);
        return Placed::here;
      case Move::occupied:
        break;
    }
    if (present(digest)) return Placed::was_there;  // and if it is wrong, it has been put aside now
  }
  throw Error(FailureKind::storage, fmt::format("{} is wrong and cannot be put aside", to.native()),
              "remove it by hand, then run again");
}

void Objects::publish_data(int fd, const std::filesystem::path& path, const Digest& digest) {
  layout_.members().seal(fd, path);
  try {
    sync_file(fd, path);
  } catch (const Error& error) {
    throw SyncFailed(error.failure());
  }
  Directories touched;
  const auto placed = place(digest, touched, [&](const auto& to) { return publish_open_file(fd, path, to); });
  if (placed == Placed::was_there) return;
  if (placed == Placed::vanished) {
    if (present(digest)) return;
    throw Error(FailureKind::storage, fmt::format("{} was removed while it was written", path.native()),
                "run again, and keep purges away from the store");
  }
  for (const auto& directory : touched) sync_directory(directory);
  // Both change the ctime, so they precede the evidence. (A writer may have made the sealed file writable.)
  ::unlink(path.c_str());
  layout_.members().seal(fd, path);
  attest(digest, layout_.object(digest));
  evidence_.flush();
}

void Objects::attest(const Digest& digest, const std::filesystem::path& path) {
  if (const auto placed = try_stat(path)) evidence_.add(digest, *placed);
}

std::optional<std::filesystem::path> Objects::quarantine(const std::filesystem::path& path) noexcept {
  try {
    layout_.members().make_directories(layout_.quarantine());
    auto to = layout_.quarantine() / fmt::format("{}{}+{}+{}", path.parent_path().filename().native(),
                                                 path.filename().native(), writer_.text(), quarantined_++);
    rename_below(layout_.root(), path, to);
    return to;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace sabath
