#include "formats/bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {

namespace {

// Of a file that ends at `end`, and whose bytes from `offset` on are wanted.
void check_part(const std::filesystem::path& path, std::uint64_t end, std::uint64_t offset, std::uint64_t length) {
  if (offset <= end && length <= end - offset) return;
  throw Error(FailureKind::content, fmt::format("cannot read {}: it ends at byte {}, and {} bytes from {} are wanted",
                                                printable(path.native(), 4096), end, length, offset));
}

std::size_t read_part(int fd, const std::filesystem::path& path, std::uint64_t& at, std::uint64_t end,
                      std::span<char> into) {
  const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), end - at));
  if (wanted == 0) return 0;
  const std::size_t got = read_at(fd, std::as_writable_bytes(into.first(wanted)), at, path);
  if (got == 0) {
    throw Error(FailureKind::content,
                fmt::format("cannot read {}: it became shorter while it was read", printable(path.native(), 4096)));
  }
  at += got;
  return got;
}

std::uint64_t skip_part(std::uint64_t& at, std::uint64_t end, std::uint64_t bytes) {
  const std::uint64_t passed = std::min(bytes, end - at);
  at += passed;
  return passed;
}

}  // namespace

std::uint64_t ByteSource::skip(std::uint64_t bytes) {
  std::string passed(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, 64 << 10)), '\0');
  std::uint64_t done = 0;
  while (done < bytes) {
    const std::size_t got =
        read(std::span(passed).first(static_cast<std::size_t>(std::min<std::uint64_t>(passed.size(), bytes - done))));
    if (got == 0) break;
    done += got;
  }
  return done;
}

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
  check_part(path_, end_, offset, length);
  at_ = offset;
  end_ = offset + length;
}

std::size_t FileBytes::read(std::span<char> into) { return read_part(fd_.get(), path_, at_, end_, into); }

std::uint64_t FileBytes::skip(std::uint64_t bytes) { return skip_part(at_, end_, bytes); }

std::string FileBytes::at(std::uint64_t offset, std::uint64_t length) const {
  if (offset >= end_) return {};
  std::string text(static_cast<std::size_t>(std::min(length, end_ - offset)), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const std::size_t got =
        read_at(fd_.get(), std::as_writable_bytes(std::span(text)).subspan(have), offset + have, path_);
    if (got == 0) break;
    have += got;
  }
  text.resize(have);
  return text;
}

FileSlice::FileSlice(const FileBytes& file, std::uint64_t offset, std::uint64_t length)
    : file_(file), at_(offset), end_(offset + length) {
  check_part(file.path(), file.size_bytes(), offset, length);
}

std::size_t FileSlice::read(std::span<char> into) { return read_part(file_.fd(), file_.path(), at_, end_, into); }

std::uint64_t FileSlice::skip(std::uint64_t bytes) { return skip_part(at_, end_, bytes); }

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
