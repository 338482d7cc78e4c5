#include "store/disk/below.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/file.h"
#include "sabath/error.h"
#include "store/disk/durable.h"
#include "store/disk/open_directories.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

// A name in its directory, which is held open.
class Held {
 public:
  Held(const fs::path& top, const fs::path& file) : directories_(top), name_(file.filename()) {
    const fs::path parent = file.lexically_relative(top).parent_path();
    const auto found = directories_.try_at(parent.native());
    if (!found) throw_errno("find the directory of", file, ENOTDIR);
    directory_ = *found;
  }
  [[nodiscard]] int directory() const { return directory_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  OpenDirectories directories_;
  std::string name_;
  int directory_ = -1;
};

}  // namespace

void rename_below(const fs::path& top, const fs::path& from, const fs::path& to) {
  const Held before(top, from), after(top, to);
  const int error = rename_at(before.directory(), before.name().c_str(), after.directory(), after.name().c_str());
  if (error != 0) throw_errno("rename to", to, error);
}

bool rename_unless_there_below(const fs::path& top, const fs::path& from, const fs::path& to) {
  const Held before(top, from), after(top, to);
  return rename_unless_there_at(before.directory(), before.name(), after.directory(), after.name());
}

bool unlink_below(const fs::path& top, const fs::path& file) noexcept {
  try {
    const Held held(top, file);
    return ::unlinkat(held.directory(), held.name().c_str(), 0) == 0;
  } catch (const Error&) {
    errno = ENOTDIR;
    return false;
  }
}

void remove_tree_below(const fs::path& top, const fs::path& path) noexcept {
  try {
    const Held held(top, path);
    remove_tree_at(held.directory(), held.name());
  } catch (const Error&) {  // a directory on the way has gone, or is a symlink: there is nothing of the store
  }
}

}  // namespace sabath
