#include "store/disk/small_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/file.h"
#include "sabath/error.h"

namespace sabath {
namespace {

std::optional<std::string> read_all(int fd, const struct stat& s, const std::filesystem::path& file,
                                    std::uint64_t size_max) {
  if (static_cast<std::uint64_t>(s.st_size) > size_max) return std::nullopt;
  std::string text(static_cast<std::size_t>(s.st_size), '\0');
  text.resize(read_at(fd, std::as_writable_bytes(std::span(text)), 0, file));
  return text;
}

}  // namespace

std::optional<std::string> try_read_small(const std::filesystem::path& file, std::uint64_t size_max) {
  const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  if (!fd && (errno == EIO || errno == ESTALE || errno == ENOMEM || errno == EMFILE || errno == ENFILE))
    throw_errno("open", file, errno);  // it may be there
  struct stat s {};
  if (!fd || ::fstat(fd.get(), &s) != 0 || !S_ISREG(s.st_mode)) return std::nullopt;
  return read_all(fd.get(), s, file, size_max);
}

std::optional<std::string> try_read_trusted(const Owners& owners, const std::filesystem::path& file,
                                            std::uint64_t size_max) {
  const auto fd = try_open_trusted(owners, file);
  struct stat s {};
  if (!fd || ::fstat(fd->get(), &s) != 0) return std::nullopt;
  return read_all(fd->get(), s, file, size_max);
}

void replace_file(Temporaries& temporaries, const std::filesystem::path& file, const std::string& text, bool sync) {
  const auto temporary = temporaries.new_name();
  const Members& members = temporaries.members();
  Fd fd = members.create(temporary, O_WRONLY | O_CREAT | O_EXCL, own_file_mode);
  write_all(fd.get(), std::as_bytes(std::span(text)), temporary);
  if (sync) sync_file(fd.get(), temporary);
  close_file(std::move(fd), temporary);
  members.make_directories(file.parent_path());
  rename_path(temporary, file);
  if (sync) sync_directory(file.parent_path());
}

}  // namespace sabath
