#include "formats/bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {

FileBytes::FileBytes(const std::filesystem::path& path) : path_(path) {
  auto fd = try_open_file(path, O_RDONLY);
  if (!fd)
    throw Error(FailureKind::not_found,
                fmt::format("cannot read {}: there is no such file", printable(path.native(), 4096)));
  fd_ = std::move(*fd);
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) throw_errno("stat", path, errno);
  if (!S_ISREG(status.st_mode))
    throw Error(FailureKind::usage, fmt::format("cannot read {}: it is no file", printable(path.native(), 4096)));
  end_ = static_cast<std::uint64_t>(status.st_size);
}

FileBytes::FileBytes(const std::filesystem::path& path, std::uint64_t offset, std::uint64_t length) : FileBytes(path) {
  if (offset > end_ || length > end_ - offset) {
    throw Error(FailureKind::content, fmt::format("cannot read {}: it ends at byte {}, and {} bytes from {} are wanted",
                                                  printable(path.native(), 4096), end_, length, offset));
  }
  at_ = offset;
  end_ = offset + length;
}

std::size_t FileBytes::read(std::span<char> into) {
  const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), end_ - at_));
  if (wanted == 0) return 0;
  const std::size_t got = read_at(fd_.get(), std::as_writable_bytes(into.first(wanted)), at_, path_);
  if (got == 0) {
    throw Error(FailureKind::content,
                fmt::format("cannot read {}: it became shorter while it was read", printable(path_.native(), 4096)));
  }
  at_ += got;
  return got;
}

NewFile::NewFile(std::filesystem::path path)
    : path_(std::move(path)),
      unfinished_(unfinished_name(path_, "new")),
      fd_(open_file(unfinished_, O_RDWR | O_CREAT | O_EXCL)) {}

NewFile::~NewFile() {
  if (!finished_) ::unlink(unfinished_.c_str());
}

void NewFile::write(std::string_view bytes) { write_all(fd_.get(), std::as_bytes(std::span(bytes)), unfinished_); }

void NewFile::write_at(std::string_view bytes, std::uint64_t offset) {
  write_all_at(fd_.get(), std::as_bytes(std::span(bytes)), offset, unfinished_);
}

std::uint64_t NewFile::finish() {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) throw_errno("stat", unfinished_, errno);
  close_file(std::move(fd_), unfinished_);
  rename_path(unfinished_, path_);
  finished_ = true;
  return static_cast<std::uint64_t>(status.st_size);
}

std::size_t read_full(ByteSource& source, std::span<char> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const std::size_t got = source.read(into.subspan(done));
    if (got == 0) break;
    done += got;
  }
  return done;
}

std::string first_bytes(const std::filesystem::path& path, std::size_t bytes_max) {
  FileBytes file(path);
  std::string text(static_cast<std::size_t>(std::min<std::uint64_t>(bytes_max, file.size_bytes())), '\0');
  text.resize(read_full(file, text));
  return text;
}

}  // namespace sabath
