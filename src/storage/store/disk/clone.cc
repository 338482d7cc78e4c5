#include "store/disk/clone.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

namespace sabath {

bool try_clone(int from, int to, const std::filesystem::path& name) {
  if (::ioctl(to, FICLONE, from) == 0) return true;
  if (errno == ENOSPC || errno == EDQUOT || errno == EIO) throw_errno("clone into", name, errno);
  return false;
}

bool try_clone_range(int from, std::uint64_t from_offset, std::uint64_t length, int to, std::uint64_t to_offset,
                     const std::filesystem::path& name) {
  if (from < 0) return false;
  const struct file_clone_range range { from, from_offset, length, to_offset };
  if (::ioctl(to, FICLONERANGE, &range) == 0) return true;
  if (errno == ENOSPC || errno == EDQUOT || errno == EIO) throw_errno("clone into", name, errno);
  return false;
}

std::uint64_t read_through(int fd, const std::filesystem::path& name,
                           const std::function<void(std::span<const std::byte>)>& visit) {
  std::vector<std::byte> buffer(chunk_size_bytes);
  std::uint64_t offset = 0;
  while (const std::size_t n = read_at(fd, buffer, offset, name)) {
    visit(std::span(buffer).first(n));
    offset += n;
  }
  return offset;
}

FileTree copy_hashed(int from, const std::filesystem::path& from_name, int to, const std::filesystem::path& to_name) {
  FileHasher hasher;
  read_through(from, from_name, [&](std::span<const std::byte> bytes) {
    write_all(to, bytes, to_name);
    hasher.update(bytes);
  });
  return hasher.finish();
}

}  // namespace sabath
