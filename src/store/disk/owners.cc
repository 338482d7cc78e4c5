#include "store/disk/owners.h"

#include <fcntl.h>

#include "sabath/error.h"

namespace sabath {

std::optional<Fd> try_open_trusted(const Owners& owners, const std::filesystem::path& file) {
  try {
    auto fd = try_open_file(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    struct stat s {};
    if (!fd || ::fstat(fd->get(), &s) != 0 || !S_ISREG(s.st_mode) || !owners.trusts(s)) return std::nullopt;
    return fd;
  } catch (const Error&) {  // another user's, or a symlink
    return std::nullopt;
  }
}

}  // namespace sabath
