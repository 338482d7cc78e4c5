#include "store/take.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/state.h"

namespace sabath {
namespace {

struct stat stat_of(int fd, const std::filesystem::path& file) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) throw_errno("stat", file, errno);
  return status;
}

}  // namespace

FileTree take_file(Store& store, const std::filesystem::path& file) {
  const auto refuse = [&] {
    throw Error(FailureKind::invalid,
                fmt::format("{} is no regular file of its own", printable(file.filename().native())),
                "outputs are plain files: no links, pipes or devices");
  };
  const auto named = try_lstat(file);
  if (!named || !S_ISREG(named->st_mode)) refuse();
  if ((named->st_mode & 0600) != 0600) ::chmod(file.c_str(), 0600);  // a program may have taken its own rights away
  const Fd fd = open_file(file, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  const struct stat before = stat_of(fd.get(), file);
  // A second name would let its holder write to the object.
  if (!S_ISREG(before.st_mode) || before.st_nlink != 1 || before.st_uid != ::geteuid()) refuse();
  FileTree tree = hash_file(fd.get(), static_cast<std::uint64_t>(before.st_size), file);
  const struct stat after = stat_of(fd.get(), file);
  if (!(Fact::of(tree.digest, before) == Fact::of(tree.digest, after)) || after.st_size != before.st_size) {
    throw Error(FailureKind::changed, fmt::format("{} changed while it was read", printable(file.native())),
                "let its writer finish, then try again");
  }
  store.state().objects.publish_data(fd.get(), file, tree.digest);
  ::unlink(file.c_str());  // content that was there already leaves it
  return tree;
}

}  // namespace sabath
